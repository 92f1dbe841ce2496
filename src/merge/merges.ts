import type { Kernel } from "../runtime/kernel.ts";

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
};

/** @internal The pairs alone: what a vocabulary is made of. */
export type LearnedPairs = {
  readonly mergeCount: number;
  readonly left: Int32Array;
  readonly right: Int32Array;
};

/** Whose trainer to agree with, merge for merge: the rule for equal counts, ids and stops. */
export type Compat = "cs336" | "huggingface" | "rustbpe";

/** @internal Copies what an engine has learned out of one of its memories. */
export function readMerges({ exports, memory }: Kernel, startCount: number): Merges {
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
  };
}
