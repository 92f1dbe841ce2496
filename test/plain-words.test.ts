// Words that files (`everywhere`) or pages (`onPages`) should not use, because they read as translated. `allowed` lists
// the uses that are right.
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dir, "..");
const everywhere = [
  "anew",
  "are dear",
  "are told",
  "at hand",
  "behind",
  "beside",
  "dearer",
  "dearest",
  "go on",
  "goes on",
  "is dear",
  "is told",
  "kept apart",
  "seldom",
  "so many",
  "stands",
  "takes along",
  "the same of",
  "thereof",
  "went on",
  "wherein",
  "whoever",
];
const onPages = ["by hand", "in any case", "kept by"];
const allowed = [
  // Look-ahead and look-behind of regular expressions.
  /^(src|test\/unit)\/pattern\/.*: behind$/,
  /^test\/golden\/cases.ts: behind$/,
  /^docs\/comparison.md: behind$/,
  /^CHANGELOG.md: dearest$/,
  /^test\/plain-words.test.ts: /,
];

/** Returns each occurrence of these words, with its line number. */
const wordsIn = (text: string, words: readonly string[]) => {
  const wrong = new RegExp(`(?<![-\\w])(${words.join("|")})(?![-\\w])`, "gi");
  // A line break in a comment may separate the words of an entry.
  const separators = /\n[ *#/]*/;
  const joined = new RegExp(wrong.source.replaceAll(" ", `(?: |${separators.source})`), "gi");
  return [...text.matchAll(joined)].map(({ 0: word, index }) => ({
    line: text.slice(0, index).split("\n").length,
    word: word.replace(separators, " ").toLowerCase(),
  }));
};

const found = (glob: string, words: readonly string[]) =>
  [...new Bun.Glob(glob).scanSync(root)]
    .filter((path) => !/node_modules|(^|\/)(dist|frozen)\/|\.(png|svg|json|jsonl|gz|bin)$/.test(path))
    .flatMap((path) =>
      wordsIn(readFileSync(join(root, path), "utf8"), words).flatMap(({ line, word }) =>
        allowed.some((one) => one.test(`${path}: ${word}`)) ? [] : [`${path}:${line}: ${word}`],
      ),
    );

const sources = "{src,native,python,npm,scripts,test,bench,examples,docs}/**/*.{ts,mjs,js,py,c,h,sh,md}";

test("code and pages have no word that reads as translated", () => {
  expect([...found(sources, everywhere), ...found("*.md", everywhere)]).toEqual([]);
});

test("pages have none of the words that comments still have", () => {
  expect([...found("{docs,npm,python,examples}/**/*.md", onPages), ...found("*.md", onPages)]).toEqual([]);
});

test("no comment begins with Of", () => {
  const begin = ["ts", "mjs", "c", "h"].flatMap((ending) =>
    [...new Bun.Glob(`{src,native,npm,scripts,test,bench}/**/*.${ending}`).scanSync(root)]
      .filter((path) => !/node_modules|(^|\/)dist\//.test(path))
      .flatMap((path) =>
        [...readFileSync(join(root, path), "utf8").matchAll(/(?:\/\*\*?|^ *\/\/) Of .*/gm)]
          // A line of a comment after its first one may begin with any word.
          .filter(
            ({ 0: line, index, input }) =>
              line.startsWith("/*") || !/\/\/.*\n *$/.test(input.slice(0, index)),
          )
          .map(([line]) => `${path}: ${line}`),
      ),
  );
  expect(begin).toEqual([]);
});

test("a word is found alone, in upper or lower case, and across line breaks", () => {
  const text = "// Goes\n// on behind it.\nconst behindIt = look-behind;\n/**\n * Beside: so\n * many */";
  expect(wordsIn(text, everywhere)).toEqual([
    { line: 1, word: "goes on" },
    { line: 2, word: "behind" },
    { line: 5, word: "beside" },
    { line: 5, word: "so many" },
  ]);
});
