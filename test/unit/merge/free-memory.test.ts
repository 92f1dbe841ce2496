import { expect, test } from "bun:test";
import { planRegions } from "../../../src/merge/merge-helpers.ts";
import { createMergeEngine } from "../../../src/merge/merge-memories.ts";
import { defaultTuning } from "../../../src/merge/merge-options.ts";
import { trainMerges } from "../../../src/merge/train-merges.ts";
import { runSliced, runToEnd } from "../../../src/runtime/slices.ts";
import type { Compat } from "../../../src/tokenizer/merges.ts";
import { type FreeMemory, WordCounter } from "../../../src/words/word-counter.ts";
import * as wordTables from "../../../src/words/word-table.ts";
import { pick, randomNumbers } from "../../random.ts";
import { rounds } from "../../rounds.ts";
import { bytesOf, countPretokens, pretokensOf } from "../words/generators.ts";
import { makeTuning, makeWords, sumOf, tableOf } from "./made-words.ts";

const compats: readonly Compat[] = ["cs336", "huggingface", "rustbpe"];

/** Returns the memory of a counter that has counted some words, and whose text was full. */
function freeMemory(): FreeMemory {
  const counter = countPretokens(new WordCounter(), pretokensOf([bytesOf("a"), bytesOf(" bc")]));
  counter.text(50_000).bytes.fill(255);
  return counter.giveUpMemory()!;
}

/** Returns the first `count` bytes of the free part of a memory. */
const bytesOfFree = ({ kernel, freeStart }: FreeMemory, count: number) =>
  new Uint8Array(kernel.memory.buffer, freeStart, count);

test("merging in free memory gives the same merges, with all tunings", () => {
  for (let seed = 1; seed <= rounds(60); seed++) {
    const random = randomNumbers(seed * 5003);
    const words = tableOf(makeWords(random));
    const tuning = makeTuning(random);
    const compat = pick(random, compats);
    const threadCount = 1 + random(3);
    const options = { mergeCount: random(300), compat, specialTokens: ["ab", "<|end|>"], threadCount };
    const own = sumOf(runToEnd(trainMerges(words, options, tuning)));
    const inFree = sumOf(runToEnd(trainMerges(words, { ...options, free: freeMemory() }, tuning)));
    expect({ seed, merges: inFree }).toEqual({ seed, merges: own });
  }
});

const words = tableOf(makeWords(randomNumbers(3)));
const options = { mergeCount: 100, compat: "cs336" } as const;
const engineIn = (free: FreeMemory) =>
  createMergeEngine(wordTables.byteWords(words), 1, { ...options, free }, defaultTuning)!.memories[0]!;

test("the engine is set up in the free part of the memory, if it fits there as in a memory of its own", () => {
  const free = freeMemory();
  expect(bytesOfFree(free, 50_000)).toEqual(new Uint8Array(50_000));
  const { memory, plan } = engineIn(free);
  expect([memory === free.kernel.memory, plan.firstByte]).toEqual([true, free.freeStart]);
});

test("otherwise the engine gets a memory of its own, and the free memory stays as it is", () => {
  const free = freeMemory();
  const end = planRegions(free.kernel, engineIn(freeMemory()).plan, defaultTuning.memoryBytesMax);
  const isIn = (freeEnd: number) => engineIn({ ...free, freeEnd }).memory === free.kernel.memory;
  expect(isIn(end - 1)).toBe(false);
  expect(bytesOfFree(free, 2 ** 20)).toEqual(new Uint8Array(2 ** 20));
  expect(isIn(end)).toBe(true);
});

test("helper threads work in free memory, too", async () => {
  const tuning = { ...defaultTuning, sharedCellCount: 0, sharedListLength: 1 };
  const many = tableOf(
    new Map(Array.from({ length: 3000 }, (_, i) => [`${i * 7919}`.repeat(3), 1 + (i % 9)])),
  );
  const asked = { mergeCount: 2000, compat: "huggingface" } as const;
  const own = sumOf(runToEnd(trainMerges(many, asked, tuning)));
  const shared = { ...asked, threadCount: 3, free: freeMemory() };
  expect(sumOf(await runSliced(trainMerges(many, shared, tuning)))).toBe(own);
});
