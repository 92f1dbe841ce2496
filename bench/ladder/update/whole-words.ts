import type { WordTable } from "../../../src/words/word-table.ts";
import { type PairKey, pairKey } from "../pairs.ts";
import { addToCount, type PairCounts, type TokenizedWords, type Update } from "../step-by-step.ts";
import { addToIndex, buildIndex, type WordIndex } from "../word-index.ts";
import { mergeInWord } from "./recount.ts";

/**
 * Reads only the words that contain the pair. Subtracts all pairs of such a word from the counts, merges the pair in
 * the word, and adds all pairs that the word has after that.
 */
export function subtractAndAddWords(words: WordTable): Update {
  const tokenized: TokenizedWords = { tokens: [], counts: [] };
  const counts: PairCounts = new Map();
  const index: WordIndex = new Map();
  return {
    counts,
    prepare: () => buildIndex(words, tokenized, counts, index),
    merge(pair, id) {
      const changed = new Set<PairKey>();
      for (const word of [...index.get(pair)!]) {
        const tokens = tokenized.tokens[word]!;
        const count = tokenized.counts[word]!;
        for (let i = 0; i + 1 < tokens.length; i++) {
          const old = pairKey(tokens[i]!, tokens[i + 1]!);
          addToCount(counts, old, -count);
          index.get(old)!.delete(word);
          changed.add(old);
        }
        mergeInWord(tokens, pair, id);
        for (let i = 0; i + 1 < tokens.length; i++) {
          const present = pairKey(tokens[i]!, tokens[i + 1]!);
          addToCount(counts, present, count);
          addToIndex(index, present, word);
          changed.add(present);
        }
      }
      index.delete(pair);
      return changed;
    },
  };
}
