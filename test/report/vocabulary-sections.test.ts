import { expect, test } from "bun:test";
import { sectionHtml } from "../../src/report/html.ts";
import {
  countsByRank,
  firstShownOf,
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

test("the tree that is shown first is that of a long token which is no repetition, and occurs", () => {
  const tokenizer = madeTokenizer("t", [
    ["a", "a"],
    ["aa", "aa"],
    ["l", "o"],
    ["lo", "w"],
    ["n", "e"],
  ]);
  const longest = longestIdsOf(tokenizer, 9);
  expect(firstShownOf(tokenizer, longest)).toBe(259);
  const endCounts = new Float64Array(261);
  expect(firstShownOf({ ...tokenizer, counts: { of: "x", endCounts } }, longest)).toBe(259);
  endCounts[260] = 1;
  expect(firstShownOf({ ...tokenizer, counts: { of: "x", endCounts } }, longest)).toBe(260);
  expect(firstShownOf(tokenizer, [257])).toBe(257);
  expect(firstShownOf(tokenizer, [])).toBe(0);
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
  const { rows } = lengthSection([tokenizer])!.table!;
  expect(rows.map((row) => row[1])).toEqual(["1", "0", "1", ...new Array(13).fill("0")]);
  // Single bytes are in every vocabulary.
  expect(lengthSection([madeTokenizer("t", [])])).toBeNull();
});

test("scripts are ordered by their largest share in any tokenizer", () => {
  const share = (name: string, tokenCount: number) => ({ name, tokenCount });
  const { rows } = scriptSection(
    [madeTokenizer("p", []), madeTokenizer("q", [])],
    [
      [share("Latin", 90), share("Greek", 10)],
      [share("Greek", 19), share("Han", 981)],
    ],
  )!.table!;
  expect(rows).toEqual([
    ["Han", "0", "981"],
    ["Latin", "90", "0"],
    ["Greek", "10", "19"],
  ]);
});

const countedOf = (...endCounts: number[]) => ({
  ...madeTokenizer("t", []),
  counts: { of: "x", endCounts: Float64Array.from(endCounts) },
});

test("counts by rank are the counts above 0, the highest first", () => {
  const { sorted, leftOut } = countsByRank(madeTokenizer("t", []), Float64Array.of(0, 3, 100, 20, 0, 3));
  expect([...sorted]).toEqual([100, 20, 3, 3]);
  expect(leftOut).toBe(0);
  expect(frequencySection([madeTokenizer("t", [])])).toBeNull();
  expect(frequencySection([countedOf(0, 0)])).toBeNull();
  expect(frequencySection([countedOf(5), countedOf(0)])!.table!.rows).toEqual([
    ["1", "5"],
    ["tokens on the line", "1"],
  ]);
  const many = countedOf(...Array.from({ length: 1234 }, (_, i) => 5000 - i));
  const chart = sectionHtml(frequencySection([many])!).text;
  expect(chart).toContain("rank 1: 5,000 times");
  expect(chart).toContain("rank 1,234: 3,767 times");
});

test("few tokens are shown one by one, the most frequent first", () => {
  const { text } = sectionHtml(frequencySection([countedOf(...new Array(97).fill(0), 3, 9, 3)])!);
  const shown = [...text.matchAll(/<code class="t">(.)<\/code><\/th><td><span>(\d+)/g)];
  expect(shown.map(([, token, count]) => `${token} ${count}`)).toEqual(["b 9", "a 3", "c 3"]);
});

test("tokens that are rarer than all that a training kept are left out of the curve, and counted", () => {
  const tokenizer = madeTokenizer("t", [
    ["a", "b"],
    ["c", "d"],
    ["e", "f"],
  ]);
  const endCounts = new Float64Array(259);
  endCounts.set([9, 7, 2, 30, 12], 97);
  endCounts.fill(5, 120, 150);
  // The third merge has few occurrences left.
  endCounts.set([20, 10, 1], 256);
  const ledger = { createdCounts: endCounts, endCounts, isIntermediate: (id: number) => id === 258 };
  const trained = countsByRank({ ...tokenizer, ledger }, endCounts);
  expect([...trained.sorted]).toEqual([30, 20, 12, 10]);
  expect(trained.leftOut).toBe(34);
  // Counts of a text are not those of the training.
  expect(countsByRank({ ...tokenizer, ledger }, endCounts.slice()).sorted).toHaveLength(38);
  const section = frequencySection([{ ...tokenizer, ledger, counts: { of: "x", endCounts } }])!;
  expect(sectionHtml(section).text).toContain(
    "So are 34 that occur less often than the last pair that was merged: intermediate tokens and rare bytes.",
  );
});

test("the rank curve has both ends of the steps of rare tokens", () => {
  const counts = [100, 50, ...new Array(40).fill(3), ...new Array(30).fill(1)];
  const { text } = sectionHtml(frequencySection([countedOf(...counts)])!);
  for (const label of ["rank 42: 3 times", "rank 43: 1 times", "rank 72: 1 times"])
    expect(text).toContain(label);
});
