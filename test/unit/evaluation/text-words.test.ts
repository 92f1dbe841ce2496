import { expect, test } from "bun:test";
import fc from "fast-check";
import * as textWords from "../../../src/evaluation/text-words.ts";
import * as compiledPatterns from "../../../src/pattern/pattern.ts";
import { runToEnd } from "../../../src/runtime/slices.ts";
import { rounds } from "../../rounds.ts";
import { pretokenEnds } from "../pattern/naive.ts";
import { findNaively } from "../text/naive-tokens.ts";
import { wordTableOf } from "../words/generators.ts";
import { naiveWords } from "./naive-evaluation.ts";

const pattern = compiledPatterns.compile([textWords.placedWordPattern]);

/** Counts the pretokens of a text. */
function countPieces(bytes: Uint8Array) {
  const counts = new Map<string, number>();
  let start = 0;
  for (const end of pretokenEnds(pattern, bytes)) {
    const piece = Buffer.from(bytes.subarray(start, end)).toString("latin1");
    counts.set(piece, (counts.get(piece) ?? 0) + 1);
    start = end;
  }
  return wordTableOf([...counts].map(([piece, count]) => [Buffer.from(piece, "latin1"), count]));
}

const wordsOf = (bytes: Uint8Array) => runToEnd(textWords.gather(countPieces(bytes)));

const characters = fc.constantFrom(
  ..."ab é漢😀\t\n\r\x1c\x1f\x85\xa0\u2003\u2028\u3000\u200b\ufeff.'",
  " ",
  " ",
);
const texts = fc.array(characters, { maxLength: 60 }).map((all) => all.join(""));

test("words are the runs without white space, as in str.split, each with the single white-space character before it", () => {
  fc.assert(
    fc.property(texts, (text) => {
      const words = wordsOf(Buffer.from(text));
      const naive = naiveWords(text);
      expect(words.wordCount).toBe(naive.length);
      expect(words.distinctCount).toBe(new Set(naive.map(({ word }) => word)).size);
      expect(words.characterCount).toBe([...text].length);
      expect(words.textBytes).toBe(Buffer.byteLength(text));
      const found = new Map<string, number>();
      for (let p = 0; p < words.placed.wordCount; p++) {
        const before = Buffer.from(
          textWords.placedAt(words, p).subarray(0, words.whitespaceBytes[p]!),
        ).toString();
        const word = Buffer.from(textWords.wordAt(words, p)).toString();
        found.set(JSON.stringify([before, word]), words.placed.counts[p]!);
      }
      const wanted = new Map<string, number>();
      for (const { before, word } of naive) {
        const key = JSON.stringify([before, word]);
        wanted.set(key, (wanted.get(key) ?? 0) + 1);
      }
      expect(Object.fromEntries(found)).toEqual(Object.fromEntries(wanted));
    }),
    { numRuns: rounds(300) },
  );
});

test("the same word after different white space has one number", () => {
  const words = wordsOf(Buffer.from("a a\ta b\nb ab"));
  const numbers = new Map<string, Set<number>>();
  for (let p = 0; p < words.placed.wordCount; p++) {
    const word = Buffer.from(textWords.wordAt(words, p)).toString();
    numbers.set(word, (numbers.get(word) ?? new Set()).add(words.wordOf[p]!));
    expect(Buffer.from(textWords.wordAt(words, words.firstPlaced[words.wordOf[p]!]!)).toString()).toBe(word);
  }
  expect([...numbers.values()].map((some) => some.size)).toEqual([1, 1, 1]);
  expect(new Set([...numbers.values()].flatMap((some) => [...some])).size).toBe(3);
  expect(words.distinctCount).toBe(3);
});

test("a byte that is not valid UTF-8 is a character, and ends the word before it", () => {
  const words = wordsOf(Buffer.from("ab\xffcd \xc3", "latin1"));
  expect(words.characterCount).toBe(7);
  expect(words.wordCount).toBe(4);
  expect(words.textBytes).toBe(7);
});

test("many words keep their numbers in a table that is nearly full of other words", () => {
  const text = Array.from({ length: 5000 }, (_, i) => `w${(i * 7919) % 3001}`).join(" ");
  const words = wordsOf(Buffer.from(text));
  expect(words.distinctCount).toBe(3001);
  expect(words.wordCount).toBe(5000);
  expect(Math.max(...words.wordOf)).toBe(3000);
});

test("white space in a special token is noticed, including Unicode's and the separators of ASCII", () => {
  for (const text of ["a b", "a\u3000", "\x1cx", "\x85"]) expect(textWords.holdsWhiteSpace(text)).toBe(true);
  for (const text of ["", "<|endoftext|>", "\u200b", "\ufeff"])
    expect(textWords.holdsWhiteSpace(text)).toBe(false);
});

