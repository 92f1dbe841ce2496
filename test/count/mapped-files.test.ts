// Files that are cut, written to, replaced or removed while they are mapped. More than a few rounds of the binary:
// CUTS=500 CUTS_SEED=7 node scripts/test.mjs test/count/mapped-files.test.ts
import { afterEach, describe, expect, test } from "bun:test";
import {
  closeSync,
  copyFileSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { findInputs } from "../../src/corpus/find-inputs.ts";
import { checkUnchanged, type Input } from "../../src/corpus/inputs.ts";
import { OpenFile } from "../../src/corpus/open-file.ts";
import { wholeRange } from "../../src/corpus/ranges.ts";
import { TaskCounter } from "../../src/count/task-counter.ts";
import { compilePattern, patterns } from "../../src/pattern/index.ts";
import { WordCounter } from "../../src/words/counter.ts";
import { binary, environment, put, scratch } from "../binary.ts";
import { Random } from "../pattern/naive.ts";

const directory = scratch();
const gpt2 = compilePattern(patterns.gpt2.sources);
const windowBytes = 1 << 16;
const pageBytes = Number(Bun.spawnSync(["getconf", "PAGESIZE"]).stdout.toString());

/** Long words, all distinct: each is copied from the window into the tables. */
function longWords(byteCount: number, seed = 1): Buffer {
  const random = new Random(seed);
  const bytes = Buffer.alloc(byteCount, 0x20);
  for (let pos = 0; pos < byteCount - 64; ) {
    for (const end = pos + 16 + random.below(40); pos < end; pos++) bytes[pos] = 0x61 + random.below(26);
    pos++;
  }
  return bytes;
}

/** Counts the file, mapped, and does something to it after so many windows. */
function countWith(
  path: string,
  { after, change }: { after: number; change: (path: string) => void },
): Input {
  const inputs = findInputs([path]);
  const counter = new WordCounter();
  const tasks = new TaskCounter(
    { inputs, pattern: gpt2, specialTokens: [], windowBytes, mappedBytesLeast: 0 },
    counter,
  );
  try {
    const work = tasks.count({ kind: "range", endsInput: true, ...wholeRange(inputs[0]!, 0) });
    for (let windows = 0; !work.next().done; windows++) if (windows === after) change(path);
    // Whatever came of it: the text is plain memory again.
    return inputs[0]!;
  } finally {
    counter.text(windowBytes).bytes.fill(1);
    tasks.close();
  }
}

describe("a file that is mapped", () => {
  const sizeBytes = 8 * windowBytes + 1000;
  const content = longWords(sizeBytes);
  const path = join(directory, "corpus.txt");
  afterEach(() => rmSync(path, { force: true }));

  const counting = (after: number, change: (path: string) => void) => () => {
    writeFileSync(path, content);
    checkUnchanged(countWith(path, { after, change }));
  };

  test("is counted whole where nothing happens to it", () => {
    expect(counting(2, () => {})).not.toThrow();
  });

  test("is an error where it was cut, wherever that is", () => {
    const pageEnd = Math.ceil(sizeBytes / pageBytes) * pageBytes;
    for (const left of [
      0,
      1,
      pageBytes,
      4 * windowBytes,
      4 * windowBytes - 1,
      pageEnd - pageBytes,
      sizeBytes - 1,
    ]) {
      const message = `shrank (it ended at byte ${left} of ${sizeBytes}) while it was read`;
      for (const after of [0, 3, 7]) expect(counting(after, () => truncateSync(path, left))).toThrow(message);
    }
  });

  test("is an error where it was cut and is whole again", () => {
    const rewrite = () => {
      truncateSync(path, 0);
      writeFileSync(path, longWords(sizeBytes, 2));
    };
    expect(counting(1, rewrite)).toThrow("was changed while it was read");
  });

  test("that shows nothing wrong leaves the kernel's error as it is", () => {
    writeFileSync(path, content);
    const inputs = findInputs([path]);
    const file = new OpenFile(inputs);
    file.of(0).checkMapped(0, sizeBytes);
    expect(() => file.of(0).checkMapped(0, sizeBytes + 1)).toThrow("shrank");
    truncateSync(path, 5);
    expect(() => file.of(0).checkMapped(0, 1)).toThrow(`shrank (it ended at byte 5 of ${sizeBytes})`);
    writeFileSync(path, content);
    expect(() => file.of(0).checkMapped(0, 1)).toThrow("was changed");
    file.close();
  });

  test("is an error where it was replaced, removed or written to", () => {
    const replace = () => {
      copyFileSync(path, `${path}.new`);
      renameSync(`${path}.new`, path);
    };
    const overwrite = () => {
      const fd = openSync(path, "r+");
      writeSync(fd, Buffer.alloc(5 * windowBytes, 0xff), 0, 5 * windowBytes, windowBytes);
      closeSync(fd);
    };
    expect(counting(1, replace)).toThrow("was replaced while it was read");
    expect(counting(1, () => rmSync(path))).toThrow("was removed while it was read");
    expect(counting(1, overwrite)).toThrow("was changed while it was read");
  });
});

const rounds = Number(process.env.CUTS ?? 10);
const seed = Number(process.env.CUTS_SEED ?? 20261122);

test(
  `the binary tells what happened to a file at any moment, in all threads (seed ${seed})`,
  async () => {
    const random = new Random(seed);
    const content = longWords(36 << 20, seed);
    const path = put(directory, "large.txt", content);
    const plainMs = await timeOf(path);
    let metCount = 0;
    for (let round = 0; round < rounds; round++) {
      const kind = ["cut", "cut", "cut", "written", "replaced", "removed"][random.below(6)]!;
      const left = random.below(content.length);
      const process = start(path);
      await Bun.sleep(random.below(0.6 * plainMs));
      const isOver = process.exitCode !== null;
      if (kind === "cut") truncateSync(path, left);
      else if (kind === "removed") rmSync(path);
      else if (kind === "replaced") renameSync(put(directory, "other.txt", content), path);
      else {
        const fd = openSync(path, "r+");
        writeSync(fd, content, left, content.length - left, left >> 1);
        closeSync(fd);
      }
      const code = await process.exited;
      const stderr = await new Response(process.stderr).text();
      const said = { round, kind, left, signal: process.signalCode, code, stderr };
      const wanted = {
        cut: /^bpe: error: ".*" (shrank \(it ended at byte \d+ of \d+\)) while it was read\n/,
        written: /^bpe: error: ".*" (was changed) while it was read\n/,
        replaced: /^bpe: error: ".*" (was replaced) while it was read\n/,
        removed: /^bpe: error: ".*" (was removed) while it was read\n|no such file/,
      }[kind]!;
      const isTold = code === 1 && wanted.test(stderr);
      // What came when all was read is not met.
      if (code !== 0 || !isOver) metCount += code === 1 ? 1 : 0;
      if (!isTold && code !== 0) expect(said).toEqual({ ...said, code: 1, stderr: String(wanted) });
      if (kind === "cut" || kind === "written") writeAgain(path, content);
      else put(directory, "large.txt", content);
      expect(statSync(path).size).toBe(content.length);
    }
    console.log(`${metCount} of ${rounds} met`);
    expect(metCount).toBeGreaterThan(rounds / 4);
  },
  rounds * 5_000,
);

const start = (path: string) =>
  Bun.spawn([binary, "count", path, "-w", "2", "-q"], {
    env: environment,
    stderr: "pipe",
    stdout: "ignore",
  });

async function timeOf(path: string): Promise<number> {
  const startMs = performance.now();
  expect(await start(path).exited).toBe(0);
  return performance.now() - startMs;
}

/** The same file as it was. */
function writeAgain(path: string, content: Buffer): void {
  const fd = openSync(path, "r+");
  writeSync(fd, content, 0, content.length, 0);
  closeSync(fd);
}
