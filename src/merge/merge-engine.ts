import { UserError } from "../errors.ts";
import type { WordTable } from "../words/word-table.ts";
import {
  type JoinNeighbours,
  joinBytePairs,
  joinPairs,
  keepSamePairs,
  neighbourJoiner,
} from "./join-memories.ts";
import { copyWords, layOutWords } from "./lay-out-words.ts";
import type { MergeEngine } from "./merge-memories.ts";
import type { MergeTuning } from "./merge-tuning.ts";
import type { Merges } from "./merges.ts";
import { inSlices, type MergeProgress, spend } from "./work-budget.ts";

/**
 * Learns the merges with an engine that is set up: lays the words out, indexes their pairs, and merges the best pair
 * until there are enough. Undefined if a memory is too small, which may show only in the middle.
 */
export function* learnMerges(
  engine: MergeEngine,
  words: WordTable,
  tuning: MergeTuning,
): Generator<MergeProgress, Merges | undefined> {
  yield* prepareWords(engine, words);
  if (!(yield* indexBytePairs(engine, tuning))) return undefined;
  const { memories, pace } = engine;
  const joinNeighbours = neighbourJoiner(memories);
  for (;;) {
    switch (mergeUntilPause(engine)) {
      case "slice used up":
        spend(pace, 0);
        reportMerges(engine);
        yield pace.progress;
        break;
      case "large pair on top":
        reportMerges(engine);
        if (!(yield* mergeTopInSlices(engine, joinNeighbours))) return undefined;
        break;
      case "top below gate":
        if (!(yield* indexAnew(engine))) return undefined;
        break;
      case "no room":
        return undefined;
      case "finished":
        return learnedMerges(engine);
    }
  }
}

const pauses = ["finished", "slice used up", "large pair on top", "top below gate", "no room"] as const;

/** In one memory all merges that fit into a slice are made in one call; in several, each is a large one. */
function mergeUntilPause({ memories, pace }: MergeEngine): (typeof pauses)[number] {
  const [{ exports }] = memories as [MergeEngine["memories"][number]];
  if (memories.length > 1) return pauses[memories.map((memory) => memory.exports.lookAtTop())[0]!]!;
  const pause = exports.mergeUntilPause(pace.workLeft);
  pace.workLeft = exports.workLeftOfSlice();
  return pauses[pause]!;
}

function* prepareWords({ memories, pace }: MergeEngine, words: WordTable): Generator<MergeProgress, void> {
  let cellsBefore = 0;
  for (const memory of memories) {
    const { cellCount, cellCountOfAll } = memory.plan;
    yield* copyWords(memory, words, pace);
    yield* layOutWords(memory, pace, (cells) => {
      const shareDone = Math.min(1, (cellsBefore + cells) / cellCountOfAll);
      pace.progress = { phase: "layout", mergeCount: 0, shareDone };
    });
    cellsBefore += cellCount;
  }
}

/** False if a memory is too small. */
function* indexBytePairs(
  { memories, pace }: MergeEngine,
  tuning: MergeTuning,
): Generator<MergeProgress, boolean> {
  const { threadCount, cellCountOfAll } = memories[0]!.plan;
  let cellsDone = 0;
  const report = () => {
    cellsDone += pace.sliceWork * threadCount;
    pace.progress = {
      phase: "index",
      mergeCount: 0,
      shareDone: Math.min(1, cellsDone / (2 * cellCountOfAll)),
    };
  };
  for (const { exports } of memories) {
    exports.startText();
    yield* inSlices(pace, exports.countBytePairsSome, { report });
  }
  joinBytePairs(memories);
  for (const { exports } of memories) {
    const added = exports.addBytePairs(tuning.arenaSlack);
    if (added === 1) throw countTooLarge();
    if (added === 2) return false;
    exports.startText();
    yield* inSlices(pace, exports.writeBytePairsSome, { report });
  }
  return true;
}

const countTooLarge = () =>
  new UserError("a pair occurs 2^53 times or more: more than can be counted exactly", {
    hint: "divide all word counts by the same number, or train from a part of the input",
  });

/** The index anew, with a lower gate (src/kernel/merge/index-anew.ts). False if a memory is too small. */
function* indexAnew({ memories, pace, limits }: MergeEngine): Generator<MergeProgress, boolean> {
  for (const { exports } of memories) {
    exports.startReindex();
    for (let counted = 1; counted !== 0; ) {
      counted = exports.countPairsSome(pace.sliceWork);
      if (counted === 2) return false;
      if (spend(pace, pace.sliceWork)) yield pace.progress;
    }
  }
  if (!(yield* joinPairs(memories, pace))) return false;
  const [first, ...others] = memories.map(({ exports }) => exports);
  first!.startKeeping(limits.mergeCountMax - first!.mergedEntryCount());
  yield* inSlices(pace, first!.keepPairsSome);
  if (!(yield* keepSamePairs(memories, pace))) return false;
  for (const other of others) yield* inSlices(pace, other.keepPairsSome);
  for (const { exports } of memories) {
    if (!exports.startLists()) return false;
    yield* inSlices(pace, exports.writePairsSome);
    exports.startPushing();
    yield* inSlices(pace, exports.pushPairsSome);
  }
  return true;
}

/** What a merge costs beside its occurrences, in entries: the queue, the hash table, the token. */
const mergeWork = 64;

/** A merge with a long list, or with an arena that is full, or in several memories. False if one is too small. */
function* mergeTopInSlices(
  { memories, pace }: MergeEngine,
  joinNeighbours: JoinNeighbours,
): Generator<MergeProgress, boolean> {
  for (const { exports } of memories) {
    exports.startLargeMerge();
    yield* inSlices(pace, exports.mergeSome, { workMax: exports.largeListLength() });
    exports.endWalk();
  }
  joinNeighbours();
  for (const { exports } of memories) {
    if (exports.startMakingRoom()) {
      yield* inSlices(pace, exports.compactSome);
      if (!exports.endMakingRoom()) {
        exports.startCleaningAll();
        yield* inSlices(pace, exports.compactSome);
        if (!exports.endMakingRoom()) return false;
      }
    }
    if (!exports.settleLargeMerge()) return false;
    yield* inSlices(pace, exports.writeSome, { workMax: exports.largeListLength() });
    exports.endMerge();
    if (spend(pace, mergeWork)) yield pace.progress;
  }
  return true;
}

function reportMerges({ memories, pace, limits }: MergeEngine): void {
  const { exports } = memories[0]!;
  const shareDone = exports.mergedEntryCount() / limits.mergeCountMax;
  pace.progress = { phase: "merge", mergeCount: exports.mergeCount(), shareDone };
}

/** Every memory has all of them. */
function learnedMerges({ memories }: MergeEngine): Merges {
  const { exports, memory } = memories[0]!;
  const mergeCount = exports.mergeCount();
  const idsOf = (region: WebAssembly.Global) =>
    new Int32Array(memory.buffer, (region.value >>> 0) + 4 * 256, mergeCount).slice();
  return {
    mergeCount,
    replacedCount: exports.replacedCount(),
    left: idsOf(exports.lefts),
    right: idsOf(exports.rights),
    counts: new Float64Array(memory.buffer, (exports.mergeCounts.value >>> 0) + 8 * 256, mergeCount).slice(),
  };
}
