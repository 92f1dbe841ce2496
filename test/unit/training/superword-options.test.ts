import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { usualSuperwordPattern } from "../../../src/pattern/named-patterns.ts";
import { binary, bpe, mergesOf, put, scratch } from "../../binary.ts";

const text = "the cat of the house sat on the mat of the house\n".repeat(50);

test("bpe train --superwords-from writes, records and reports a tokenizer with superwords", () => {
  const home = scratch();
  const corpus = put(home, "text.txt", text);
  const into = join(home, "out");
  const { code, stderr } = bpe([
    "train",
    corpus,
    "-n",
    "278",
    "--superwords-from",
    "266",
    "-o",
    into,
    "--model-card",
    "--summary",
    "full",
  ]);
  expect({ code, stderr }).toMatchObject({ code: 0 });
  expect(stderr).toMatch(/^superwords +after 10 merges/m);
  expect(mergesOf(into).some((merge) => /[a-z]Ġ/.test(merge.replace(" ", "")))).toBe(true);
  const { options, files } = JSON.parse(readFileSync(join(into, "training.json"), "utf8"));
  expect(options.pattern).toMatchObject({ name: null, regex: usualSuperwordPattern });
  expect(options.superwords).toMatchObject({ fromVocabSize: 266, wordPattern: { name: "gpt2" } });
  expect(files).not.toContain("tokenizer.tiktoken");
  expect(readFileSync(join(into, "README.md"), "utf8")).toContain("{2,}");
  const encoded = bpe(["encode", corpus, "--tokenizer", into]);
  expect(encoded.code).toBe(0);
  const ids = put(home, "ids.txt", encoded.stdout);
  expect(bpe(["decode", ids, "--tokenizer", into]).stdout).toBe(text);
});

test("wrong options are refused, and the error names them", () => {
  const home = scratch();
  const corpus = put(home, "text.txt", text);
  const refused = (...args: string[]) => {
    const { code, stderr } = bpe(["train", corpus, "-n", "310", "-o", join(home, "out"), ...args]);
    return `${code} ${stderr}`;
  };
  expect(refused("--superwords-from", "311")).toContain("2 bpe: error: --superwords-from 311 is more than");
  expect(refused("--superwords-from", "9")).toContain(
    "2 bpe: error: --superwords-from is 9, but must be at least",
  );
  expect(refused("--superwords-from", "300", "--format", "tiktoken")).toContain("may leave text unmatched");
});

test("an input that can be read only once is refused before it is read", () => {
  const home = scratch();
  const args = ["train", "-", "-n", "310", "--superwords-from", "300", "-o", join(home, "out"), "-q"];
  const { exitCode, stderr } = Bun.spawnSync([binary, ...args], { stdin: Buffer.from(text) });
  expect(exitCode).toBe(1);
  expect(stderr.toString()).toContain("standard input can be read only once");
});

test("an interrupt ends the second stage and leaves no files", async () => {
  const home = scratch();
  const lines = Array.from(
    { length: 200_000 },
    (_, i) => `${Math.sin(i)} and a line of words ${i % 977} more`,
  );
  const corpus = put(home, "text.txt", lines.join("\n"));
  const out = join(home, "out");
  const run = Bun.spawn(
    [binary, "train", corpus, "-n", "9000", "--superwords-from", "2000", "-o", out, "--progress", "json"],
    { stderr: "pipe" },
  );
  let seen = "";
  let isStopped = false;
  for await (const chunk of run.stderr) {
    seen += Buffer.from(chunk).toString();
    if (isStopped || !seen.includes('"stage":"lifting"')) continue;
    isStopped = true;
    run.kill("SIGINT");
  }
  expect(await run.exited).toBe(130);
  expect(isStopped).toBe(true);
  expect([...new Bun.Glob("**/*").scanSync({ cwd: home, dot: true })]).toEqual(["text.txt"]);
});
