import { decodeCharacters } from "../bytes/byte-characters.ts";
import { UserError } from "../errors.ts";
import { createKernel, growMemory, type Kernel } from "../runtime/kernel.ts";
import type { WordTable } from "../words/word-table.ts";
import { alphabetOrder } from "./alphabet-order.ts";
import { type MergePlan, planRegions, startMergeHelpers } from "./merge-helpers.ts";
import { limitsOf, type MergeLimits, type MergeOptions, threadCountOf } from "./merge-options.ts";
import type { MergeTuning } from "./merge-tuning.ts";
import type { Merges } from "./merges.ts";
import { createPace, type MergeProgress, type Pace, spend } from "./work-budget.ts";

/** A kernel whose memory has room for a merge engine, set up for its task. */
export type MergeKernel = Kernel & {
  readonly plan: MergePlan;
  /** What the regions were planned for. */
  readonly capacityBytes: number;
  readonly limits: MergeLimits;
  readonly pace: Pace;
};

/** Sets up the engine in a memory of its own; undefined if it does not fit. */
export function createMergeKernel(
  words: WordTable,
  cellCount: number,
  options: MergeOptions,
  tuning: MergeTuning,
): MergeKernel | undefined {
  const limits = limitsOf(options, cellCount);
  const rule = tieRuleOf(options);
  // Every merge takes an id, also one that spells a special token; the boundary is the id after the last.
  const tokenCapacity = 256 + limits.mergeCountMax + rule.specials.length;
  if (tokenCapacity >= 2 ** 31) return undefined;
  const plan = {
    wordCount: words.wordCount,
    wordByteCount: words.bytes.length,
    cellCount,
    tokenCapacity,
    isWide: tuning.wideCells || tokenCapacity > 0xffff,
    prefixLength: rule.comparesBytes ? tuning.prefixBytes : 0,
    specialCount: rule.specials.length,
    specialByteCount: sum(rule.specials.map(({ bytes }) => bytes.length)),
    threadCount: threadCountOf(options, cellCount, tuning),
  };
  const kernel = createKernel();
  const capacityBytes = makeRegions(kernel, plan, tuning.kernelBytesMax);
  if (capacityBytes === 0) return undefined;
  fillRule(kernel, rule);
  startEngine(kernel, limits, tuning);
  return { ...kernel, plan, capacityBytes, limits, pace: createPace(tuning.sliceWork) };
}

/**
 * Plans for as much address space as there is; what the system refuses is planned for with less. What was planned for,
 * or 0 if the engine does not fit.
 */
function makeRegions(kernel: Kernel, plan: MergePlan, bytesMax: number): number {
  for (let capacityBytes = bytesMax; ; ) {
    const plannedBytes = planRegions(kernel, plan, capacityBytes);
    if (plannedBytes === 0) return 0;
    try {
      growMemory(kernel.memory, plannedBytes);
      return capacityBytes;
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      capacityBytes = plannedBytes / 2;
    }
  }
}

/** How a rule decides ties (src/kernel/merge/tie-rules.ts). */
type TieRule = {
  readonly comparesBytes: boolean;
  readonly byteRanks: Int32Array;
  /** The special tokens that a merge may spell, as the bytes that their text stands for in byte-to-character form. */
  readonly specials: readonly { readonly bytes: Uint8Array; readonly rank: number }[];
};

function tieRuleOf({ compat, specialTokens }: MergeOptions): TieRule {
  if (compat !== "huggingface") {
    const byteRanks = Int32Array.from({ length: 256 }, (_, byte) => byte);
    return { comparesBytes: compat === "cs336", byteRanks, specials: [] };
  }
  const texts = [...new Set(specialTokens)];
  const specials = texts.flatMap((text, index) => {
    const bytes = decodeCharacters(text);
    return bytes === null ? [] : [{ bytes, rank: texts.length - index }];
  });
  return { comparesBytes: false, byteRanks: alphabetOrder(), specials };
}

function fillRule({ exports, memory }: Kernel, { byteRanks, specials }: TieRule): void {
  const { buffer } = memory;
  new Int32Array(buffer, addressOf(exports.byteRanks), 256).set(byteRanks);
  const entries = new Uint32Array(buffer, addressOf(exports.specials), 3 * specials.length);
  const allBytes = new Uint8Array(buffer, addressOf(exports.specialBytes));
  let start = 0;
  specials.forEach(({ bytes, rank }, index) => {
    entries.set([start, bytes.length, rank], 3 * index);
    allBytes.set(bytes, start);
    start += bytes.length;
  });
}

