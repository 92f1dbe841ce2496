import type { Merges } from "../../src/merge/merges.ts";

/** GPT-2's pattern as JavaScript can say it; used on texts without U+FEFF and U+0085, where `\s` means the same. */
export const gpt2Pattern = /'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+/gu;

/** Random whole numbers below a bound, the same for the same seed (mulberry32). */
export function randomNumbers(seed: number): (below: number) => number {
  return (below) => {
    seed = (seed + 0x6d2b79f5) | 0;
    let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

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

/** Text with letters of several scripts, digits, quotes, backslashes and every kind of white space. */
export function madeText(seed: number, wordCount: number): string {
  const random = randomNumbers(seed);
  let text = "";
  for (let w = 0; w < wordCount; w++) {
    for (let s = random(4); s >= 0; s--) text += syllables[random(syllables.length)]!;
    text += separators[random(separators.length)]!;
  }
  return text;
}

/** The most frequent pair first, the greater (left number, right number) on ties: any rule would do here. */
export function naiveMerges(text: string, mergeCount: number): Merges {
  const words = [...text.matchAll(gpt2Pattern)].map((match) => [...new TextEncoder().encode(match[0])]);
  const left: number[] = [];
  const right: number[] = [];
  const mergedCounts: number[] = [];
  while (left.length < mergeCount) {
    const counts = new Map<number, number>();
    for (const word of words) {
      for (let i = 1; i < word.length; i++) {
        const pair = word[i - 1]! * 65536 + word[i]!;
        counts.set(pair, (counts.get(pair) ?? 0) + 1);
      }
    }
    let best = -1;
    for (const [pair, count] of counts) {
      const bestCount = counts.get(best) ?? 0;
      if (count > bestCount || (count === bestCount && pair > best)) best = pair;
    }
    if (best < 0) break;
    const [l, r] = [Math.floor(best / 65536), best % 65536];
    for (const word of words) mergeInPlace(word, l, r, 256 + left.length);
    left.push(l);
    right.push(r);
    mergedCounts.push(counts.get(best)!);
  }
  return mergesOf(left, right, mergedCounts);
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

export function mergeInPlace(word: number[], left: number, right: number, merged: number): void {
  for (let i = 0; i + 1 < word.length; i++) {
    if (word[i] === left && word[i + 1] === right) word.splice(i, 2, merged);
  }
}
