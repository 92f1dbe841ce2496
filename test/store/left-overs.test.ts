import { expect, test } from "bun:test";
import {
  chmodSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { type Lock, takeLock, takeLockNow } from "../../src/store/output-lock.ts";
import { placeOf } from "../../src/store/output-place.ts";
import { stageDirectory } from "../../src/store/staged-directory.ts";
import { hiddenPath } from "../hidden-name.ts";
import { eachInNewHome } from "../homes.ts";
import { canPlayOthers, giveAway, makePipe } from "../other-user.ts";

let home: string;
let out: string;
let lockFile: string;
eachInNewHome((made) => {
  home = made;
  out = join(home, "out");
  lockFile = join(home, ".out.bpe-lock");
});

const hiddenName = (kind: string, run?: string) => basename(hiddenPath(out, kind, run));

function plant(name: string): string {
  const path = join(home, name);
  mkdirSync(path);
  writeFileSync(join(path, "training.json"), '{"files": []}');
  return path;
}

const lockAndRelease = () => takeLockNow(placeOf(out)).release();

test("what another user left is neither restored nor removed, whatever it looks like", () => {
  if (!canPlayOthers()) return;
  const names = ["old", "new", "keep-01234567"].map((kind) => hiddenName(kind));
  for (const name of names) {
    const path = plant(name);
    chmodSync(path, 0o777);
    giveAway(path);
  }
  for (const mode of [0o755, 0o777, 0o1777]) {
    chmodSync(home, mode);
    lockAndRelease();
    stageDirectory(out).discard();
    expect(readdirSync(home).sort()).toEqual(names.sort());
  }
});

test("a link is not restored, and what it leads to stays", () => {
  const elsewhere = plant("elsewhere");
  for (const kind of ["old", "new", "keep-01234567"]) symlinkSync("elsewhere", join(home, hiddenName(kind)));
  lockAndRelease();
  expect(readdirSync(home)).toEqual(["elsewhere"]);
  expect(readdirSync(elsewhere)).toEqual(["training.json"]);
});

test("what this user left is restored without the lock of the place, and removed only with it", () => {
  plant(hiddenName("old"));
  const half = hiddenName("new", "89abcdef");
  mkdirSync(join(home, half));
  stageDirectory(out).discard();
  expect(readdirSync(home).sort()).toEqual([half, "out"].sort());
  lockAndRelease();
  expect(readdirSync(home)).toEqual(["out"]);
});

test("a directory that is no result is not restored as one", () => {
  mkdirSync(join(home, hiddenName("old"), "inner"), { recursive: true });
  stageDirectory(out).discard();
  expect(readdirSync(home)).toEqual([hiddenName("old")]);
  lockAndRelease();
  expect(readdirSync(home)).toEqual([]);
});

test("a pipe or a link in the place of a lock is refused by name, at once", () => {
  makePipe(lockFile);
  expect(() => takeLock(placeOf(out))).toThrow(`"${lockFile}" is not used: it is no regular file`);
  expect(readdirSync(home)).toEqual([".out.bpe-lock"]);
});

test("another user's lock is refused where everybody may write, and taken over where he was let in", () => {
  if (!canPlayOthers()) return;
  writeFileSync(lockFile, "{}");
  giveAway(lockFile);
  chmodSync(home, 0o1777);
  expect(() => takeLock(placeOf(out))).toThrow("it is another user's (65534)");
  chmodSync(home, 0o775);
  const lock = takeLockNow(placeOf(out));
  expect(statSync(lockFile).uid).toBe(0);
  lock.release();
  expect(readdirSync(home)).toEqual([]);
});

test("a file of ours that has a second name in the place of a lock is not written to", () => {
  writeFileSync(join(home, "mine"), "mine");
  linkSync(join(home, "mine"), lockFile);
  const lock = takeLockNow(placeOf(out));
  expect(readFileSync(lockFile, "utf8")).toContain(`"pid":${process.pid}`);
  expect(readFileSync(join(home, "mine"), "utf8")).toBe("mine");
  lock.release();
});

test("of the text of a lock only what a holder writes is believed", () => {
  const lock = takeLock(placeOf(out)) as Lock;
  const told = ["null", "7", '"x"', '{"release": 1, "fd": 0}', '{"host": 1, "pid": {}, "since": []}'];
  for (const text of told) {
    writeFileSync(lockFile, text);
    expect(takeLock(placeOf(out)) as object).toEqual({});
  }
  writeFileSync(lockFile, '{"host": "h", "pid": 1, "since": "s", "more": 1}');
  expect(takeLock(placeOf(out)) as object).toEqual({ host: "h", pid: 1, since: "s" });
  lock.release();
});

test("a name that is too long with what is added to it is found out with the lock", () => {
  const long = (length: number) => placeOf(join(home, "n".repeat(length)));
  takeLockNow(long(218)).release();
  expect(() => takeLockNow(long(219))).toThrow("the name is too long");
  expect(readdirSync(home)).toEqual([]);
});
