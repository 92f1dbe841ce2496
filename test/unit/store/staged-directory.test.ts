import { describe, expect, test } from "bun:test";
import { spawn } from "node:child_process";
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import * as outputLock from "../../../src/store/output-lock.ts";
import { placeOf } from "../../../src/store/output-place.ts";
import { checkDirectory } from "../../../src/store/places-to-write.ts";
import { stageDirectory } from "../../../src/store/staged-directory.ts";
import { eachInNewHome } from "../../homes.ts";
import { canPlayOthers, giveAway } from "../../other-user.ts";
import { errorOf } from "../../thrown.ts";

let home: string;
let out: string;
eachInNewHome((made) => {
  home = made;
  out = join(home, "out");
});

/** Publishes a complete result: the record lists its files, and each file contains `mark`. */
function publishResult(
  path: string,
  mark: string,
  names: readonly string[] = ["a.json", "b.txt"],
): string | null {
  const staged = stageDirectory(path);
  for (const name of names) staged.write(name, [Buffer.from(mark), Buffer.from(mark)]);
  staged.write("training.json", [Buffer.from(JSON.stringify({ mark, files: [...names, "training.json"] }))]);
  return staged.publish().leftPath;
}

function messageOf(run: () => unknown): string {
  const { message, hint } = errorOf(run);
  return `${message}\nhint: ${hint}`;
}

test("a result that cannot be staged leaves no parents", () => {
  const path = join(home, "made", "for", "n".repeat(250));
  expect(errorOf(() => stageDirectory(path)).message).toContain("the name is too long");
  expect(readdirSync(home)).toEqual([]);
});

