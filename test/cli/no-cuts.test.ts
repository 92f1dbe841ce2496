import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Tokenizer } from "tokenizers";
import { binary, bpe, environment, mergesOf, put, scratch, tokenizerFiles } from "../binary.ts";

const home = scratch();
const train = (name: string, ...args: string[]) => {
  const output = join(home, name);
  const { code, stderr } = bpe(["train", ...args, "-n", "280", "-o", output]);
  expect([code, code === 0 ? "" : stderr]).toEqual([0, ""]);
  return output;
};

test("-p none: a document is one word, and tokens cross spaces and line ends", () => {
  const corpus = put(home, "corpus.txt", "a b\na b\na b<|end|>a b\na b\n".repeat(5));
  const first = train("w1", corpus, "-p", "none", "-s", "<|end|>", "-w", "1");
  for (const workers of ["2", "7"]) {
    const other = train(`w${workers}`, corpus, "-p", "none", "-s", "<|end|>", "-w", workers);
    expect(tokenizerFiles(other)).toEqual(tokenizerFiles(first));
  }
  expect(mergesOf(first).some((merge) => merge.includes("ĊaĠb"))).toBeTrue();
  expect(JSON.parse(readFileSync(join(first, "training.json"), "utf8")).options.pattern.name).toBe("none");
});

test("-p none: HF and each of our files give the same ids", () => {
  const directory = train(
    "hf",
    put(home, "hf.txt", "ab ab\nab, ab  é日本\n".repeat(9)),
    "-p",
    "none",
    "-w",
    "1",
  );
  const text = "ab ab\nab 日本 é x\tab\n\n";
  const ids = Tokenizer.fromFile(join(directory, "tokenizer.json"))
    .encode(text)
    .then((found) => found.getIds());
  const path = put(home, "text.txt", text);
  for (const name of ["", "tokenizer.json", "vocab.json", "tokenizer.tiktoken"]) {
    const { stdout } = bpe(["encode", path, "--tokenizer", join(directory, name)]);
    expect(ids).resolves.toEqual(stdout.trim().split(" ").map(Number));
  }
});

test("sequences of FASTA are trained on, counted and encoded without their headers", () => {
  const fasta = put(home, "genes.fa", ">one\nACGTACGT\nACGT\n>two\r\nACGTAC\r\n>none\n>three\nACGTAC\n");
  const plain = put(home, "genes.txt", "ACGTACGTACGT<|end|>ACGTAC<|end|>ACGTAC");
  const directory = train("fasta", fasta, "--input-format", "fasta", "-p", "none", "-w", "2");
  const same = train("plain", plain, "-s", "<|end|>", "-p", "none", "-w", "1");
  expect(mergesOf(directory)).toEqual(mergesOf(same));
  const { inputs } = JSON.parse(readFileSync(join(directory, "training.json"), "utf8"));
  expect(inputs).toEqual([
    {
      path: fasta,
      sizeBytes: 53,
      textBytes: 24,
      documents: 3,
      invalidBytes: 0,
      crc32: "88204327",
      format: "fasta",
      formatFrom: "option",
    },
  ]);
  const { stdout } = bpe(["count", fasta, "--input-format", "fasta", "-p", "none"]);
  expect(stdout.split("\n").slice(1, -1)).toEqual(["ACGTAC\t2", "ACGTACGTACGT\t1"]);
  const decoded = bpe(["encode", fasta, "--input-format", "fasta", "--tokenizer", directory]);
  const ids = put(home, "ids.txt", decoded.stdout);
  expect(bpe(["decode", ids, "--tokenizer", directory]).stdout).toBe("ACGTACGTACGTACGTACACGTAC");
});

test("FASTA is encoded, measured and planned like in the training of the tokenizer", () => {
  const fasta = put(home, "known.fa", ">one\nACGTACGT\nACGT\n>two\r\nACGTAC\n>three\nACGTAC\n");
  const directory = train("known", fasta, "--input-format", "fasta", "-p", "none", "-w", "1");
  const encode = (path: string, ...options: string[]) =>
    bpe(["encode", path, "--tokenizer", directory, ...options]);
  const asked = encode(fasta, "--input-format", "fasta").stdout;
  expect(encode(fasta)).toMatchObject({
    code: 0,
    stdout: asked,
    stderr: expect.stringContaining('read as FASTA by content: "'),
  });
  for (const name of ["tokenizer.json", "vocab.json", "tokenizer.tiktoken"]) {
    const { stdout } = bpe(["encode", fasta, "--tokenizer", join(directory, name), "-q"]);
    expect(stdout).toBe(asked);
  }
  const piped = Bun.spawnSync([binary, "encode", "--tokenizer", directory, "-q"], {
    stdin: readFileSync(fasta),
    env: environment,
  });
  expect(piped.stdout.toString()).toBe(asked);
  // A sequence without a header is read as plain text, and so is a FASTA file with `--input-format text`.
  const bare = put(home, "bare.txt", "ACGTACGT");
  expect(encode(bare, "-q").stdout).toBe(encode(bare, "-q", "--input-format", "text").stdout);
  expect(encode(fasta, "-q", "--input-format", "text").stdout).not.toBe(asked);
  const measured = JSON.parse(bpe(["eval", directory, "--text", fasta, "--json", "-q"]).stdout);
  expect(measured.texts[0].bytes).toBe("ACGTACGTACGTACGTACACGTAC".length);
  expect(bpe(["plan", fasta, "--tokenizer", directory, "-q"]).stdout).toContain('"inputFormat":"fasta"');
  expect(bpe(["inspect", directory, "--text", fasta]).stderr).not.toContain("error");
});

test("the record field of the training is used if no other is requested", () => {
  const records = [1, 2, 3].map((id) => JSON.stringify({ id, body: `text ${id}` })).join("\n");
  const [lines, unnamed] = ["x.jsonl", "unnamed"].map((name) => put(home, name, records));
  const directory = train("fields", lines!, "--text-field", "body", "-w", "1");
  const encode = (path: string, ...options: string[]) =>
    bpe(["encode", path, "--tokenizer", directory, "-q", ...options]).stdout;
  expect(encode(unnamed!)).toBe(encode(lines!, "--text-field", "body"));
  expect(encode(unnamed!, "--input-format", "text")).not.toBe(encode(unnamed!));
});

test("FASTA is read from a pipe, and anything else is an error", () => {
  const piped = Bun.spawnSync([binary, "count", "-", "--input-format", "fasta", "-p", "none"], {
    stdin: Buffer.from(">a\nAC\nGT\n>b\nACGT"),
    env: {},
  });
  expect(piped.stdout.toString()).toEndWith("\nACGT\t2\n");
  const text = put(home, "text.fa", "It was the best of times");
  const { code, stderr } = bpe(["count", text, "--input-format", "fasta"]);
  expect([code, stderr]).toEqual([
    1,
    `bpe: error: line 1 of "${text}": the sequence has no header; a FASTA record begins with a line >NAME\nhint: write a header line before the sequence; if the file is plain text, use --input-format text\n`,
  ]);
});
