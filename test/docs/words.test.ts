// Rules for the text of the pages.
import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { blocksOf, root } from "./play.ts";

const read = (path: string) => readFileSync(join(root, path), "utf8");
const docs = [...new Bun.Glob("docs/**/*.md").scanSync(root)].sort();
/** The README and the pages of docs/ for users of `bpe`. Those in docs/internals are for readers of the code. */
const userPages = ["README.md", ...docs.filter((path) => !path.startsWith("docs/internals/"))];

/**
 * The maximum number of blocks that no test can run, because they need systemd, other programs or the network. Their
 * fences say `elsewhere`.
 */
const elsewhereMax = 6;

describe("every block of a user page is run, or says why not:", () => {
  for (const path of userPages) {
    test(path, () => {
      const blocks = blocksOf(read(path));
      const isScript = ({ info }: { info: string }) => /^(sh|python) run$/.test(info);
      // README need not have examples that run.
      if (path === "README.md" && !blocks.some(isScript)) return;
      const odd = blocks.filter(({ info }) => /^$|^(sh|bash|console|shell|python|py)\b/.test(info));
      const unsaid = odd.filter((block) => !isScript(block) && !block.info.endsWith(" elsewhere"));
      expect(unsaid.map(({ line, info }) => `${path}:${line} "${info}"`)).toEqual([]);
      // Nothing checks an output block that does not follow a script.
      const unchecked = blocks.filter(
        (block, i) => block.info.startsWith("output") && !(i > 0 && isScript(blocks[i - 1]!)),
      );
      expect(unchecked.map(({ line }) => `${path}:${line}`)).toEqual([]);
    });
  }
});

test("few blocks run elsewhere", () => {
  const blocks = userPages.flatMap((path) => blocksOf(read(path)));
  const skipped = blocks.filter(({ info }) => info.endsWith(" elsewhere"));
  expect(skipped.length).toBeLessThanOrEqual(elsewhereMax);
});

test("user pages name no file of the sources", () => {
  const named = userPages.flatMap((path) =>
    [...read(path).matchAll(/\b(?:src|test)\/[\w./-]+|(?<![\w/-])(?!examples\/)[\w/-]+\.ts\b/g)].map(
      ([name]) => `${path}: ${name}`,
    ),
  );
  expect(named).toEqual([]);
});

test("each page of docs/ begins with an example that runs, and ends with its limits", () => {
  const pages = userPages.filter((path) => !/README\.md$/.test(path));
  const begin = pages.filter((path) => !/^```(sh|python) run$/m.test(read(path).split(/^## /m)[0]!));
  expect(begin).toEqual([]);
  const end = pages.filter((path) => !/^## [^#]*Limits\n/.test(`## ${read(path).split(/^## /m).at(-1)}`));
  expect(end).toEqual([]);
});

/** Returns the targets of a page's links to files, relative to the root. */
const linksOf = (path: string) =>
  [
    ...read(path)
      .replaceAll(/^(`{3,}).*?^\1$/gms, "")
      .matchAll(/\]\((?!\w+:)([^)\s]+)\)/g),
  ].map(([, target]) =>
    target!.startsWith("#") ? `${path}${target}` : normalize(join(dirname(path), target!)),
  );

/** Returns the names by which links refer to headings on GitHub. */
const headingsOf = (path: string) =>
  [
    ...read(path)
      .replaceAll(/^(`{3,}).*?^\1$/gms, "")
      .matchAll(/^#+ (.*)$/gm),
  ].map(([, title]) =>
    title!
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
      .replaceAll(" ", "-"),
  );

test("every link of a page leads to a file, and to a heading of it", () => {
  const pages = [
    ...userPages,
    ...docs,
    ...new Bun.Glob("*.md").scanSync(root),
    "python/README.md",
    "npm/README.md",
  ];
  const dead = [...new Set(pages)].flatMap((path) =>
    linksOf(path)
      .filter((link) => {
        const [target, part] = link.split("#") as [string, string?];
        if (!existsSync(join(root, target))) return true;
        return part !== undefined && target.endsWith(".md") && !headingsOf(target).includes(part);
      })
      .map((link) => `${path}: ${link}`),
  );
  expect(dead).toEqual([]);
});

test("every page of docs/ can be reached from docs/README.md", () => {
  const reached = new Set(["docs/README.md"]);
  for (const path of reached) {
    if (!path.endsWith(".md")) continue;
    for (const link of linksOf(path)) {
      const [target] = link.split("#");
      if (target!.startsWith("docs/") && existsSync(join(root, target!))) reached.add(target!);
    }
  }
  expect(docs.filter((path) => !reached.has(path))).toEqual([]);
});

test("every picture of docs/ is shown by a page", () => {
  const shown = new Set([...userPages, ...docs].flatMap(linksOf));
  const pictures = [...new Bun.Glob("docs/**/*.{svg,png}").scanSync(root)];
  expect(pictures.filter((path) => !shown.has(path))).toEqual([]);
});

test("the pages of docs/ have no more words than the limit", () => {
  // Numbers, and the bars of tables, do not count as words.
  const words = docs.map((path) => read(path).match(/\S*\p{L}\S*/gu)!.length);
  expect(words.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(23_300);
  // The count of `wc -w`.
  expect(docs.map(read).join(" ").trim().split(/\s+/).length).toBeLessThanOrEqual(28_000);
});
