import { createKernel, growMemory, type Kernel } from "../runtime/kernel.ts";
import { sizeOfWords, type TokenWords, type TokenWordsSize } from "../words/word-table.ts";
import { fillTieRule, fillWordFacts, type TieRule, tieRuleOf } from "./fill-tie-rule.ts";
import { type MergePlan, planRegions } from "./merge-helpers.ts";
import {
  byteTokens,
  cellCountBound,
  limitsOf,
  type MergeLimits,
  type MergeOptions,
  type MergeTuning,
  threadCountOf,
} from "./merge-options.ts";

/**
 * A merge engine, set up for its task. Its words lie in one memory of up to 4 GB or, where they do not fit, in several:
 * a slice of the word table in each (src/kernel/merge/memory-exchange.ts).
 */
export type MergeEngine = {
  readonly memories: readonly MergeMemory[];
  readonly limits: MergeLimits;
  readonly budget: WorkBudget;
};

export type MergeMemory = Kernel & {
  readonly words: WordSlice;
  readonly plan: MergePlan;
  /** What the regions were planned for. */
  readonly capacityBytes: number;
};

/** Words [first, end) of the table. */
type WordSlice = TokenWordsSize & {
  readonly first: number;
  readonly end: number;
  /** Cells that they take at most. */
  readonly cellCount: number;
};

/** Sets up an engine in so many memories; undefined if it does not fit. */
export function createMergeEngine(
  words: TokenWords,
  memoryCount: number,
  options: MergeOptions,
  tuning: MergeTuning,
): MergeEngine | undefined {
  const slices = cutWords(words, memoryCount);
  const cellCountOfAll = cellCountBound(sizeOfWords(words));
  const limits = limitsOf(options, cellCountOfAll);
  const rule = tieRuleOf(options);
  // Every merge takes an id, also one that spells a special token; the boundary is the id after the last.
  const { startCount } = rule;
  const tokenCapacity = startCount + limits.mergeCountMax + rule.specials.length;
  if (tokenCapacity >= 2 ** 31) return undefined;
  const countsDensely = startCount <= denseStartCountMax && !tuning.hashesFirstPairs;
  const planOfAll = {
    memoryCount,
    cellCountOfAll,
    positionBytes: words.tokens.BYTES_PER_ELEMENT,
    startCount,
    startByteCount: rule.spelling.bytes.length,
    haveLongTokens: rule.haveLongTokens,
    countsDensely,
    tokenCapacity,
    isWide: tuning.wideCells || tokenCapacity > 0xffff,
    specialCount: rule.specials.length,
    specialByteCount: sum(rule.specials.map(({ bytes }) => bytes.length)),
    limitsWords: options.limitsWords ?? false,
    threadCount: threadCountOf(options, cellCountOfAll, tuning),
  };
  const memories: MergeMemory[] = [];
  for (const [memoryIndex, slice] of slices.entries()) {
    const { wordCount, positionCount, cellCount } = slice;
    // Only the first memory compares tokens.
    const prefixLength = rule.comparesBytes && memoryIndex === 0 ? tuning.prefixBytes : 0;
    const plan = { ...planOfAll, memoryIndex, prefixLength, wordCount, positionCount, cellCount };
    const memory = createMergeMemory(slice, plan, tuning.memoryBytesMax);
    if (memory === undefined) return undefined;
    fillTieRule(memory, rule);
    if (plan.limitsWords) fillWordFacts(memory, options.startTokens ?? byteTokens);
    startEngine(memory, limits, rule, tuning);
    memories.push(memory);
  }
  return { memories, limits, budget: createWorkBudget(tuning.sliceWork) };
}

/**
 * Cuts the table into slices of about as many cells each. A word is in one slice, so it makes no difference to the
 * merges where the cuts are.
 */
function cutWords(words: TokenWords, sliceCount: number): WordSlice[] {
  const { wordCount, starts } = words;
  const sizeBefore = (word: number) => starts[word]! + word;
  const cuts = Array.from({ length: sliceCount + 1 }, (_, k) =>
    firstWord(wordCount, (word) => sizeBefore(word) >= (sizeBefore(wordCount) * k) / sliceCount),
  );
  return Array.from({ length: sliceCount }, (_, k) => {
    const [first, end] = [cuts[k]!, cuts[k + 1]!];
    const size = { wordCount: end - first, positionCount: starts[end]! - starts[first]! };
    return { first, end, ...size, cellCount: cellCountBound(size) };
  });
}

