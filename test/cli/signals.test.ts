import { expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { binary, bpe, environment, processorMs, put, scratch, tokenizerFiles } from "../binary.ts";

const home = scratch();

// Random letters: few words occur twice, so that counting and merging both take seconds.
const letters = new Uint8Array(24e6);
crypto.getRandomValues(letters.subarray(0, 65536));
for (let i = 65536; i < letters.length; i++)
  letters[i] = (letters[i - 1]! * 5 + letters[i - 65521]! + i) & 255;
for (let i = 0; i < letters.length; i++) letters[i] = letters[i]! < 40 ? 0x20 : 0x61 + (letters[i]! % 26);
const corpus = put(home, "corpus.txt", letters);
const output = join(home, "tokenizer");
const command = ["train", corpus, "-n", "60000", "-o", output, "--progress", "json"];

/** Sends the signal when the stage is under way, and waits until the run has ended. */
async function interrupt(signal: "SIGINT" | "SIGTERM", stage: string, workers: string) {
  const run = Bun.spawn([binary, ...command, "-w", workers], { stderr: "pipe", env: environment });
  let shown = "";
  let beforeMs = 0;
  for await (const chunk of run.stderr) {
    shown += Buffer.from(chunk).toString();
    if (beforeMs === 0 && shown.includes(`"stage":"${stage}"`)) {
      beforeMs = processorMs(run.pid);
      run.kill(signal);
    }
  }
  await run.exited;
  return {
    code: run.exitCode,
    workedMs: Number(run.resourceUsage()!.cpuTime.total) / 1000 - beforeMs,
    last: JSON.parse(shown.trim().split("\n").at(-1)!),
  };
}

test.skipIf(!existsSync("/proc/self/stat"))(
  "a signal ends the run within a second of work, and leaves the older result alone",
  async () => {
    expect(bpe(["train", corpus, "-n", "260", "-o", output, "-q"]).code).toBe(0);
    const before = tokenizerFiles(output);
    const cases = [
      ["SIGINT", "counting", "1", 130, "interrupted"],
      ["SIGINT", "merging", "2", 130, "interrupted"],
      ["SIGTERM", "merging", "1", 143, "terminated"],
    ] as const;
    for (const [signal, stage, workers, code, error] of cases) {
      const { code: ended, workedMs, last } = await interrupt(signal, stage, workers);
      expect(ended).toBe(code);
      expect(last).toEqual({ event: "result", success: false, error, exitCode: code });
      expect(workedMs).toBeLessThan(1000);
      expect(readdirSync(home).sort()).toEqual(["corpus.txt", "tokenizer"]);
      expect(tokenizerFiles(output)).toEqual(before);
    }
  },
  600_000,
);

test("signals that follow while the run cleans up leave no files either", async () => {
  const before = readdirSync(home).sort();
  for (const signals of [
    ["SIGINT", "SIGINT", "SIGINT"],
    ["SIGTERM", "SIGINT", "SIGHUP", "SIGTERM"],
  ] as const) {
    const into = join(home, "ids.npy");
    const run = Bun.spawn([binary, "encode", corpus, "--tokenizer", output, "-o", into, "-w", "1"], {
      stderr: "ignore",
      env: environment,
    });
    // The output is first written to a file next to it, whose name ends in .new.
    while (!readdirSync(home).some((name) => name.endsWith(".new"))) await Bun.sleep(1);
    for (const signal of signals) run.kill(signal);
    await run.exited;
    expect([129, 130, 143]).toContain(run.exitCode!);
    expect(readdirSync(home).sort()).toEqual(before);
  }
}, 600_000);

test("a run outlives its terminal under nohup, and obeys SIGHUP without", async () => {
  const small = put(home, "small.txt", letters.subarray(0, 4e6));
  for (const [nohup, code] of [
    [["nohup"], 0],
    [[], 129],
  ] as const) {
    const counts = join(home, "counts.tsv");
    const log = join(home, "log");
    const args = ["count", small, "-w", "1", "-o", counts, "--log-file", log];
    const run = Bun.spawn([...nohup, binary, ...args, "--progress", "json"], {
      stderr: "pipe",
      stdin: "ignore",
      env: environment,
    });
    // Sends the signal whenever progress is shown.
    for await (const _ of run.stderr) run.kill("SIGHUP");
    await run.exited;
    expect(run.exitCode).toBe(code);
    expect(JSON.parse(readFileSync(log, "utf8").trim().split("\n").at(-1)!).success).toBe(code === 0);
    expect(existsSync(counts)).toBe(code === 0);
    for (const path of [counts, log]) rmSync(path, { force: true });
  }
}, 600_000);
