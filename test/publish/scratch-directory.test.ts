import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { ScratchDirectory } from "../../src/publish/scratch-directory.ts";
import { owner } from "../../src/publish/staging-names.ts";
import { put, scratch } from "../binary.ts";

const home = scratch();

test("a scratch directory is made when it is asked for, for its owner alone, and removed with what is in it", () => {
  const directory = new ScratchDirectory(home);
  expect(readdirSync(home)).toEqual([]);
  const { path } = directory;
  expect(directory.path).toBe(path);
  expect(statSync(path).mode & 0o777).toBe(0o700);
  put(path, "run", "words");
  directory.remove();
  directory.remove();
  expect(readdirSync(home)).toEqual([]);
});

test("what dead processes left is removed, what others use and what is not ours stays", () => {
  const dead = Bun.spawnSync(["true"]).pid;
  const kept = [
    `.${owner(process.ppid)}-abcdef`,
    `.${owner(dead)}-abcdef.txt`,
    `.bpe-elsewhere-${dead}-abcdef`,
    `${owner(dead)}-abcdef`,
  ];
  const stale = [`.${owner(dead)}-abcdef`, `.${owner(dead)}-Ab12_x-gone`];
  for (const name of [...kept, ...stale]) {
    mkdirSync(join(home, name));
    put(join(home, name), "run", "words");
  }
  new ScratchDirectory(home);
  expect(readdirSync(home).sort()).toEqual(kept.sort());
  for (const name of kept) rmSync(join(home, name), { recursive: true });
});

test("where none can be made, that is said when it is asked for", () => {
  const directory = new ScratchDirectory(join(home, "none"));
  expect(() => directory.path).toThrow(
    `no directory for temporary files can be made in "${join(home, "none")}"`,
  );
  expect(existsSync(join(home, "none"))).toBe(false);
});
