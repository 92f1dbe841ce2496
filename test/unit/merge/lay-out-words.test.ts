import { expect, test } from "bun:test";
import type { MergeTuning } from "../../../src/merge/merge-options.ts";
import { trainInPlace, trainMerges } from "../../../src/merge/train-merges.ts";
import { runToEnd } from "../../../src/runtime/slices.ts";
import { WordCounter } from "../../../src/words/word-counter.ts";
import type { TokenWords } from "../../../src/words/word-table.ts";
import { type Random, randomNumbers } from "../../random.ts";
import { rounds } from "../../rounds.ts";
import { entriesOf } from "../words/generators.ts";
import { makeTuning } from "./made-words.ts";

const seed = Number(process.env.TEST_SEED ?? 11);

/** Returns words of even ids below 40. The start token of an id is half the id. */
function makeIdWords(random: Random): Map<string, number> {
  const words = new Map<string, number>();
  for (let n = 1 + random(60); n > 0; n--) {
    const ids = Array.from(
      { length: 1 + random(random(5) === 0 ? 60 : 8) },
      () => 2 * random(4 + random(16)),
    );
    words.set(ids.join(" "), random(4) === 0 ? 2000 + random(100) : 1 + random(5));
  }
  return words;
}

const idLimit = 40;
const numbers = Int32Array.from({ length: idLimit }, (_, id) => (id % 2 === 0 ? id / 2 : -1));

/** Returns the words as a table of start tokens, and as ids of `idBytes` bytes, in a table and in a counter. */
function allFormsOf(words: ReadonlyMap<string, number>, idBytes: 2 | 4) {
  const Ids = idBytes === 2 ? Uint16Array : Uint32Array;
  const counter = new WordCounter();
  const startCounts = new Float64Array(idLimit / 2);
  const starts = [0];
  const tokens: number[] = [];
  const allIds: number[] = [];
  for (const [word, count] of words) {
    const ids = Ids.from(word.split(" ").map(Number));
    const bytes = new Uint8Array(ids.buffer as ArrayBuffer);
    counter.add({ bytes, view: new DataView(bytes.buffer) }, 0, bytes.length, count);
    allIds.push(...ids);
    for (const id of ids) {
      tokens.push(numbers[id]!);
      startCounts[numbers[id]!]! += count;
    }
    starts.push(tokens.length);
  }
  const table: TokenWords = {
    wordCount: words.size,
    tokens: Ids.from(tokens),
    starts: Uint32Array.from(starts),
    counts: Float64Array.from(words.values()),
  };
  return {
    table,
    idTable: { ...table, tokens: Ids.from(allIds), numbers, startCounts },
    counter,
    startCounts,
  };
}

const options = (threadCount: number) => ({
  mergeCount: 60,
  compat: "huggingface" as const,
  startTokens: { count: idLimit / 2 },
  threadCount,
});

test("merges learned from the records of a counter are those of a table of the words, and of a table of the ids", () => {
  const random = randomNumbers(seed);
  for (let trial = 0; trial < rounds(120); trial++) {
    const words = makeIdWords(random);
    const idBytes = random(2) === 0 ? 2 : 4;
    const threadCount = 1 + random(4);
    const tuning: MergeTuning = { ...makeTuning(random), sharedCellCount: 0, startsHelpers: false };
    const { table, idTable, counter, startCounts } = allFormsOf(words, idBytes);
    const records = runToEnd(counter.convertToRecords(idLimit, idBytes))!;
    const positionCount = table.tokens.length;
    const numbered = { ...records, positionCount, numbers, startCounts };
    const context = { seed, trial, words, idBytes, threadCount, tuning };
    const merges = runToEnd(trainInPlace(numbered, options(threadCount), tuning)!);
    const expected = { ...context, merges: runToEnd(trainMerges(table, options(1))) };
    expect({ ...context, merges }).toEqual(expected);
    const ofIds = runToEnd(trainMerges(idTable, options(threadCount), tuning));
    expect({ ...context, merges: ofIds }).toEqual(expected);
  }
});

test("if memory is too small for merging, the words survive, unless it fails in the middle", () => {
  const random = randomNumbers(seed);
  const words = makeIdWords(random);
  const ends: string[] = [];
  for (let freeBytes = 1 << 16; ends.at(-1) !== "merged"; freeBytes += 1 << 18) {
    const { table, counter, startCounts } = allFormsOf(words, 2);
    const before = entriesOf(counter.toWordTable());
    const records = runToEnd(counter.convertToRecords(idLimit, 2))!;
    const freeEnd = records.freeStart + freeBytes;
    const numbered = { ...records, freeEnd, positionCount: table.tokens.length, numbers, startCounts };
    const work = trainInPlace(numbered, options(1));
    if (work === undefined) {
      expect(entriesOf(counter.toWordTable())).toEqual(before);
      ends.push("no room");
      continue;
    }
    const merges = runToEnd(work);
    expect(counter.distinctWordCount).toBe(0);
    if (merges !== undefined) expect(merges).toEqual(runToEnd(trainMerges(table, options(1))));
    ends.push(merges === undefined ? "no room in the middle" : "merged");
  }
  expect(ends).toContain("no room");
});
