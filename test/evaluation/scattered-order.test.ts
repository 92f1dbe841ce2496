import { expect, test } from "bun:test";
import { scatteredStep, scatteredTable } from "../../src/evaluation/scattered-order.ts";
import { wordTableOf } from "../../src/words/word-table.ts";

test("each index comes once, for any number of words", () => {
  for (let count = 1; count < 300; count++) {
    const step = scatteredStep(count);
    expect(new Set(Array.from({ length: count }, (_, i) => (i * step) % count)).size).toBe(count);
  }
});

test("neighbours in the order are far apart in the table", () => {
  for (const count of [100, 1000, 65536]) {
    const step = scatteredStep(count);
    expect(Math.min(step, count - step)).toBeGreaterThan(count / 4);
  }
});

test("a scattered table has the same words with the same counts, in memory that is shared", () => {
  const entries = Array.from({ length: 50 }, (_, i) => [`${"x".repeat(i % 7)}${i}`, i + 1] as const);
  const { wordCount, bytes, starts, counts } = scatteredTable(wordTableOf(entries));
  const words = Array.from({ length: wordCount }, (_, w): [string, number] => [
    Buffer.from(bytes.subarray(starts[w]!, starts[w + 1]!)).toString(),
    counts[w]!,
  ]);
  expect(words.map(([word]) => word)).not.toEqual(entries.map(([word]) => word));
  expect(new Map(words)).toEqual(new Map(entries));
  expect([bytes, starts, counts].every(({ buffer }) => buffer instanceof SharedArrayBuffer)).toBe(true);
  expect(scatteredTable(wordTableOf([])).wordCount).toBe(0);
});