/** The kernel has counts as whole numbers of 64 bits; none that it counts is as large as this. */
const countEnd = 2 ** 53;
const noLimit = 2 ** 32 - 1;

function startEngine({ exports }: Kernel, limits: MergeLimits, tuning: MergeTuning): void {
  const least = Math.min(Math.ceil(limits.countMin), countEnd);
  const rises = tuning.gate === "rising";
  const first = rises ? least : Math.min(Math.max(least, tuning.gate), countEnd);
  exports.startGate(first, least, tuning.gateFromMerge, rises ? tuning.gateShare : 0, tuning.gateExponent);
  const lengthMax = Math.max(0, Math.min(limits.lengthMax, noLimit));
  exports.startMerges(tuning.blockSize, tuning.sharedListLength, lengthMax, limits.bytePairsAlways);
  exports.startEngine(limits.mergeCountMax, tuning.sliceWork, tuning.cleanShare);
}

/** Learns the merges; undefined if there is not enough memory, which may show only in the middle. */
export function* trainMergesInKernel(
  words: WordTable,
  cellCount: number,
  options: MergeOptions,
  tuning: MergeTuning,
): Generator<MergeProgress, Merges | undefined> {
  const kernel = createMergeKernel(words, cellCount, options, tuning);
  if (kernel === undefined) return undefined;
  const { plan, capacityBytes } = kernel;
  const helpers = tuning.startsHelpers ? startMergeHelpers(kernel, plan, capacityBytes) : undefined;
  try {
    return yield* learnMerges(kernel, words, tuning);
  } finally {
    helpers?.end();
  }
}

/** The whole of it, in a kernel that is set up; undefined if there is not enough memory after all. */
export function* learnMerges(
  kernel: MergeKernel,
  words: WordTable,
  tuning: MergeTuning,
): Generator<MergeProgress, Merges | undefined> {
  yield* copyWords(kernel, words);
  yield* layOutWords(kernel, words.wordCount);
  if (!(yield* indexBytePairs(kernel, tuning))) return undefined;
  const { exports, pace } = kernel;
  for (;;) {
    const pause = exports.mergeUntilPause(pace.workLeft);
    pace.workLeft = exports.workLeftOfSlice();
    switch (pauses[pause]) {
      case "slice used up":
        spend(pace, 0);
        reportMerges(kernel);
        yield pace.progress;
        break;
      case "large pair on top":
        reportMerges(kernel);
        if (!(yield* mergeTopInSlices(kernel))) return undefined;
        break;
      case "top below gate":
        if (!(yield* indexAnew(kernel))) return undefined;
        break;
      case "no room":
        return undefined;
      case "finished":
        return learnedMerges(kernel);
    }
  }
}

const pauses = ["finished", "slice used up", "large pair on top", "top below gate", "no room"] as const;

/** Bytes that are copied with as much work as one cell. */
const bytesPerWork = 16;

function* copyWords(
  { exports, memory, pace }: MergeKernel,
  words: WordTable,
): Generator<MergeProgress, void> {
  const { wordCount, bytes, starts, counts } = words;
  const { buffer } = memory;
  const regions = [
    [asBytes(counts.subarray(0, wordCount)), exports.mergeWordCounts],
    [asBytes(starts.subarray(0, wordCount + 1)), exports.mergeWordStarts],
    [bytes, exports.mergeWordBytes],
  ] as const;
  for (const [source, address] of regions) {
    const target = new Uint8Array(buffer, addressOf(address), source.length);
    const sliceBytes = pace.sliceWork * bytesPerWork;
    for (let from = 0; from < source.length; from += sliceBytes) {
      target.set(source.subarray(from, from + sliceBytes), from);
      if (spend(pace, pace.sliceWork)) yield pace.progress;
    }
  }
}

const asBytes = (array: Float64Array | Uint32Array) =>
  new Uint8Array(array.buffer, array.byteOffset, array.byteLength);

function* layOutWords(kernel: MergeKernel, wordCount: number): Generator<MergeProgress, void> {
  const { exports, pace, plan } = kernel;
  exports.startLayout();
  yield* inRuns(pace, wordCount, exports.tallyWords);
  const frequentCount = exports.frequentWordCount();
  for (let shift = 0; exports.startDigit(shift); shift += digitBits) {
    yield* inRuns(pace, frequentCount, (from, to) => exports.tallyDigits(shift, from, to));
    exports.addUpDigits();
    yield* inRuns(pace, frequentCount, (from, to) => exports.placeByDigit(shift, from, to));
    exports.endDigit();
  }
  const report = () => {
    pace.progress = { phase: "layout", mergeCount: 0, shareDone: exports.laidOutCells() / plan.cellCount };
  };
  yield* inSlices(pace, exports.layOutFrequentWords, report);
  exports.startRareWords();
  yield* inSlices(pace, exports.layOutRareWords, report);
}

