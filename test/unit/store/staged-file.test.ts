import { expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { UserError } from "../../../src/runtime/errors.ts";
import * as outputLock from "../../../src/store/output-lock.ts";
import * as stagedFile from "../../../src/store/staged-file.ts";
import { noGuard } from "../../../src/store/staged-file.ts";
import { eachInNewHome } from "../../homes.ts";
import { canPlayOthers, giveAway, makePipe } from "../../other-user.ts";

let home: string;
let path: string;
eachInNewHome((made) => {
  home = made;
  path = join(home, "out.tsv");
});

/** Writes chunks like a run that nothing stops. */
const writeWhole = (path: string, chunks: Iterable<Uint8Array>) =>
  stagedFile.write(path, noGuard, async (file) => {
    for (const chunk of chunks) file.write(chunk);
  });

const text = () => readFileSync(path, "utf8");

test("a file below something other than a directory is not started", () => {
  expect(() => stagedFile.stage(join(home, "none", "out.tsv"))).toThrow(
    `there is no directory "${home}/none"`,
  );
});

test("a file exists completely or not at all", () => {
  const staged = stagedFile.stage(path);
  staged.write(Buffer.from("one "));
  staged.write(Buffer.from("two"));
  expect(existsSync(path)).toBe(false);
  staged.publish();
  expect(text()).toBe("one two");
  expect(readdirSync(home)).toEqual(["out.tsv"]);
});

test("an error or a discard leaves the older file, and nothing next to it", async () => {
  writeFileSync(path, "old");
  const failing = function* () {
    yield Buffer.from("half");
    throw new Error("no more");
  };
  await expect(writeWhole(path, failing())).rejects.toThrow("no more");
  // Undoes the work in the middle of writing, as a signal does.
  const guarded: (() => void)[] = [];
  const guard = (undo: () => void) => {
    guarded.push(undo);
    return () => void guarded.pop();
  };
  await stagedFile
    .write(path, guard, async (file) => {
      file.write(Buffer.from("half"));
      guarded[0]!();
      expect(readdirSync(home)).toEqual(["out.tsv"]);
      throw new Error("ended");
    })
    .catch(() => {});
  expect(guarded).toEqual([]);
  const staged = stagedFile.stage(path);
  staged.write(Buffer.from("half"));
  staged.discard();
  staged.discard();
  expect(text()).toBe("old");
  expect(readdirSync(home)).toEqual(["out.tsv"]);
});

test("an older file's mode is kept, and a link is followed", async () => {
  writeFileSync(path, "old");
  chmodSync(path, 0o640);
  symlinkSync("out.tsv", join(home, "link"));
  await writeWhole(join(home, "link"), [Buffer.from("new")]);
  expect(text()).toBe("new");
  expect(statSync(path).mode & 0o777).toBe(0o640);
  expect(readlinkSync(join(home, "link"))).toBe("out.tsv");
  symlinkSync("later", join(home, "dangling"));
  await writeWhole(join(home, "dangling"), [Buffer.from("new")]);
  expect(readFileSync(join(home, "later"), "utf8")).toBe("new");
});

test("a device is written directly", async () => {
  await writeWhole("/dev/null", [Buffer.from("gone")]);
  expect(statSync("/dev/null").isCharacterDevice()).toBe(true);
});

test("a pipe is written directly, but not if another user may have put it there", () => {
  const pipe = makePipe(join(home, "pipe"));
  expect(stagedFile.placeOfFile(pipe)).toBe(null);
  if (!canPlayOthers()) return;
  giveAway(pipe);
  expect(stagedFile.placeOfFile(pipe)).toBe(null);
  chmodSync(home, 0o1777);
  expect(() => stagedFile.checkOutputFile(pipe)).toThrow(`"${pipe}" is not used: it belongs to another user`);
});

test("a full device is an error with its reason", async () => {
  if (!existsSync("/dev/full")) {
    console.log("skipped: there is no /dev/full");
    return;
  }
  await expect(writeWhole("/dev/full", [Buffer.from("x")])).rejects.toThrow(
    /"\/dev\/full" cannot be written: no space left/,
  );
});

test("an unwritable path is noticed beforehand", () => {
  writeFileSync(join(home, "file"), "");
  for (const wrong of [home, `${home}/`, `${path}/`, join(home, "no", "out.tsv"), join(home, "file", "x")]) {
    expect(() => stagedFile.checkOutputFile(wrong)).toThrow(UserError);
  }
  stagedFile.checkOutputFile(path);
  expect(() => outputLock.takeNow(stagedFile.placeOfFile("/proc/x")!)).toThrow(
    '"/proc/x" cannot be written: no file can be created in "/proc"',
  );
  expect(readdirSync(home)).toEqual(["file"]);
});
