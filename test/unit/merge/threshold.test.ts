import { expect, test } from "bun:test";
import { prepareEngine } from "../../../src/merge/merge-engine.ts";
import { createMergeEngine } from "../../../src/merge/merge-memories.ts";
import { defaultTuning } from "../../../src/merge/merge-options.ts";
import { runToEnd } from "../../../src/runtime/slices.ts";
import * as wordTables from "../../../src/words/word-table.ts";
import { randomNumbers } from "../../random.ts";
import { wordTableOf } from "../words/generators.ts";

/** All thresholds below 2^32: each number below 16, and eight from each power of two to the next. */
const thresholds = [
  ...Array.from({ length: 15 }, (_, i) => i + 1),
  ...Array.from({ length: 28 }, (_, k) => Array.from({ length: 8 }, (_, i) => (8 + i) * 2 ** (k + 1))).flat(),
];

/**
 * Returns the highest threshold that at least `wanted` of the counts reach. But the result is at most a quarter of
 * `before`, and at least `least`.
 */
function naiveThreshold(counts: readonly number[], wanted: number, before: number, least: number): number {
  const reached = thresholds.findLast((count) => counts.filter((other) => other >= count).length >= wanted);
  return Math.max(least, Math.min(reached ?? 1, Math.floor(before / 4)));
}

test("a sketch lowers the threshold to the highest of eight steps a power of two that enough pairs reach", () => {
  const random = randomNumbers(5);
  const words = wordTables.byteWords(
    wordTableOf([["long words make a sketch of many cells".repeat(100), 1]]),
  );
  const engine = createMergeEngine(words, 1, { mergeCount: 100, compat: "cs336" }, defaultTuning)!;
  runToEnd(prepareEngine(engine, words, defaultTuning));
  const [{ exports, memory }] = engine.memories as [(typeof engine.memories)[number]];
  for (let trial = 0; trial < 500; trial++) {
    const [before, least] = trial % 5 === 0 ? [1 + random(10_000), 1 + random(50)] : [2 ** 40, 1];
    exports.startThreshold(before, least, 0, 0, 1);
    exports.startSketch(exports.wantedSketchBits());
    const cells = new Uint32Array(memory.buffer, exports.sketchAddress() >>> 0, exports.sketchCellCount());
    const counts = Array.from({ length: 1 + random(cells.length - 1) }, () =>
      random(8) === 0 ? 2 ** 32 - 1 - random(3) : Math.floor(2 ** (random(3200) / 100)),
    );
    cells.set(counts, random(cells.length - counts.length));
    const wanted = 1 + random(counts.length + 5);
    exports.lowerToSketch(wanted);
    expect(exports.thresholdNow()).toBe(naiveThreshold(counts, wanted, before, least));
  }
});
