import { expect, test } from "bun:test";
import fc from "fast-check";
import { longestIncreasing } from "../../src/evaluation/longest-increasing.ts";

/** The length of the longest ascending subsequence, by all pairs. */
function naiveLength(numbers: readonly number[]): number {
  const lengths: number[] = [];
  for (const [i, number] of numbers.entries()) {
    const before = lengths.filter((_, j) => j < i && numbers[j]! < number);
    lengths.push(1 + Math.max(0, ...before));
  }
  return Math.max(0, ...lengths);
}

test("the indices ascend, their numbers ascend, and no longer subsequence does", () => {
  const orders = fc.array(fc.nat(), { maxLength: 60 }).map((all) => [...new Set(all)]);
  fc.assert(
    fc.property(orders, (numbers) => {
      const indices = [...longestIncreasing(numbers)];
      expect(indices).toEqual(indices.toSorted((a, b) => a - b));
      const chosen = indices.map((i) => numbers[i]!);
      expect(chosen).toEqual(chosen.toSorted((a, b) => a - b));
      expect(new Set(indices).size).toBe(indices.length);
      expect(indices.length).toBe(naiveLength(numbers));
    }),
  );
  expect([...longestIncreasing([3, 1, 2])]).toEqual([1, 2]);
  expect([...longestIncreasing([])]).toEqual([]);
});
