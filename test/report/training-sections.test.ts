import { expect, test } from "bun:test";
import { sectionHtml } from "../../src/report/html.ts";
import {
  compressionSection,
  curvePoint,
  estimateDoubled,
  intermediateSection,
  specialSection,
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
  expect(text).toContain(">4,096</text>");
  expect(text).toContain("<strong>5.3 %</strong> fewer tokens (the quarter before it: 11 %).");
  expect(text).toContain('<th scope="row">2,048</th><td>4.5000</td><td>5.6 % more tokens</td>');
  expect(text).toContain('<th scope="row">8,192 (estimate)</th>');
  expect(sectionHtml(compressionSection(curveOf(256, 256, () => 1))).text).toContain("1.000");
});

test("of few merges the table has half of them, a quarter …, and single sizes are on the axis", () => {
  const { text } = sectionHtml(compressionSection(curveOf(256, 266, (size) => size / 256)));
  const sizes = [...text.matchAll(/<th scope="row">([\d,]+)</g)].map(([, size]) => size);
  expect(sizes).toEqual(["256", "257", "258", "261", "266"]);
  expect(text).toContain(">258</text>");
  const larger = sectionHtml(compressionSection(curveOf(257, 1000, (size) => size / 256))).text;
  const sizesOf = [...larger.matchAll(/<th scope="row">([\d,]+)</g)].map(([, size]) => size);
  expect(sizesOf).toEqual(["257", "303", "349", "442", "628", "1,000"]);
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
  expect(text).toContain("<strong>5</strong> of 20 learned tokens (25 %; usual: 6 to 20\u00a0%)");
  expect(text).toMatch(/\b1 of them occurs nowhere/);
  expect([...text.matchAll(/<td>(\d+)<\/td><td>\d+<\/td><td>\d+<\/td>/g)].map(([, id]) => id)).toEqual([
    "256",
    "257",
    "258",
    "259",
    "260",
  ]);
  expect(intermediateSection(tokenizer)).toBeNull();
});

test("the most absorbed tokens are as many as tenths of the merges, of equal ones the lower id first", () => {
  const tokenizer = madeTokenizer(
    "t",
    Array.from({ length: 40 }, (_, i) => [String.fromCharCode(65 + i), "z"] as const),
  );
  const createdCounts = new Float64Array(296).map((_, id) => 10 + (id % 5));
  const ledger = { createdCounts, endCounts: new Float64Array(296), isIntermediate: () => true };
  const { text } = sectionHtml(intermediateSection({ ...tokenizer, ledger })!);
  const ids = [...text.matchAll(/<\/code><\/th><td>(\d+)<\/td>/g)].map(([, id]) => Number(id));
  const naive = Array.from({ length: 40 }, (_, k) => 256 + k).sort(
    (a, b) => createdCounts[b]! - createdCounts[a]! || a - b,
  );
  expect(ids).toEqual(naive.slice(0, 10));
});

test("special tokens have a section if there are several, with how they are found, and many are behind a click", () => {
  const specials = Array.from({ length: 70 }, (_, i) => `<|${i}|>`);
  const few = madeTokenizer("t", [], specials.slice(0, 3));
  expect(specialSection(few)).toBeNull();
  const many = madeTokenizer("t", [], specials);
  const addedTokens = many.addedTokens.map((token, i) => ({ ...token, lstrip: i === 1, special: i !== 2 }));
  const { text } = sectionHtml(specialSection({ ...many, addedTokens: addedTokens.toReversed() })!);
  expect(text).toContain("70 tokens are found");
  expect(text).toMatch(
    /id 256<.*id 257, lstrip<.*id 258, not special<.*id 315<.*<summary>10 more<.*id 316</s,
  );
});
