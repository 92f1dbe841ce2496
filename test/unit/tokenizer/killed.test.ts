import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { binary, bpe, environment, put, scratch } from "../../binary.ts";
import { randomNumbers } from "../../random.ts";

const home = scratch();

const seed = Number(process.env.TEST_SEED ?? 11);
const random = randomNumbers(seed);

test("killed at any instant, encoding leaves no file, or the older one", async () => {
  const words = Array.from({ length: 20_000 }, () => random(2 ** 30).toString(36));
  const text = Array.from({ length: 500_000 }, () => words[random(words.length)]).join(" ");
  const corpus = put(home, "corpus.txt", text);
  const tokenizer = join(home, "tokenizer");
  expect(bpe(["train", corpus, "-n", "400", "-o", tokenizer, "-q"]).code).toBe(0);
  const outputs = join(home, "outputs");
  mkdirSync(outputs);
  const output = join(outputs, "ids.npy");
  const command = ["encode", corpus, "--tokenizer", tokenizer, "-o", output, "-q"];
  const startMs = performance.now();
  expect(bpe([...command, "-w", "2"]).code).toBe(0);
  let wholeMs = performance.now() - startMs;
  const whole = readFileSync(output);
  let killedCount = 0;
  const instants = [
    [0.2, "2", false],
    [0.5, "1", false],
    [0.6, "2", true],
    [0.75, "2", false],
    [0.85, "1", true],
    [0.95, "2", false],
    [1, "2", true],
  ] as const;
  // If a run ends before it is killed, `wholeMs` was too long, so it is reduced. If fewer than three runs were killed,
  // the instants are tried again, up to five times in all.
  for (let n = 0; n < instants.length || (killedCount < 3 && n < 5 * instants.length); n++) {
    const [share, workers, hadFile] = instants[n % instants.length]!;
    if (hadFile) writeFileSync(output, whole);
    else rmSync(output, { force: true });
    const run = Bun.spawn([binary, ...command, "-w", workers], { env: environment, stderr: "ignore" });
    await Bun.sleep(share * wholeMs);
    run.kill("SIGKILL");
    await run.exited;
    if (run.signalCode === "SIGKILL") killedCount++;
    else wholeMs *= 0.7;
    // The file is missing or complete, never partial.
    if (hadFile || existsSync(output)) expect(readFileSync(output).equals(whole)).toBe(true);
    if (!hadFile && run.signalCode === null) expect(existsSync(output)).toBe(true);
  }
  expect(killedCount).toBeGreaterThan(2);
  // The next run cleans up the leftovers.
  expect(bpe([...command, "-w", "2"]).code).toBe(0);
  expect(readdirSync(outputs)).toEqual(["ids.npy"]);
  expect(readFileSync(output).equals(whole)).toBe(true);
}, 600_000);
