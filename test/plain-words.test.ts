// Words that read as translated English, and have no right use in code, comments, messages or pages. A word joins the first list
// once no file has it, and the second once no page has it. `allowed` are the exact places where one is right.
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dir, "..");
const everywhere = [
  "dearest",
  "dearer",
  "went on",
  "kept apart",
  "is dear",
  "are dear",
  "thereof",
  "wherein",
];
const onPages = [
  "behind",
  "so many",
  "what stands",
  "stands",
  "anew",
  "whoever",
  "at hand",
  "is told",
  "goes on",
];
const onPagesToo = ["by hand", "in any case", "seldom", "takes along", "beside", "the same of", "kept by"];
const allowed = [
  "docs/comparison.md: behind",
  "docs/evaluate.md: tokensBehindSpace",
  "CHANGELOG.md: dearest",
  "test/plain-words.test.ts",
];

const found = (glob: string, words: readonly string[]) =>
  [...new Bun.Glob(glob).scanSync(root)]
    .filter((path) => !/node_modules|(^|\/)(dist|frozen)\/|\.(png|svg|json|jsonl|gz|bin)$/.test(path))
    .flatMap((path) => {
      const lines = readFileSync(join(root, path), "utf8").split("\n");
      const wrong = new RegExp(`(?<![-\\w])(${words.join("|")})(?![-\\w])`, "gi");
      return lines.flatMap((line, i) =>
        [...line.matchAll(wrong)].map(([word]) => `${path}:${i + 1}: ${word.toLowerCase()}`),
      );
    })
    .filter((place) => !allowed.some((one) => place.replace(/:\d+/, "").startsWith(one)));

test("code and pages have no word that reads as translated", () => {
  const sources = found(
    "{src,native,python,npm,scripts,test,bench,examples,docs}/**/*.{ts,mjs,py,c,h,md}",
    everywhere,
  );
  expect([...sources, ...found("*.md", everywhere)]).toEqual([]);
});

test("pages have none of those that comments still have", () => {
  const pages = found("{docs,npm,python,examples}/**/*.md", [...onPages, ...onPagesToo]);
  expect([...pages, ...found("*.md", [...onPages, ...onPagesToo])]).toEqual([]);
});
