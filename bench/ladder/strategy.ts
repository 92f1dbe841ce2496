import type { WordTable } from "../../src/words/word-table.ts";

/**
 * Learned: the merges made so far, in order. Ids as in `Merges`: bytes are 0-255, merge k makes token 256 + k.
 * The caller of a strategy owns it, and so keeps the merges of a run that was stopped halfway.
 */
export type Learned = { readonly left: number[]; readonly right: number[]; readonly counts: number[] };

export const nothingLearned = (): Learned => ({ left: [], right: [], counts: [] });

/**
 * A rung of the ladder: one way to learn the merges of a word table, ties by the `cs336` rule. It yields after every
 * merge, and often enough before the first one, so that its caller can take the time and stop it.
 */
export type Strategy = {
  readonly name: string;
  /** For the report: how the counts change after a merge, and how the next pair is found. */
  readonly update: string;
  readonly selection: string;
  /**
   * Whether the first k merges of a longer run take as long as a run for k merges. They do not if the requested number
   * of merges decides which pairs are kept.
   */
  readonly isIncremental: boolean;
  train(words: WordTable, mergeCount: number, learned: Learned): Generator<void, void>;
};
