import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  gini,
  ratio,
  renyiEfficiency,
  renyiEntropy,
  sumOf,
  usedCount,
} from "../../../src/evaluation/evaluation.ts";
import { naiveGini } from "./naive-evaluation.ts";

test("the entropy of equally frequent tokens is the logarithm of their number, for any alpha", () => {
  const counts = Float64Array.from([0, 5, 5, 0, 5, 5]);
  for (const alpha of [2, 2.5, 0.5]) {
    expect(renyiEntropy(counts, alpha)).toBeCloseTo(2, 12);
    expect(renyiEfficiency(counts, alpha)).toBeCloseTo(1, 12);
  }
});

test("entropies of small distributions, computed manually", () => {
  // p = 1/2, 1/4, 1/4: the squares add up to 3/8.
  expect(renyiEntropy(Float64Array.from([2, 1, 1]), 2)).toBeCloseTo(Math.log2(8 / 3), 12);
  expect(renyiEfficiency(Float64Array.from([2, 1, 1]), 2)).toBeCloseTo(Math.log2(8 / 3) / Math.log2(3), 12);
  const sum = 0.5 ** 2.5 + 2 * 0.25 ** 2.5;
  expect(renyiEntropy(Float64Array.from([2, 0, 1, 1]), 2.5)).toBeCloseTo(Math.log2(sum) / -1.5, 12);
});

test("one token alone, and none, have no entropy and no efficiency", () => {
  for (const counts of [
    Float64Array.of(7),
    Float64Array.of(0, 7),
    Float64Array.of(0, 0),
    Float64Array.of(),
  ]) {
    expect(Object.is(renyiEntropy(counts, 2), 0)).toBe(true);
    expect(renyiEfficiency(counts, 2)).toBe(null);
  }
});

test("sums and used tokens", () => {
  expect(sumOf(Float64Array.of(3, 0, 2 ** 52))).toBe(2 ** 52 + 3);
  expect(usedCount(Float64Array.of(3, 0, 1))).toBe(2);
  expect(ratio(1, 0)).toBe(null);
  expect(ratio(0, 4)).toBe(0);
});

test("the Gini coefficient is that of the formula with all pairs", () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: 0.01, max: 100, noNaN: true }), { minLength: 1 }), (costs) => {
      expect(gini(costs)).toBeCloseTo(naiveGini(costs), 9);
    }),
  );
  expect(gini([2, 2, 2])).toBe(0);
  expect(gini([0, 0])).toBe(0);
  expect(gini([1, 3])).toBeCloseTo(0.25, 12);
});
