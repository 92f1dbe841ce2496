import { expect, test } from "bun:test";
import { sectionHtml } from "../../src/report/html.ts";
import {
  compressionSection,
  curvePoint,
  estimateDoubled,
  intermediateSection,
} from "../../src/report/training-sections.ts";
import { madeTokenizer } from "./made-report.ts";

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
  // A curve that rises faster and faster is continued by what the last doubling brought.
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

test("intermediate tokens are counted by tenths of the merges, and those that lost most come first", () => {
  const letters = [..."abcdefghijklmnopqrst"];
  const tokenizer = madeTokenizer(
    "t",
    letters.map((letter) => [letter, "z"] as const),
  );
  const [createdCounts, endCounts] = [new Float64Array(276), new Float64Array(276)];
  for (let k = 0; k < 20; k++) {
    createdCounts[256 + k] = 100 - k;
    endCounts[256 + k] = k < 5 ? k : 50;
  }
  const isIntermediate = (id: number) => id < 261;
  const section = intermediateSection({
    ...tokenizer,
    ledger: { createdCounts, endCounts, isIntermediate },
  })!;
  expect(section.table!.rows.slice(0, 4)).toEqual([
    ["1–2", "2", "100 %"],
    ["3–4", "2", "100 %"],
    ["5–6", "1", "50 %"],
    ["7–8", "0", "0 %"],
  ]);
  const { text } = sectionHtml(section);
  expect(text).toContain("<strong>5</strong> of 20 learned tokens");
  expect(text).toMatch(/\b1 of them occur nowhere/);
  expect([...text.matchAll(/<td>(\d+)<\/td><td>\d+<\/td><td>\d+<\/td>/g)].map(([, id]) => id)).toEqual([
    "256",
    "257",
    "258",
    "259",
    "260",
  ]);
  expect(intermediateSection(tokenizer)).toBeNull();
});
