// Files that change while they are mapped. For more runs of the binary: CUTS=500 CUTS_SEED=7 node scripts/test.mjs
// test/unit/words/mapped-files.test.ts

import { afterEach, describe, expect, test } from "bun:test";
import {
  closeSync,
  copyFileSync,
  openSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { findInputs } from "../../../src/corpus/find-inputs.ts";
import { checkUnchanged, type Input, wholeRange } from "../../../src/corpus/input.ts";
import { OpenFile, RangeReader } from "../../../src/corpus/range-reader.ts";
import type { CompiledPattern } from "../../../src/pattern/compiled-pattern.ts";
import { patterns } from "../../../src/pattern/named-patterns.ts";
import * as compiledPatterns from "../../../src/pattern/pattern.ts";
import { UserError } from "../../../src/runtime/errors.ts";
import { runToEnd } from "../../../src/runtime/slices.ts";
import { WordCounter } from "../../../src/words/word-counter.ts";
import { binary, environment, put, scratch } from "../../binary.ts";
import { randomNumbers } from "../../random.ts";
import { rounds } from "../../rounds.ts";
import { countingTexts } from "../text/counting-texts.ts";

const directory = scratch();
const gpt2 = compiledPatterns.compile(patterns.gpt2.sources);
const windowBytes = 1 << 16;
const pageBytes = Number(Bun.spawnSync(["getconf", "PAGESIZE"]).stdout.toString());

/** Returns long distinct words, each of which is copied from the window into the tables. */
function longWords(byteCount: number, seed = 1): Buffer {
  const random = randomNumbers(seed);
  const bytes = Buffer.alloc(byteCount, 0x20);
  for (let pos = 0; pos < byteCount - 64; ) {
    for (const end = pos + 16 + random(40); pos < end; pos++) bytes[pos] = 0x61 + random(26);
    pos++;
  }
  return bytes;
}

type Settings = {
  after: number;
  change: () => void;
  pattern?: CompiledPattern;
  counter?: WordCounter;
};

/** Counts a mapped file, and changes it after window number `after`, counted from 0. */
function countWith(
  path: string,
  { after, change, pattern = gpt2, counter = new WordCounter() }: Settings,
): Input {
  const inputs = findInputs([path]);
  const { bytes } = counter.text(windowBytes);
  const tasks = countingTexts({ inputs, pattern, windowBytes, mappedBytesLeast: 0 }, counter);
  try {
    const work = tasks.take({ kind: "range", endsInput: true, ...wholeRange(inputs[0]!, 0) });
    for (let windows = 0; !work.next().done; windows++) if (windows === after) change();
    return inputs[0]!;
  } finally {
    // After any outcome, the text must be plain memory again.
    bytes.fill(1);
    tasks.close();
  }
}

describe("a mapped file", () => {
  const sizeBytes = 8 * windowBytes + 1000;
  const content = longWords(sizeBytes);
  const path = join(directory, "corpus.txt");
  afterEach(() => rmSync(path, { force: true }));

  const counting = (after: number, change: () => void) => () => {
    writeFileSync(path, content);
    checkUnchanged(countWith(path, { after, change }));
  };

  test("is counted completely if nothing happens to it", () => {
    expect(counting(2, () => {})).not.toThrow();
  });

  test("is an error if it was truncated, wherever that is", () => {
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

  test("is an error if it was truncated and restored", () => {
    const rewrite = () => {
      truncateSync(path, 0);
      writeFileSync(path, longWords(sizeBytes, 2));
    };
    expect(counting(1, rewrite)).toThrow("was changed while it was read");
  });

  test("without a known cause leaves the kernel's error unchanged", () => {
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

  test("leaves errors of another kind unchanged", () => {
    writeFileSync(path, content);
    const inputs = findInputs([path]);
    const counter = new WordCounter();
    const file = new OpenFile(inputs);
    const mapping = { window: counter.window, fileBytesLeast: 0 };
    const reader = new RangeReader(windowBytes, (bytes) => counter.text(bytes), undefined, mapping);
    reader.open(file.of(0), 0, sizeBytes);
    reader.advance(0);
    const trap = new WebAssembly.RuntimeError("unreachable");
    expect(reader.explain(trap)).toBe(trap);
    truncateSync(path, 1);
    expect(reader.explain(trap)).toMatchObject({ message: expect.stringContaining("shrank") });
    const other = new UserError("something else");
    expect(reader.explain(other)).toBe(other);
    reader.close();
    expect(reader.explain(trap)).toBe(trap);
    file.close();
  });

  test("leaves the kernel's memory when that is used for something else", () => {
    writeFileSync(path, content);
    const file = new OpenFile(findInputs([path]));
    const counter = new WordCounter();
    const map = () => {
      expect(file.of(0).canMap(counter.window)).toBe(true);
      expect(counter.window.map(file.of(0).fd, 0, windowBytes)).toBe(true);
    };
    map();
    counter.text(windowBytes).bytes.fill(1);
    map();
    const other = new WordCounter();
    runToEnd(other.absorb(counter.pack()));
    other.text(windowBytes).bytes.fill(1);
    file.close();
  });

  test("is an error if it was replaced, removed or written", () => {
    const replace = () => {
      copyFileSync(path, `${path}.new`);
      renameSync(`${path}.new`, path);
    };
    const overwrite = () => write(path, Buffer.alloc(5 * windowBytes, 0xff), windowBytes);
    expect(counting(1, replace)).toThrow("was replaced while it was read");
    expect(counting(1, () => rmSync(path))).toThrow("was removed while it was read");
    expect(counting(1, overwrite)).toThrow("was changed while it was read");
  });
});

const wantedCount = Number(process.env.CUTS ?? rounds(2));
const seed = Number(process.env.CUTS_SEED ?? 20261122);

test(
  `the binary reports what happened to a file at any moment, in all threads (seed ${seed})`,
  async () => {
    const random = randomNumbers(seed);
    // Files from 32 MB on are mapped.
    const content = Buffer.alloc(33 << 20, longWords(4 << 20, seed));
    const path = put(directory, "large.txt", content);
    const startMs = performance.now();
    const whole = await finished(start(path));
    expect(whole.counted).toMatch(/^counted [\d,]+ pretokens/);
    const wholeMs = performance.now() - startMs;
    let metCount = 0;
    for (let round = 0; metCount < wantedCount; round++) {
      expect(round).toBeLessThan(50 + 10 * wantedCount);
      const kind = (["cut", "cut", "cut", "written", "replaced", "removed"] as const)[random(6)]!;
      const place = random(content.length);
      const run = start(path);
      await Bun.sleep(random(0.6 * wholeMs));
      if (kind === "cut") truncateSync(path, place);
      else if (kind === "removed") rmSync(path);
      else if (kind === "replaced") renameSync(put(directory, "other.txt", content), path);
      else write(path, content.subarray(0, content.length - place), place);
      const told = await finished(run);
      if (told.code === 0) {
        // The change came after all was read, or before the run began.
        const isWhole = told.counted === whole.counted;
        const expected = isWhole ? whole : await finished(start(path));
        expect({ round, kind, place, ...told }).toMatchObject(expected);
      } else {
        const wanted = {
          round,
          kind,
          place,
          code: 1,
          signal: null,
          stderr: expect.stringMatching(messages[kind]),
        };
        expect({ round, kind, place, ...told }).toMatchObject(wanted);
        metCount++;
      }
      if (kind === "removed") put(directory, "large.txt", content);
      else write(path, content, 0);
    }
  },
  600_000 + wantedCount * 20_000,
);

const messages = {
  // A check that comes while a file is being truncated may find only a new modification time. So the message may say
  // only that the file was changed.
  cut: /^bpe: error: ".*" (shrank \(it ended at byte \d+ of \d+\)|was changed) while it was read\n/,
  written: /^bpe: error: ".*" was changed while it was read\n/,
  replaced: /^bpe: error: ".*" was replaced while it was read\n/,
  removed: /^bpe: error: ".*(" was removed while it was read|": no such file)\n/,
};

const start = (path: string) =>
  Bun.spawn([binary, "count", path, "-w", "2", "-o", join(directory, "counts")], {
    env: environment,
    stderr: "pipe",
    stdout: "ignore",
  });

/** Returns a run's exit code, signal, reported pretokens and, if it failed, stderr without progress. */
async function finished(run: ReturnType<typeof start>) {
  const stderr = await new Response(run.stderr).text();
  const code = await run.exited;
  const counted = /counted .* pretokens/.exec(stderr)?.[0] ?? "";
  return {
    code,
    signal: run.signalCode,
    counted,
    ...(code !== 0 && { stderr: stderr.replace(/^bpe: counting.*\n/gm, "") }),
  };
}

function write(path: string, bytes: Uint8Array, offset: number): void {
  const fd = openSync(path, "r+");
  writeSync(fd, bytes, 0, bytes.length, offset);
  closeSync(fd);
}
