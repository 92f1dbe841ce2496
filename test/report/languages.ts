// docs/languages.md has to be what its benchmark says now: part of `npm run test:report`, because that takes seconds.
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { compare, languagesPage } from "../../bench/languages/compare.ts";

test("the page of five languages is what bpe eval says", () => {
  const page = readFileSync(join(import.meta.dir, "../../docs/languages.md"), "utf8");
  expect(page).toBe(languagesPage(compare()));
});
