import { UserError } from "#runtime";
import type { Merges } from "#tokenizer";
import type { wordTables } from "#words";
import {
  inSlices,
  type MergeEngine,
  type MergeMemory,
  type MergeProgress,
  type MergeWords,
  spend,
  type WorkBudget,
} from "./merge-memories.ts";
import type { MergeTuning } from "./merge-options.ts";
import { readMerges } from "./read-merges.ts";

/**
 * Learns the merges with an engine that is set up. Returns undefined if a memory turns out to be too small, which may
 * happen midway.
 */
export function* learnMerges(
  engine: MergeEngine,
  words: MergeWords,
  tuning: MergeTuning,
): Generator<MergeProgress, Merges | undefined> {
  if (!(yield* prepareEngine(engine, words, tuning))) return undefined;
  const { memories, budget } = engine;
  const { startCount } = memories[0]!.plan;
  const joinNeighbours = neighbourJoiner(memories);
  const [{ exports }] = memories as [MergeMemory];
  for (const [left, right] of engine.firstMerges) {
    const isMerged = exports.startNamedMerge(left, right) && (yield* mergeInSlices(engine, joinNeighbours));
    if (!isMerged) return undefined;
    reportMerges(engine);
  }
  if (engine.firstMerges.length > 0) engine.startRising();
  for (;;) {
    switch (mergeUntilPause(engine)) {
      case "slice used up":
        spend(budget, 0);
        reportMerges(engine);
        yield budget.progress;
        break;
      case "large pair on top":
        reportMerges(engine);
        exports.startLargeMerge();
        if (!(yield* mergeInSlices(engine, joinNeighbours))) return undefined;
        break;
      case "top below threshold":
        if (!(yield* rebuildIndex(engine))) return undefined;
        break;
      case "no room":
        return undefined;
      case "finished":
        return readMerges(memories, startCount);
    }
  }
}

/** Lays out the words and indexes their pairs. Returns false if a memory is too small. */
export function* prepareEngine(
  engine: MergeEngine,
  words: MergeWords,
  tuning: MergeTuning,
): Generator<MergeProgress, boolean> {
  yield* layOutWords(engine, words);
  const { countsDensely } = engine.memories[0]!.plan;
  return countsDensely ? yield* indexBytePairs(engine, tuning) : yield* rebuildIndex(engine);
}

const pauses = ["finished", "slice used up", "large pair on top", "top below threshold", "no room"] as const;

/**
 * Merges until the work of a slice of time (`budget`) is done or the engine must pause. With several memories, only
 * finds the pair to merge next; `mergeInSlices` then merges it.
 */
function mergeUntilPause({ memories, budget }: MergeEngine): (typeof pauses)[number] {
  const [{ exports }] = memories as [MergeMemory];
  const advance = memories.length > 1 ? exports.lookAtTop : exports.mergeUntilPause;
  const pause = advance(budget.workLeft);
  budget.workLeft = exports.workLeftOfSlice();
  return pauses[pause]!;
}

/** Builds the first index by counting in dense tables of pairs. Returns false if a memory is too small. */
function* indexBytePairs(
  { memories, budget }: MergeEngine,
  tuning: MergeTuning,
): Generator<MergeProgress, boolean> {
  budget.progress = { phase: "index", mergeCount: 0 };
  for (const { exports } of memories) {
    exports.startText();
    yield* inSlices(budget, exports.countBytePairsSome);
  }
  joinBytePairs(memories);
  for (const { exports } of memories) {
    const added = exports.addBytePairs(tuning.arenaSlack);
    if (added === 1) throw countTooLarge();
    if (added === 2) return false;
    exports.startText();
    yield* inSlices(budget, exports.writeBytePairsSome);
  }
  return true;
}

const countTooLarge = () =>
  new UserError("a pair of tokens occurs 2^53 times or more, too often to be counted exactly", {
    hint: "divide all word counts by the same number, or train on a part of the input",
  });

/**
 * A rebuild lowers the threshold until enough pairs have a count that reaches it: this many for each remaining merge,
 * and `sparePairs` more. The number of such pairs is estimated from the sketch (src/kernel/merge/rebuild-index.ts), so
 * more or fewer pairs may be kept.
 */
const pairsPerMerge = 4;
const sparePairs = 64;

/**
 * Rebuilds the index with a lower threshold (src/kernel/merge/rebuild-index.ts). Returns false if a memory is too
 * small.
 */
