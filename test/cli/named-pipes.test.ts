import { expect, test } from "bun:test";
import { mkdirSync, openSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { binary, bpe, put, scratch, untilItCatches } from "../binary.ts";
import { makePipe } from "../other-user.ts";

const home = scratch();
const temporary = join(home, "temporary");
mkdirSync(temporary);
const env = { TMPDIR: temporary };
const text = put(home, "text.txt", "some words, some more words. ".repeat(2000));
const tokenizer = join(home, "tokenizer");
const trained = bpe(["train", text, "-n", "300", "-o", tokenizer, "-q"]);
const pipe = (name: string) => makePipe(join(home, name));

test("a signal ends a run that waits for the other end of a pipe", async () => {
  expect(trained.code).toBe(0);
  const commands = [
    ["count", "--counts", pipe("in.tsv")],
    ["train", "--counts", pipe("in.counts"), "-n", "300", "-o", join(home, "never")],
    ["count", pipe("in.txt"), "-w", "1"],
    ["decode", pipe("ids"), "--tokenizer", tokenizer],
    ["count", text, "-o", pipe("out.counts")],
    ["count", text, "-o", pipe("out.tsv")],
    ["train", text, "-n", "300", "-o", join(home, "never"), "--save-counts", pipe("saved.counts")],
    ["encode", text, "--tokenizer", tokenizer, "-o", pipe("out.bin")],
    ["decode", put(home, "ids.txt", "1 2 3"), "--tokenizer", tokenizer, "-o", pipe("out.txt")],
  ];
  for (const command of commands) {
    const run = Bun.spawn([binary, ...command, "-q"], { stdout: "ignore", stderr: "pipe", env });
    await untilItCatches(run, "SIGTERM");
    // Usually long enough for the run to wait on the pipe. If it does not wait yet, it must handle the signal as
    // well.
    await Bun.sleep(50);
    expect([command, run.exitCode]).toEqual([command, null]);
    run.kill("SIGTERM");
    await run.exited;
    expect([command, run.exitCode]).toEqual([command, 143]);
    expect(await new Response(run.stderr).text()).toBe("bpe: terminated\n");
    expect(readdirSync(temporary)).toEqual([]);
  }
});

test("an option that reads a small file refuses a pipe instead of waiting for it", () => {
  const small = pipe("small");
  const train = ["train", text, "-n", "300", "-w", "1", "-o", join(home, "never")];
  for (const command of [
    ...["special-tokens", "seed-tokens", "like", "extend"].map((option) => [...train, `--${option}`, small]),
    ["count", "--ranges", small],
    ["encode", "--tokenizer", tokenizer, "--ranges", small],
    ...["encode", "decode", "tokens"].map((name) => [name, text, "--tokenizer", small]),
    ["encode", text, "--tokenizer", tokenizer, "--special-tokens", small],
    ["inspect", small],
    ["diff", small, tokenizer],
    ["eval", small, "--text", text],
    ["eval", tokenizer, "--text", text, "--terms", small],
    ["prune", small, "-n", "290", "--text", text, "-o", join(home, "never")],
  ]) {
    const { code, stdout, stderr } = bpe(command);
    expect([command, code, stdout]).toEqual([command, 1, ""]);
    expect([command, stderr]).toEqual([
      command,
      expect.stringContaining(`"${small}" is not a regular file\n`),
    ]);
  }
});

test("word counts from a pipe, however slow, are those of a file", async () => {
  for (const ending of ["tsv", "counts"]) {
    const file = join(home, `file.${ending}`);
    expect(bpe(["count", text, "-o", file, "-q"]).code).toBe(0);
    const through = pipe(`through.${ending}`);
    const sum = join(home, `sum-${ending}.tsv`);
    const run = Bun.spawn([binary, "count", "--counts", through, "-o", sum, "-q"], { stderr: "pipe", env });
    const writer = Bun.spawn(["sh", "-c", 'exec cat > "$0"', through], { stdin: "pipe" });
    const bytes = readFileSync(file);
    for (const [start, end] of [
      [0, 1],
      [1, 20],
      [20, bytes.length],
    ]) {
      writer.stdin.write(bytes.subarray(start, end));
      await writer.stdin.flush();
      await Bun.sleep(20);
    }
    await writer.stdin.end();
    await run.exited;
    expect([await new Response(run.stderr).text(), run.exitCode]).toEqual(["", 0]);
    expect(readFileSync(sum, "utf8")).toBe(readFileSync(join(home, "file.tsv"), "utf8"));
    expect(readdirSync(temporary)).toEqual([]);
  }
});

test("a pipe of word counts may be named once only, and is copied if there is room", () => {
  const counts = pipe("twice.tsv");
  const twice = bpe(["count", "--counts", counts, "--counts", counts]);
  expect(twice).toMatchObject({ code: 1, stderr: expect.stringContaining("is named twice, but a pipe") });
  // Opening a pipe for both directions does not wait for a reader; the pipe ends with this process.
  openSync(counts, "r+");
  writeFileSync(counts, "x".repeat(60_000));
  const limited = `ulimit -f 10; trap '' XFSZ; exec ${binary} count --counts ${counts}`;
  const { exitCode, stderr } = Bun.spawnSync(["bash", "-c", limited], { env });
  expect(stderr.toString()).toStartWith(
    `bpe: error: "${counts}" is a pipe, and cannot be copied to $TMPDIR: the file would be larger than allowed\nhint: set TMPDIR`,
  );
  expect(exitCode).toBe(1);
  expect(readdirSync(temporary)).toEqual([]);
});

test("ids go into a pipe without a header; .npy, whose header is written last, is refused before any work", async () => {
  const file = join(home, "file.bin");
  expect(bpe(["encode", text, "--tokenizer", tokenizer, "-o", file, "-q"]).code).toBe(0);
  const out = pipe("ids.bin");
  const run = Bun.spawn([binary, "encode", text, "--tokenizer", tokenizer, "-o", out, "-q"], { env });
  expect(Buffer.from(await Bun.file(out).bytes()).equals(readFileSync(file))).toBe(true);
  await run.exited;
  expect(run.exitCode).toBe(0);
  const npy = pipe("ids.npy");
  for (const command of [["encode"], ["ids", "encode"], ["ids", "decode"]]) {
    expect(bpe([...command, text, "--tokenizer", "none", "-o", npy])).toEqual({
      code: 1,
      stdout: "",
      stderr: `bpe: error: "${npy}" cannot be written: it is not a regular file\nhint: name a file; only .bin, which has no header, can be written to a pipe\n`,
    });
  }
});
