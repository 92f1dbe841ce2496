import type { WordTable } from "../../src/words/word-table.ts";
import { byteTokens, leftOf, type PairKey, rightOf, type TokenBytes } from "./pairs.ts";
import type { Learned, Strategy } from "./strategy.ts";

/** The number of occurrences of every pair, weighted by the counts of the words. No entry is 0. */
export type PairCounts = Map<PairKey, number>;

export interface Update {
  readonly counts: PairCounts;
  /** Reads the words and counts their pairs. Yields after every few thousand words. */
  prepare(): Generator<void, void>;
  /**
   * Replaces every occurrence of the pair with the token `id`. Returns the pairs whose counts have changed and are not
   * 0, and perhaps others.
   */
  merge(pair: PairKey, id: number): Iterable<PairKey>;
}

/** Finds the pair with the highest count. If several pairs have it, the tie rule decides. */
export interface Selection {
  /** Must be called with every pair whose count has changed and is not 0. */
  changed(pairs: Iterable<PairKey>): void;
  best(): PairKey | undefined;
}

/**
 * Combines an algorithm for updating with one for selecting.
 */
export function stepByStep(
  name: string,
  [update, createUpdate]: readonly [string, (words: WordTable) => Update],
  [selection, createSelection]: readonly [string, (counts: PairCounts, tokenBytes: TokenBytes) => Selection],
): Strategy {
  return {
    name,
    update,
    selection,
    isIncremental: true,
    train: (words, mergeCount, learned) => train(createUpdate(words), createSelection, mergeCount, learned),
  };
}

function* train(
  update: Update,
  createSelection: (counts: PairCounts, tokenBytes: TokenBytes) => Selection,
  mergeCount: number,
  learned: Learned,
): Generator<void, void> {
  yield* update.prepare();
  const tokenBytes = byteTokens();
  const selection = createSelection(update.counts, tokenBytes);
  selection.changed(update.counts.keys());
  while (learned.left.length < mergeCount) {
    const pair = selection.best();
    if (pair === undefined) return;
    const left = leftOf(pair);
    const right = rightOf(pair);
    learned.left.push(left);
    learned.right.push(right);
    learned.counts.push(update.counts.get(pair)!);
    const id = tokenBytes.push(tokenBytes[left]! + tokenBytes[right]!) - 1;
    selection.changed(update.merge(pair, id));
    yield;
  }
}

/** Adds to a count, and removes the entry if it becomes 0. */
export function addToCount(counts: PairCounts, pair: PairKey, change: number): void {
  const count = (counts.get(pair) ?? 0) + change;
  if (count === 0) counts.delete(pair);
  else counts.set(pair, count);
}

/** The words of two bytes or more, each as an array of tokens, which are bytes at first. */
export type TokenizedWords = { readonly tokens: number[][]; readonly counts: number[] };

/** Reads the words. Yields after every few thousand. */
export function* tokenize(words: WordTable, tokenized: TokenizedWords): Generator<void, void> {
  const { wordCount, bytes, starts, counts } = words;
  for (let w = 0; w < wordCount; w++) {
    if (w % wordsBetweenYields === 0) yield;
    if (starts[w + 1]! - starts[w]! < 2) continue;
    tokenized.tokens.push(Array.from(bytes.subarray(starts[w]!, starts[w + 1]!)));
    tokenized.counts.push(counts[w]!);
  }
}

export const wordsBetweenYields = 1 << 12;
