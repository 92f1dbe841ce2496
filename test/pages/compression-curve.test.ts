import { expect, test } from "bun:test";
import * as curves from "../../src/pages/compression-curve.ts";

const compressionOf = (baseSize: number, size: number, bytesPerToken: (size: number) => number) => ({
  baseSize,
  tokensAfter: Float64Array.from(
    { length: size - baseSize + 1 },
    (_, k) => 1e9 / bytesPerToken(baseSize + k),
  ),
});

test("bytes per token come from the tokens left after each merge", () => {
  const compression = { baseSize: 256, tokensAfter: Float64Array.of(100, 80, 50) };
  expect([256, 257, 258].map((size) => curves.curvePoint(compression, size).bytesPerToken)).toEqual([
    1, 1.25, 2,
  ]);
});

test("the estimate for twice the size assumes that each doubling gains a fixed part of the previous gain", () => {
  // 5 - 4·0.5^d: each doubling gains half of what the previous one gained.
  const halving = compressionOf(250, 4000, (size) => 5 - 4 * 0.5 ** Math.log2(size / 250));
  expect(curves.estimateDoubled(halving)!.size).toBe(8000);
  expect(curves.estimateDoubled(halving)!.bytesPerToken).toBeCloseTo(5 - 4 * 0.5 ** 5, 3);
  // An accelerating curve is extrapolated by the gain of the last doubling.
  expect(curves.estimateDoubled(compressionOf(256, 4096, (size) => size / 256))!.bytesPerToken).toBeCloseTo(
    24,
    9,
  );
});

test("there is no estimate for a curve that is too short, or does not rise", () => {
  expect(curves.estimateDoubled(compressionOf(256, 1000, (size) => Math.sqrt(size / 256)))).toBeNull();
  expect(curves.estimateDoubled(compressionOf(256, 4096, () => 1))).toBeNull();
});

test("the table has the chosen size, its half, its quarter, and so on, and smaller sizes that were chosen", () => {
  const { table, points, doubled, smallerSizes } = curves.of(
    compressionOf(256, 4096, (size) => 5 - 4 * 0.5 ** Math.log2(size / 256)),
    [3000],
  );
  expect(table.map(({ size }) => size)).toEqual([512, 1024, 2048, 3000, 4096]);
  expect(table.find(({ size }) => size === 2048)!.bytesPerToken).toBeCloseTo(4.5, 9);
  expect([points[0]!.size, points.at(-1)!.size, doubled!.size]).toEqual([256, 4096, 8192]);
  expect(smallerSizes).toEqual([3000]);
});

test("for few merges, the table has half of them, a quarter, and so on", () => {
  const sizesOf = (first: number, last: number) =>
    curves.of(compressionOf(first, last, (size) => size / 256)).table.map(({ size }) => size);
  expect(sizesOf(256, 266)).toEqual([256, 257, 258, 261, 266]);
  expect(sizesOf(257, 1000)).toEqual([257, 303, 349, 442, 628, 1000]);
  expect(sizesOf(256, 256)).toEqual([256]);
  // If there are many sizes, the table has the largest ones.
  expect(sizesOf(256, 64_000)).toEqual([4000, 8000, 16_000, 32_000, 64_000]);
});

test("of recorded points, the table has some that are far apart", () => {
  const points = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map((size) => ({ size: 1000 * size, bytesPerToken: 1 }));
  expect(curves.through(points).table.map(({ size }) => size)).toEqual([1000, 2000, 5000, 10_000]);
  expect(curves.through(points.slice(0, 1)).table).toEqual(points.slice(0, 1));
});
