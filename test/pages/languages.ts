// Runs in `npm run suite pages` and not in `npm test`, because `compare` takes seconds.
import { expect, test } from "bun:test";
import { readFileSync, statSync } from "node:fs";
import { compare, comparisonTable, pagesWithTable } from "../../bench/languages/compare.ts";

const { evaluation, reportPath } = compare();

test("the table of five languages has the numbers of bpe eval", () => {
  const shown = comparisonTable(evaluation);
  for (const path of pagesWithTable) expect(readFileSync(path, "utf8")).toContain(`\n\n${shown}\n\n`);
});

test("the page of all these tokenizers, including large ones, has at most 250 KB", () => {
  expect(evaluation.tokenizers.length).toBeGreaterThanOrEqual(4);
  expect(statSync(reportPath).size).toBeWithin(50_000, 250_000);
});