describe("checkDirectory", () => {
  test("accepts a missing or empty path, or one with only the files of its own record, and changes nothing", () => {
    checkDirectory(out);
    checkDirectory(join(home, "deep", "er", "out"));
    expect(readdirSync(home)).toEqual([]);
    mkdirSync(out);
    checkDirectory(out);
    checkDirectory(`${out}//`);
    publishResult(out, "x");
    checkDirectory(out);
    rmSync(join(out, "a.json"));
    checkDirectory(out);
  });

  test("refuses any file that no record lists, and names it", () => {
    publishResult(out, "x");
    writeFileSync(join(out, "notes.txt"), "mine");
    expect(messageOf(() => checkDirectory(out))).toContain('"notes.txt"');
    rmSync(join(out, "notes.txt"));
    writeFileSync(join(out, ".hidden"), "mine");
    expect(messageOf(() => checkDirectory(out))).toContain('".hidden"');
  });

  test("accepts directories whose files the record lists, and refuses anything else in them", () => {
    publishResult(out, "x", ["1/a.json", "1/b.txt", "2/a.json"]);
    expect(readdirSync(out).sort()).toEqual(["1", "2", "training.json"]);
    checkDirectory(out);
    for (const [name, make] of [
      ["1/notes.txt", (path: string) => writeFileSync(path, "mine")],
      ["1/deeper", (path: string) => mkdirSync(path)],
      ["3", (path: string) => mkdirSync(path)],
      ["3", (path: string) => symlinkSync(join(out, "1"), path)],
    ] as const) {
      make(join(out, name));
      expect(messageOf(() => checkDirectory(out))).toContain(`"${name}"`);
      rmSync(join(out, name), { recursive: true });
    }
    rmSync(join(out, "2"), { recursive: true });
    symlinkSync(join(out, "1"), join(out, "2"));
    expect(messageOf(() => checkDirectory(out))).toContain('"2"');
  });

  test("a result with directories replaces one without, and is replaced, with nothing left", () => {
    for (const names of [["a.json"], ["1/a.json", "2/a.json"], ["1/b.txt"], ["a.json"]]) {
      expect(publishResult(out, "x", names)).toBeNull();
      expect(readdirSync(home)).toEqual(["out"]);
      for (const name of names) expect(existsSync(join(out, name))).toBeTrue();
    }
  });

  test("a record that lists paths outside of the directory counts as listing nothing", () => {
    for (const name of ["../victim", "a/../b", "/etc/x", "1/2/3", "1//a", "./a"]) {
      rmSync(out, { recursive: true, force: true });
      mkdirSync(out);
      writeFileSync(join(out, "a"), "mine");
      writeFileSync(join(out, "training.json"), JSON.stringify({ files: ["a", name] }));
      expect(messageOf(() => checkDirectory(out))).toContain('"a"');
    }
  });

  test("refuses a listed entry that is not a plain file", () => {
    for (const make of [
      (path: string) => mkdirSync(path),
      (path: string) => symlinkSync("/etc/hostname", path),
    ]) {
      rmSync(out, { recursive: true, force: true });
      publishResult(out, "x");
      rmSync(join(out, "a.json"));
      make(join(out, "a.json"));
      expect(messageOf(() => checkDirectory(out))).toContain('"a.json"');
    }
  });

  test("trusts no record that is damaged, foreign, or lists more than plain names", () => {
    for (const record of [
      "",
      "{",
      "null",
      "[]",
      '{"files": "a"}',
      '{"files": ["a", 1]}',
      '{"files": ["../out/a", "a"]}',
    ]) {
      rmSync(out, { recursive: true, force: true });
      mkdirSync(out);
      writeFileSync(join(out, "a"), "mine");
      writeFileSync(join(out, "training.json"), record);
      expect(messageOf(() => checkDirectory(out))).toContain('"a"');
      expect(readFileSync(join(out, "a"), "utf8")).toBe("mine");
    }
  });

  test("refuses a link, even with a slash after it, a file, a file as parent, and the root", () => {
    mkdirSync(out);
    symlinkSync(out, join(home, "link"));
    symlinkSync(join(home, "nowhere"), join(home, "dangling"));
    writeFileSync(join(home, "file"), "mine");
    for (const [path, reason] of [
      [join(home, "link"), "symbolic link"],
      [`${join(home, "link")}/`, "symbolic link"],
      [join(home, "dangling"), "symbolic link"],
      [join(home, "file"), "not a directory"],
      [join(home, "file", "out"), join(home, "file")],
      ["/", "mount point"],
    ] as const) {
      expect(messageOf(() => checkDirectory(path))).toContain(reason);
    }
    expect(messageOf(() => outputLock.takeNow(placeOf("/proc/out")))).toContain(
      '"/proc/out" cannot be written: no file can be created in "/proc"',
    );
  });

  test("a link among the parents is followed", () => {
    mkdirSync(join(home, "real"));
    symlinkSync(join(home, "real"), join(home, "link"));
    publishResult(join(home, "link", "out"), "x");
    expect(readFileSync(join(home, "real", "out", "a.json"), "utf8")).toBe("xx");
  });

  test("notices beforehand that the parent cannot be written", () => {
    if (process.getuid?.() === 0) {
      console.log("skipped: permissions do not stop root");
      return;
    }
    chmodSync(home, 0o555);
    try {
      expect(messageOf(() => outputLock.takeNow(placeOf(out)))).toContain("permission denied");
    } finally {
      chmodSync(home, 0o755);
    }
  });
});