/** The first word from which on `isBehind` is true, by binary search; `wordCount` if there is none. */
function firstWord(wordCount: number, isBehind: (word: number) => boolean): number {
  let [low, high] = [0, wordCount];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (isBehind(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/**
 * Plans for as much address space as there is; where the system refuses it, for less. Undefined if the slice does not
 * fit.
 */
function createMergeMemory(words: WordSlice, plan: MergePlan, bytesMax: number): MergeMemory | undefined {
  const kernel = createKernel();
  for (let capacityBytes = bytesMax; ; ) {
    const plannedBytes = planRegions(kernel, plan, capacityBytes);
    if (plannedBytes === 0) return undefined;
    try {
      growMemory(kernel.memory, plannedBytes);
      return { ...kernel, words, plan, capacityBytes };
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      capacityBytes = plannedBytes / 2;
    }
  }
}

/** The kernel has counts as whole numbers of 64 bits; none that it counts is as large as this. */
const countEnd = 2 ** 53;
const noLimit = 2 ** 32 - 1;
/** Dense tables have 65,536 pairs. */
const denseStartCountMax = 256;

function startEngine(
  { exports, plan }: MergeMemory,
  limits: MergeLimits,
  rule: TieRule,
  tuning: MergeTuning,
): void {
  const least = Math.min(Math.ceil(limits.countMin), countEnd);
  const rises = tuning.threshold === "rising";
  const dense = rises ? least : Math.min(Math.max(least, tuning.threshold), countEnd);
  // The index anew lowers the threshold to a quarter at least; its first one begins above every count.
  const first = plan.countsDensely ? dense : 4 * (rises ? countEnd : dense);
  exports.startThreshold(
    first,
    least,
    tuning.thresholdFromMerge,
    rises ? tuning.thresholdShare : 0,
    tuning.thresholdExponent,
  );
  const lengthMax = Math.max(0, Math.min(limits.lengthMax, noLimit));
  exports.startMerges(tuning.blockSize, tuning.sharedListLength);
  exports.startLimits(lengthMax, limits.bytePairsAlways);
  exports.startEngine(limits.mergeCountMax, tuning.sliceWork, tuning.cleanShare, rule.smallerWins);
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

/** What the caller is told between two slices. `shareDone` is of the phase, 0 to 1. */
export type MergeProgress = {
  readonly phase: "layout" | "index" | "merge";
  readonly mergeCount: number;
  readonly shareDone: number;
};

/**
 * Work budget: how much work is left until the engine yields. Work is counted in what is touched (cells, entries,
 * words), not in time: the engine knows no clock. Every loop that can be long is cut into calls of at most `sliceWork`
 * and says after each `if (spend(budget, work)) yield budget.progress`.
 */
export type WorkBudget = { readonly sliceWork: number; workLeft: number; progress: MergeProgress };

export function createWorkBudget(sliceWork: number): WorkBudget {
  return { sliceWork, workLeft: sliceWork, progress: { phase: "layout", mergeCount: 0, shareDone: 0 } };
}

/** Takes `work` off the slice; true when the slice is used up and it is time to yield. */
export function spend(budget: WorkBudget, work: number): boolean {
  budget.workLeft -= work;
  if (budget.workLeft > 0) return false;
  budget.workLeft = budget.sliceWork;
  return true;
}

/** Calls `work` for runs of [0, count), until all are done. */
export function* inRuns(
  budget: WorkBudget,
  count: number,
  work: (from: number, to: number) => void,
): Generator<MergeProgress, void> {
  for (let from = 0; from < count; from += budget.sliceWork) {
    const to = Math.min(from + budget.sliceWork, count);
    work(from, to);
    if (spend(budget, to - from)) yield budget.progress;
  }
}

/** Calls `doSome` for a slice at a time, until it returns 0; `workMax` bounds the work of all calls. */
export function* inSlices(
  budget: WorkBudget,
  doSome: (work: number) => 0 | 1,
  { report, workMax = Number.POSITIVE_INFINITY }: { report?: () => void; workMax?: number } = {},
): Generator<MergeProgress, void> {
  let workLeft = workMax;
  for (let hasMore = true; hasMore; ) {
    hasMore = doSome(budget.sliceWork) === 1;
    report?.();
    const work = Math.min(budget.sliceWork, workLeft);
    workLeft -= work;
    if (spend(budget, work)) yield budget.progress;
  }
}
