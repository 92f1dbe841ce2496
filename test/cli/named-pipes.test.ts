import { expect, test } from "bun:test";
import { mkdirSync, openSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { binary, bpe, put, scratch } from "../binary.ts";
import { makePipe } from "../other-user.ts";

const home = scratch();
const temporary = join(home, "temporary");
mkdirSync(temporary);
const env = { TMPDIR: temporary };
const text = put(home, "text.txt", "some words, some more words. ".repeat(2000));
const tokenizer = join(home, "tokenizer");
expect(bpe(["train", text, "-n", "300", "-o", tokenizer, "-q"]).code).toBe(0);
const pipe = (name: string) => makePipe(join(home, name));

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
  // Opening a pipe for both directions does not wait for a reader.
  openSync(counts, "r+");
  writeFileSync(counts, "x".repeat(60_000));
  const limited = `ulimit -f 10; trap '' XFSZ; exec ${binary} count --counts ${counts}`;
  const { exitCode, stderr } = Bun.spawnSync(["bash", "-c", limited], { env });
  expect(stderr.toString()).toStartWith(
    `bpe: error: "${counts}" is a pipe, and cannot be copied to the directory for temporary files: the file would be larger than allowed\nhint: set TMPDIR`,
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
      stderr: `bpe: error: "${npy}" cannot be written: it is not a regular file\nhint: name a regular file; a pipe must have a name that ends in .bin, because a pipe can take only raw ids\n`,
    });
  }
  // A file in the format llmc ends in .bin, too, but it has a header, which is completed last.
  expect(bpe(["encode", text, "--tokenizer", tokenizer, "--ids-format", "llmc", "-o", out])).toMatchObject({
    code: 1,
    stdout: "",
    stderr: expect.stringContaining(`"${out}" cannot be written: it is not a regular file`),
  });
});
