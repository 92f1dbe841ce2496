// The table of published tokenizers and ours has to be what its benchmark says now: part of `npm run test:report`, because
// that takes seconds.
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { compare, comparisonTable, pagesWithTable } from "../../bench/languages/compare.ts";

test("the table of five languages is what bpe eval says", () => {
  const shown = comparisonTable(compare().evaluation);
  for (const path of pagesWithTable) expect(readFileSync(path, "utf8")).toContain(`\n\n${shown}\n\n`);
});