/** Of the sort of the frequent words. */
const digitBits = 11;

/** False if there is not enough memory. */
function* indexBytePairs(kernel: MergeKernel, tuning: MergeTuning): Generator<MergeProgress, boolean> {
  const { exports, pace, plan } = kernel;
  let cellsDone = 0;
  const report = () => {
    cellsDone += pace.sliceWork;
    const shareDone = Math.min(1, (cellsDone * plan.threadCount) / (2 * plan.cellCount));
    pace.progress = { phase: "index", mergeCount: 0, shareDone };
  };
  exports.startText();
  yield* inSlices(pace, exports.countBytePairsSome, report);
  const added = exports.addBytePairs(tuning.arenaSlack);
  if (added === 1) throw countTooLarge();
  if (added === 2) return false;
  exports.startText();
  yield* inSlices(pace, exports.writeBytePairsSome, report);
  return true;
}

const countTooLarge = () =>
  new UserError("a pair occurs 2^53 times or more: more than can be counted exactly", {
    hint: "divide all word counts by the same number, or train from a part of the input",
  });

/** The index anew, with a lower gate (src/kernel/merge/index-anew.ts). False if there is not enough memory. */
function* indexAnew({ exports, pace, limits }: MergeKernel): Generator<MergeProgress, boolean> {
  exports.startReindex();
  for (let counted = 1; counted !== 0; ) {
    counted = exports.countPairsSome(pace.sliceWork);
    if (counted === 2) return false;
    if (spend(pace, pace.sliceWork)) yield pace.progress;
  }
  exports.startKeeping(limits.mergeCountMax - exports.mergedEntryCount());
  yield* inSlices(pace, exports.keepPairsSome);
  if (!exports.startLists()) return false;
  yield* inSlices(pace, exports.writePairsSome);
  exports.startPushing();
  yield* inSlices(pace, exports.pushPairsSome);
  return true;
}

/** A merge with a long list, or with an arena that is full. False if there is not enough memory. */
function* mergeTopInSlices({ exports, pace }: MergeKernel): Generator<MergeProgress, boolean> {
  exports.startLargeMerge();
  yield* inSlices(pace, exports.mergeSome);
  if (exports.startMakingRoom()) {
    yield* inSlices(pace, exports.compactSome);
    if (!exports.endMakingRoom()) {
      exports.startCleaningAll();
      yield* inSlices(pace, exports.compactSome);
      if (!exports.endMakingRoom()) return false;
    }
  }
  if (!exports.settleLargeMerge()) return false;
  yield* inSlices(pace, exports.writeSome);
  exports.endMerge();
  return true;
}

/** Calls `work` for runs of [0, count), until all are done. */
function* inRuns(
  pace: Pace,
  count: number,
  work: (from: number, to: number) => void,
): Generator<MergeProgress, void> {
  for (let from = 0; from < count; from += pace.sliceWork) {
    const to = Math.min(from + pace.sliceWork, count);
    work(from, to);
    if (spend(pace, to - from)) yield pace.progress;
  }
}

/** Calls `doSome` for a slice at a time, until there is no more to do. */
function* inSlices(
  pace: Pace,
  doSome: (work: number) => boolean,
  report?: () => void,
): Generator<MergeProgress, void> {
  for (let hasMore = true; hasMore; ) {
    hasMore = doSome(pace.sliceWork);
    report?.();
    if (spend(pace, pace.sliceWork)) yield pace.progress;
  }
}

function reportMerges({ exports, pace, limits }: MergeKernel): void {
  const shareDone = exports.mergedEntryCount() / limits.mergeCountMax;
  pace.progress = { phase: "merge", mergeCount: exports.mergeCount(), shareDone };
}

function learnedMerges({ exports, memory }: MergeKernel): Merges {
  const mergeCount = exports.mergeCount();
  const { buffer } = memory;
  return {
    mergeCount,
    replacedCount: exports.replacedCount(),
    left: new Int32Array(buffer, addressOf(exports.lefts) + 4 * 256, mergeCount).slice(),
    right: new Int32Array(buffer, addressOf(exports.rights) + 4 * 256, mergeCount).slice(),
    counts: new Float64Array(buffer, addressOf(exports.mergeCounts) + 8 * 256, mergeCount).slice(),
  };
}

const addressOf = (region: WebAssembly.Global): number => region.value >>> 0;

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
