import {
  bestPair,
  byteVocabulary,
  countPairs,
  encodeWord,
  mergePair,
  type Pair,
} from "../../../examples/learn.ts";
import type { Compat } from "../../../src/tokenizer/merges.ts";
import { type NaiveWords, ranksOf, textsOf } from "./naive.ts";
import { naiveMayJoin } from "./naive-whole-characters.ts";

type Halves = readonly [left: string, right: string];

/** Returns the merges of the seeds. Each seed is a string of code points 0-255. */
export function naiveSeedMerges(seeds: readonly string[]): Halves[] {
  const merges: Halves[] = [];
  for (const seed of seeds) {
    for (;;) {
      const tokens = encodeWord(seed, ranksOf(merges));
      if (tokens.length === 1) break;
      const i = tokens.findIndex((token, k) => naiveMayJoin(token, tokens[k + 1] ?? "\xff"));
      merges.push([tokens[i]!, tokens[i + 1]!]);
    }
  }
  return merges;
}

type SeededOptions = {
  mergeCount: number;
  minFrequency: number;
  lengthMax: number;
  mayJoin: (left: string, right: string) => boolean;
};

/** Makes the merges of the seeds, then repeatedly counts all pairs and merges the best. */
export function naiveSeeded(
  compat: Compat,
  words: NaiveWords,
  seeds: readonly string[],
  { mergeCount, minFrequency, lengthMax, mayJoin }: SeededOptions,
): Pair[] {
  const texts = textsOf(words);
  const vocabulary = byteVocabulary(compat);
  const named = naiveSeedMerges(seeds);
  const merges: Pair[] = [];
  while (merges.length < mergeCount) {
    const pairs = countPairs(texts);
    const [left, right] = named[merges.length] ?? [];
    const mayMerge = (pair: Pair) => {
      const size = pair.left.length + pair.right.length;
      const isShort = size <= lengthMax || (compat === "huggingface" && size === 2);
      return isShort && pair.count >= minFrequency && mayJoin(pair.left, pair.right);
    };
    const best =
      left === undefined || right === undefined
        ? bestPair(pairs.filter(mayMerge), vocabulary, compat)
        : (pairs.find((pair) => pair.left === left && pair.right === right) ?? { left, right, count: 0 });
    if (best === undefined) break;
    merges.push(best);
    vocabulary.set(best.left + best.right, vocabulary.size);
    for (const text of texts) text.tokens = mergePair(text.tokens, best.left, best.right);
  }
  return merges;
}
