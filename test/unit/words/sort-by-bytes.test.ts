import { expect, test } from "bun:test";
import { runToEnd } from "../../../src/runtime/slices.ts";
import { sortByBytesInSteps } from "../../../src/words/sort-by-bytes.ts";
import { sortByCountInSteps } from "../../../src/words/tsv.ts";
import type { WordTable } from "../../../src/words/word-table.ts";
import { randomNumbers } from "../../random.ts";
import { bytesOf, keyOf, wordTableOf } from "./generators.ts";

const sortWordsByBytes = (table: WordTable) => runToEnd(sortByBytesInSteps(table));
const sortWordsByCount = (table: WordTable) => runToEnd(sortByCountInSteps(table));

function wordOf(table: WordTable, word: number): Uint8Array {
  return table.bytes.subarray(table.starts[word]!, table.starts[word + 1]!);
}

/** Compares the orders by bytes and by count with those of comparison sorts. */
function expectSorted(table: WordTable, note: string): void {
  const naive = Array.from({ length: table.wordCount }, (_, word) => word);
  naive.sort((a, b) => Buffer.compare(wordOf(table, a), wordOf(table, b)));
  expect({ note, order: [...sortWordsByBytes(table)] }).toEqual({ note, order: naive });
  naive.sort((a, b) => table.counts[b]! - table.counts[a]!);
  expect({ note, order: [...sortWordsByCount(table)] }).toEqual({ note, order: naive });
}

/** Returns a table of distinct random words. */
function randomTable(seed: number, wordCount: number, letters: number, lengthMax: number): WordTable {
  const random = randomNumbers(seed);
  const words = new Map<string, readonly [Uint8Array, number]>();
  for (let i = 0; i < wordCount; i++) {
    const word = Uint8Array.from(
      { length: 1 + random(lengthMax) },
      () => (random(letters) * 255) / Math.max(1, letters - 1),
    );
    words.set(keyOf(word), [word, random(4) === 0 ? 1 + random(2 ** 31) * 2 ** random(22) : 1 + random(4)]);
  }
  return wordTableOf(words.values());
}

test("words are in the order of their bytes, and of their counts", () => {
  const table = wordTableOf([
    [" the", 9],
    ["a", 2],
    [" th", 2],
    [" them", 9],
    ["é", 1],
    ["ab", 2],
  ]);
  expect([...sortWordsByBytes(table)]).toEqual([2, 0, 3, 1, 5, 4]);
  expect([...sortWordsByCount(table)]).toEqual([0, 3, 2, 1, 5, 4]);
});

test("an order exists for no words, and for one word", () => {
  expect(sortWordsByBytes(wordTableOf([])).length).toBe(0);
  expect(sortWordsByCount(wordTableOf([])).length).toBe(0);
  expect([...sortWordsByCount(wordTableOf([["x", 3]]))]).toEqual([0]);
});

test("random words of any length are sorted like by a comparison sort", () => {
  for (let seed = 1; seed <= 60; seed++) {
    const letters = [1, 2, 3, 26, 256][seed % 5]!;
    expectSorted(
      randomTable(seed, [3, 40, 400, 3000][seed % 4]!, letters, 1 + ((seed * 7) % 40)),
      `seed ${seed}`,
    );
  }
});

test("words of zero bytes are in the order of their length", () => {
  const table = wordTableOf(Array.from({ length: 60 }, (_, i) => [new Uint8Array(60 - i), 1] as const));
  expect([...sortWordsByBytes(table)]).toEqual(Array.from({ length: 60 }, (_, i) => 59 - i));
});

test("words that share long prefixes are sorted without deep recursion", () => {
  const words = Array.from({ length: 400 }, (_, i) => bytesOf("a".repeat(1 + ((i * 7919) % 40000))));
  const ends = Array.from({ length: 100 }, (_, i) => bytesOf(`${"b".repeat(20000)}${(i * 37) % 100}`));
  const distinct = new Map([...words, ...ends].map((word) => [keyOf(word), [word, 1] as const]));
  expectSorted(wordTableOf(distinct.values()), "long prefixes");
});

test("counts up to 2^53 are compared by all their digits", () => {
  const counts = [
    1,
    2,
    65535,
    65536,
    65537,
    2 ** 32,
    2 ** 32 + 1,
    2 ** 48,
    2 ** 48 + 65536,
    2 ** 53 - 1,
    2 ** 53 - 2,
  ];
  expectSorted(wordTableOf(counts.map((count, i) => [`w${(i * 7) % 11}`, count] as const)), "digits");
});

test("a word whose count has many more digits is the most frequent one, in any position", () => {
  for (const [counts, order] of [
    [
      [2 ** 40, 70_000, 2 ** 20],
      [0, 2, 1],
    ],
    [
      [70_000, 2 ** 20, 2 ** 40],
      [2, 1, 0],
    ],
  ] as const) {
    expect([...sortWordsByCount(wordTableOf(counts.map((count, i) => ["abc"[i]!, count])))]).toEqual([
      ...order,
    ]);
  }
});
