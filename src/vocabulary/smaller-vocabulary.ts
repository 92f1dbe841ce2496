import type { LearnedPairs } from "../merge/merges.ts";
import { isSpecialEntry, type Vocabulary } from "./vocabulary.ts";

/**
 * The merges that a training to a smaller vocabulary of `size` tokens would have stopped with: the first of the same ones.
 * All of them, if there are no more.
 */
export function mergesOfSize(merges: LearnedPairs, vocabulary: Vocabulary, size: number): LearnedPairs {
  const { mergeCount, entries, tokenIds, reservedCount } = vocabulary;
  // Under `huggingface` a merge that spells a special token takes its id, and adds no entry.
  const addsEntry = (k: number) => (isSpecialEntry(entries[tokenIds[256 + k]!]!) ? 0 : 1);
  let filledSize = vocabulary.size - reservedCount;
  for (let k = 0; k < mergeCount; k++) filledSize -= addsEntry(k);
  let count = 0;
  while (count < mergeCount && filledSize < size) filledSize += addsEntry(count++);
  return {
    mergeCount: count,
    left: merges.left.subarray(0, count),
    right: merges.right.subarray(0, count),
  };
}
