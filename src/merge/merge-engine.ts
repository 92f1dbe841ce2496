import { UserError } from "../errors.ts";
import type { TokenWords } from "../words/token-words.ts";
import {
  type JoinNeighbours,
  joinBytePairs,
  joinPairs,
  joinSketches,
  keepSamePairs,
  neighbourJoiner,
  refreshCounts,
} from "./join-memories.ts";
import { copyWords, layOutWords } from "./lay-out-words.ts";
import type { MergeEngine, MergeMemory } from "./merge-memories.ts";
import type { MergeTuning } from "./merge-tuning.ts";
import { type Merges, readMerges } from "./merges.ts";
import { inSlices, type MergeProgress, spend } from "./work-budget.ts";

/**
 * Learns the merges with an engine that is set up: lays the words out, indexes their pairs, and merges the best pair
 * until there are enough. Undefined if a memory is too small, which may show only in the middle.
 */
export function* learnMerges(
  engine: MergeEngine,
  words: TokenWords,
  tuning: MergeTuning,
): Generator<MergeProgress, Merges | undefined> {
  yield* prepareWords(engine, words);
  const { memories, budget } = engine;
  const { startCount, countsDensely } = memories[0]!.plan;
  const isIndexed = countsDensely ? yield* indexBytePairs(engine, tuning) : yield* indexAnew(engine);
  if (!isIndexed) return undefined;
  const joinNeighbours = neighbourJoiner(memories);
  for (;;) {
    switch (mergeUntilPause(engine)) {
      case "slice used up":
        spend(budget, 0);
        reportMerges(engine);
        yield budget.progress;
        break;
      case "large pair on top":
        reportMerges(engine);
        if (!(yield* mergeTopInSlices(engine, joinNeighbours))) return undefined;
        break;
      case "top below threshold":
        if (!(yield* indexAnew(engine))) return undefined;
        break;
      case "no room":
        return undefined;
      case "finished":
        // Every memory has all of them.
        return readMerges(memories[0]!, startCount);
    }
  }
}

const pauses = ["finished", "slice used up", "large pair on top", "top below threshold", "no room"] as const;

/** In one memory all merges that fit into a slice are made in one call; in several, each is a large one. */
function mergeUntilPause({ memories, budget }: MergeEngine): (typeof pauses)[number] {
  const [{ exports }] = memories as [MergeMemory];
  if (memories.length > 1) return pauses[exports.lookAtTop()]!;
  const pause = exports.mergeUntilPause(budget.workLeft);
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
    hint: "divide all word counts by the same number, or train from a part of the input",
  });

/** Pairs that the index anew keeps: so many for each merge that is left, and some where few are. */
const pairsPerMerge = 4;
const pairsBeside = 64;

/** Indexes the text as it stands, with a lower threshold (src/kernel/merge/index-anew.ts). False if a memory is too small. */
function* indexAnew({ memories, budget, limits }: MergeEngine): Generator<MergeProgress, boolean> {
  const [first, ...others] = memories.map(({ exports }) => exports);
  const sketchBits = Math.min(...memories.map(({ exports }) => exports.wishedSketchBits()));
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

/** A merge with a long list, or with an arena that is full, or in several memories. False if one is too small. */
function* mergeTopInSlices(
  { memories, budget }: MergeEngine,
  joinNeighbours: JoinNeighbours,
): Generator<MergeProgress, boolean> {
  const [first] = memories as [MergeMemory];
  first.exports.startLargeMerge();
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
