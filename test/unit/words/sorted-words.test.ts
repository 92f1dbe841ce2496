import { expect, test } from "bun:test";
import { runToEnd } from "../../../src/runtime/slices.ts";
import type { SortedWords } from "../../../src/words/sorted-words.ts";
import * as sortedWords from "../../../src/words/sorted-words.ts";
import type { WordTable } from "../../../src/words/word-table.ts";
import { randomNumbers } from "../../random.ts";
import { entriesOf, wordTableOf } from "./generators.ts";

type Counts = Map<string, number>;

/** Returns counts of random words made of only three different characters, so that many share prefixes. */
function randomCounts(seed: number, wordCount: number): Counts {
  const random = randomNumbers(seed);
  const counts: Counts = new Map();
  for (let i = 0; i < wordCount; i++) {
    const word = Array.from({ length: 1 + random(random(20) === 0 ? 400 : 5) }, () => "\0ab"[random(3)]);
    counts.set(word.join(""), 1 + random(3));
  }
  return counts;
}

const tableOf = (counts: Counts): WordTable => runToEnd(sortedWords.inByteOrder(wordTableOf(counts)));

const inOrder = (counts: Counts) => [...counts].sort(([a], [b]) => (a < b ? -1 : 1));

/** Returns the words of a table in its order. */
function wordsOf({ wordCount, bytes, starts }: WordTable): string[] {
  return Array.from({ length: wordCount }, (_, w) =>
    Buffer.from(bytes.subarray(starts[w]!, starts[w + 1]!)).toString("latin1"),
  );
}

test("tables are added up, and parts are subtracted again, like in a Map", () => {
  for (let seed = 1; seed <= 30; seed++) {
    const random = randomNumbers(seed);
    const a = randomCounts(3 * seed, random(60));
    const b = randomCounts(3 * seed + 1, random(60));
    const sum: Counts = new Map(a);
    for (const [word, count] of b) sum.set(word, (sum.get(word) ?? 0) + count);

    const table = sortedWords.addTable(tableOf(a), tableOf(b));
    expect({ seed, entries: entriesOf(table) }).toEqual({ seed, entries: inOrder(sum) });
    expect(wordsOf(table)).toEqual(inOrder(sum).map(([word]) => word));
    for (const [part, rest] of [
      [a, b],
      [b, a],
    ] as const)
      expect(entriesOf(sortedWords.addTable(table, tableOf(part), -1))).toEqual(inOrder(rest));
  }
});

test("a sum is divided, and rounded half up", () => {
  const divided = (denominator: number) => {
    const words = runToEnd(sortedWords.TableWords.sort(tableOf(new Map([["a", 1], ["b", 2], ["c", 3]])))); // biome-ignore format: one thought
    return entriesOfSorted(new sortedWords.SumOfWords([{ words, times: 1 }], denominator)).map(
      ([, count]) => count,
    );
  };
  expect([1, 2, 3].map(divided)).toEqual([
    [1, 2, 3],
    [1, 1, 2],
    [1, 1],
  ]);
});

test("missing words cannot be subtracted", () => {
  const table = () => tableOf(new Map([["b", 2]]));
  for (const [word, count] of [
    ["a", 1],
    ["b", 3],
    ["c", 1],
    ["bb", 1],
  ] as const)
    expect(() => sortedWords.addTable(table(), tableOf(new Map([[word, count]])), -1)).toThrow(
      sortedWords.NegativeSumError,
    );
  expect(() => sortedWords.addTable(sortedWords.emptyTable, table(), -1)).toThrow(
    sortedWords.NegativeSumError,
  );
  expect(sortedWords.addTable(table(), table(), -1).wordCount).toBe(0);
});

test("a table whose words overlap, are empty, out of order or duplicate, or whose counts are invalid, is not sound", () => {
  const words: [string, number][] = [
    ["a", 0],
    ["ab", 2 ** 52],
    ["b", 1],
  ];
  const changed = (change: (table: WordTable) => void) => {
    const table = wordTableOf(words);
    change(table);
    return sortedWords.isValidTable(table);
  };
  expect(changed(() => {})).toBe(true);
  expect(sortedWords.isValidTable(sortedWords.emptyTable)).toBe(true);
  for (const count of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 52])
    expect([count, changed(({ counts }) => counts.set([count], 2))]).toEqual([count, false]);
  for (const [place, start] of [
    [0, 1],
    [1, 0],
    [1, 3],
    [2, 1],
    [2, 9],
    [3, 3],
    [3, 5],
  ] as const)
    expect([place, start, changed(({ starts }) => starts.set([start], place))]).toEqual([
      place,
      start,
      false,
    ]);
  for (const text of ["bacc", "aaba", "babb", "cabb"])
    expect([text, changed(({ bytes }) => bytes.set(Buffer.from(text)))]).toEqual([text, false]);
  const twice: [string, number] = ["ab", 1];
  expect(sortedWords.isValidTable(wordTableOf([twice, twice]))).toBe(false);
});

type Entry = readonly [word: string, count: number];

function entriesOfTable({ wordCount, bytes, starts, counts }: WordTable): Entry[] {
  return Array.from({ length: wordCount }, (_, w) => [
    Buffer.from(bytes.subarray(starts[w]!, starts[w + 1]!)).toString("latin1"),
    counts[w]!,
  ]);
}

function entriesOfSorted(words: SortedWords): Entry[] {
  const entries: Entry[] = [];
  while (words.next()) {
    const word = Buffer.from(words.word.bytes.subarray(0, words.wordLength)).toString("latin1");
    entries.push([word, words.count]);
  }
  return entries;
}

const byWord = (entries: readonly Entry[]) => entries.toSorted(([a], [b]) => (a < b ? -1 : 1));

test("rarer words are left out and reported, in a table and in sorted words alike", () => {
  for (let seed = 1; seed <= 15; seed++) {
    const random = randomNumbers(seed);
    const made = new Map<string, number>();
    for (let i = random(60); i > 0; i--) {
      const word = Array.from({ length: 1 + random(6) }, () => "ab\0\xff"[random(4)]).join("");
      made.set(word, 1 + random(6));
    }
    const entries = [...made];
    const table = () => wordTableOf(entries.map(([word, count]) => [Buffer.from(word, "latin1"), count]));
    for (const minCount of [1, 2, 4, 7]) {
      const common = entries.filter(([, count]) => count >= minCount);
      const rare = entries.filter(([, count]) => count < minCount);
      const expectedLeftOut = {
        wordCount: rare.length,
        pretokenCount: rare.reduce((sum, [, count]) => sum + count, 0),
      };
      const ofTable = sortedWords.noWordsLeftOut();
      expect({ seed, words: entriesOfTable(sortedWords.commonWordsOf(table(), minCount, ofTable)) }).toEqual({
        seed,
        words: common,
      });
      const ofSorted = sortedWords.noWordsLeftOut();
      const sorted = entriesOfSorted(
        new sortedWords.CommonWords(runToEnd(sortedWords.TableWords.sort(table())), minCount, ofSorted),
      );
      expect({ seed, words: sorted }).toEqual({ seed, words: byWord(common) });
      expect([ofTable, ofSorted]).toEqual([expectedLeftOut, expectedLeftOut]);
    }
  }
});
