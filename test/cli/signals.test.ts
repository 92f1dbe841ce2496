import { afterAll, expect, test } from "bun:test";
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { binary, bpe, put, scratch, tokenizerFiles } from "../binary.ts";

const home = scratch();
afterAll(() => rmSync(home, { recursive: true }));

// Random letters: hardly a word twice, so that counting and merging both take seconds.
const letters = new Uint8Array(24e6);
crypto.getRandomValues(letters.subarray(0, 65536));
for (let i = 65536; i < letters.length; i++)
  letters[i] = (letters[i - 1]! * 5 + letters[i - 65521]! + i) & 255;
for (let i = 0; i < letters.length; i++) letters[i] = letters[i]! < 40 ? 0x20 : 0x61 + (letters[i]! % 26);
const corpus = put(home, "corpus.txt", letters);
const output = join(home, "tokenizer");
const command = ["train", corpus, "-n", "60000", "-o", output, "--progress", "json"];

/** Starts the run, sends the signal when the stage is under way, and waits for the end. */
async function interrupt(signal: "SIGINT" | "SIGTERM", stage: string, workers: string) {
  const run = Bun.spawn([binary, ...command, "-w", workers], { stderr: "pipe", env: {} });
  let shown = "";
  let sentMs = 0;
  for await (const chunk of run.stderr) {
    shown += Buffer.from(chunk).toString();
    if (sentMs === 0 && shown.includes(`"stage":"${stage}"`)) {
      sentMs = performance.now();
      run.kill(signal);
    }
  }
  await run.exited;
  return {
    code: run.exitCode,
    waitedMs: performance.now() - sentMs,
    last: JSON.parse(shown.trim().split("\n").at(-1)!),
  };
}

test("a signal ends the run within a second, and leaves the older result alone", async () => {
  expect(bpe(["train", corpus, "-n", "260", "-o", output, "-q"]).code).toBe(0);
  const before = tokenizerFiles(output);
  const cases = [
    ["SIGINT", "counting", "1", 130, "interrupted"],
    ["SIGINT", "merging", "2", 130, "interrupted"],
    ["SIGTERM", "merging", "1", 143, "terminated"],
  ] as const;
  for (const [signal, stage, workers, code, error] of cases) {
    const { code: ended, waitedMs, last } = await interrupt(signal, stage, workers);
    expect(ended).toBe(code);
    expect(last).toEqual({ event: "result", success: false, error, exitCode: code });
    expect(waitedMs).toBeLessThan(1000);
    expect(readdirSync(home).sort()).toEqual(["corpus.txt", "tokenizer"]);
    expect(tokenizerFiles(output)).toEqual(before);
  }
}, 60_000);
