import type { WordTable } from "../../src/words/word-table.ts";

/** The merges so far, in order. Ids 0 to 255 are bytes, and merge k makes token 256 + k. */
export type Learned = { readonly left: number[]; readonly right: number[]; readonly counts: number[] };

export const nothingLearned = (): Learned => ({ left: [], right: [], counts: [] });

/**
 * A rung of the ladder: an algorithm that learns merges, with ties by the `cs336` rule. It yields regularly and, if it
 * is incremental, after every merge, so that its caller can measure the time and stop it.
 */
export type Strategy = {
  readonly name: string;
  /** For the report: how the counts are updated after a merge. */
  readonly update: string;
  /** For the report: how the next pair is found. */
  readonly selection: string;
  /**
   * Whether the first k merges of a longer run take as long as a run for k merges. This is false if the requested
   * number of merges determines which pairs are stored.
   */
  readonly isIncremental: boolean;
  train(words: WordTable, mergeCount: number, learned: Learned): Generator<void, void>;
};