export function* rebuildIndex({ memories, budget, limits }: MergeEngine): Generator<MergeProgress, boolean> {
  const [first, ...others] = memories.map(({ exports }) => exports);
  const sketchBits = Math.min(...memories.map(({ exports }) => exports.wantedSketchBits()));
  for (const { exports } of memories) {
    exports.startSketch(sketchBits);
    yield* inSlices(budget, exports.sketchSome);
  }
  joinSketches(memories);
  const mergesLeft = limits.mergeCountMax - first!.mergedEntryCount();
  first!.lowerToSketch(pairsPerMerge * mergesLeft + sparePairs);
  for (const other of others) other.adoptThreshold(first!.thresholdNow());
  for (const { exports } of memories) {
    exports.endSketch();
    exports.startReindex();
    for (let counted = 1; counted !== 0; ) {
      counted = exports.countPairsSome(budget.sliceWork);
      if (counted === 2) return false;
      if (spend(budget, budget.sliceWork)) yield budget.progress;
    }
  }
  if (!(yield* joinPairs(memories, budget))) return false;
  first!.startKeeping();
  yield* inSlices(budget, first!.keepPairsSome);
  if (first!.foundCountTooLarge()) throw countTooLarge();
  yield* keepSamePairs(memories, budget);
  for (const other of others) yield* inSlices(budget, other.keepPairsSome);
  for (const { exports } of memories) {
    if (!exports.startLists()) return false;
    yield* inSlices(budget, exports.writePairsSome);
  }
  first!.startPushing();
  yield* inSlices(budget, first!.pushPairsSome);
  return true;
}

/** The fixed work of a merge, counted as list entries: for the queue, the hash table and the new token. */
const mergeWork = 64;

/**
 * Finishes a merge that has begun in the first memory but cannot end there in one call, because its list is long, the
 * arena (the region with all lists) is full, there are several memories, or the caller chose the pair. Returns false if
 * a memory is too small.
 */
export function* mergeInSlices(
  { memories, budget }: MergeEngine,
  joinNeighbours: JoinNeighbours,
): Generator<MergeProgress, boolean> {
  const [first] = memories as [MergeMemory];
  for (const memory of memories) {
    const { exports } = memory;
    if (memory !== first && !followMerge(first, memory)) return false;
    yield* inSlices(budget, exports.mergeSome, exports.largeListLength());
    exports.endWalk();
  }
  joinNeighbours();
  for (const memory of memories) {
    const { exports } = memory;
    if (exports.needsRoom()) {
      if (memory !== first) yield* refreshCounts(first, memory, budget);
      exports.startMakingRoom();
      yield* inSlices(budget, exports.compactSome);
      if (!exports.endMakingRoom()) {
        exports.startCleaningAll();
        yield* inSlices(budget, exports.compactSome);
        if (!exports.endMakingRoom()) return false;
      }
    }
    if (!exports.settleLargeMerge()) return false;
    yield* inSlices(budget, exports.writeSome, exports.largeListLength());
    exports.endMerge();
    if (spend(budget, mergeWork)) yield budget.progress;
  }
  return true;
}

/**
 * Begins the first memory's merge in another memory, with the same threshold. Returns false if the other memory is too
 * small.
 */
function followMerge({ exports }: MergeMemory, { exports: other }: MergeMemory): boolean {
  other.adoptThreshold(exports.thresholdNow());
  return other.followMerge(exports.largeLeft(), exports.largeRight()) === 1;
}

function reportMerges({ memories, budget }: MergeEngine): void {
  budget.progress = { phase: "merge", mergeCount: memories[0]!.exports.mergeCount() };
}

/** Lays out each memory's words, by descending count (src/kernel/merge/word-layout.ts). */
function* layOutWords({ memories, budget }: MergeEngine, words: MergeWords): Generator<MergeProgress, void> {
  for (const { exports, memory, plan } of memories) {
    const { buffer } = memory;
    if ("tokens" in words) yield* copyWords({ exports, memory, plan }, words, budget);
    if (words.numbers !== undefined) {
      new Int32Array(buffer, exports.numbers.value >>> 0).set(words.numbers);
      // These counts of start tokens cover the words of all memories. Only the first memory gets them, because
      // `readMerges` adds up the counts of all memories.
      if (plan.memoryIndex === 0)
        new Float64Array(buffer, exports.mergeCounts.value >>> 0).set(words.startCounts);
    }
    exports.startLayout();
    yield* inSlices(budget, exports.tallyWordsSome);
    new Float64Array(buffer, exports.frequentCounts.value >>> 0, exports.frequentWordCount()).sort();
    exports.placeWords();
    yield* inSlices(budget, exports.layOutSome);
  }
  if ("kernel" in words) words.discard();
}

