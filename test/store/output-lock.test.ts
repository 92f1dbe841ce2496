import { expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describeHolder, isLock, type Lock, takeLock, takeLockNow } from "../../src/store/output-lock.ts";
import { placeOf } from "../../src/store/output-place.ts";
import { stageDirectory } from "../../src/store/staged-directory.ts";
import { eachInNewHome } from "../homes.ts";

let home: string;
let out: string;
let lockFile: string;
eachInNewHome((made) => {
  home = made;
  out = join(home, "out");
  lockFile = join(home, ".out.bpe-lock");
});

/** A process that runs the lines with `place` and the functions of the lock at hand. */
function other(lines: string) {
  const source = join(import.meta.dir, "..", "..", "src", "store");
  const script = `
    import { isLock, takeLock } from ${JSON.stringify(`${source}/output-lock.ts`)};
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

test("one at a time has a place; the others learn which process that is, and since when", async () => {
  const beforeMs = Date.now();
  const lock = takeLock(placeOf(out)) as Lock;
  expect(lock.isHeld).toBe(true);
  const run = other("console.log(JSON.stringify(takeLock(place)));");
  const holder = JSON.parse(await firstLine(run));
  expect(holder.pid).toBe(process.pid);
  expect(Date.parse(holder.since)).toBeWithin(beforeMs - 1000, Date.now() + 1);
  expect(describeHolder(holder)).toBe(`process ${process.pid}, since ${holder.since}`);
  expect(readdirSync(home)).toEqual([".out.bpe-lock"]);
  lock.release();
  lock.release();
  expect(readdirSync(home)).toEqual([]);
  const next = takeLock(placeOf(out));
  expect(isLock(next)).toBe(true);
  (next as Lock).release();
});

test("a process that was killed holds nothing, whatever process id its file names", async () => {
  const run = other("takeLock(place); console.log('taken'); setInterval(() => {}, 1000);");
  expect(await firstLine(run)).toBe("taken");
  expect(isLock(takeLock(placeOf(out)))).toBe(false);
  run.kill("SIGKILL");
  await run.exited;
  expect(existsSync(lockFile)).toBe(true);
  takeLockNow(placeOf(out)).release();
  // The id of a living process, as where ids were given out again.
  writeFileSync(lockFile, `{"host":"elsewhere","pid":${process.ppid}}`);
  takeLockNow(placeOf(out)).release();
  writeFileSync(lockFile, "");
  takeLockNow(placeOf(out)).release();
  expect(readdirSync(home)).toEqual([]);
});

test("of many that take over at once, never two have the place", async () => {
  writeFileSync(lockFile, '{"pid":1}');
  const runs = Array.from({ length: 6 }, () =>
    other(`
      import { rmdirSync, mkdirSync } from "node:fs";
      let taken = 0;
      while (taken < 20) {
        const got = takeLock(place);
        if (!isLock(got)) continue;
        mkdirSync(place.parent + "/inside"); // refused if another is inside
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

test("parents that had to be made are taken back, unless something came into them", () => {
  const deep = placeOf(join(home, "a", "b", "out"));
  takeLockNow(deep).release();
  expect(readdirSync(home)).toEqual([]);
  const lock = takeLockNow(deep);
  writeFileSync(join(home, "a", "mine"), "");
  lock.release();
  expect(readdirSync(join(home, "a"))).toEqual(["mine"]);
});

test("a link in the lock's place is not followed, and a run cannot take one output twice", () => {
  writeFileSync(join(home, "mine"), "mine");
  symlinkSync("mine", lockFile);
  expect(() => takeLock(placeOf(out))).toThrow("it is a symbolic link");
  expect(readFileSync(join(home, "mine"), "utf8")).toBe("mine");
  rmSync(lockFile);
  const lock = takeLockNow(placeOf(out));
  expect(() => takeLockNow(placeOf(out))).toThrow("written twice by one run");
  lock.release();
});

test("what a dead process left beside the place goes when the lock is taken, whatever its process was", () => {
  const staged = stageDirectory(out);
  const name = readdirSync(home)[0]!;
  staged.discard();
  mkdirSync(join(home, name.replace(/-\w{8}\.new$/, "-01234567.new")));
  takeLockNow(placeOf(out)).release();
  expect(readdirSync(home)).toEqual([]);
});
