import { expect, test } from "bun:test";
import {
  chmodSync,
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { takeLockNow } from "../../src/store/output-lock.ts";
import { placeOf } from "../../src/store/output-place.ts";
import { stageDirectory } from "../../src/store/staged-directory.ts";
import { eachInNewHome } from "../homes.ts";
import { canPlayOthers, giveAway } from "../other-user.ts";

let home: string;
let out: string;
eachInNewHome((made) => {
  home = made;
  out = join(home, "out");
});

/** The start of run n: three runs begin in each second. */
const startOf = (n: number) => new Date(Date.UTC(2026, 10, 20, 2) + n * 334).toISOString();

/** A result whose files all hold its number; run n's. */
function publish(n: number, keepCount?: number, exchangePaths?: () => boolean) {
  const staged = stageDirectory(out);
  for (const name of ["a.json", "b.txt"]) staged.write(name, [Buffer.from(`${n} `.repeat(500))]);
  const record = { n, startedAt: startOf(n), files: ["a.json", "b.txt", "training.json"] };
  staged.write("training.json", [Buffer.from(JSON.stringify(record))]);
  return staged.publish({ keepCount, ...(exchangePaths && { exchangePaths }) });
}

/** The number of a whole result; all that is not one throws. */
function numberOf(path: string): number {
  const { n } = JSON.parse(readFileSync(join(path, "training.json"), "utf8"));
  for (const name of ["a.json", "b.txt"])
    expect(readFileSync(join(path, name), "utf8")).toBe(`${n} `.repeat(500));
  return n;
}

const names = () => readdirSync(home).sort();

test("the last N results stay, named by the start of their run, and the older ones go", () => {
  for (let n = 0; n < 6; n++) publish(n * 3, 3);
  expect(names()).toEqual(["out", "out.20261120T020002Z", "out.20261120T020003Z", "out.20261120T020004Z"]);
  expect(names().map((name) => numberOf(join(home, name)))).toEqual([15, 6, 9, 12]);
  expect(publish(18, 1).keptPath).toBe(join(home, "out.20261120T020005Z"));
  expect(names()).toEqual(["out", "out.20261120T020005Z"]);
  expect(publish(21).keptPath).toBe(null);
  expect(names()).toEqual(["out", "out.20261120T020005Z"]);
  publish(24, 0);
  expect(names()).toEqual(["out"]);
});

test("runs that began in the same second have names of their own, and the oldest go first", () => {
  for (let n = 0; n < 5; n++) publish(n, 4);
  expect(names()).toEqual([
    "out",
    "out.20261120T020000Z",
    "out.20261120T020000Z-2",
    "out.20261120T020000Z-3",
    "out.20261120T020001Z",
  ]);
  publish(5, 2);
  expect(names()).toEqual(["out", "out.20261120T020001Z", "out.20261120T020001Z-2"]);
  expect(names().map((name) => numberOf(join(home, name)))).toEqual([5, 3, 4]);
});

test("after a run under a wrong clock the last N stay all the same", () => {
  const publishAt = (startedAt: string) => {
    const staged = stageDirectory(out);
    const record = { startedAt, generation: staged.generation, files: ["training.json"] };
    staged.write("training.json", [Buffer.from(JSON.stringify(record))]);
    staged.publish({ keepCount: 2 });
    return names().slice(1);
  };
  for (const startedAt of ["2026-11-20T02:00:00Z", "2038-01-19T03:14:07Z", "2026-11-21T02:00:00Z"])
    publishAt(startedAt);
  expect(names()).toEqual(["out", "out.20261120T020000Z", "out.20380119T031407Z"]);
  expect(publishAt("2026-11-22T02:00:00Z")).toEqual(["out.20261121T020000Z", "out.20380119T031407Z"]);
  expect(publishAt("1970-01-01T00:00:00Z")).toEqual(["out.20261121T020000Z", "out.20261122T020000Z"]);
  expect(publishAt("2026-11-23T02:00:00Z")).toEqual(["out.19700101T000000Z", "out.20261122T020000Z"]);
});

test("results from before generations were counted are older than those with one", () => {
  for (let n = 0; n < 3; n++) publish(n * 3, 3);
  for (const startedAt of ["2001-01-01T00:00:00Z", "2000-01-01T00:00:00Z"]) {
    const staged = stageDirectory(out);
    expect(staged.generation).toBe(startedAt.startsWith("2001") ? 1 : 2);
    const record = { startedAt, generation: staged.generation, files: ["training.json"] };
    staged.write("training.json", [Buffer.from(JSON.stringify(record))]);
    staged.publish({ keepCount: 2 });
  }
  expect(names()).toEqual(["out", "out.20010101T000000Z", "out.20261120T020002Z"]);
});

test("a record that tells no count or no time is taken for none", () => {
  const told = ['"x"', "-1", "1e300", "1.5", "null", String(2 ** 50), String(2 ** 53)];
  for (const generation of told) {
    mkdirSync(out);
    const record = `{"startedAt": "+010000-01-01T00:00:00Z", "generation": ${generation}, "files": ["training.json"]}`;
    writeFileSync(join(out, "training.json"), record);
    const staged = stageDirectory(out);
    expect(staged.generation).toBe(1);
    staged.write("training.json", [Buffer.from('{"files": []}')]);
    const { keptPath } = staged.publish({ keepCount: 1 });
    expect(basename(keptPath!)).toMatch(/^out\.20\d{6}T\d{6}Z$/);
    for (const name of names()) rmSync(join(home, name), { recursive: true });
  }
});

test("another user's results do not count for ours where everybody may write", () => {
  if (!canPlayOthers()) return;
  const planted = join(home, "out.20990101T000000Z");
  mkdirSync(planted);
  writeFileSync(join(planted, "training.json"), '{"generation": 1000, "files": []}');
  giveAway(planted);
  chmodSync(home, 0o1777);
  for (let n = 0; n < 3; n++) publish(n * 3, 1);
  expect(names()).toEqual(["out", "out.20261120T020001Z", "out.20990101T000000Z"]);
  chmodSync(home, 0o775);
  publish(9, 1);
  expect(names()).toEqual(["out", "out.20990101T000000Z"]);
});

test("what is not a result of ours stays, whatever its name, and does not count", () => {
  mkdirSync(join(home, "out.20200101T000000Z"));
  writeFileSync(join(home, "out.20200101T000000Z", "notes.txt"), "mine");
  mkdirSync(join(home, "out.20200102T000000Z"));
  writeFileSync(join(home, "out.20200103T000000Z"), "mine");
  symlinkSync("out", join(home, "out.20200104T000000Z"));
  const foreign = names();
  for (let n = 0; n < 4; n++) publish(3 * n, 1);
  expect(names()).toEqual(["out", ...foreign, "out.20261120T020002Z"]);
});

test("a result without a start in its record is named by the time of the record", () => {
  const staged = stageDirectory(out);
  staged.write("training.json", [Buffer.from('{"files": []}')]);
  staged.publish();
  const { mtime } = require("node:fs").statSync(join(out, "training.json"));
  const stamp = mtime.toISOString().replaceAll(/[-:]|\.\d+/g, "");
  expect(publish(1, 1).keptPath).toBe(`${out}.${stamp}`);
});

test("without an exchange of names the replaced result is kept, too", () => {
  for (let n = 0; n < 4; n++) publish(3 * n, 2, () => false);
  expect(names()).toEqual(["out", "out.20261120T020001Z", "out.20261120T020002Z"]);
  expect(names().map((name) => numberOf(join(home, name)))).toEqual([9, 3, 6]);
});

const writer = (body: string) => {
  const source = join(import.meta.dir, "..", "..", "src", "store");
  const script = `
    import { stageDirectory } from ${JSON.stringify(`${source}/staged-directory.ts`)};
    const out = ${JSON.stringify(out)};
    const startOf = ${startOf};
    const publish = ${publish};
    ${body}`;
  return Bun.spawn([process.execPath, "-e", script.replaceAll(/keepCount\?,|exchangePaths\?/g, "")], {
    stdout: "pipe",
    stderr: "inherit",
  });
};

test("killed at any instant, no kept result is lost, none is half, and the next run mends what is left", async () => {
  publish(0, 3);
  for (const exchanges of [true, false]) {
    for (let round = 0; round < 25; round++) {
      const first = numberOf(out) + 1;
      const refuse = exchanges ? "" : ", () => false";
      const run = writer(`console.log("go"); for (let n = ${first}; ; n++) publish(n, 3${refuse});`);
      await run.stdout.getReader().read();
      await Bun.sleep((round * 7919) % 31);
      run.kill("SIGKILL");
      await run.exited;
      // What a run does first; without exchange the path may have named nothing for an instant.
      takeLockNow(placeOf(out)).release();
      const current = numberOf(out);
      publish(current + 1, 3);
      const found = names().map((name) => numberOf(join(home, name)));
      const wanted = [0, 1, 2, 3].map((back) => current + 1 - back).filter((n) => n >= 0);
      expect(found.sort((a, b) => b - a)).toEqual(wanted);
    }
  }
}, 600_000);

test("who opens the directory reads one whole result through it, during 50 publications", async () => {
  publish(0, 60);
  const run = writer(
    `console.log("go"); for (let n = 1; n <= 50; n++) { publish(n, 60); await Bun.sleep(5); }`,
  );
  await run.stdout.getReader().read();
  const seen = new Set<number>();
  let isDone = false;
  void run.exited.then(() => {
    isDone = true;
  });
  while (!isDone) {
    const fd = openSync(out, "r");
    const opened = `/proc/self/fd/${fd}`;
    const n = numberOf(opened);
    seen.add(n);
    await Bun.sleep(1);
    // It was replaced meanwhile, and is kept: the same files are still there.
    expect(numberOf(opened)).toBe(n);
    closeSync(fd);
  }
  expect(await run.exited).toBe(0);
  expect(seen.size).toBeGreaterThan(10);
  expect(numberOf(out)).toBe(50);
  expect(names().length).toBe(51);
}, 600_000);
