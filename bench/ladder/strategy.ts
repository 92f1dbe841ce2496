import type { WordTable } from "../../src/words/word-table.ts";

/** The merges so far, in order. Merge k makes token 256 + k. */
export type Learned = { readonly left: number[]; readonly right: number[]; readonly counts: number[] };

export const nothingLearned = (): Learned => ({ left: [], right: [], counts: [] });

/** Learns merges, with ties by the `cs336` rule. Yields after every merge, and regularly before the first. */
export type Strategy = {
  readonly name: string;
  /** For the report: how the counts are updated after a merge. */
  readonly update: string;
  /** For the report: how the next pair is found. */
  readonly selection: string;
  /** Whether the first k merges of a longer run take as long as a run for k merges. */
  readonly isIncremental: boolean;
  train(words: WordTable, mergeCount: number, learned: Learned): Generator<void, void>;
};
