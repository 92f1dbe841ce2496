import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import * as textBuffers from "../../../src/bytes/text.ts";
import { TextMemory } from "../../../src/corpus/range-reader.ts";
import { runToEnd } from "../../../src/runtime/slices.ts";
import { CountsFileReader } from "../../../src/words/counts-file-reader.ts";
import * as sortedWords from "../../../src/words/sorted-words.ts";
import { SpillingCounter } from "../../../src/words/spilling-counter.ts";
import { scratch } from "../../binary.ts";
import { entriesOf } from "./generators.ts";

const directory = scratch();

test("the words of the first single inputs stay in memory, and those that do not fit are written", () => {
  const countsOptions = { patterns: ["\\s+"], specialTokens: [], isLinewise: false };
  const counter = new SpillingCounter(
    { runOptions: { directory, countsOptions, wordBytesMax: 1e12 } },
    "some",
  );
  // A table of 200,000 of these words takes 4 MB, and unwritten tables may take 8 MiB together (`unwrittenBytesMax`).
  // So two such tables and the small one stay in memory, and the third is written.
  const wordCounts = [200_000, 200_000, 200_000, 10];
  for (const [inputIndex, wordCount] of wordCounts.entries()) {
    runToEnd(counter.startTask(inputIndex));
    for (let word = 0; word < wordCount; word++) {
      const text = textBuffers.of(`${inputIndex}-${word}`.padStart(8));
      counter.words.add(text, 0, 8, 1 + word);
    }
  }
  runToEnd(counter.finish());
  expect(counter.runs.map(({ inputIndex, isInMemoryToo }) => ({ inputIndex, isInMemoryToo }))).toEqual(
    wordCounts.map((_, inputIndex) => ({ inputIndex, isInMemoryToo: true })),
  );
  expect(counter.runs.map(({ table }) => table === null)).toEqual([false, false, true, false]);
  expect(counter.runs.map(({ path }) => existsSync(path))).toEqual([false, false, true, false]);
  for (const [inputIndex, { path, table, totals }] of counter.runs.entries()) {
    const words = table ?? runToEnd(sortedWords.wordTableOfSum(CountsFileReader.open(path)));
    expect(words.wordCount).toBe(totals.wordCount);
    const wordCount = wordCounts[inputIndex]!;
    expect(entriesOf(words)).toEqual(
      Array.from({ length: wordCount }, (_, word): [string, number] => [
        `${inputIndex}-${word}`.padStart(8),
        1 + word,
      ]).sort(([a], [b]) => (a < b ? -1 : 1)),
    );
  }
  expect(counter.distinctWordCount).toBe(600_010);
});

test("words are written to a run before a text is read that needs their memory", () => {
  const countsOptions = { patterns: [], specialTokens: [], isLinewise: false };
  const room = new TextMemory(1e9);
  const counter = new SpillingCounter(
    { runOptions: { directory, countsOptions, wordBytesMax: 1e9 } },
    "before-a-text",
    room,
  );
  runToEnd(counter.startTask(null));
  for (let word = 0; word < 1000; word++)
    counter.words.add(textBuffers.of(String(word).padStart(8)), 0, 8, 1);
  runToEnd(counter.makeRoom());
  expect(counter.runs.length).toBe(0);
  room.claim(1e9, () => "a text");
  runToEnd(counter.makeRoom());
  expect(counter.runs.map(({ totals }) => totals.wordCount)).toEqual([1000]);
  expect(counter.words.distinctWordCount).toBe(0);
});
