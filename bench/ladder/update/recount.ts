import type { WordTable } from "../../../src/words/word-table.ts";
import { leftOf, type PairKey, pairKey, rightOf } from "../pairs.ts";
import { addToCount, type PairCounts, type TokenizedWords, tokenize, type Update } from "../step-by-step.ts";

/** After every merge all words are rewritten and all pairs counted again. */
export function recountEverything(words: WordTable): Update {
  const tokenized: TokenizedWords = { tokens: [], counts: [] };
  const counts: PairCounts = new Map();
  return {
    counts,
    *prepare() {
      yield* tokenize(words, tokenized);
      countPairs(tokenized, counts);
    },
    merge(pair, id) {
      for (const tokens of tokenized.tokens) mergeInWord(tokens, pair, id);
      counts.clear();
      countPairs(tokenized, counts);
      return counts.keys();
    },
  };
}

function countPairs(words: TokenizedWords, counts: PairCounts): void {
  for (let w = 0; w < words.tokens.length; w++) {
    const tokens = words.tokens[w]!;
    for (let i = 0; i + 1 < tokens.length; i++) {
      addToCount(counts, pairKey(tokens[i]!, tokens[i + 1]!), words.counts[w]!);
    }
  }
}

/** Replaces the pair from the left, in place: merging "a a" in "aaa" gives "aa" "a". */
export function mergeInWord(tokens: number[], pair: PairKey, id: number): void {
  const left = leftOf(pair);
  const right = rightOf(pair);
  let kept = 0;
  for (let i = 0; i < tokens.length; i++) {
    if (tokens[i] === left && tokens[i + 1] === right) {
      tokens[kept++] = id;
      i++;
    } else tokens[kept++] = tokens[i]!;
  }
  tokens.length = kept;
}
