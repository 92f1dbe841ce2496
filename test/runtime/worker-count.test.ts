import { expect, test } from "bun:test";
import { workersFor } from "../../src/runtime/worker-count.ts";

test("a number of workers that was asked for is obeyed at any size", () => {
  expect([0, 1e6, 1e12].map(workersFor(3, 2))).toEqual([3, 3, 3]);
});

test("small corpora get no worker, large ones as many as memory allows", () => {
  expect([0, 31e6].map(workersFor(undefined, 64))).toEqual([1, 1]);
  expect(workersFor(undefined, 1)(1e12)).toBe(1);
  expect(workersFor(undefined, 64)(1e12)).toBeGreaterThanOrEqual(1);
});
