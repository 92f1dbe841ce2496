import { expect, test } from "bun:test";
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import * as outputLock from "../../src/store/output-lock.ts";
import { placeOf } from "../../src/store/output-place.ts";
import { binary, bpe, environment, put } from "../binary.ts";
import { eachInNewHome } from "../homes.ts";

let home: string;
let corpus: string;
let output: string;
eachInNewHome((made) => {
  home = made;
  corpus = put(home, "corpus.txt", "the cat sat on the mat. ".repeat(50));
  output = join(home, "tokenizer");
});
const lockOf = (path: string) => outputLock.takeNow(placeOf(path));

test("--wait waits for the first run's end, says so, and then runs", async () => {
  const lock = lockOf(output);
  const command = ["train", corpus, "-n", "270", "-o", output, "--wait", "--progress", "json"];
  const run = Bun.spawn([binary, ...command], { stderr: "pipe", env: environment });
  let shown = "";
  for await (const chunk of run.stderr) {
    shown += Buffer.from(chunk).toString();
    if (shown.includes('"waiting"')) lock.release();
  }
  expect(await run.exited).toBe(0);
  const events = shown
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(events[0]).toMatchObject({ event: "waiting", output, pid: process.pid });
  expect(events.at(-1)).toMatchObject({ event: "result", success: true, output });
  expect(readdirSync(home).sort()).toEqual(["corpus.txt", "tokenizer"]);
});

test("a run that waits obeys signals", async () => {
  const lock = lockOf(output);
  for (const [signal, code] of [
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const) {
    const run = Bun.spawn([binary, "train", corpus, "-n", "270", "-o", output, "--wait"], {
      stderr: "pipe",
      env: environment,
    });
    for await (const _ of run.stderr) run.kill(signal);
    await run.exited;
    expect(run.exitCode).toBe(code);
  }
  expect(readdirSync(home).sort()).toEqual([".tokenizer.bpe-lock", "corpus.txt"]);
  lock.release();
});

test("--wait without an output, and one output for two things, are refused", () => {
  expect(bpe(["count", corpus, "--wait"])).toMatchObject({
    code: 2,
    stderr:
      "bpe: error: --wait needs an output file that another run may be writing, but this run writes only to stdout, a pipe or a device\nhint: leave out --wait, or write to a file: --output FILE\n",
  });
  const twice = bpe(["count", corpus, "-o", output, "--save-counts", output, "--wait"]);
  expect(twice.stderr).toBe(
    `bpe: error: "${output}" is already an output of this process\nhint: choose another path for one of the outputs\n`,
  );
  expect(twice.code).toBe(1);
  expect(readdirSync(home)).toEqual(["corpus.txt"]);
});

test("runs that begin together, in a directory that they make, succeed with --wait, and otherwise name the process that writes", async () => {
  const command = ["train", corpus, "-n", "262", "-w", "1", "-q", "-o", join(home, "deep", "er", "out")];
  for (const waits of [true, false, true, false]) {
    rmSync(join(home, "deep"), { recursive: true, force: true });
    const runs = Array.from({ length: 6 }, () =>
      Bun.spawn([binary, ...command, ...(waits ? ["--wait"] : [])], { stderr: "pipe", env: {} }),
    );
    const ends = await Promise.all(
      runs.map(async (run) => [await new Response(run.stderr).text(), await run.exited] as const),
    );
    for (const [stderr, code] of ends) {
      if (waits || code === 0) expect([stderr, code]).toEqual(["", 0]);
      else expect(stderr).toContain("is being written by");
    }
    expect(readdirSync(join(home, "deep", "er"))).toEqual(["out"]);
  }
});
