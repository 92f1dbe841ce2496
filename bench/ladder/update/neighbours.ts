import type { WordTable } from "../../../src/words/word-table.ts";
import { leftOf, type PairKey, pairKey, rightOf } from "../pairs.ts";
import { addToCount, type PairCounts, type TokenizedWords, type Update } from "../step-by-step.ts";
import { addToIndex, buildIndex, type WordIndex } from "../word-index.ts";

/**
 * Reads only the words that the index has for the pair. Changes only the counts of this pair, of the pairs that overlap
 * an occurrence of it, and of the pairs that replace the overlapping ones. The index may also have words that no longer
 * contain the pair.
 */
export function updateNeighbours(words: WordTable): Update {
  const tokenized: TokenizedWords = { tokens: [], counts: [] };
  const counts: PairCounts = new Map();
  const index: WordIndex = new Map();
  return {
    counts,
    prepare: () => buildIndex(words, tokenized, counts, index),
    merge(pair, id) {
      const changed = new Set<PairKey>();
      for (const word of index.get(pair)!) {
        mergeWithNeighbours(
          tokenized.tokens[word]!,
          tokenized.counts[word]!,
          word,
          pair,
          id,
          counts,
          index,
          changed,
        );
      }
      index.delete(pair);
      return changed;
    },
  };
}

/**
 * Merges the pair in a word from the left, one occurrence after the other: in "xyxy" the first merge creates (xy, x),
 * which the second replaces with (xy, xy).
 */
function mergeWithNeighbours(
  tokens: number[],
  count: number,
  word: number,
  pair: PairKey,
  id: number,
  counts: PairCounts,
  index: WordIndex,
  changed: Set<PairKey>,
): void {
  const left = leftOf(pair);
  const right = rightOf(pair);
  const replace = (old: PairKey, present: PairKey) => {
    addToCount(counts, old, -count);
    addToCount(counts, present, count);
    addToIndex(index, present, word);
    changed.add(old).add(present);
  };
  let kept = 0;
  for (let i = 0; i < tokens.length; i++) {
    if (tokens[i] !== left || tokens[i + 1] !== right) {
      tokens[kept++] = tokens[i]!;
      continue;
    }
    if (kept > 0) replace(pairKey(tokens[kept - 1]!, left), pairKey(tokens[kept - 1]!, id));
    if (i + 2 < tokens.length) replace(pairKey(right, tokens[i + 2]!), pairKey(id, tokens[i + 2]!));
    addToCount(counts, pair, -count);
    tokens[kept++] = id;
    i++;
  }
  tokens.length = kept;
}
