import { expect, spyOn, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import * as fileSystem from "../../../src/store/file-system.ts";
import type { Lock } from "../../../src/store/output-lock.ts";
import * as outputLock from "../../../src/store/output-lock.ts";
import { placeOf } from "../../../src/store/output-place.ts";
import { stageDirectory } from "../../../src/store/staged-directory.ts";
import { hiddenPath } from "../../hidden-name.ts";
import { eachInNewHome } from "../../homes.ts";
import { canPlayOthers, giveAway, makePipe } from "../../other-user.ts";

let home: string;
let out: string;
let lockFile: string;
eachInNewHome((made) => {
  home = made;
  out = join(home, "out");
  lockFile = join(home, ".out.bpe-lock");
});

/** Starts a process that runs these lines. They can use `place` and the lock's functions. */
function other(lines: string) {
  const source = join(import.meta.dir, "..", "..", "..", "src", "store");
  const script = `
    import { isLock, take } from ${JSON.stringify(`${source}/output-lock.ts`)};
    import { placeOf } from ${JSON.stringify(`${source}/output-place.ts`)};
    const place = placeOf(${JSON.stringify(out)});
    ${lines}`;
  return Bun.spawn([process.execPath, "-e", script], { stdout: "pipe", stderr: "inherit" });
}

async function firstLine(run: ReturnType<typeof other>): Promise<string> {
  const { value } = await run.stdout.getReader().read();
  return Buffer.from(value ?? new Uint8Array())
    .toString()
    .trim();
}

test("only one process at a time has the output; the others learn which process that is, and since when", async () => {
  const beforeMs = Date.now();
  const lock = outputLock.take(placeOf(out)) as Lock;
  expect(lock.isHeld).toBe(true);
  const run = other("console.log(JSON.stringify(take(place)));");
  const holder = JSON.parse(await firstLine(run));
  expect(holder.pid).toBe(process.pid);
  expect(Date.parse(holder.since)).toBeWithin(beforeMs - 1000, Date.now() + 1);
  expect(outputLock.describeHolder(holder)).toBe(`process ${process.pid}, since ${holder.since}`);
  expect(readdirSync(home)).toEqual([".out.bpe-lock"]);
  lock.release();
  lock.release();
  expect(readdirSync(home)).toEqual([]);
  const next = outputLock.take(placeOf(out));
  expect(outputLock.isLock(next)).toBe(true);
  (next as Lock).release();
});

test("a killed process holds no lock, whatever process id its file names", async () => {
  const run = other("take(place); console.log('taken'); setInterval(() => {}, 1000);");
  expect(await firstLine(run)).toBe("taken");
  expect(outputLock.isLock(outputLock.take(placeOf(out)))).toBe(false);
  run.kill("SIGKILL");
  await run.exited;
  expect(existsSync(lockFile)).toBe(true);
  outputLock.takeNow(placeOf(out)).release();
  // The file names the id of a living process, as if the id of the killed one had been reused.
  writeFileSync(lockFile, `{"host":"elsewhere","pid":${process.ppid}}`);
  outputLock.takeNow(placeOf(out)).release();
  writeFileSync(lockFile, "");
  outputLock.takeNow(placeOf(out)).release();
  expect(readdirSync(home)).toEqual([]);
});

test("if many processes take over at once, never two of them have the output", async () => {
  writeFileSync(lockFile, '{"pid":1}');
  const runs = Array.from({ length: 6 }, () =>
    other(`
      import { rmdirSync, mkdirSync } from "node:fs";
      let taken = 0;
      while (taken < 20) {
        const got = take(place);
        if (!isLock(got)) continue;
        mkdirSync(place.parent + "/inside"); // fails if another process is inside
        taken++;
        rmdirSync(place.parent + "/inside");
        got.release();
      }
      console.log(taken);`),
  );
  const counts = await Promise.all(runs.map(firstLine));
  expect(await Promise.all(runs.map((run) => run.exited))).toEqual(runs.map(() => 0));
  expect(counts).toEqual(runs.map(() => "20"));
  expect(readdirSync(home)).toEqual([]);
}, 600_000);

test("leftovers of a run on another host are removed under the lock; on a file server only if they are a day old", () => {
  const left = hiddenPath(out, "new").replace(/bpe-[0-9a-f]{8}/, "bpe-00c0ffee");
  const inside = join(left, "300", "tokenizer.json");
  const put = () => {
    mkdirSync(dirname(inside), { recursive: true });
    writeFileSync(inside, "half");
  };
  const place = placeOf(out);
  put();
  outputLock.recoverStaleOutputs(place);
  expect(existsSync(inside)).toBe(true);
  const lock = outputLock.takeNow(place);
  expect(readdirSync(home)).toEqual([".out.bpe-lock"]);
  const isServer = () => false;
  put();
  outputLock.recoverStaleOutputs(place, isServer);
  const { mtimeMs } = statSync(lockFile);
  for (const [path, hours] of [
    [dirname(inside), 25],
    [left, 25],
    [inside, 23],
  ] as const)
    utimesSync(path, 0, mtimeMs / 1000 - hours * 3600);
  outputLock.recoverStaleOutputs(place, isServer);
  expect(existsSync(inside)).toBe(true);
  utimesSync(inside, 0, mtimeMs / 1000 - 25 * 3600);
  outputLock.recoverStaleOutputs(place, isServer);
  expect(existsSync(left)).toBe(false);
  lock.release();
});

test("created parent directories are removed again, unless something was put into them", () => {
  const deep = placeOf(join(home, "a", "b", "out"));
  outputLock.takeNow(deep).release();
  expect(readdirSync(home)).toEqual([]);
  const lock = outputLock.takeNow(deep);
  writeFileSync(join(home, "a", "mine"), "");
  lock.release();
  expect(readdirSync(join(home, "a"))).toEqual(["mine"]);
});

test("a link in place of the lock is not followed, and a run cannot take one output twice", () => {
  writeFileSync(join(home, "mine"), "mine");
  symlinkSync("mine", lockFile);
  expect(() => outputLock.take(placeOf(out))).toThrow("it is a symbolic link");
  expect(readFileSync(join(home, "mine"), "utf8")).toBe("mine");
  rmSync(lockFile);
  const lock = outputLock.takeNow(placeOf(out));
  expect(() => outputLock.takeNow(placeOf(out))).toThrow("is already an output of this process");
  lock.release();
});

test("leftovers of a dead process next to the output are removed when the lock is taken, whatever process it was", () => {
  const staged = stageDirectory(out);
  const name = readdirSync(home)[0]!;
  staged.discard();
  mkdirSync(join(home, name.replace(/-\w{8}\.new$/, "-01234567.new")));
  outputLock.takeNow(placeOf(out)).release();
  expect(readdirSync(home)).toEqual([]);
});

const hiddenName = (kind: string, run?: string) => basename(hiddenPath(out, kind, run));

function plant(name: string): string {
  const path = join(home, name);
  mkdirSync(path);
  writeFileSync(join(path, "training.json"), '{"files": []}');
  return path;
}

const lockAndRelease = () => outputLock.takeNow(placeOf(out)).release();

test("leftovers of another user are neither restored nor removed, whatever they look like", () => {
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

test("a link is not restored, and its target stays", () => {
  const elsewhere = plant("elsewhere");
  for (const kind of ["old", "new", "keep-01234567"]) symlinkSync("elsewhere", join(home, hiddenName(kind)));
  lockAndRelease();
  expect(readdirSync(home)).toEqual(["elsewhere"]);
  expect(readdirSync(elsewhere)).toEqual(["training.json"]);
});

test("leftovers of this user are restored without the output's lock, and removed only with it", () => {
  plant(hiddenName("old"));
  const half = hiddenName("new", "89abcdef");
  mkdirSync(join(home, half));
  stageDirectory(out).discard();
  expect(readdirSync(home).sort()).toEqual([half, "out"].sort());
  lockAndRelease();
  expect(readdirSync(home)).toEqual(["out"]);
});

test("a directory that is not a result is not restored as one", () => {
  mkdirSync(join(home, hiddenName("old"), "inner"), { recursive: true });
  stageDirectory(out).discard();
  expect(readdirSync(home)).toEqual([hiddenName("old")]);
  lockAndRelease();
  expect(readdirSync(home)).toEqual([]);
});

test("a pipe or a link in place of a lock is refused at once, and the error names it", () => {
  makePipe(lockFile);
  expect(() => outputLock.take(placeOf(out))).toThrow(`"${lockFile}" is not used: it is not a regular file`);
  expect(readdirSync(home)).toEqual([".out.bpe-lock"]);
});

test("another user's lock is refused where everybody may write, and taken over where that user was admitted", () => {
  if (!canPlayOthers()) return;
  writeFileSync(lockFile, "{}");
  giveAway(lockFile);
  chmodSync(home, 0o1777);
  expect(() => outputLock.take(placeOf(out))).toThrow("it belongs to another user (uid 65534)");
  chmodSync(home, 0o775);
  const lock = outputLock.takeNow(placeOf(out));
  expect(statSync(lockFile).uid).toBe(0);
  lock.release();
  expect(readdirSync(home)).toEqual([]);
});

test("a file of ours with a second hard link in place of a lock is not written", () => {
  writeFileSync(join(home, "mine"), "mine");
  linkSync(join(home, "mine"), lockFile);
  const lock = outputLock.takeNow(placeOf(out));
  expect(readFileSync(lockFile, "utf8")).toContain(`"pid":${process.pid}`);
  expect(readFileSync(join(home, "mine"), "utf8")).toBe("mine");
  lock.release();
});

test("only the part of a lock's text that a holder writes is trusted", () => {
  const lock = outputLock.take(placeOf(out)) as Lock;
  const told = ["null", "7", '"x"', '{"release": 1, "fd": 0}', '{"host": 1, "pid": {}, "since": []}'];
  for (const text of told) {
    writeFileSync(lockFile, text);
    expect(outputLock.take(placeOf(out)) as object).toEqual({});
  }
  writeFileSync(lockFile, '{"host": "h", "pid": 1, "since": "s", "more": 1}');
  expect(outputLock.take(placeOf(out)) as object).toEqual({ host: "h", pid: 1, since: "s" });
  lock.release();
});

test("a lock that vanishes each time it is taken is tried a thousand times, and then counts as taken", () => {
  const isSameFile = spyOn(fileSystem, "isSameFile").mockReturnValue(false);
  try {
    expect(outputLock.isLock(outputLock.take(placeOf(out)))).toBe(false);
    expect(isSameFile).toHaveBeenCalledTimes(1000);
    isSameFile.mockImplementationOnce(() => {
      throw Object.assign(new Error("the parent is gone"), { code: "ENOENT" });
    });
    for (let attempt = 2; attempt < 1000; attempt++) isSameFile.mockReturnValueOnce(false);
    isSameFile.mockReturnValueOnce(true);
    outputLock.takeNow(placeOf(out)).release();
    expect(() => outputLock.takeNow(placeOf(out))).toThrow("is being written by another process");
  } finally {
    isSameFile.mockRestore();
  }
});

test.skipIf(!existsSync("/proc/self/stat"))(
  "where no file can be created no lock is looked for without end",
  () => {
    expect(() => outputLock.take(placeOf("/proc/out"))).toThrow('no file can be created in "/proc"');
  },
);

test("a name that is too long with its suffix is noticed when locking", () => {
  const long = (length: number) => placeOf(join(home, "n".repeat(length)));
  outputLock.takeNow(long(218)).release();
  expect(() => outputLock.takeNow(long(219))).toThrow("the name is too long");
  expect(readdirSync(home)).toEqual([]);
});
