import { encodeWord, wordsOf } from "../../../examples/learn.ts";
import type { Vocabulary } from "../../../src/tokenizer/vocabulary.ts";
import { ranksOf } from "../merge/naive.ts";

/**
 * Returns a function that encodes text in simple code. It finds special tokens first; where several match, the longest.
 * It cuts the text between them into GPT-2's words, and merges each word.
 */
export function naiveEncoder(vocabulary: Vocabulary): (text: string) => number[] {
  const { specialTokens, specialIds, tokenIds, tokenBytes, left, right, mergeCount } = vocabulary;
  const tokens = Array.from(tokenIds, (_, token) => Buffer.from(tokenBytes.copy(token)).toString("latin1"));
  const ids = new Map(tokens.map((token, k) => [token, tokenIds[k]!]));
  const merges = Array.from(
    { length: mergeCount },
    (_, k) => [tokens[left[k]!]!, tokens[right[k]!]!] as const,
  );
  const ranks = ranksOf(merges);
  const longestFirst = specialTokens.toSorted((a, b) => b.length - a.length).map(RegExp.escape);
  return (text) =>
    text.split(new RegExp(`(${longestFirst.join("|")})`)).flatMap((part, i) => {
      if (i % 2 === 1) return [specialIds[specialTokens.indexOf(part)]!];
      return wordsOf(part).flatMap((word) => encodeWord(word, ranks).map((token) => ids.get(token)!));
    });
}
