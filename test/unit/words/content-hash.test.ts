import { expect, test } from "bun:test";
import { statSync, utimesSync, writeFileSync } from "node:fs";
import { FileIndex, type FileState, stateOf } from "../../../src/words/content-hash.ts";
import { put, scratch } from "../../binary.ts";

const home = scratch();
const sha256 = "0".repeat(64);
const state = (key: string, isSettled = true): FileState => ({ key, isSettled });

test("a content is found by the state of its file, also in the next run", () => {
  const index = new FileIndex("");
  index.add(state("1 2 3 4 5"), sha256);
  const next = new FileIndex(index.contentOver("")!);
  expect(next.find(state("1 2 3 4 5"))).toBe(sha256);
  expect(next.find(state("1 2 3 4 6"))).toBeUndefined();
  expect(next.contentOver("")).toBeNull();
});

test("a file that was changed just now is neither recorded nor trusted", () => {
  const index = new FileIndex("");
  index.add(state("1 2 3 4 5", false), sha256);
  expect(index.contentOver("")).toBeNull();
  index.add(state("1 2 3 4 5"), sha256);
  expect(index.find(state("1 2 3 4 5", false))).toBeUndefined();
});

test("what another run recorded meanwhile is kept", () => {
  const [ours, theirs] = [new FileIndex(""), new FileIndex("")];
  ours.add(state("1 1 1 1 1"), sha256);
  theirs.add(state("2 2 2 2 2"), sha256);
  const both = new FileIndex(ours.contentOver(theirs.contentOver("")!)!);
  expect([both.find(state("1 1 1 1 1")), both.find(state("2 2 2 2 2"))]).toEqual([sha256, sha256]);
});

test("a flipped bit anywhere makes the index empty", () => {
  const index = new FileIndex("");
  for (const key of ["1 2 3 4 5", "4 5 6 -7 8"]) index.add(state(key), sha256);
  const content = index.contentOver("")!;
  expect(new FileIndex(content).isDamaged).toBe(false);
  for (let bit = 0; bit < 8 * content.length; bit++) {
    const bytes = Buffer.from(content, "latin1");
    bytes[bit >> 3]! ^= 1 << (bit & 7);
    const damaged = bytes.toString("latin1");
    const none = new FileIndex(damaged);
    expect(none.isDamaged).toBe(true);
    expect(none.find(state("1 2 3 4 5"))).toBeUndefined();
  }
  expect(new FileIndex(content.slice(0, -1)).isDamaged).toBe(true);
});

test("every change of a file changes its state, whatever its modification time is set to", async () => {
  const path = put(home, "file", "one");
  const before = stateOf(path, Date.now());
  expect(before.isSettled).toBe(false);
  const { atime, mtime } = statSync(path);
  await Bun.sleep(20);
  writeFileSync(path, "two");
  utimesSync(path, atime, mtime);
  expect(statSync(path).mtimeMs).toBe(mtime.getTime());
  expect(stateOf(path, Date.now()).key).not.toBe(before.key);
});

test("a file with an old modification time may have been changed just now", () => {
  const path = put(home, "old", "one");
  utimesSync(path, 1, 1);
  expect(stateOf(path, Date.now()).isSettled).toBe(false);
  utimesSync(path, 4e9, 4e9);
  expect(stateOf(path, Date.now()).isSettled).toBe(false);
});
