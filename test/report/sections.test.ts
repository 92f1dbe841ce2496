import { expect, test } from "bun:test";
import { sectionHtml } from "../../src/report/html.ts";
import {
  compressionSection,
  countsByRank,
  curvePoint,
  differing,
  estimateDoubled,
  frequencySection,
  lengthSection,
  longestIdsOf,
  matrixSection,
  residueSection,
  sampleSection,
  scriptSection,
  sideBySideSection,
} from "../../src/report/sections.ts";
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

const tokensOf = (...texts: string[]) =>
  texts.map((text, id) => ({ id, bytes: new Uint8Array(Buffer.from(text)) }));

test("tokens differ where the other tokenizer has none with the same bytes at the same place", () => {
  const [a, b] = [tokensOf("ab", "c", "d", "ef"), tokensOf("a", "b", "c", "def")];
  expect(differing(a, b)).toEqual([true, false, true, true]);
  expect(differing(b, a)).toEqual([true, true, false, true]);
  expect(differing(a, a)).toEqual([false, false, false, false]);
  // The same tokens at other places are others.
  expect(differing(tokensOf("a", "aa"), tokensOf("aa", "a"))).toEqual([true, true]);
  // Nothing is marked where the two show different texts.
  expect(differing(tokensOf("ab"), tokensOf("a", "c"))).toEqual([false]);
});

test("line feeds and tabs of a sample are arrows, and only the last line feed of some ends the line", () => {
  const section = sampleSection(["t"], [{ name: "x", cuts: [tokensOf("a\n", "\n", "\tb", "\\x0a", "\n")] }])!;
  const { text } = sectionHtml(section);
  expect([...text.matchAll(/<i[^>]*>([^<]*)<\/i>/g)].map(([, shown]) => shown)).toEqual([
    "a↵",
    "↵\n",
    "⇥b",
    "\\x0a",
    "↵\n",
  ]);
  expect(sampleSection(["t"], [])).toBeNull();
});

test("the third tokenizer of a sample is hidden until it is chosen", () => {
  const cuts = [tokensOf("ab"), tokensOf("a", "b"), tokensOf("ab")];
  const { text } = sectionHtml(sampleSection(["p", "q", "r"], [{ name: "x", cuts }])!);
  expect(
    [...text.matchAll(/data-tokenizer="(\d)" data-text="\w+"( hidden)?/g)].map(([, i, hidden]) => i + hidden),
  ).toEqual(["0undefined", "1undefined", "2 hidden"]);
});

test("tables side by side have a column for each tokenizer, and the best values in bold", () => {
  const rows = [{ name: "<b>term", cells: ["1", "2"], bests: new Set([0]) }];
  const section = sideBySideSection(["p", "q"], [{ title: "terms", rows }])!;
  const { text } = sectionHtml(section);
  expect(text).toContain('<th scope="col">p</th><th scope="col">q</th>');
  expect(text).toContain('<th scope="row">&lt;b&gt;term</th><td><b>1</b></td><td>2</td>');
  expect(sideBySideSection(["p"], [])).toBe(null);
});

test("the best of each text is bold, by the measure's own order, and ties share it", () => {
  const matrix = matrixSection({
    tokenizers: ["p", "q"],
    texts: ["x", "y", "z"],
    measures: [
      {
        name: "high",
        note: "",
        best: "high",
        values: [
          [1, 2, null],
          [3, 2, 4],
        ],
      },
      {
        name: "low",
        note: "",
        best: "low",
        values: [
          [1, 2, 5],
          [3, 2, 4],
        ],
      },
    ],
  });
  const cells = [...sectionHtml(matrix).text.matchAll(/heat-cell( h\d)?">(<b>)?([\d.–]+)/g)].map(
    ([, step, bold, value]) => `${value}${step ?? ""}${bold ? " best" : ""}`,
  );
  expect(cells).toEqual([
    ..."1.000 h0|2.000 h4 best|–|3.000 h6 best|2.000 h4 best|4.000 h7".split("|"),
    ..."1.000 h7 best|2.000 h4 best|5.000 h0|3.000 h2|2.000 h4 best|4.000 h1 best".split("|"),
  ]);
});

test("the longest tokens have a letter, and of equal lengths the lower id is first", () => {
  const pairs = [
    ["-", "-"],
    ["--", "--"],
    ["a", "b"],
    ["c", "d"],
    ["ab", "cd"],
    [" ", " "],
    ["д", "а"],
  ] as const;
  const bytes = (text: string) => (text === "д" || text === "а" ? Buffer.from(text).subarray(0, 1) : text);
  const tokenizer = madeTokenizer(
    "t",
    pairs.map(([left, right]) => [bytes(left), bytes(right)]),
    ["<|special|>"],
  );
  expect(longestIdsOf(tokenizer, 3)).toEqual([260, 258, 259]);
  expect(longestIdsOf(tokenizer, 2)).toEqual([260, 258]);
});

test("lengths leave special tokens out, and shares are of the rest", () => {
  const tokenizer = madeTokenizer(
    "t",
    [
      ["a", "b"],
      ["ab", "ab"],
    ],
    ["<|special|>"],
  );
  const { rows } = lengthSection([tokenizer]).table!;
  expect(rows.map((row) => row[1])).toEqual(["256", "1", "0", "1", ...new Array(13).fill("0")]);
});

test("scripts are ordered by their largest share in any tokenizer", () => {
  const share = (name: string, tokenCount: number) => ({ name, tokenCount });
  const { rows } = scriptSection(
    [madeTokenizer("p", []), madeTokenizer("q", [])],
    [
      [share("Latin", 90), share("Greek", 10)],
      [share("Greek", 19), share("Han", 981)],
    ],
  ).table!;
  expect(rows).toEqual([
    ["Han", "0", "981"],
    ["Latin", "90", "0"],
    ["Greek", "10", "19"],
  ]);
});

test("counts by rank are the counts above 0, the highest first", () => {
  expect([...countsByRank(Float64Array.of(0, 3, 100, 20, 0, 3))]).toEqual([100, 20, 3, 3]);
  expect(frequencySection([madeTokenizer("t", [])])).toBeNull();
  const counted = (...endCounts: number[]) => ({
    ...madeTokenizer("t", []),
    counts: { of: "x", endCounts: Float64Array.from(endCounts) },
  });
  expect(frequencySection([counted(0, 0)])).toBeNull();
  expect(frequencySection([counted(5)])!.table!.rows).toEqual([
    ["1", "5"],
    ["tokens that occur", "1"],
  ]);
  const many = counted(...Array.from({ length: 1234 }, (_, i) => 5000 - i));
  const chart = sectionHtml(frequencySection([many])!).text;
  expect(chart).toContain("rank 1: 5,000 times");
  expect(chart).toContain("rank 1,234: 3,767 times");
});

test("residues are counted by tenths of the merges, and those that lost most come first", () => {
  const letters = [..."abcdefghijklmnopqrst"];
  const tokenizer = madeTokenizer(
    "t",
    letters.map((letter) => [letter, "z"] as const),
  );
  const [birthCounts, endCounts] = [new Float64Array(276), new Float64Array(276)];
  for (let k = 0; k < 20; k++) {
    birthCounts[256 + k] = 100 - k;
    endCounts[256 + k] = k < 5 ? k : 50;
  }
  const isResidue = (id: number) => id < 261;
  const section = residueSection({ ...tokenizer, ledger: { birthCounts, endCounts, isResidue } })!;
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
  expect(residueSection(tokenizer)).toBeNull();
});
