import { describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { chmodSync, linkSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { filesBelow, includeFilter, sortByBytes } from "../../../src/corpus/find-inputs.ts";
import { put, scratch } from "../../binary.ts";

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
  filesBelow(root, includeFilter(globs)).paths.map((path) => path.slice(root.length + 1));

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
    expect(filesBelow(`${root}//`, () => true).paths[0]).toBe(`${root}/Z`);
  });

  test("are reached through links, each file and folder once, and pipes are skipped", () => {
    const root = tree("links", ["file", "folder/inner"]);
    const outside = tree("outside", ["far/one", "far/two"]);
    symlinkSync("file", join(root, "a-link"));
    symlinkSync("folder", join(root, "a-linked-folder"));
    symlinkSync(join(outside, "far"), join(root, "y-far"));
    symlinkSync(outside, join(root, "x-outside"));
    symlinkSync("..", join(root, "folder/up"));
    symlinkSync("/dev/null", join(root, "device"));
    linkSync(join(root, "file"), join(root, "hard"));
    spawnSync("mkfifo", [join(root, "pipe")]);
    expect(below(root)).toEqual(["file", "folder/inner", "x-outside/far/one", "x-outside/far/two"]);
    const skipped = filesBelow(root, () => true).skipped.map(({ path, reason }) => [
      path.slice(root.length + 1),
      reason.replace(root, ""),
    ]);
    expect(skipped.sort()).toEqual([
      ["a-link", 'the same file as "/file"'],
      ["a-linked-folder", 'the same folder as "/folder"'],
      ["folder/up", 'the same folder as ""'],
      ["hard", 'the same file as "/file"'],
      ["y-far", 'the same folder as "/x-outside/far"'],
    ]);
  });

  test("in the cache of a hub are those of its snapshot, with the names of the links", () => {
    const root = tree("hub", ["blobs/0a1b", "blobs/2c3d", "refs/main", "snapshots/f00/data/kept"]);
    symlinkSync("../../blobs/0a1b", join(root, "snapshots/f00/train.jsonl"));
    symlinkSync("../../../blobs/2c3d", join(root, "snapshots/f00/data/part.parquet"));
    const names = ["snapshots/f00/data/kept", "snapshots/f00/data/part.parquet", "snapshots/f00/train.jsonl"];
    expect(below(root)).toEqual(names);
    expect(below(join(root, "snapshots/f00"))).toEqual(["data/kept", "data/part.parquet", "train.jsonl"]);
    const unnamed = tree("datasets--no--refs", ["blobs/0a1b", "snapshots/f00/part"]);
    expect(below(unnamed)).toEqual(["snapshots/f00/part"]);
    expect(below(tree("photos", ["blobs/a", "snapshots/b"]))).toEqual(["blobs/a", "snapshots/b"]);
    mkdirSync(join(root, "snapshots/f01"));
    expect(() => below(root)).toThrow("contains several versions of a data set");
  });

  test("that a dangling link names are an error", () => {
    const root = tree("dangling", ["file.txt"]);
    symlinkSync("nowhere", join(root, "lost.txt"));
    expect(() => below(root)).toThrow(`"${root}/lost.txt" is a broken link`);
    expect(below(root, "file.*")).toEqual(["file.txt"]);
  });

  test("are found without a limit on their number", () => {
    const paths = Array.from({ length: 3000 }, (_, i) => `${i % 50}/${i}.txt`);
    expect(below(tree("many", paths))).toEqual(sortByBytes(paths));
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
    expect(() => below(root)).toThrow(/the name of ".*caf\ufffd\.md" is not valid UTF-8/);
    expect(below(root, "*.txt")).toEqual(["good.txt"]);
    spawnSync("sh", ["-c", `mkdir "$(printf '${root}/caf\\351')"`]);
    expect(() => below(root, "*.txt")).toThrow(/the name of ".*caf\ufffd" is not valid UTF-8/);
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

  test("several times selects the files that match any of the globs", () => {
    expect(below(root, "*.md", "*.jsonl", "*.none")).toEqual(["b.md", "sub/e.jsonl"]);
  });
});