describe("stageDirectory", () => {
  test("shows nothing at the path until the result is complete, and leaves nothing next to it", () => {
    const staged = stageDirectory(out);
    staged.write("a", [Buffer.from("1")]);
    expect(existsSync(out)).toBe(false);
    staged.publish();
    expect(readdirSync(home)).toEqual(["out"]);
    expect(readdirSync(out)).toEqual(["a"]);
  });

  test("replaces an empty directory and an older result, whose mode it keeps", () => {
    mkdirSync(out);
    chmodSync(out, 0o775);
    publishResult(out, "old", ["a.json", "gone.txt"]);
    expect(publishResult(out, "new")).toBe(null);
    expect(readdirSync(out).sort()).toEqual(["a.json", "b.txt", "training.json"]);
    expect(readFileSync(join(out, "a.json"), "utf8")).toBe("newnew");
    expect(statSync(out).mode & 0o777).toBe(0o775);
    expect(readdirSync(home)).toEqual(["out"]);
  });

  test("without an atomic exchange, the result still replaces the older one", () => {
    publishResult(out, "old");
    const staged = stageDirectory(out);
    staged.write("a.json", [Buffer.from("new")]);
    staged.publish({ exchangePaths: () => false });
    expect(readdirSync(out)).toEqual(["a.json"]);
    expect(readdirSync(home)).toEqual(["out"]);
  });

  test("discard leaves an older result alone, and removes the parents that were made", () => {
    publishResult(out, "old");
    const staged = stageDirectory(out);
    staged.write("a.json", [Buffer.from("half")]);
    staged.discard();
    staged.discard();
    expect(readFileSync(join(out, "a.json"), "utf8")).toBe("oldold");
    expect(readdirSync(home)).toEqual(["out"]);
    const deep = stageDirectory(join(home, "deep", "er", "out"));
    deep.write("a", []);
    deep.discard();
    expect(readdirSync(home)).toEqual(["out"]);
  });

  test("one run cannot write the same output twice at a time", () => {
    const staged = stageDirectory(out);
    expect(messageOf(() => stageDirectory(out))).toContain("is already an output of this process");
    staged.write("a", []);
    staged.publish();
    expect(readdirSync(out)).toEqual(["a"]);
  });

  test("discard after publish removes nothing", () => {
    const staged = stageDirectory(out);
    staged.write("a", []);
    staged.publish();
    staged.discard();
    expect(readdirSync(out)).toEqual(["a"]);
  });

  test("an error while a file is written leaves the older result and, after discard, nothing else", () => {
    publishResult(out, "old");
    const staged = stageDirectory(out);
    const failing = function* () {
      yield Buffer.from("half");
      throw new Error("no more");
    };
    expect(() => staged.write("a.json", failing())).toThrow("no more");
    staged.discard();
    expect(readFileSync(join(out, "a.json"), "utf8")).toBe("oldold");
    expect(readdirSync(home)).toEqual(["out"]);
  });

  test("a file can be written chunk by chunk, and discarded between two chunks", () => {
    const staged = stageDirectory(out);
    const steps = staged.writeInSteps("a", [Buffer.from("1"), Buffer.from("2")]);
    expect(steps.next().done).toBe(false);
    staged.discard();
    expect(readdirSync(home)).toEqual([]);
    const whole = stageDirectory(out);
    let stepCount = 0;
    for (const _ of whole.writeInSteps("a", [Buffer.from("1"), Buffer.from("2")])) stepCount++;
    whole.publish();
    expect(stepCount).toBe(2);
    expect(readFileSync(join(out, "a"), "utf8")).toBe("12");
  });

  test("an error of the system names the file that was being written", () => {
    const staged = stageDirectory(out);
    rmSync(join(home, readdirSync(home)[0]!), { recursive: true });
    expect(messageOf(() => staged.write("b", [Buffer.from("x")]))).toContain(join(out, "b"));
    staged.discard();
  });

  test("files that others put there during the run are kept, and so is the result", () => {
    publishResult(out, "old");
    const staged = stageDirectory(out);
    staged.write("a.json", [Buffer.from("new")]);
    writeFileSync(join(out, "notes.txt"), "mine");
    expect(messageOf(() => staged.publish())).toContain(`the finished tokenizer is in "${out}.new"`);
    expect(readFileSync(join(out, "notes.txt"), "utf8")).toBe("mine");
    expect(readFileSync(join(out, "a.json"), "utf8")).toBe("oldold");
    expect(readFileSync(`${out}.new/a.json`, "utf8")).toBe("new");
    expect(readdirSync(home).sort()).toEqual(["out", "out.new"]);
  });

  test("if the parent becomes unwritable, the result stays where it is, and the error says where", () => {
    publishResult(out, "old");
    const staged = stageDirectory(out);
    staged.write("a.json", [Buffer.from("new")]);
    const isRoot = process.geteuid!() === 0;
    const loseParent = () => {
      chmodSync(home, 0o555);
      if (isRoot) process.seteuid!(65534);
      throw Object.assign(new Error("EACCES"), { code: "EACCES" });
    };
    let message: string;
    try {
      message = messageOf(() => staged.publish({ exchangePaths: loseParent }));
    } finally {
      if (isRoot) process.seteuid!(0);
      chmodSync(home, 0o755);
    }
    staged.discard();
    expect(readFileSync(join(out, "a.json"), "utf8")).toBe("oldold");
    const hidden = readdirSync(home).filter((name) => name !== "out");
    expect(hidden.length).toBe(1);
    expect(message).toContain(`the finished tokenizer is in "${join(home, hidden[0]!)}", until`);
    expect(readFileSync(join(home, hidden[0]!, "a.json"), "utf8")).toBe("new");
    publishResult(out, "newer");
    expect(readdirSync(home)).toEqual(["out"]);
  });

  test("a file that appeared at the absent path is not replaced", () => {
    const staged = stageDirectory(out);
    staged.write("a", []);
    writeFileSync(out, "mine");
    expect(messageOf(() => staged.publish())).toContain("not a directory");
    expect(readFileSync(out, "utf8")).toBe("mine");
  });
});

