import { expect, test } from "bun:test";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { jsonChunks } from "../../src/terminal/data-output.ts";
import { binary, bpe, environment, put, scratch, untilItCatches } from "../binary.ts";
import { randomNumbers } from "../random.ts";

const home = scratch();

// Inputs for which the commands below, except `plan`, write far more than a pipe can buffer.
const random = randomNumbers(1);
const words = Array.from({ length: 40_000 }, () => random(1e9).toString(36));
const corpus = put(home, "corpus.txt", words.join(" "));
const tokenizer = join(home, "tokenizer");
const ids = join(home, "ids.npy");
const empty = put(home, "empty", "");
expect(bpe(["train", corpus, "-n", "300", "-o", tokenizer, "-q"]).code).toBe(0);
expect(bpe(["encode", corpus, "--tokenizer", tokenizer, "-o", ids, "-q"]).code).toBe(0);
const commands = [
  ["count", corpus, "-w", "1"],
  ["plan", corpus, "--range-size", "65536"],
  ["encode", corpus, "--tokenizer", tokenizer, "-w", "1"],
  ["encode", corpus, "--tokenizer", tokenizer, "-w", "2"],
  ["decode", ids, "--tokenizer", tokenizer],
  ["tokens", ...Array(3_000).fill(empty), "--tokenizer", tokenizer],
];

test("a pipe gets the same bytes as a file", async () => {
  for (const command of commands) {
    const sh = (script: string) =>
      Bun.spawnSync(["sh", "-c", script, "sh", binary, ...command, "-q"], { env: environment });
    expect(sh(`"$@" >${home}/direct`).exitCode).toBe(0);
    const piped = sh(`"$@" | cat`);
    expect(Bun.hash(piped.stdout)).toBe(Bun.hash(await Bun.file(join(home, "direct")).bytes()));
  }
}, 600_000);

test("a run obeys a signal even if its reader does not read", async () => {
  const pipe = join(home, "pipe");
  expect(Bun.spawnSync(["mkfifo", pipe]).exitCode).toBe(0);
  const reader = Bun.spawn(["sh", "-c", `exec sleep 60 <${pipe}`]);
  for (const command of commands.filter(([name]) => name !== "plan")) {
    const run = Bun.spawn(
      ["sh", "-c", `exec "$@" >${pipe}`, "sh", binary, ...command, "--progress", "json"],
      { env: environment, stderr: "pipe" },
    );
    const stderr = new Response(run.stderr).text();
    await untilItCatches(run, "SIGTERM");
    // Usually long enough to fill the pipe.
    await Bun.sleep(700);
    expect(run.exitCode).toBe(null);
    // A run that ignores the signal would wait for the reader, which does not read.
    run.kill("SIGTERM");
    await run.exited;
    expect(run.exitCode).toBe(143);
    expect((await stderr).trim().split("\n").at(-1)).toContain('"terminated"');
  }
  reader.kill();
}, 600_000);

test("a run obeys a signal while a named pipe has no reader, and a late reader gets all the output", async () => {
  const pipe = join(home, "pipe-of-none");
  expect(Bun.spawnSync(["mkfifo", pipe]).exitCode).toBe(0);
  for (const readerComes of [false, true]) {
    const command = ["count", corpus, "-q", "--save-counts", pipe];
    const run = Bun.spawn([binary, ...command], { env: environment, stderr: "pipe" });
    await untilItCatches(run, "SIGTERM");
    await Bun.sleep(300);
    if (readerComes) {
      const read = Bun.spawnSync(["cat", pipe]).stdout;
      const saved = join(home, "saved");
      expect(bpe(["count", corpus, "-q", "-o", saved]).code).toBe(0);
      expect(read.equals(readFileSync(saved))).toBe(true);
      expect(await run.exited).toBe(0);
    } else {
      run.kill("SIGTERM");
      expect(await run.exited).toBe(143);
    }
  }
}, 600_000);

test("a reader that has exited ends the run silently, with success, and without leftovers", () => {
  const log = join(home, "bpe.log");
  for (const command of commands) {
    rmSync(log, { force: true });
    const script = `("$@"; echo "code $?" >&2) | head -c 10 >/dev/null`;
    const run = Bun.spawnSync(["bash", "-c", script, "sh", binary, ...command, "-q", "--log-file", log], {
      env: environment,
    });
    expect(run.stderr.toString()).toBe("code 0\n");
    expect(JSON.parse(readFileSync(log, "utf8").trimEnd().split("\n").at(-1)!).success).toBe(true);
  }
}, 600_000);

test("a full or closed stdout is an error with a message", () => {
  if (!existsSync("/dev/full")) return console.log("skipped: there is no /dev/full");
  const run = Bun.spawnSync(["sh", "-c", `"$@" >/dev/full`, "sh", binary, "count", corpus, "-q"], {
    env: environment,
  });
  expect(run.stderr.toString()).toBe(
    "bpe: error: standard output cannot be written: no space left on the device\n",
  );
  expect(run.exitCode).toBe(1);
});

test("a closed stderr does not disturb the run", () => {
  const out = join(home, "out.tsv");
  const run = Bun.spawnSync(["sh", "-c", `"$@" 2>&-`, "sh", binary, "count", corpus, "-o", out], {
    env: environment,
  });
  expect(run.exitCode).toBe(0);
  expect(existsSync(out)).toBe(true);
});

test("the chunks add up to what JSON.stringify returns, and long lists are cut", () => {
  const listOf = (length: number) => Array.from({ length }, (_, n) => ({ n, text: `"${n}\n` }));
  for (const value of [
    ...[null, 1.5, "\ud800", [], {}, [[]], { a: null, "b\n": { c: [] } }],
    ...[1_999, 2_000, 2_001, 4_000, 5_001].map((length) => ({
      a: listOf(length),
      b: { c: listOf(length), d: 1 },
    })),
  ]) {
    const chunks = [...jsonChunks(value)];
    expect(chunks.join("")).toBe(JSON.stringify(value));
    expect(Math.max(...chunks.map(({ length }) => length))).toBeLessThan(60_000);
  }
});