test("each index comes once, for any number of words", () => {
  for (let count = 1; count < 300; count++) {
    const step = textWords.scatterStep(count);
    expect(new Set(Array.from({ length: count }, (_, i) => (i * step) % count)).size).toBe(count);
  }
});

test("neighbours in the order are far apart in the table", () => {
  for (const count of [100, 1000, 65536]) {
    const step = textWords.scatterStep(count);
    expect(Math.min(step, count - step)).toBeGreaterThan(count / 4);
  }
});

test("a scattered table has the same words with the same counts, in memory that is shared", () => {
  const entries = Array.from({ length: 50 }, (_, i) => [`${"x".repeat(i % 7)}${i}`, i + 1] as const);
  const { wordCount, bytes, starts, counts } = runToEnd(textWords.scatterTable(wordTableOf(entries)));
  const words = Array.from({ length: wordCount }, (_, w): [string, number] => [
    Buffer.from(bytes.subarray(starts[w]!, starts[w + 1]!)).toString(),
    counts[w]!,
  ]);
  expect(words.map(([word]) => word)).not.toEqual(entries.map(([word]) => word));
  expect(new Map(words)).toEqual(new Map(entries));
  expect([bytes, starts, counts].every(({ buffer }) => buffer instanceof SharedArrayBuffer)).toBe(true);
  expect(runToEnd(textWords.scatterTable(wordTableOf([]))).wordCount).toBe(0);
});

/** Counts how often each token occurs in the whole text. */
function naiveOccurrences(text: string, tokens: readonly string[]): number[] {
  const bytes = Buffer.from(text);
  const counts = tokens.map(() => 0);
  const contents = tokens.map((token) => Buffer.from(token));
  for (const [pos, length] of findNaively(contents, bytes))
    counts[tokens.indexOf(bytes.toString("utf8", pos, pos + length))]!++;
  return counts;
}

function textWordsOf(text: string) {
  const counts = new Map<string, number>();
  for (const { before, word } of naiveWords(text)) {
    counts.set(before + word, (counts.get(before + word) ?? 0) + 1);
  }
  return runToEnd(textWords.gather(wordTableOf(counts)));
}

test("tokens are found in words as in the text: from the left, the longest first, without overlaps", () => {
  const tokens = ["ab", "abc", "bc", "<|x|>", "é"];
  const parts = fc.constantFrom("a", "b", "c", "ab", "bc", "<|x|>", "<|x", "|>", "é", " ", "\n", "\xa0");
  const words = fc.array(parts, { maxLength: 5 }).map((all) => all.join(""));
  fc.assert(
    fc.property(fc.array(fc.tuple(words, fc.nat(4)), { maxLength: 15 }), (all) => {
      const text = all.map(([word, times]) => ` ${word}`.repeat(times)).join("");
      const found = runToEnd(
        textWords.countSpecialTokens(
          textWordsOf(text),
          tokens.map((token) => Buffer.from(token)),
        ),
      );
      expect([...found]).toEqual(naiveOccurrences(text, tokens));
    }),
    { numRuns: rounds(500) },
  );
});

test("words that only together look like a token contain none, and hide none", () => {
  // Like words at the start of a document, these have no white space before them.
  const entries = Object.entries({ xa: 1, ba: 2, ab: 4, b: 8, a: 16 });
  for (let shift = 0; shift < entries.length; shift++) {
    const table = wordTableOf([...entries.slice(shift), ...entries.slice(0, shift)]);
    const words = runToEnd(textWords.gather(table));
    expect([
      ...runToEnd(textWords.countSpecialTokens(words, [Buffer.from("ab"), Buffer.from("ba")])),
    ]).toEqual([4, 2]);
  }
});

test("letters of scripts without spaces between words are those that Unicode lists", () => {
  const names =
    "Thai Lao Tibetan Myanmar Khmer Tai_Le New_Tai_Lue Tai_Tham Tai_Viet Hiragana Katakana Bopomofo Han";
  const scripts = names.split(" ").map((name) => `\\p{Script_Extensions=${name}}`);
  const unspaced = new RegExp(`[${scripts.join("")}]`, "u");
  const wrong: string[] = [];
  for (let codePoint = 0x400; codePoint < 0x40000; codePoint++) {
    // Skips the surrogates and plane 1, whose letters of these scripts are rare, mostly historic ones.
    if (codePoint === 0xd800) codePoint = 0xe000;
    if (codePoint === 0x10000) codePoint = 0x20000;
    const character = String.fromCodePoint(codePoint);
    if (/\p{L}/u.test(character) && unspaced.test(character) !== textWords.isUnspaced(codePoint))
      wrong.push(codePoint.toString(16));
  }
  expect(wrong).toEqual([]);
});
