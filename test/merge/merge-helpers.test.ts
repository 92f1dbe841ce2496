import { expect, test } from "bun:test";
import { countCells } from "../../src/merge/cell-count.ts";
import { trainMergesInJavaScript } from "../../src/merge/javascript/engine.ts";
import { createMergeKernel, learnMerges } from "../../src/merge/merge-engine.ts";
import { startMergeHelpers } from "../../src/merge/merge-helpers.ts";
import { defaultTuning } from "../../src/merge/merge-tuning.ts";
import type { Compat } from "../../src/merge/merges.ts";
import { trainMerges } from "../../src/merge/train-merges.ts";
import { seededRandom, tableOf } from "./made-words.ts";

const random = seededRandom(77);
const words = tableOf(new Map(Array.from({ length: 60_000 }, () => [makeWord(), 1 + random(50)])));

/** Letters early in the alphabet are frequent, so that there are long lists. */
function makeWord(): string {
  const letter = () => String.fromCharCode(97 + Math.min(random(26), random(26)));
  return Array.from({ length: 2 + random(12) }, letter).join("");
}

function atOnce<T>(work: Generator<unknown, T>): T {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}

test("threads that help change nothing, however many and however short the lists they share", async () => {
  for (const compat of ["cs336", "huggingface", "rustbpe"] as const satisfies Compat[]) {
    const expected = atOnce(trainMergesInJavaScript(words, { mergeCount: 2000, compat }));
    for (const threadCount of [2, 3, 7]) {
      for (const sharedListLength of [2, 64, 2048]) {
        const tuning = { ...defaultTuning, sharedCellCount: 0, sharedListLength };
        const merges = atOnce(trainMerges(words, { mergeCount: 2000, compat, threadCount }, tuning));
        expect({ compat, threadCount, sharedListLength, merges }).toEqual({
          compat,
          threadCount,
          sharedListLength,
          merges: expected,
        });
        await Bun.sleep(1);
      }
    }
  }
});

test("a helper does help", async () => {
  const options = { mergeCount: 2000, compat: "cs336", threadCount: 2 } as const;
  const tuning = { ...defaultTuning, sharedCellCount: 0, sharedListLength: 64 };
  const kernel = createMergeKernel(words, countCells(words), options, tuning)!;
  const helpers = startMergeHelpers(kernel, kernel.plan, kernel.capacityBytes);
  await Bun.sleep(100);
  const merges = atOnce(learnMerges(kernel, words, tuning));
  expect(kernel.exports.helpedCount()).toBeGreaterThan(0);
  expect(merges).toEqual(atOnce(trainMergesInJavaScript(words, options)));
  helpers.end();
});

test("a helper that cannot go on does not leave the others waiting", () => {
  const options = { mergeCount: 2000, compat: "cs336", threadCount: 2 } as const;
  const tuning = { ...defaultTuning, sharedCellCount: 0, sharedListLength: 64 };
  const kernel = createMergeKernel(words, countCells(words), options, tuning)!;
  kernel.exports.failHelp();
  expect(() => atOnce(learnMerges(kernel, words, tuning))).toThrow();
});
