import { expect, test } from "bun:test";
import { atOnce } from "../../src/runtime/turns.ts";
import { makeLedger } from "../../src/vocabulary/ledger.ts";
import {
  mergesOfOperations,
  noteRepeats,
  type Operations,
  orderOperations,
} from "../../src/vocabulary/operations.ts";

const [a, b] = [97, 98];

/** "ab" from letters, "abab" from two of it, then "ab" again of another two tokens, then what is made of that. */
const operations: Operations = {
  operationCount: 4,
  areSuper: Uint8Array.of(0, 1, 1, 1),
  left: Int32Array.of(a, 256, a, 257),
  right: Int32Array.of(b, 256, b, 256),
  made: Int32Array.of(256, 257, 256, 258),
  counts: Float64Array.of(10, 3, 2, 1),
};

test("an operation whose token is there adds none, and the ledger knows what it replaced", () => {
  const merges = mergesOfOperations(operations);
  expect([merges.mergeCount, [...merges.left], [...merges.right], [...merges.replacedCounts]]).toEqual([
    3,
    [a, 256, 257],
    [b, 256, 256],
    [10, 3, 1],
  ]);
  const startCounts = new Float64Array(256);
  startCounts[a] = startCounts[b] = 14;
  const ledger = makeLedger(merges, startCounts);
  noteRepeats(ledger, operations);
  expect([...ledger.tokensAfter]).toEqual([28, 18, 13, 12]);
  expect([a, b, 256, 257, 258].map((token) => ledger.endCounts[token]!)).toEqual([2, 2, 5, 2, 1]);
  expect([256, 257, 258].map((token) => ledger.birthCounts[token]!)).toEqual([12, 3, 1]);
});

test("of equal counts the merge comes before the supermerge, and the end is at the first pass's size", () => {
  const words = {
    ...{ startCount: 256, mergeCount: 2, left: Int32Array.of(a, b), right: Int32Array.of(a, b) },
    ...{ counts: Float64Array.of(9, 4), replacedCounts: Float64Array.of(9, 4) },
  };
  const supers = { left: [0, 1], right: [0, 0], made: [1, 2], counts: [9, 5], runTokens: Int32Array.of(a) };
  const { areSuper, made, counts } = atOnce(orderOperations(words, supers));
  expect([[...areSuper], [...made], [...counts]]).toEqual([
    [0, 1, 1],
    [256, 256, 257],
    [9, 9, 5],
  ]);
});
