import { expect, test } from "bun:test";
import { sectionHtml } from "../../src/report/html.ts";
import {
  countsByRank,
  frequencySection,
  lengthSection,
  longestIdsOf,
  scriptSection,
} from "../../src/report/vocabulary-sections.ts";
import { madeTokenizer } from "./made-report.ts";

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
