import { expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { binary, bpe, environment, put } from "../binary.ts";
import { eachInNewHome } from "../homes.ts";

let home: string;
let corpus: string;
let output: string;
let log: string;
eachInNewHome((made) => {
  home = made;
  corpus = put(home, "corpus.txt", "the cat sat on the mat. ".repeat(50));
  output = join(home, "tokenizer");
  log = join(home, "bpe.log");
});

const linesOf = (path: string) => readFileSync(path, "utf8").trimEnd().split("\n");
/** Matches a line that begins with a time, as all lines do except records. */
const stamped = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z ./;

test("the log has progress and warnings with times, and the record as its last line, whatever stderr shows", () => {
  const broken = put(home, "broken.txt", Buffer.from([0x61, 0xff, 0x62]));
  const shows = [["-q"], ["--progress", "json"], ["--progress", "none"], []];
  for (const show of shows) {
    const { code } = bpe(["train", corpus, broken, "-n", "270", "-o", output, "--log-file", log, ...show]);
    expect(code).toBe(0);
  }
  const lines = linesOf(log);
  const results = lines.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line));
  expect(results.length).toBe(shows.length);
  expect(JSON.parse(lines.at(-1)!)).toMatchObject({ event: "result", success: true, output, mergeCount: 12 });
  expect(results[0].command).toBe(`bpe train ${corpus} ${broken} -n 270 -o ${output} --log-file ${log} -q`);
  expect(Date.parse(results[0].startedAt)).toBeLessThanOrEqual(Date.parse(results[0].endedAt));
  const others = lines.filter((line) => !line.startsWith("{"));
  expect(others.filter((line) => !stamped.test(line))).toEqual([]);
  for (const part of ["counting", "merging", "warning: ", "written"])
    expect(others.filter((line) => line.includes(part)).length).toBeGreaterThanOrEqual(shows.length);
});

test("the last line describes a failure: an error of the system or the command line, or a signal", async () => {
  const lastOf = (path: string) => JSON.parse(linesOf(path).at(-1)!);
  const missing = join(home, "missing.txt");
  const cases = [
    [["train", missing, "-n", "270", "-o", output], 1, "missing.txt"],
    [["train", corpus, "-n", "12", "-o", output], 2, "--vocab-size is 12, but must be at least 256"],
    [["train", corpus, "--vocab-sise", "300", "-o", output], 2, "unknown option --vocab-sise"],
    [["count", missing], 1, "missing.txt"],
    [["plan", missing], 1, "missing.txt"],
    [["encode", corpus, "--tokenizer", missing], 1, "missing.txt"],
    [["decode", missing, "--tokenizer", output], 1, "tokenizer"],
  ] as const;
  for (const [command, code, error] of cases) {
    const run = bpe([...command, "--log-file", log, "-q"]);
    expect(run.code).toBe(code);
    const record = lastOf(log);
    expect(record).toMatchObject({ event: "result", success: false, exitCode: code });
    expect(record.error).toContain(error);
    expect(run.stderr).toContain(record.error);
  }
  const counts = join(home, "c.tsv");
  const run = Bun.spawn([binary, "count", "-", "-w", "1", "--log-file", log, "-o", counts], {
    env: environment,
    stdin: "pipe",
    stderr: "ignore",
  });
  // More than a pipe can buffer: when `flush` returns, the run has read some of it.
  run.stdin.write("some words in a stream without an end ".repeat(1e5));
  await run.stdin.flush();
  await Bun.sleep(1100);
  run.kill("SIGTERM");
  expect(await run.exited).toBe(143);
  expect(lastOf(log)).toMatchObject({ success: false, error: "terminated", exitCode: 143 });
  expect(linesOf(log).at(-3)).toMatch(/Z counting stopped after \d\.\d\d s: \d\.\d MB, \d\.\d MB\/s$/);
});

test("a log that cannot be written is an error before any work", () => {
  const run = bpe(["train", corpus, "-n", "270", "-o", output, "--log-file", join(home, "no", "bpe.log")]);
  expect([run.code, run.stderr]).toEqual([1, expect.stringContaining("no such directory")]);
  expect(run.stderr).not.toContain("warning");
  expect(existsSync(output)).toBe(false);
});

test("a full disk of the log is reported once, and the work continues", () => {
  if (!existsSync("/dev/full")) return console.log("skipped: there is no /dev/full");
  const run = bpe(["train", corpus, "-n", "270", "-o", output, "--log-file", "/dev/full"]);
  expect(run.code).toBe(0);
  expect(
    run.stderr.match(
      /warning: --log-file "\/dev\/full" cannot be written: no space left on the device; the log is incomplete/g,
    )?.length,
  ).toBe(1);
  expect(existsSync(join(output, "tokenizer.json"))).toBe(true);
});

test("--progress json: each line is an object, the last one the result, also for mistakes on the command line", () => {
  const tokenizer = join(home, "ready");
  const ids = join(home, "ids.npy");
  const done = [
    ["train", corpus, "-n", "270", "-o", tokenizer],
    ["count", corpus, "-o", join(home, "counts.tsv")],
    ["plan", corpus, "-o", join(home, "plan.jsonl")],
    ["encode", corpus, "--tokenizer", tokenizer, "-o", ids],
    ["decode", ids, "--tokenizer", tokenizer, "-o", join(home, "text")],
  ];
  writeFileSync(join(home, "file"), "");
  const failed: [string[], number][] = [
    [["train", join(home, "missing"), "-n", "270", "-o", output], 1],
    [["train", corpus, "-n", "270", "-o", join(home, "file", "x")], 1],
    [["train", corpus, "-n", "270", "-o", output, "--log-file", home], 1],
    [["train", corpus, "-o", output], 2],
    [["train", corpus, "-n", "270"], 2],
    [["train", corpus, "-n", "270", "-n", "280"], 2],
    [["train", "--nonsense"], 2],
    [["trian"], 2],
    [["count", corpus, "--wait"], 2],
    [["encode", corpus], 2],
    [["decode"], 2],
  ];
  const runs = [...done.map((args) => [args, 0] as const), ...failed];
  for (const [args, code] of runs) {
    for (const asked of [["--progress", "json"], ["--progress=json"]]) {
      const run = bpe([...args, ...asked]);
      expect([args, run.code]).toEqual([args, code]);
      const events = run.stderr
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line));
      const results = events.filter(({ event }) => event === "result");
      expect(results.length).toBe(1);
      expect(events.at(-1)).toBe(results[0]);
      expect(results[0].success).toBe(code === 0);
      if (code !== 0) expect(results[0]).toMatchObject({ error: expect.any(String), exitCode: code });
    }
  }
});
