import { expect, test } from "bun:test";
import { compressionSection, curvePoint, estimateDoubled } from "../../src/report/compression-section.ts";
import { sectionHtml } from "../../src/report/figure.ts";

/** A corpus whose bytes per token are given by the size of the vocabulary. */
const curveOf = (baseSize: number, size: number, bytesPerToken: (size: number) => number) => ({
  baseSize,
  tokensAfter: Float64Array.from(
    { length: size - baseSize + 1 },
    (_, k) => 1e9 / bytesPerToken(baseSize + k),
  ),
});

test("bytes per token come from the tokens that are left after so many merges", () => {
  const compression = { baseSize: 256, tokensAfter: Float64Array.of(100, 80, 50) };
  expect([256, 257, 258].map((size) => curvePoint(compression, size).bytesPerToken)).toEqual([1, 1.25, 2]);
});

test("the estimate for twice the size continues doublings that bring a fixed part of the one before", () => {
  // 5 - 4·0.5^d: each doubling brings half of what the one before brought.
  const halving = curveOf(250, 4000, (size) => 5 - 4 * 0.5 ** Math.log2(size / 250));
  expect(estimateDoubled(halving)!.size).toBe(8000);
  expect(estimateDoubled(halving)!.bytesPerToken).toBeCloseTo(5 - 4 * 0.5 ** 5, 3);
});

test("a curve that rises faster and faster is continued by what the last doubling brought", () => {
  expect(estimateDoubled(curveOf(256, 4096, (size) => size / 256))!.bytesPerToken).toBeCloseTo(24, 9);
});

test("there is no estimate for a curve that is too short, or does not rise", () => {
  expect(estimateDoubled(curveOf(256, 1000, (size) => Math.sqrt(size / 256)))).toBeNull();
  expect(estimateDoubled(curveOf(256, 4096, () => 1))).toBeNull();
});

test("the chart marks the chosen size, and the table has its halves", () => {
  const compression = curveOf(256, 4096, (size) => 5 - 4 * 0.5 ** Math.log2(size / 256));
  const { text } = sectionHtml(compressionSection(compression));
  expect(text).toContain("4,096: 4.750</text>");
  expect(text).toContain('<th scope="row">2,048</th><td>4.5000</td><td>5.6 % more tokens</td>');
  expect(text).toContain('<th scope="row">8,192 (estimate)</th>');
  expect(sectionHtml(compressionSection(curveOf(256, 256, () => 1))).text).toContain("1.000");
});
