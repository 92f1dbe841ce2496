import { expect, test } from "bun:test";
import {
  type Axis,
  linearAxis,
  percent,
  placeOn,
  shortNumber,
  sizesAxis,
  tickNames,
} from "../../src/pages/axes.ts";

const holds = (axis: Axis, values: readonly number[]) =>
  values.every((value) => placeOn(axis, value) >= -1e-9 && placeOn(axis, value) <= 1 + 1e-9);

test("every axis contains its values, and begins and ends at its first and last tick", () => {
  for (let seed = 1; seed < 200; seed++) {
    const values = Array.from(
      { length: 5 },
      (_, i) => ((seed * 7919 * (i + 3)) % 10_007) / 10 ** (seed % 5) + 1e-3,
    );
    const [low, high] = [Math.min(...values), Math.max(...values)];
    const axes = [linearAxis("", values), sizesAxis("", 1e5 * low, 1e5 * high)];
    for (const axis of axes) {
      expect(holds(axis, axis === axes[1] ? values.map((value) => 1e5 * value) : values)).toBe(true);
      expect(placeOn(axis, axis.first)).toBe(0);
      expect(placeOn(axis, axis.last)).toBeCloseTo(1, 9);
      expect(axis.ticks.length).toBeWithin(1, 8);
      expect(holds(axis, axis.ticks)).toBe(true);
    }
  }
});

test("ticks are round numbers", () => {
  expect(linearAxis("", [1, 4.2]).ticks).toEqual([1, 2, 3, 4, 5]);
  expect(linearAxis("", [0, 5]).ticks).toEqual([0, 1, 2, 3, 4, 5]);
  expect(linearAxis("", [0.12, 0.14]).ticks).toEqual([0.12, 0.125, 0.13, 0.135, 0.14]);
  expect(sizesAxis("", 257, 64_000).ticks).toEqual([1000, 4000, 16_000, 64_000]);
  // The ticks are common sizes, whatever the chosen size.
  expect(sizesAxis("", 256, 32_768).ticks.map((value) => shortNumber(value))).toEqual([
    "500",
    "2k",
    "8k",
    "32k",
  ]);
  expect(sizesAxis("", 256, 266).ticks).toEqual([256, 258, 260, 262, 264, 266]);
  expect(sizesAxis("", 256, 258).ticks).toEqual([256, 257, 258]);
  expect(sizesAxis("", 261, 277).ticks).toEqual([265, 270, 275]);
});

test("a single value has an axis", () => {
  expect(holds(linearAxis("", [3]), [3])).toBe(true);
  expect(placeOn(sizesAxis("", 256, 256), 256)).toBe(0);
});

test("numbers on ticks are short", () => {
  expect(
    [0, 1, 0.125, 999, 1000, 1500, 32_000, 999_999, 1e6, 2.5e9].map((value) => shortNumber(value)),
  ).toEqual(["0", "1", "0.125", "999", "1k", "1.5k", "32k", "1M", "1M", "2.5G"]);
  expect([0, 0.004, 0.0994, 0.5, 1].map(percent)).toEqual(["0 %", "0.4 %", "9.9 %", "50 %", "100 %"]);
});

test("ticks have as many digits as distinguish them", () => {
  expect(tickNames(linearAxis("", [4.193, 4.196]))).toEqual(["4.193", "4.194", "4.195", "4.196"]);
  expect(tickNames(linearAxis("", [1000, 1004]))).toEqual(["1k", "1.001k", "1.002k", "1.003k", "1.004k"]);
});
