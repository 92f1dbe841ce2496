import { expect, test } from "bun:test";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { groupBy } from "../../../src/bytes/arrays.ts";
import * as node from "../../../src/runtime/host.node.ts";
import * as bun from "../../../src/runtime/host.ts";
import { scratch } from "../../binary.ts";

// Under Node, the library replaces Bun's functions. Compares the replacements with Bun's own functions.

/** All functions except those that call the C library, which Node cannot. */
type Host = Omit<typeof bun, "openLibc" | "errnoOf">;

const texts = ["", "a", "ä€🦊", "x".repeat(100_000)];
const bytesOf = (text: string) => new TextEncoder().encode(text);

test("replacements of a module export the same names", () => {
  expect(Object.keys(node).sort()).toEqual(Object.keys(bun).sort());
});

test("hashes are the same for texts and bytes, with every seed", () => {
  for (const text of texts) {
    for (const seed of [0n, 1n, 2n ** 63n, 2n ** 64n - 1n]) {
      expect(node.xxHash64(text, seed)).toBe(bun.xxHash64(text, seed));
      expect(node.xxHash64(bytesOf(text), seed)).toBe(bun.xxHash64(bytesOf(text), seed));
    }
    expect(node.xxHash64(text)).toBe(bun.xxHash64(text, 0n));
    expect(node.xxHash32(text)).toBe(bun.xxHash32(text));
    for (const create of ["createSha1", "createSha256"] as const) {
      for (const encoding of ["hex", "base64"] as const) {
        const digest = (host: Host) => host[create]().update(text).update(bytesOf("more")).digest(encoding);
        expect(digest(node)).toBe(digest(bun));
      }
    }
  }
});

test("base64 is the same in both directions, including for a part of a buffer", () => {
  for (const text of texts) {
    const bytes = bytesOf(`--${text}`).subarray(2);
    expect(node.toBase64(bytes)).toBe(bun.toBase64(bytes));
    expect(Bun.deepEquals(node.fromBase64(bun.toBase64(bytes)), new Uint8Array(bytes))).toBe(true);
  }
});

test("released memory is zero, and sleeping takes the requested time", () => {
  for (const host of [bun, node]) {
    const buffer = new ArrayBuffer(1 << 16);
    host.releaseMemory(buffer);
    expect(buffer.byteLength).toBe(0);
    const startMs = performance.now();
    host.sleepSync(5);
    expect(performance.now() - startMs).toBeGreaterThan(4);
  }
});

test("globs name the same files, including through links and below hidden directories that were typed", () => {
  const home = scratch();
  for (const path of ["a/b/c", "a/.hidden", ".top/d", "e"]) mkdirSync(join(home, path), { recursive: true });
  const files = [
    "1.txt",
    "2.md",
    ".3.txt",
    "a/1.txt",
    "a/b/1.txt",
    "a/b/c/x1.txt",
    "a/.hidden/1.txt",
    ".top/d/1.txt",
  ];
  for (const path of [...files, "e/[odd].txt"]) writeFileSync(join(home, path), "");
  symlinkSync("../..", join(home, "a/b/circle"));
  symlinkSync("nowhere", join(home, "a/broken.txt"));
  symlinkSync("a", join(home, "link"));
  const globs = [
    "*",
    "*.txt",
    "**/*.txt",
    "a/*",
    "a/**",
    "*/*.txt",
    "a/b/c/?1.txt",
    ".top/*/*.txt",
    "{a,e}/*.txt",
  ];
  globs.push("link/*.txt", "**/c/*", "e/\\[odd\\].txt", "[ae]/*.txt");
  globs.push("[!a]/*.txt", "[!0-1].*", "a/*/", "./*.txt", "a/../*.txt", "!(a)/*.txt");
  globs.push("*/.hidden/*.txt", "**/.hidden/*");
  expect([...node.pathsMatching("**", home)].filter((path) => path.includes("circle/"))).toEqual([]);
  const isCircular = (path: string) => path.includes("circle/");
  for (const glob of globs) {
    const named = (host: Host, cwd: string, text: string) =>
      [...host.pathsMatching(text, cwd)].filter((path) => !isCircular(path)).sort();
    expect([glob, named(node, home, glob)]).toEqual([glob, named(bun, home, glob)]);
    const absolute = join(home, glob);
    expect([glob, named(node, "/", absolute)]).toEqual([glob, named(bun, "/", absolute)]);
    // For globs with `.` or `..`, only the files that they name are compared.
    if (/(^|\/)\.\.?\//.test(glob)) continue;
    for (const path of files) {
      expect([glob, path, node.globMatcher(glob)(path)]).toEqual([glob, path, bun.globMatcher(glob)(path)]);
    }
  }
});

test("groups keep the order of their items, like Map.groupBy", () => {
  const words = ["b1", "a1", "b2", "c1", "a2"];
  const keyOf = (word: string) => word[0]!;
  expect([...groupBy(words, keyOf)]).toEqual([...Map.groupBy(words, keyOf)]);
});
