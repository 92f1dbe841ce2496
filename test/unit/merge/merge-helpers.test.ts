import { expect, test } from "bun:test";
import { learnMerges } from "../../../src/merge/merge-engine.ts";
import { startMergeHelpers } from "../../../src/merge/merge-helpers.ts";
import { createMergeEngine } from "../../../src/merge/merge-memories.ts";
import { defaultTuning } from "../../../src/merge/merge-options.ts";
import { trainMerges } from "../../../src/merge/train-merges.ts";
import { runToEnd } from "../../../src/runtime/slices.ts";
import type { Compat } from "../../../src/tokenizer/merges.ts";
import * as wordTables from "../../../src/words/word-table.ts";
import { randomNumbers } from "../../random.ts";
import { turns } from "../../rounds.ts";
import { sumOf, tableOf } from "./made-words.ts";

const random = randomNumbers(77);
const words = tableOf(new Map(Array.from({ length: 60_000 }, () => [makeWord(), 1 + random(50)])));

/** Returns a random word. Letters early in the alphabet are more frequent, so that some pairs occur often. */
function makeWord(): string {
  const letter = () => String.fromCharCode(97 + Math.min(random(26), random(26)));
  return Array.from({ length: 2 + random(12) }, letter).join("");
}

const sums = {
  cs336: "2000 3bc5981f24d205f4",
  huggingface: "2000 50b2af49126a483d",
  rustbpe: "2000 50b2af49126a483d",
} as const;

test("helper threads change nothing, for any number of them, any length of shared lists, and any number of memories", async () => {
  let turn = 0;
  for (const [memoryCountMin, sharedListLength] of [
    [1, 2],
    [1, 64],
    [1, 2048],
    [3, 64],
  ] as const) {
    turn++; // In the next round, each rule has another number of threads.
    for (const threadCount of [2, 3, 7]) {
      const all = ["cs336", "huggingface", "rustbpe"] as const satisfies Compat[];
      for (const compat of turns(all, turn++)) {
        const tuning = { ...defaultTuning, sharedCellCount: 0, sharedListLength, memoryCountMin };
        const merges = sumOf(runToEnd(trainMerges(words, { mergeCount: 2000, compat, threadCount }, tuning)));
        const context = { compat, threadCount, memoryCountMin, sharedListLength };
        expect({ ...context, merges }).toEqual({ ...context, merges: sums[compat] });
        await Bun.sleep(1);
      }
    }
  }
});

test("a helper does some of the work", async () => {
  const options = { mergeCount: 2000, compat: "cs336", threadCount: 2 } as const;
  const tuning = { ...defaultTuning, sharedCellCount: 0, sharedListLength: 64 };
  // A helper that starts late finds nothing to do. Then the training is repeated with a longer wait.
  for (let [helpedCount, waitMs] = [0, 10]; helpedCount === 0; waitMs *= 2) {
    const engine = createMergeEngine(wordTables.byteWords(words), 1, options, tuning)!;
    const helpers = startMergeHelpers(engine.memories[0]!);
    await Bun.sleep(waitMs);
    expect(sumOf(runToEnd(learnMerges(engine, wordTables.byteWords(words), tuning))!)).toBe(sums.cs336);
    helpers.end();
    helpedCount = engine.memories[0]!.exports.helpedCount();
  }
});

test("a helper that cannot continue does not leave the others waiting", () => {
  const options = { mergeCount: 2000, compat: "cs336", threadCount: 2 } as const;
  const tuning = { ...defaultTuning, sharedCellCount: 0, sharedListLength: 64 };
  const engine = createMergeEngine(wordTables.byteWords(words), 1, options, tuning)!;
  engine.memories[0]!.exports.failHelp();
  expect(() => runToEnd(learnMerges(engine, wordTables.byteWords(words), tuning))).toThrow();
});
