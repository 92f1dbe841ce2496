import type { Kernel } from "#runtime";

/**
 * Merges in the order in which they were learned. Token ids here are the engine's own: the first `startCount` are the
 * start tokens (merge-options.ts), usually the 256 bytes; merge k makes token `startCount` + k. The vocabulary assigns
 * final ids.
 *
 *   ARRAY           TYPE           LENGTH       MEANING
 *   left            Int32Array     mergeCount   token id of the left half of merge k
 *   right           Int32Array     mergeCount   token id of its right half
 *   counts          Float64Array   mergeCount   occurrences of the pair when it was merged, weighted by word counts
 *   replacedCounts  Float64Array   mergeCount   replaced occurrences, weighted by word counts
 *   startCounts     Float64Array   startCount   occurrences of each start token before any merge
 *
 * Two occurrences of a pair of equal tokens may overlap: "aaa" has the pair "a a" twice, and one is replaced. Each
 * replacement removes one token, so the corpus has as many tokens as start tokens minus all replaced occurrences.
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

/** @internal The pairs alone, which define a vocabulary. */
export type LearnedPairs = {
  readonly mergeCount: number;
  readonly left: Int32Array;
  readonly right: Int32Array;
};

/** Whose merges to reproduce exactly: the rules for equal counts, for ids, and for the end of training. */
export type Compat = "cs336" | "huggingface" | "rustbpe";

/**
 * @internal Copies the learned merges from an engine's memories. Each memory has all merges, but counts only the start
 * tokens in its own words.
 */
export function readMerges(memories: readonly Kernel[], startCount: number): Merges {
  const [{ exports, memory }] = memories as [Kernel];
  const mergeCount = exports.mergeCount();
  // The regions have an element for each token; those of the merges follow those of the start tokens.
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

/** @internal Sums the occurrences of each start token over the words of all memories. */
export function readStartCounts(memories: readonly Kernel[], startCount: number): Float64Array {
  const sums = new Float64Array(startCount);
  for (const { exports, memory } of memories) {
    const counts = new Float64Array(memory.buffer, exports.mergeCounts.value >>> 0, startCount);
    for (let token = 0; token < startCount; token++) sums[token]! += counts[token]!;
  }
  return sums;
}
