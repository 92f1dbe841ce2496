// Tests texts that users read outside the sources: the links, pages, files and examples that they name must exist.
import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { inflateRawSync } from "node:zlib";
import { executablePackage, libraryPackage } from "../../scripts/npm/packages.ts";
import { archiveDocuments, archiveExamples } from "../../scripts/release/documents.ts";
import { manPage } from "../../scripts/release/man-page.ts";
import { shellFiles } from "../../scripts/release/shell-files.ts";
import { targets } from "../../scripts/release/targets.ts";
import { makeWheel } from "../../scripts/release/wheel.ts";
import { commands } from "../../src/main/all-commands.ts";
import { helpText } from "../../src/main/help.ts";
import { withPlainLinks } from "../../src/main/manual.ts";
import { bpe, scratch } from "../binary.ts";

const root = resolve(import.meta.dir, "../..");
const read = (path: string) => readFileSync(join(root, path), "utf8");
const pages = readdirSync(join(root, "docs")).filter((name) => name.endsWith(".md"));

/** Returns the targets of links, except those to other sites and those in code blocks. */
const linksOf = (markdown: string) =>
  [...markdown.replaceAll(/^```.*?^```/gms, "").matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target]) => target!)
    .filter((target) => !/^https?:/.test(target));

/** Returns the links that lead neither to another site nor to a heading of the text. */
function deadLinks(markdown: string): string[] {
  const headings = [...markdown.matchAll(/^#+ (.*)$/gm)].map(
    ([, title]) =>
      `#${title!
        .toLowerCase()
        .replaceAll(/[^\w -]/g, "")
        .replaceAll(" ", "-")}`,
  );
  return linksOf(markdown).filter((target) => !headings.includes(target));
}

/** Returns the names of pages in a text, spelled as in the sources: `docs/evaluate.md`. */
const namedIn = (text: string) => [...text.matchAll(/\bdocs\/[\w./-]*\w/g)].map(([name]) => name);

test("the executable prints every page from any directory, and its links can be followed", () => {
  const cwd = scratch();
  expect(pages).toContain("README.md");
  for (const name of pages) {
    const { code, stdout, stderr } = bpe(["help", `docs/${name}`], { cwd });
    expect([name, code, stderr, deadLinks(stdout).filter((link) => !link.startsWith("#"))]).toEqual([
      name,
      0,
      "",
      [],
    ]);
    // The command adds this line, which the tests of help check.
    const said = /^The samples read LICENSE: .*\n\n/m;
    expect(stdout.replace(said, "")).toBe(withPlainLinks(read(`docs/${name}`), "docs"));
  }
  expect(bpe(["help", "docs"], { cwd }).stdout).toBe(withPlainLinks(read("docs/README.md"), "docs"));
  for (const name of [
    "docs/nothing.md",
    "docs/../README.md",
    "docs/training.schema.json",
    "docs/.md",
    "docs/\0",
  ]) {
    if (!name.includes("\0")) expect(bpe(["help", name], { cwd }).code).toBe(2);
  }
});

test("every page that help, errors, the manual page and the Python module name is in the executable", () => {
  const isComment = /^\s*(\/\/|\/?\*)/;
  const sources = [...new Bun.Glob("src/**/*.ts").scanSync(root)].map((path): [string, string] => [
    path,
    read(path)
      .split("\n")
      .filter((line) => !isComment.test(line))
      .map((line) => line.replace(/ \/\/ .*$/, ""))
      .join("\n"),
  ]);
  const modules = [...new Bun.Glob("python/bpe_trainer/*.py").scanSync(root)].map(
    (path): [string, string] => [path, read(path)],
  );
  const shown: [string, string][] = [
    ...sources,
    ...modules,
    ["bpe help", helpText()],
    ...commands.map((command): [string, string] => [
      command.name,
      helpText(command) + helpText(command, "all"),
    ]),
    ["bpe.1", manPage({ version: "1", seconds: 0 })],
    ...Object.entries(archiveDocuments(root)),
  ];
  const missing = shown.flatMap(([where, text]) =>
    namedIn(text.replaceAll("\\", ""))
      .filter(
        (name) =>
          !["docs/LICENSE", "docs/probe-1.json"].includes(name) &&
          !pages.some((page) => name === `docs/${page}`),
      )
      .map((name) => `${where}: ${name}`),
  );
  expect(missing).toEqual([]);
  expect(namedIn(helpText(commands.find(({ name }) => name === "eval")!, "all")).length).toBeGreaterThan(0);
});

test("an archive's README names the files next to it, and links nowhere else", () => {
  const documents = archiveDocuments(root);
  const others = [
    "bpe",
    "bpe.exe",
    "NOTICE",
    "completions/",
    "include/",
    "lib/",
    "examples/",
    ...Object.keys(documents),
    ...shellFiles({ version: "1", seconds: 0 }).map(({ path }) => path),
  ];
  for (const text of Object.values(documents)) expect(deadLinks(text)).toEqual([]);
  const named = [...documents["README.md"]!.matchAll(/^\| (`.*?) \|/gm)].flatMap(([, cell]) =>
    [...cell!.matchAll(/`([^`]+)`/g)].map(([, name]) => name!),
  );
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter((name) => !others.includes(name))).toEqual([]);
});

test("an archive has every example that its pages, the manual or other examples name", () => {
  const examples = archiveExamples(root);
  const texts = [
    ...Object.values(archiveDocuments(root)),
    ...pages.map((page) => read(`docs/${page}`)),
    ...examples.map(({ bytes }) => Buffer.from(bytes).toString()),
  ];
  const named = texts.flatMap((text) => [...text.matchAll(/\bexamples\/[\w./-]*\w/g)].map(([path]) => path));
  expect(named).toContain("examples/encode.c");
  const paths = examples.map(({ path }) => path);
  // Pages may name this file, which only the sources have.
  const ofSources = ["examples/learn.ts"];
  const missing = named.filter(
    (path) =>
      !ofSources.includes(path) && !paths.some((each) => each === path || each.startsWith(`${path}/`)),
  );
  expect(missing).toEqual([]);
  expect(examples.find(({ path }) => path === "examples/step.sh")!.isExecutable).toBe(true);
});

test("a wheel's and the packages' pages have no dead link", () => {
  const { bytes } = makeWheel({
    root,
    executable: new Uint8Array(1),
    platform: "any",
    notice: "",
    shellFiles: [],
    seconds: 1e9,
  });
  const [metadata] = unzipped(bytes, /METADATA$/);
  expect(metadata).toContain("\n# ");
  expect(deadLinks(metadata!)).toEqual([]);
  const packages = [
    libraryPackage(root, scratch(), ""),
    ...targets.map((target) => executablePackage(root, target, new Uint8Array(1), "")),
  ];
  for (const { name, files } of packages) {
    const texts = files.filter(({ path }) => path.endsWith(".md"));
    expect(texts.length).toBeGreaterThan(0);
    for (const { path, bytes } of texts)
      expect([name, path, deadLinks(Buffer.from(bytes).toString())]).toEqual([name, path, []]);
  }
});

test("links to pages become arguments of bpe help; other links name their target; sites and headings stay", () => {
  const plain = (markdown: string, directory = "") => withPlainLinks(markdown, directory);
  expect(
    plain(
      "[docs/evaluate.md](docs/evaluate.md), [docs/evaluate](docs/evaluate.md), [page](docs/evaluate.md#a-b)",
    ),
  ).toBe("docs/evaluate.md, docs/evaluate.md, page (docs/evaluate.md)");
  expect(plain("[evaluate.md](evaluate.md)\n[the\nlist](../docs/evaluate.md)", "docs")).toBe(
    "docs/evaluate.md\nthe\nlist (docs/evaluate.md)",
  );
  expect(plain("[A](../ARCHITECTURE.md), [m](measured/), ![x y](a.png)", "docs")).toBe(
    "A (in the sources), m (in the sources), (picture in the sources: x y)",
  );
  const same = "[a](https://b.c/d.md) [b](#c) `x[i](y)` [z]";
  expect(plain(same)).toBe(same);
});

/** Returns the contents of the files in a ZIP file whose paths match. */
function unzipped(zip: Buffer, wanted: RegExp): string[] {
  const found: string[] = [];
  for (let pos = 0; zip.readUInt32LE(pos) === 0x04034b50; ) {
    const from = pos + 30 + zip.readUInt16LE(pos + 26);
    const to = from + zip.readUInt32LE(pos + 18);
    const path = zip.toString("latin1", pos + 30, from);
    if (wanted.test(path)) found.push(inflateRawSync(zip.subarray(from, to)).toString());
    pos = to;
  }
  return found;
}
