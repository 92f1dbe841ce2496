import { expect, test } from "bun:test";
import fc from "fast-check";
import { gatherTextWords, holdsWhiteSpace, placedWordPattern } from "../../src/evaluation/text-words.ts";
import { compilePattern, createSplitter } from "../../src/pattern/pattern.ts";
import { atOnce } from "../../src/runtime/turns.ts";
import { wordTableOf } from "../../src/words/word-table.ts";
import { naiveWords } from "./naive-evaluation.ts";

const pattern = compilePattern([placedWordPattern]);

/** The pieces of a text, counted. */
function countPieces(bytes: Uint8Array) {
  const splitter = createSplitter(pattern);
  const counts = new Map<string, number>();
  const padded = new Uint8Array(bytes.length + 64);
  padded.set(bytes);
  splitter.start(0);
  const text = { bytes: padded, view: new DataView(padded.buffer) };
  const take = () => {
    for (let i = 1; i < splitter.endCount; i++) {
      const piece = Buffer.from(bytes.subarray(splitter.ends[i - 1]!, splitter.ends[i]!)).toString("latin1");
      counts.set(piece, (counts.get(piece) ?? 0) + 1);
    }
    splitter.take();
  };
  while (splitter.pos < bytes.length) {
    splitter.scan(text, bytes.length, bytes.length);
    take();
  }
  while (!splitter.finish(bytes.length)) take();
  take();
  return wordTableOf([...counts].map(([piece, count]) => [Buffer.from(piece, "latin1"), count]));
}

const wordsOf = (bytes: Uint8Array) => atOnce(gatherTextWords(countPieces(bytes)));

const characters = fc.constantFrom(
  ..."ab é漢😀\t\n\r\x1c\x1f\x85\xa0\u2003\u2028\u3000\u200b\ufeff.'",
  " ",
  " ",
);
const texts = fc.array(characters, { maxLength: 60 }).map((all) => all.join(""));

test("words are the runs without white space, as str.split finds them, each with the one white space before it", () => {
  fc.assert(
    fc.property(texts, (text) => {
      const words = wordsOf(Buffer.from(text));
      const naive = naiveWords(text);
      expect(words.wordCount).toBe(naive.length);
      expect(words.distinctCount).toBe(new Set(naive.map(({ word }) => word)).size);
      expect(words.characterCount).toBe([...text].length);
      expect(words.textBytes).toBe(Buffer.byteLength(text));
      const found = new Map<string, number>();
      for (let p = 0; p < words.placedCount; p++) {
        const placed = Buffer.from(words.bytes.subarray(words.starts[p]!, words.starts[p + 1]!));
        const blank = placed.subarray(0, words.blankBytes[p]!).toString();
        found.set(
          JSON.stringify([blank, placed.subarray(words.blankBytes[p]!).toString()]),
          words.counts[p]!,
        );
      }
      const wanted = new Map<string, number>();
      for (const { before, word } of naive) {
        const key = JSON.stringify([before, word]);
        wanted.set(key, (wanted.get(key) ?? 0) + 1);
      }
      expect(Object.fromEntries(found)).toEqual(Object.fromEntries(wanted));
    }),
    { numRuns: 300 },
  );
});

test("placed words with equal words behind different white space have one number", () => {
  const words = wordsOf(Buffer.from("a a\ta b\nb ab"));
  const numbers = new Map<string, Set<number>>();
  for (let p = 0; p < words.placedCount; p++) {
    const word = Buffer.from(
      words.bytes.subarray(words.starts[p]! + words.blankBytes[p]!, words.starts[p + 1]!),
    );
    const known = numbers.get(word.toString()) ?? new Set();
    numbers.set(word.toString(), known.add(words.wordOf[p]!));
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

test("many words keep their numbers where the table of numbers is nearly full of other words", () => {
  const text = Array.from({ length: 5000 }, (_, i) => `w${(i * 7919) % 3001}`).join(" ");
  const words = wordsOf(Buffer.from(text));
  expect(words.distinctCount).toBe(3001);
  expect(words.wordCount).toBe(5000);
  expect(Math.max(...words.wordOf)).toBe(3000);
});

test("white space in a special token is seen, also Unicode's and the separators of ASCII", () => {
  for (const text of ["a b", "a\u3000", "\x1cx", "\x85"]) expect(holdsWhiteSpace(text)).toBe(true);
  for (const text of ["", "<|endoftext|>", "\u200b", "\ufeff"]) expect(holdsWhiteSpace(text)).toBe(false);
});