const script = (body: string) => {
  const path = join(home, "..", `script-${Math.random().toString(36).slice(2)}.ts`);
  writeFileSync(
    path,
    `import { stageDirectory } from ${JSON.stringify(join(import.meta.dir, "../../../src/store/staged-directory.ts"))};
const out = ${JSON.stringify(out)};
const stage = (mark: string) => {
  const staged = stageDirectory(out);
  for (const name of ["a.json", "b.txt"]) staged.write(name, [Buffer.from(mark.repeat(1000))]);
  staged.write("training.json", [Buffer.from(JSON.stringify({ mark, files: ["a.json", "b.txt", "training.json"] }))]);
  return staged;
};
${body}`,
  );
  return spawn(process.execPath, [path], { stdio: ["ignore", "pipe", "inherit"] });
};

const ended = (child: ReturnType<typeof script>) => new Promise((resolve) => child.once("exit", resolve));

describe("processes", () => {
  test("one that is killed leaves the older result intact, and the next run removes its leftovers", async () => {
    publishResult(out, "old");
    const child = script(`stage("half"); console.log("staged"); setInterval(() => {}, 1000);`);
    await new Promise((resolve) => child.stdout!.once("data", resolve));
    // While the process lives, another run does not touch its files.
    publishResult(out, "other");
    expect(readdirSync(home).length).toBe(2);
    child.kill("SIGKILL");
    await ended(child);
    expect(readFileSync(join(out, "a.json"), "utf8")).toBe("otherother");
    // Only the holder of the output's lock removes the files of the killed run.
    publishResult(out, "other");
    expect(readdirSync(home).length).toBe(2);
    const lock = outputLock.takeNow(placeOf(out));
    expect(readdirSync(home)).toEqual([".out.bpe-lock", "out"]);
    publishResult(out, "new");
    lock.release();
    expect(readdirSync(home)).toEqual(["out"]);
    expect(readFileSync(join(out, "a.json"), "utf8")).toBe("newnew");
  });

  test("one that died between two renames left the old result under another name, and the next run restores it first", () => {
    publishResult(out, "old");
    const staged = stageDirectory(join(home, "probe"));
    const stagingName = readdirSync(home).find((name) => name.startsWith(".probe"))!;
    staged.discard();
    const asideName = stagingName.replace(/^\.probe\.(bpe-\w*)-\w+\.new$/, ".out.$1-00000000.old");
    Bun.spawnSync(["mv", out, join(home, asideName)]);
    stageDirectory(out).discard();
    expect(readdirSync(home)).toEqual(["out"]);
    expect(readFileSync(join(out, "a.json"), "utf8")).toBe("oldold");
  });

  test("readers see one complete result at every instant, while two processes publish alternately", async () => {
    publishResult(out, "start");
    const writers = ["x", "y"].map((mark) =>
      script(`for (let n = 0; n < 150; n++) stage("${mark}").publish();`),
    );
    let isDone = false;
    const all = Promise.all(writers.map(ended)).then((codes) => {
      isDone = true;
      return codes;
    });
    let readCount = 0;
    const marks = new Set<string>();
    while (!isDone) {
      for (let n = 0; n < 200; n++, readCount++) {
        // Throws if the path ever names no result.
        marks.add(JSON.parse(readFileSync(join(out, "training.json"), "utf8")).mark);
      }
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    expect(await all).toEqual([0, 0]);
    expect(readCount).toBeGreaterThan(0);
    expect(marks.size).toBeGreaterThan(1);
    expect(readdirSync(home)).toEqual(["out"]);
    const mark = JSON.parse(readFileSync(join(out, "training.json"), "utf8")).mark;
    for (const name of ["a.json", "b.txt"])
      expect(readFileSync(join(out, name), "utf8")).toBe(mark.repeat(1000));
  });
});

/** Returns the start of run n. Runs begin 334 ms apart. */
const startOf = (n: number) => new Date(Date.UTC(2026, 10, 20, 2) + n * 334).toISOString();

/** Publishes the result of run n, whose files all contain n. */
function publish(n: number, keepCount?: number, exchangePaths?: () => boolean) {
  const staged = stageDirectory(out);
  for (const name of ["a.json", "b.txt"]) staged.write(name, [Buffer.from(`${n} `.repeat(500))]);
  const record = { n, startedAt: startOf(n), files: ["a.json", "b.txt", "training.json"] };
  staged.write("training.json", [Buffer.from(JSON.stringify(record))]);
  return staged.publish({ keepCount, ...(exchangePaths && { exchangePaths }) });
}

/** Returns the number of a complete result. Throws for anything else. */
function numberOf(path: string): number {
  const { n } = JSON.parse(readFileSync(join(path, "training.json"), "utf8"));
  for (const name of ["a.json", "b.txt"])
    expect(readFileSync(join(path, name), "utf8")).toBe(`${n} `.repeat(500));
  return n;
}

const names = () => readdirSync(home).sort();

test("the last N results stay, named by the start of their run, and older ones are removed", () => {
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

test("runs that began in the same second have distinct names, and the oldest are removed first", () => {
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

test("the last run of a second stays if the first ones are removed", () => {
  for (let n = 0; n < 4; n++) publish(n, 1);
  expect(names()).toEqual(["out", "out.20261120T020000Z-3"]);
  expect(names().map((name) => numberOf(join(home, name)))).toEqual([3, 2]);
});

test("a result whose record has no valid time is named by the record's modification time", () => {
  for (const record of ['{"startedAt": "+010000-01-01T00:00:00Z", "files": ["training.json"]}', "null"]) {
    mkdirSync(out);
    writeFileSync(join(out, "training.json"), record);
    const staged = stageDirectory(out);
    staged.write("training.json", [Buffer.from('{"files": []}')]);
    if (record === "null") expect(() => staged.publish({ keepCount: 1 })).toThrow("is not replaced");
    else expect(basename(staged.publish({ keepCount: 1 }).keptPath!)).toMatch(/^out\.20\d{6}T\d{6}Z$/);
    for (const name of names()) rmSync(join(home, name), { recursive: true });
  }
});

test("where everybody may write, another user's results do not count as ours", () => {
  if (!canPlayOthers()) return;
  const planted = join(home, "out.20990101T000000Z");
  mkdirSync(planted);
  writeFileSync(join(planted, "training.json"), '{"files": []}');
  giveAway(planted);
  chmodSync(home, 0o1777);
  for (let n = 0; n < 3; n++) publish(n * 3, 1);
  expect(names()).toEqual(["out", "out.20261120T020001Z", "out.20990101T000000Z"]);
  chmodSync(home, 0o775);
  publish(9, 1);
  expect(names()).toEqual(["out", "out.20990101T000000Z"]);
});

test("anything but our results stays, whatever its name, and does not count", () => {
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

test("the replaced result is kept even without an atomic exchange", () => {
  for (let n = 0; n < 4; n++) publish(3 * n, 2, () => false);
  expect(names()).toEqual(["out", "out.20261120T020001Z", "out.20261120T020002Z"]);
  expect(names().map((name) => numberOf(join(home, name)))).toEqual([9, 3, 6]);
});

const writer = (body: string) => {
  const source = join(import.meta.dir, "..", "..", "..", "src", "store");
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

test("killed at any instant, no kept result is lost or incomplete, and the next run recovers", async () => {
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
      // Taking the lock restores what the killed run left.
      outputLock.takeNow(placeOf(out)).release();
      const current = numberOf(out);
      publish(current + 1, 3);
      const found = names().map((name) => numberOf(join(home, name)));
      const wanted = [0, 1, 2, 3].map((back) => current + 1 - back).filter((n) => n >= 0);
      expect(found.sort((a, b) => b - a)).toEqual(wanted);
    }
  }
}, 600_000);

test("a reader that opens the directory reads one complete result through it, during 50 publications", async () => {
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
    // The opened result is kept even if it has been replaced meanwhile.
    expect(numberOf(opened)).toBe(n);
    closeSync(fd);
  }
  expect(await run.exited).toBe(0);
  expect(seen.size).toBeGreaterThan(10);
  expect(numberOf(out)).toBe(50);
  expect(names().length).toBe(51);
}, 600_000);