/** Copying this many bytes counts as the work of one cell (a token of a word, or the end of a word). */
const bytesPerWork = 16;

/** Copies a memory's part of the words, [first, end), into the memory. */
function* copyWords(
  { exports, memory, plan: { first, end } }: Pick<MergeMemory, "exports" | "memory" | "plan">,
  { tokens, starts, counts }: wordTables.TokenWords,
  budget: WorkBudget,
): Generator<MergeProgress, void> {
  const regions = [
    [counts.subarray(first, end), exports.mergeWordCounts],
    [starts.subarray(first, end + 1), exports.mergeWordStarts],
    [tokens.subarray(starts[first]!, starts[end]!), exports.mergeWordTokens],
  ] as const;
  for (const [array, address] of regions) {
    const source = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    const target = new Uint8Array(memory.buffer, address.value >>> 0, source.length);
    const sliceBytes = budget.sliceWork * bytesPerWork;
    for (let from = 0; from < source.length; from += sliceBytes) {
      target.set(source.subarray(from, from + sliceBytes), from);
      if (spend(budget, budget.sliceWork)) yield budget.progress;
    }
  }
}

// The functions below exchange counts between the memories of an engine (src/kernel/merge/memory-exchange.ts). Each
// memory counts, in its own words, the pairs and the neighbours (tokens next to the merged pair). The sums go to the
// first memory and, where they are needed, to the others. A weight is a number of occurrences, each multiplied by the
// count of its word.

const bytePairCount = 1 << 16;

/**
 * Sums the weights of byte pairs over all memories. The numbers of occurrences are not summed, because each memory
 * needs its own.
 */
function joinBytePairs(memories: readonly MergeMemory[]): void {
  if (memories.length === 1) return;
  const totals = new Float64Array(bytePairCount);
  const tables = memories.flatMap(({ exports, memory, plan }) =>
    Array.from({ length: plan.threadCount }, (_, part) => ({
      isFirst: part === 0,
      // Each entry has sixteen bytes, and the first eight are the weight.
      floats: new Float64Array(
        memory.buffer,
        (exports.bytePairs.value >>> 0) + 16 * bytePairCount * part,
        2 * bytePairCount,
      ),
    })),
  );
  for (const { floats } of tables) {
    for (let key = 0; key < bytePairCount; key++) totals[key]! += floats[2 * key]!;
  }
  for (const { floats, isFirst } of tables) {
    for (let key = 0; key < bytePairCount; key++) floats[2 * key] = isFirst ? totals[key]! : 0;
  }
}

/** Sums the sketches (upper bounds of the counts of pairs) over all memories (src/kernel/merge/rebuild-index.ts). */
function joinSketches(memories: readonly MergeMemory[]): void {
  if (memories.length === 1) return;
  const sketches = memories.map(
    ({ exports, memory }) =>
      new Uint32Array(memory.buffer, exports.sketchAddress() >>> 0, exports.sketchCellCount()),
  );
  const [first, ...others] = sketches as [Uint32Array, ...Uint32Array[]];
  for (const other of others) {
    for (let cell = 0; cell < first.length; cell++) {
      first[cell] = Math.min(first[cell]! + other[cell]!, sketchCellMax);
    }
  }
  for (const other of others) other.set(first);
}

const sketchCellMax = 2 ** 32 - 1;

/** Sums the weights of neighbours over all memories, after the walk over the lists of the merged pair. */
type JoinNeighbours = () => void;

