import { expect, test } from "bun:test";
import { type MergePlan, planRegions } from "../../../src/merge/merge-helpers.ts";
import * as kernels from "../../../src/runtime/kernel.ts";

const cellCount = 100_000_000;
const threadCount = 64;

/**
 * The plan of a text that is too large for a test. The kernel lays out its regions (merge-regions.ts) for it, but
 * `startText` writes only one of them: `parts`, the parts of the text for the threads.
 */
const plan: MergePlan = {
  ...{ first: 0, end: 1, wordCount: 1, firstStart: 0, positionCount: cellCount, positionBytes: 1, cellCount },
  ...{
    firstByte: 0,
    areRecords: false,
    idLimit: 0,
    memoryCount: 1,
    memoryIndex: 0,
    cellCountOfAll: cellCount,
  },
  ...{ startCount: 256, startByteCount: 256, haveLongTokens: false, countsDensely: true },
  ...{ tokenCapacity: 1000, isWide: false, prefixLength: 0, specialCount: 0, specialByteCount: 0 },
  ...{ limitsWords: false, wholeCharacters: false, threadCount },
};

test("threads get equal parts of a text, even if cells times threads do not fit into 32 bits", () => {
  const { exports, memory } = kernels.create();
  expect(planRegions({ exports, memory }, plan, 2 ** 32 - 1)).toBeGreaterThan(0);
  const before = new Uint32Array(memory.buffer, 0, memory.buffer.byteLength / 4).slice();
  exports.startText();
  // Finds the parts in memory. Each part has three adjacent 32-bit numbers: `start`, `end` (exclusive) and `next`,
  // which equals `start` at first.
  const words = new Uint32Array(memory.buffer, 0, before.length);
  const ends = new Map<number, number>();
  for (let i = 0; i + 2 < words.length; i++)
    if (words[i] !== before[i] && words[i] === words[i + 2]) ends.set(words[i]!, words[i + 1]!);
  const sizes: number[] = [];
  for (let start = 1; start < cellCount && sizes.length < threadCount; start = ends.get(start)!)
    sizes.push(ends.get(start)! - start);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(cellCount - 1);
  expect(sizes.length).toBe(threadCount);
  expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
});
