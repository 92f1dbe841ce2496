import { describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { filesBelow, inByteOrder, includeFilter } from "../../src/corpus/directories.ts";
import { put, scratch } from "../binary.ts";

const directory = scratch();

function tree(name: string, paths: readonly string[]): string {
  const root = join(directory, name);
  mkdirSync(root);
  for (const path of paths) {
    mkdirSync(join(root, path, ".."), { recursive: true });
    put(root, path, "x");
  }
  return root;
}

const below = (root: string, ...globs: string[]) =>
  filesBelow(root, includeFilter(globs)).map((path) => path.slice(root.length + 1));

describe("the files of a directory", () => {
  test("are all regular files below it, by the bytes of their paths, without hidden ones", () => {
    const root = tree("all", [
      "b",
      "a/z.md",
      "a-b",
      "a.txt",
      "Z",
      "é",
      "a/.hidden",
      ".git/config",
      "a/x/y/z",
    ]);
    expect(below(root)).toEqual(["Z", "a-b", "a.txt", "a/x/y/z", "a/z.md", "b", "é"]);
    expect(filesBelow(`${root}//`, () => true)[0]).toBe(`${root}/Z`);
  });

  test("are not reached through links, and pipes are passed over", () => {
    const root = tree("links", ["file", "folder/inner"]);
    symlinkSync("file", join(root, "link"));
    symlinkSync("folder", join(root, "linked-folder"));
    symlinkSync("nowhere", join(root, "dangling"));
    spawnSync("mkfifo", [join(root, "pipe")]);
    expect(below(root)).toEqual(["file", "folder/inner"]);
  });

  test("are as many as there are", () => {
    const paths = Array.from({ length: 3000 }, (_, i) => `${i % 50}/${i}.txt`);
    expect(below(tree("many", paths))).toEqual(inByteOrder(paths));
  });

  test("a folder that cannot be listed is an error with its path", () => {
    if (process.getuid?.() === 0) return; // root may list everything
    const root = tree("locked", ["open/a", "shut/b"]);
    chmodSync(join(root, "shut"), 0);
    expect(() => below(root)).toThrow(`"${root}/shut" cannot be listed: permission denied`);
    chmodSync(join(root, "shut"), 0o755);
  });

  test("a name that is not UTF-8 is an error, unless it is left out", () => {
    const root = tree("names", ["good.txt", "caf\ufffd.md"]);
    expect(below(root)).toEqual(["caf\ufffd.md", "good.txt"]);
    spawnSync("sh", ["-c", `: > "$(printf '${root}/caf\\351.md')"`]);
    expect(() => below(root)).toThrow(/caf\ufffd\.md": this name is not valid UTF-8/);
    expect(below(root, "*.txt")).toEqual(["good.txt"]);
    spawnSync("sh", ["-c", `mkdir "$(printf '${root}/caf\\351')"`]);
    expect(() => below(root, "*.txt")).toThrow(/caf\ufffd": this name is not valid UTF-8/);
  });
});

describe("--include", () => {
  const root = tree("include", ["a.txt", "b.md", "sub/c.txt", "sub/deep/d.txt", "sub/e.jsonl"]);

  test("without a slash describes names at any depth", () => {
    expect(below(root, "*.txt")).toEqual(["a.txt", "sub/c.txt", "sub/deep/d.txt"]);
    expect(below(root, "[bc].*")).toEqual(["b.md", "sub/c.txt"]);
  });

  test("with a slash describes paths below the directory", () => {
    expect(below(root, "/*.txt")).toEqual(["a.txt"]);
    expect(below(root, "./*.txt")).toEqual(["a.txt"]);
    expect(below(root, "sub/*.txt")).toEqual(["sub/c.txt"]);
    expect(below(root, "sub/**/*.txt")).toEqual(["sub/c.txt", "sub/deep/d.txt"]);
    expect(below(root, "**/*.txt")).toEqual(["a.txt", "sub/c.txt", "sub/deep/d.txt"]);
  });

  test("several are added up", () => {
    expect(below(root, "*.md", "*.jsonl", "*.none")).toEqual(["b.md", "sub/e.jsonl"]);
  });
});
