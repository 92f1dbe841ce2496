import type { Kernel } from "#runtime";

/**
 * Merges: what training learned, in the order it was learned. Token ids here are the engine's own: the first
 * `startCount` are the start tokens (merge-options.ts), usually the 256 bytes; merge k makes token `startCount` + k. The
 * ids of the finished vocabulary are given by `vocabulary/`.
 *
 *   ARRAY           TYPE           LENGTH       MEANING
 *   left            Int32Array     mergeCount   token id of the left half of merge k
 *   right           Int32Array     mergeCount   token id of its right half
 *   counts          Float64Array   mergeCount   occurrences of the pair when it was merged, weighted by word counts
 *   replacedCounts  Float64Array   mergeCount   how many of them were replaced, weighted by word counts
 *   startCounts     Float64Array   startCount   occurrences of each start token before any merge
 *
 * Two occurrences of a pair of equal tokens may overlap: "aaa" has the pair "a a" twice, and one is replaced. Each
 * that is replaced takes one token away, so the corpus is cut into as many tokens less than it has start tokens.
 *
 * Merging "t h" and then "th e" gives left = [116, 256], right = [104, 101].
 *
 * @internal
 */
export type Merges = LearnedPairs & {
  readonly startCount: number;
  readonly counts: Float64Array;
  readonly replacedCounts: Float64Array;
  readonly startCounts: Float64Array;
};

/** @internal The pairs alone: what a vocabulary is made of. */
export type LearnedPairs = {
  readonly mergeCount: number;
  readonly left: Int32Array;
  readonly right: Int32Array;
};

/** Whose trainer to agree with, merge for merge: the rule for equal counts, ids and stops. */
export type Compat = "cs336" | "huggingface" | "rustbpe";

/** @internal Copies what an engine has learned out of its memories: each has all merges, and start tokens of its own words. */
export function readMerges(memories: readonly Kernel[], startCount: number): Merges {
  const [{ exports, memory }] = memories as [Kernel];
  const mergeCount = exports.mergeCount();
  // The regions have an element for each token; those of merges begin behind the start tokens.
  const idsOf = (region: WebAssembly.Global) =>
    new Int32Array(memory.buffer, (region.value >>> 0) + 4 * startCount, mergeCount).slice();
  const countsOf = (region: WebAssembly.Global) =>
    new Float64Array(memory.buffer, (region.value >>> 0) + 8 * startCount, mergeCount).slice();
  return {
    startCount,
    mergeCount,
    left: idsOf(exports.lefts),
    right: idsOf(exports.rights),
    counts: countsOf(exports.mergeCounts),
    replacedCounts: countsOf(exports.replacedCounts),
    startCounts: readStartCounts(memories, startCount),
  };
}

/** @internal Occurrences of each start token in the words of all the memories. */
export function readStartCounts(memories: readonly Kernel[], startCount: number): Float64Array {
  const sums = new Float64Array(startCount);
  for (const { exports, memory } of memories) {
    const counts = new Float64Array(memory.buffer, exports.mergeCounts.value >>> 0, startCount);
    for (let token = 0; token < startCount; token++) sums[token]! += counts[token]!;
  }
  return sums;
}
