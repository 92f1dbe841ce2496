import { expect, test } from "bun:test";
import { estimateMergeMemoryBytes } from "../../src/merge/train-merges.ts";
import { byteWordsSize, sizeOf } from "../../src/words/word-table.ts";
import { makeWords, seededRandom, tableOf } from "./made-words.ts";

const words = tableOf(makeWords(seededRandom(3)));

test("the estimate grows with the merges asked for only as far as the words can give them", () => {
  const estimate = (mergeCount: number) =>
    estimateMergeMemoryBytes(byteWordsSize(sizeOf(words)), { mergeCount, compat: "cs336" });
  expect(estimate(20)).toBeGreaterThan(estimate(10));
  expect(estimate(1e9)).toBe(estimate(1e8));
});

test("the estimate covers the cells and the occurrences", () => {
  const positions = words.bytes.length;
  expect(
    estimateMergeMemoryBytes(byteWordsSize(sizeOf(words)), { mergeCount: 10, compat: "rustbpe" }),
  ).toBeGreaterThan(2 * positions);
});

test("the bound covers the cells, and the occurrences of words that are longer than their order takes", () => {
  const [wordCount, positionCount] = [1e6, 7e6];
  const bound = estimateMergeMemoryBytes({ wordCount, positionCount }, { mergeCount: 10, compat: "rustbpe" });
  expect(bound).toBeGreaterThan(2 * (positionCount + wordCount) + 4 * positionCount);
  expect(bound).toBeLessThan(2 * (2 * (positionCount + wordCount) + 4 * positionCount));
});

test("threads that help are counted where there are cells enough for them", () => {
  const bound = (wordCount: number, threadCount: number) =>
    estimateMergeMemoryBytes(
      { wordCount, positionCount: 7 * wordCount },
      { mergeCount: 10, compat: "rustbpe", threadCount },
    );
  expect(bound(1e5, 2)).toBe(bound(1e5, 1));
  expect(bound(1e6, 2) - bound(1e6, 1)).toBeGreaterThan(12e6);
  expect(bound(1e6, 2) - bound(1e6, 1)).toBeLessThan(15e6);
  expect(bound(1e6, 100)).toBe(bound(1e6, 8));
});

test("words that need several memories have their tokens in each of them", () => {
  const bound = (wordCount: number, mergeCount: number) =>
    estimateMergeMemoryBytes({ wordCount, positionCount: 12 * wordCount }, { mergeCount, compat: "rustbpe" });
  const bytesOfTokens = (wordCount: number) => bound(wordCount, 60_000) - bound(wordCount, 30_000);
  expect(bytesOfTokens(20e6)).toBe(bytesOfTokens(1e6));
  expect(bytesOfTokens(60e6)).toBe(3 * bytesOfTokens(20e6));
});
