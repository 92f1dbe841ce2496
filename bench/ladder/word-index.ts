import type { WordTable } from "../../src/words/word-table.ts";
import { type PairKey, pairKey } from "./pairs.ts";
import {
  addToCount,
  type PairCounts,
  type TokenizedWords,
  tokenize,
  wordsBetweenYields,
} from "./step-by-step.ts";

/**
 * For each pair, the words that contain it, or that contained it before some merge, by their positions in
 * TokenizedWords.
 */
export type WordIndex = Map<PairKey, Set<number>>;

export function addToIndex(index: WordIndex, pair: PairKey, word: number): void {
  const holders = index.get(pair);
  if (holders === undefined) index.set(pair, new Set([word]));
  else holders.add(word);
}

/** Reads the words, counts their pairs and records where each pair occurs. */
export function* buildIndex(
  words: WordTable,
  tokenized: TokenizedWords,
  counts: PairCounts,
  index: WordIndex,
): Generator<void, void> {
  yield* tokenize(words, tokenized);
  for (let w = 0; w < tokenized.tokens.length; w++) {
    if (w % wordsBetweenYields === 0) yield;
    const tokens = tokenized.tokens[w]!;
    for (let i = 0; i + 1 < tokens.length; i++) {
      const pair = pairKey(tokens[i]!, tokens[i + 1]!);
      addToCount(counts, pair, tokenized.counts[w]!);
      addToIndex(index, pair, w);
    }
  }
}
