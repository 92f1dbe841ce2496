/**
 * Merges in the order in which they were learned. Token ids here are the engine's own: the first `startCount` are the
 * start tokens (src/merge/merge-options.ts), usually the 256 bytes. Merge k makes token `startCount` + k. The
 * vocabulary assigns final ids.
 *
 *   ARRAY           TYPE           LENGTH       MEANING
 *   left            Int32Array     mergeCount   token id of the left half of merge k
 *   right           Int32Array     mergeCount   token id of its right half
 *   counts          Float64Array   mergeCount   occurrences of the pair when it was merged, weighted by word counts
 *   replacedCounts  Float64Array   mergeCount   replaced occurrences, weighted by word counts
 *   startCounts     Float64Array   startCount   occurrences of each start token before any merge
 *
 * Two occurrences of a pair of equal tokens may overlap: "aaa" has the pair "a a" twice, and one is replaced. Each
 * replacement removes one token. So after all merges, the number of tokens in the corpus is the sum of `startCounts`
 * minus the sum of `replacedCounts`.
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

/** The trainer whose merges are reproduced: its rules for equal counts, for ids, and for the end of training. */
export type Compat = "cs336" | "huggingface" | "rustbpe";
