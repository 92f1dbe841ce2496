import { train } from "../../../examples/learn.ts";
import type { Merges } from "../../../src/tokenizer/merges.ts";
import { randomNumbers } from "../../random.ts";

/**
 * GPT-2's pattern in JavaScript's syntax. Texts with U+FEFF or U+0085 may be cut differently, because JavaScript's `\s`
 * includes the first and lacks the second.
 */
export const gpt2Pattern = /'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+/gu;

const syllables = [
  "the",
  "ing",
  "low",
  "er",
  "new",
  "est",
  "wi",
  "d",
  "a",
  "ü",
  "é",
  "漢",
  "字",
  "😀",
  "'s",
  "2026",
  '"',
  "\\",
];
const separators = [" ", " ", " ", " ", "\n", "  ", ", ", ".\n\n", "\t", "\r\n"];

/** Returns text with letters of several scripts, digits, quotes, backslashes and white space. */
export function madeText(seed: number, wordCount: number): string {
  const random = randomNumbers(seed);
  let text = "";
  for (let w = 0; w < wordCount; w++) {
    for (let s = random(4); s >= 0; s--) text += syllables[random(syllables.length)]!;
    text += separators[random(separators.length)]!;
  }
  return text;
}

/**
 * Returns the merges that the naive trainer learns from a text. Tokens are numbered: first the bytes, then the merges.
 */
export function naiveMerges(text: string, mergeCount: number): Merges {
  const { merges, vocabulary } = train(text, 256 + mergeCount);
  return mergesOf(
    merges.map(({ left }) => vocabulary.get(left)!),
    merges.map(({ right }) => vocabulary.get(right)!),
    merges.map(({ count }) => count),
  );
}

export function mergesOf(left: number[], right: number[], counts: number[] = left.map(() => 1)): Merges {
  return {
    startCount: 256,
    mergeCount: left.length,
    left: Int32Array.from(left),
    right: Int32Array.from(right),
    counts: Float64Array.from(counts),
    replacedCounts: Float64Array.from(counts),
    startCounts: new Float64Array(256),
  };
}
