import { keyOf, mergePair, type Pair, trainOnWords } from "../../../examples/learn.ts";
import type { Compat, Merges } from "../../../src/tokenizer/merges.ts";

// Adds the limits of a training to `examples/learn.ts`, the naive trainer.

export type NaiveOptions = {
  mergeCount: number;
  minFrequency?: number;
  maxTokenLength?: number | null;
  /** Whether two tokens may be merged, whatever their count. */
  mayJoin?: (left: string, right: string) => boolean;
};

export const anyTwo = () => true;

/** A corpus: distinct words with their counts. A word is a string of code points 0-255, one for each byte. */
export type NaiveWords = ReadonlyMap<string, number>;

/** Maps pairs to ranks. If a pair is listed twice, the later rank counts. */
export const ranksOf = (merges: readonly (readonly [left: string, right: string])[]) =>
  new Map(merges.map(([left, right], rank) => [keyOf(left, right), rank]));

export const textsOf = (words: NaiveWords) =>
  Array.from(words, ([word, count]) => ({ tokens: [...word], count }));

/** Returns the merges that an engine must learn. HF's limits have another meaning: see `naive-huggingface.ts`. */
export function naiveMerges(
  compat: Exclude<Compat, "huggingface">,
  words: NaiveWords,
  { mergeCount, minFrequency = 1, maxTokenLength = null, mayJoin = anyTwo }: NaiveOptions,
): Pair[] {
  const mayMerge = ({ left, right, count }: Pair) =>
    count >= minFrequency &&
    left.length + right.length <= (maxTokenLength ?? Infinity) &&
    mayJoin(left, right);
  return [...trainOnWords(words, 256 + mergeCount, compat, mayMerge).merges];
}

/** Returns the merges of an engine, with each half as a string of code points 0-255, one for each byte. */
export function spelledMerges(merges: Merges): Pair[] {
  const bytes = Array.from({ length: 256 }, (_, byte) => String.fromCharCode(byte));
  return Array.from({ length: merges.mergeCount }, (_, k) => {
    const left = bytes[merges.left[k]!]!;
    const right = bytes[merges.right[k]!]!;
    bytes.push(left + right);
    return { left, right, count: merges.counts[k]! };
  });
}

/** Returns how many occurrences each merge replaced, weighted by the words' counts. */
export function naiveReplacedCounts(words: NaiveWords, merges: readonly Pair[]): number[] {
  const texts = textsOf(words);
  return merges.map(({ left, right }) => {
    let replacedCount = 0;
    for (const text of texts) {
      const tokens = mergePair(text.tokens, left, right);
      replacedCount += text.count * (text.tokens.length - tokens.length);
      text.tokens = tokens;
    }
    return replacedCount;
  });
}
