import { expect, test } from "bun:test";
import { estimateMergeMemoryBytes } from "../../src/merge/memory.ts";
import { makeWords, seededRandom, tableOf } from "./made-words.ts";

const words = tableOf(makeWords(seededRandom(3)));

test("the estimate grows with the merges asked for only as far as the words can give them", () => {
  const estimate = (mergeCount: number) => estimateMergeMemoryBytes(words, { mergeCount, compat: "cs336" });
  expect(estimate(20)).toBeGreaterThan(estimate(10));
  expect(estimate(1e9)).toBe(estimate(1e8));
});

test("the estimate covers the cells and the occurrences", () => {
  const positions = words.bytes.length;
  expect(estimateMergeMemoryBytes(words, { mergeCount: 10, compat: "rustbpe" })).toBeGreaterThan(
    2 * positions,
  );
});