function neighbourJoiner(memories: readonly MergeMemory[]): JoinNeighbours {
  if (memories.length === 1) return () => {};
  const { tokenCapacity } = memories[0]!.plan;
  const exchanges = memories.map(exchangeOf);
  const totals = new Float64Array(tokenCapacity + 1);
  const tokens = new Uint32Array(tokenCapacity + 1);
  /** @param side 0: neighbours on the left; 1: on the right */
  const joinSide = (side: 0 | 1) => {
    let tokenCount = 0;
    const counts = memories.map(({ exports }) => exports.giveNeighbours(side));
    for (const [k, { floats, numbers }] of exchanges.entries()) {
      const count = counts[k]!;
      for (let index = 0; index < count; index++) {
        const token = numbers[4 * index + 2]!;
        const weight = floats[2 * index]!;
        if (weight > 0 && totals[token] === 0) tokens[tokenCount++] = token;
        totals[token]! += weight;
      }
    }
    // The first memory receives all sums, the others only those of tokens that they provided.
    const all = exchanges[0]!.numbers;
    for (let index = 0; index < tokenCount; index++) all[4 * index + 2] = tokens[index]!;
    counts[0] = tokenCount;
    for (const [k, { exports }] of memories.entries()) {
      const { floats, numbers } = exchanges[k]!;
      const count = counts[k]!;
      for (let index = 0; index < count; index++) floats[2 * index] = totals[numbers[4 * index + 2]!]!;
      exports.takeNeighbours(side, count);
    }
    for (let index = 0; index < tokenCount; index++) totals[tokens[index]!] = 0;
  };
  return () => {
    joinSide(0);
    joinSide(1);
    let voidWeight = 0;
    for (const { exports } of memories) voidWeight += exports.giveVoidWeight();
    for (const { exports } of memories) exports.takeVoidWeight(voidWeight);
  };
}

/**
 * While the index is rebuilt, adds the pairs of the other memories and their counts to the first memory. Returns false
 * if they do not fit there.
 */
function* joinPairs(memories: readonly MergeMemory[], budget: WorkBudget): Generator<MergeProgress, boolean> {
  const [first, ...others] = memories as [MergeMemory, ...MergeMemory[]];
  let hasRoom = true;
  for (const other of others) {
    yield* exchangePairs(other, budget, (records, count) => {
      exchangeOf(first).numbers.set(records);
      hasRoom &&= first.exports.addPairs(count) === 1;
    });
  }
  return hasRoom;
}

/** Makes the other memories keep the same pairs as the first one, with its counts and its threshold. */
function* keepSamePairs(
  memories: readonly MergeMemory[],
  budget: WorkBudget,
): Generator<MergeProgress, void> {
  const [first, ...others] = memories as [MergeMemory, ...MergeMemory[]];
  if (others.length === 0) return;
  const threshold = first.exports.thresholdNow();
  for (const { exports } of others) exports.adoptThreshold(threshold);
  yield* exchangePairs(first, budget, (records, count) => {
    for (const other of others) {
      exchangeOf(other).numbers.set(records);
      other.exports.keepGivenPairs(count);
    }
  });
  for (const { exports } of others) exports.startKeepingGiven();
}

/**
 * Copies the counts of the first memory to the pairs of another one, whose compaction then drops the lists of pairs
 * with counts below the threshold.
 */
function* refreshCounts(
  first: MergeMemory,
  memory: MergeMemory,
  budget: WorkBudget,
): Generator<MergeProgress, void> {
  const answers = exchangeOf(first).numbers;
  yield* exchangePairs(memory, budget, (records, count, start) => {
    answers.set(records);
    first.exports.answerCounts(count);
    records.set(answers.subarray(0, records.length));
    memory.exports.takeCounts(start, count);
  });
}

/**
 * Calls `take` with the pair records of a memory. One call gets as many as fit into the exchange region, and into the
 * work of a slice.
 */
function* exchangePairs(
  from: MergeMemory,
  budget: WorkBudget,
  take: (records: Uint32Array, count: number, start: number) => void,
): Generator<MergeProgress, void> {
  const given = exchangeOf(from).numbers;
  for (let start = 0; ; ) {
    const count = from.exports.givePairs(start, budget.sliceWork);
    if (count === 0) return;
    take(given.subarray(0, 4 * count), count, start);
    start += count;
    if (spend(budget, count)) yield budget.progress;
  }
}

/**
 * Views the exchange region as Float64 (two per record) and as Uint32 (four per record). A record has a weight, and
 * then either the two tokens of a pair, or one neighbour and 0.
 */
function exchangeOf({ exports, memory, plan }: MergeMemory) {
  const address = exports.exchangedRecords.value >>> 0;
  const recordCount = plan.tokenCapacity + 1;
  return {
    floats: new Float64Array(memory.buffer, address, 2 * recordCount),
    numbers: new Uint32Array(memory.buffer, address, 4 * recordCount),
  };
}
