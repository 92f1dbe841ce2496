import { UserError } from "../errors.ts";
import type { TokenWords } from "../words/word-table.ts";
import {
  inRuns,
  inSlices,
  type MergeEngine,
  type MergeMemory,
  type MergeProgress,
  type NumberedRecords,
  spend,
  type WorkBudget,
} from "./merge-memories.ts";
import type { MergeTuning } from "./merge-options.ts";
import { type Merges, readMerges } from "./merges.ts";

/**
 * Learns the merges with an engine that is set up: lays the words out, indexes their pairs, and merges the best pair
 * until there are enough. Undefined if a memory is too small, which may show only in the middle.
 */
export function* learnMerges(
  engine: MergeEngine,
  words: TokenWords | NumberedRecords,
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

/** Lays the words out and indexes their pairs. False if a memory is too small. */
export function* prepareEngine(
  engine: MergeEngine,
  words: TokenWords | NumberedRecords,
  tuning: MergeTuning,
): Generator<MergeProgress, boolean> {
  if ("kernel" in words) yield* layOutRecords(engine, words);
  else yield* prepareWords(engine, words);
  const { countsDensely } = engine.memories[0]!.plan;
  return countsDensely ? yield* indexBytePairs(engine, tuning) : yield* rebuildIndex(engine);
}

const pauses = ["finished", "slice used up", "large pair on top", "top below threshold", "no room"] as const;

/** In one memory all merges that fit into a slice are made in one call; in several, each is a large one. */
function mergeUntilPause({ memories, budget }: MergeEngine): (typeof pauses)[number] {
  const [{ exports }] = memories as [MergeMemory];
  const advance = memories.length > 1 ? exports.lookAtTop : exports.mergeUntilPause;
  const pause = advance(budget.workLeft);
  budget.workLeft = exports.workLeftOfSlice();
  return pauses[pause]!;
}

function* prepareWords({ memories, budget }: MergeEngine, words: TokenWords): Generator<MergeProgress, void> {
  let cellsBefore = 0;
  for (const memory of memories) {
    const { cellCount, cellCountOfAll } = memory.plan;
    yield* copyWords(memory, words, budget);
    yield* layOutWords(memory, budget, (cells) => {
      const shareDone = Math.min(1, (cellsBefore + cells) / cellCountOfAll);
      budget.progress = { phase: "layout", mergeCount: 0, shareDone };
    });
    cellsBefore += cellCount;
  }
}

/** False if a memory is too small. */
function* indexBytePairs(
  { memories, budget }: MergeEngine,
  tuning: MergeTuning,
): Generator<MergeProgress, boolean> {
  const { threadCount, cellCountOfAll } = memories[0]!.plan;
  let cellsDone = 0;
  const report = () => {
    cellsDone += budget.sliceWork * threadCount;
    budget.progress = {
      phase: "index",
      mergeCount: 0,
      shareDone: Math.min(1, cellsDone / (2 * cellCountOfAll)),
    };
  };
  for (const { exports } of memories) {
    exports.startText();
    yield* inSlices(budget, exports.countBytePairsSome, { report });
  }
  joinBytePairs(memories);
  for (const { exports } of memories) {
    const added = exports.addBytePairs(tuning.arenaSlack);
    if (added === 1) throw countTooLarge();
    if (added === 2) return false;
    exports.startText();
    yield* inSlices(budget, exports.writeBytePairsSome, { report });
  }
  return true;
}

const countTooLarge = () =>
  new UserError("a pair occurs 2^53 times or more: more than can be counted exactly", {
    hint: "divide all word counts by the same number, or train on a part of the input",
  });

/** Pairs that the index anew keeps: so many for each merge that is left, and some where few are. */
const pairsPerMerge = 4;
const pairsBeside = 64;

/** Indexes the text as it stands, with a lower threshold (src/kernel/merge/rebuild-index.ts). False if a memory is too small. */
export function* rebuildIndex({ memories, budget, limits }: MergeEngine): Generator<MergeProgress, boolean> {
  const [first, ...others] = memories.map(({ exports }) => exports);
  const sketchBits = Math.min(...memories.map(({ exports }) => exports.wantedSketchBits()));
  for (const { exports } of memories) {
    exports.startSketch(sketchBits);
    yield* inSlices(budget, exports.sketchSome);
  }
  joinSketches(memories);
  const mergesLeft = limits.mergeCountMax - first!.mergedEntryCount();
  first!.lowerToSketch(pairsPerMerge * mergesLeft + pairsBeside);
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

/** What a merge costs beside its occurrences, in entries: the queue, the hash table, the token. */
const mergeWork = 64;

/**
 * A merge that has begun in the first memory: with a long list, or with an arena that is full, or in several memories, or one
 * that is named. False if a memory is too small.
 */
export function* mergeInSlices(
  { memories, budget }: MergeEngine,
  joinNeighbours: JoinNeighbours,
): Generator<MergeProgress, boolean> {
  const [first] = memories as [MergeMemory];
  for (const memory of memories) {
    const { exports } = memory;
    if (memory !== first && !followMerge(first, memory)) return false;
    yield* inSlices(budget, exports.mergeSome, { workMax: exports.largeListLength() });
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
    yield* inSlices(budget, exports.writeSome, { workMax: exports.largeListLength() });
    exports.endMerge();
    if (spend(budget, mergeWork)) yield budget.progress;
  }
  return true;
}

/** Begins the merge of the first memory in another one, with its threshold. False if that one is too small. */
function followMerge({ exports }: MergeMemory, { exports: other }: MergeMemory): boolean {
  other.adoptThreshold(exports.thresholdNow());
  return other.followMerge(exports.largeLeft(), exports.largeRight()) === 1;
}

function reportMerges({ memories, budget, limits }: MergeEngine): void {
  const { exports } = memories[0]!;
  const shareDone = exports.mergedEntryCount() / limits.mergeCountMax;
  budget.progress = { phase: "merge", mergeCount: exports.mergeCount(), shareDone };
}

/** Bytes that are copied with as much work as one cell. */
const bytesPerWork = 16;

/** Copies the words of a memory into it. */
function* copyWords(
  { exports, memory, plan: { first, end } }: MergeMemory,
  words: TokenWords,
  budget: WorkBudget,
): Generator<MergeProgress, void> {
  const { tokens, starts, counts } = words;
  const { buffer } = memory;
  const firstStart = starts[first]!;
  const regions = [
    [asBytes(counts.subarray(first, end)), exports.mergeWordCounts],
    [asBytes(starts.subarray(first, end + 1)), exports.mergeWordStarts],
    [asBytes(tokens.subarray(firstStart, starts[end]!)), exports.mergeWordTokens],
  ] as const;
  for (const [source, address] of regions) {
    const target = new Uint8Array(buffer, address.value >>> 0, source.length);
    const sliceBytes = budget.sliceWork * bytesPerWork;
    for (let from = 0; from < source.length; from += sliceBytes) {
      target.set(source.subarray(from, from + sliceBytes), from);
      if (spend(budget, budget.sliceWork)) yield budget.progress;
    }
  }
  exports.startLayout(firstStart);
}

const asBytes = (array: Float64Array | Uint32Array | TokenWords["tokens"]) =>
  new Uint8Array(array.buffer, array.byteOffset, array.byteLength);

/** Writes the words that were copied as cells, by falling count (src/kernel/merge/word-layout.ts). */
function* layOutWords(
  { exports, plan }: MergeMemory,
  budget: WorkBudget,
  report: (cellCount: number) => void,
): Generator<MergeProgress, void> {
  yield* inRuns(budget, plan.wordCount, exports.tallyWords);
  yield* sortFrequentWords(exports, budget);
  const reportCells = () => report(exports.laidOutCells());
  yield* inSlices(budget, exports.layOutFrequentWords, { report: reportCells });
  exports.startRareWords();
  yield* inSlices(budget, exports.layOutRareWords, { report: reportCells });
}

/** The same of words that stand as records (src/kernel/merge/record-layout.ts). */
function* layOutRecords(
  { memories, budget }: MergeEngine,
  { numbers, startCounts, discard }: NumberedRecords,
): Generator<MergeProgress, void> {
  const { exports, memory } = memories[0]!;
  new Int32Array(memory.buffer, exports.numbers.value >>> 0).set(numbers);
  new Float64Array(memory.buffer, exports.mergeCounts.value >>> 0).set(startCounts);
  exports.startRecordLayout(exports.startOfRecordsUnit(), exports.endOfRecordsUnit());
  yield* inSlices(budget, exports.tallyRecordsSome);
  yield* sortFrequentWords(exports, budget);
  yield* inSlices(budget, exports.layOutFrequentWords);
  exports.startRareWords();
  yield* inSlices(budget, exports.layOutRecordsSome);
  discard();
}

function* sortFrequentWords(
  exports: MergeMemory["exports"],
  budget: WorkBudget,
): Generator<MergeProgress, void> {
  const frequentCount = exports.frequentWordCount();
  for (let shift = 0; exports.startDigit(shift); shift += digitBits) {
    yield* inRuns(budget, frequentCount, (from, to) => exports.tallyDigits(shift, from, to));
    exports.addUpDigits();
    yield* inRuns(budget, frequentCount, (from, to) => exports.placeByDigit(shift, from, to));
    exports.endDigit();
  }
}

/** Of the sort of the frequent words. */
const digitBits = 11;

/**
 * Adds up what the memories of an engine tell each other (src/kernel/merge/memory-exchange.ts): each gives what its
 * words have, and takes the sum of all. With one memory there is nothing to do.
 */

const bytePairCount = 1 << 16;

/** After the bytes were counted: gives every memory the weights of all. Numbers of occurrences stay its own. */
function joinBytePairs(memories: readonly MergeMemory[]): void {
  if (memories.length === 1) return;
  const totals = new Float64Array(bytePairCount);
  const tables = memories.flatMap(({ exports, memory, plan }) =>
    Array.from({ length: plan.threadCount }, (_, part) => ({
      isFirst: part === 0,
      // The first eight bytes of sixteen are the weight.
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

/** After the sketches: gives every memory the sums of all (src/kernel/merge/rebuild-index.ts). */
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

/** After the walk over the lists of the pair that is merged: tells every memory what its neighbours weigh in all. */
type JoinNeighbours = () => void;

function neighbourJoiner(memories: readonly MergeMemory[]): JoinNeighbours {
  if (memories.length === 1) return () => {};
  const { tokenCapacity } = memories[0]!.plan;
  const exchanges = memories.map(exchangeOf);
  const totals = new Float64Array(tokenCapacity + 1);
  const tokens = new Uint32Array(tokenCapacity + 1);
  const joinSide = (areRight: boolean) => {
    let tokenCount = 0;
    const counts = memories.map(({ exports }) => exports.giveNeighbours(areRight));
    for (const [k, { floats, numbers }] of exchanges.entries()) {
      const count = counts[k]!;
      for (let index = 0; index < count; index++) {
        const token = numbers[4 * index + 2]!;
        const weight = floats[2 * index]!;
        if (weight > 0 && totals[token] === 0) tokens[tokenCount++] = token;
        totals[token]! += weight;
      }
    }
    // The first memory takes all of them, each other one those that it gave.
    const all = exchanges[0]!.numbers;
    for (let index = 0; index < tokenCount; index++) all[4 * index + 2] = tokens[index]!;
    counts[0] = tokenCount;
    for (const [k, { exports }] of memories.entries()) {
      const { floats, numbers } = exchanges[k]!;
      const count = counts[k]!;
      for (let index = 0; index < count; index++) floats[2 * index] = totals[numbers[4 * index + 2]!]!;
      exports.takeNeighbours(areRight, count);
    }
    for (let index = 0; index < tokenCount; index++) totals[tokens[index]!] = 0;
  };
  return () => {
    joinSide(false);
    joinSide(true);
    let voidWeight = 0;
    for (const { exports } of memories) voidWeight += exports.giveVoidWeight();
    for (const { exports } of memories) exports.takeVoidWeight(voidWeight);
  };
}

/** While the text is indexed anew: gives the first memory the counts of all. False if it has no room for them. */
function* joinPairs(memories: readonly MergeMemory[], budget: WorkBudget): Generator<MergeProgress, boolean> {
  const [first, ...others] = memories as [MergeMemory, ...MergeMemory[]];
  let hasRoom = true;
  for (const other of others) {
    yield* tellPairs(other, budget, (records, count) => {
      exchangeOf(first).numbers.set(records);
      hasRoom &&= first.exports.addPairs(count) === 1;
    });
  }
  return hasRoom;
}

/** Makes the other memories keep the pairs of the first, with its counts and its threshold. */
function* keepSamePairs(
  memories: readonly MergeMemory[],
  budget: WorkBudget,
): Generator<MergeProgress, void> {
  const [first, ...others] = memories as [MergeMemory, ...MergeMemory[]];
  if (others.length === 0) return;
  const threshold = first.exports.thresholdNow();
  for (const { exports } of others) exports.adoptThreshold(threshold);
  yield* tellPairs(first, budget, (records, count) => {
    for (const other of others) {
      exchangeOf(other).numbers.set(records);
      other.exports.keepGivenPairs(count);
    }
  });
  for (const { exports } of others) exports.startKeepingGiven();
}

/** Before lists are dropped: gives the pairs of a memory the counts that they have in the first. */
function* refreshCounts(
  first: MergeMemory,
  memory: MergeMemory,
  budget: WorkBudget,
): Generator<MergeProgress, void> {
  const answers = exchangeOf(first).numbers;
  yield* tellPairs(memory, budget, (records, count, start) => {
    answers.set(records);
    first.exports.answerCounts(count);
    records.set(answers.subarray(0, records.length));
    memory.exports.takeCounts(start, count);
  });
}

/** Calls `take` with the records of a memory, as many at a time as the exchange and a slice hold. */
function* tellPairs(
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

/** The exchange as Float64, two a record, and as Uint32, four a record: the weight, then two tokens. */
function exchangeOf({ exports, memory, plan }: MergeMemory) {
  const address = exports.exchangedRecords.value >>> 0;
  const recordCount = plan.tokenCapacity + 1;
  return {
    floats: new Float64Array(memory.buffer, address, 2 * recordCount),
    numbers: new Uint32Array(memory.buffer, address, 4 * recordCount),
  };
}
