import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { bpe, put, scratch } from "../binary.ts";
import { madeText } from "../unit/tokenizer/made-merges.ts";

const home = scratch();
const end = "<|endoftext|>";
put(home, "corpus.txt", `${madeText(1, 3000)}${end}${madeText(2, 500)}${end}${madeText(3, 20)}`);
put(
  home,
  "lines.jsonl",
  [madeText(4, 30), "", "lowest low"].map((text) => `${JSON.stringify({ text })}\n`).join(""),
);

const run = (...args: string[]) => bpe(args, { cwd: home });
function done(...args: string[]): string {
  const { code, stderr, stdout } = run(...args, "-q");
  expect([args, stderr, code]).toEqual([args, "", 0]);
  return stdout;
}
const train = (name: string, ...more: string[]) =>
  done("train", "corpus.txt", "-n", "600", "-s", end, "-w", "1", "-o", name, ...more);
train("gpt2");
train("o200k", "-p", "o200k");
const resultOf = (...args: string[]) => {
  const { code, stdout } = run("ids", "check", ...args, "--json");
  return { code, ...JSON.parse(stdout) };
};

describe("the output of encode is canonical, in every format", () => {
  for (const [name, ...more] of [
    ["ids.npy"],
    ["ids.bin"],
    ["rows.parquet"],
    ["mega.bin", "--ids-format", "megatron"],
    ["olmo.npy", "--ids-format", "olmo"],
    ["dt.ds", "--ids-format", "datatrove"],
    ["llm.bin", "--ids-format", "llmc"],
    ["wide.npy", "--dtype", "uint32"],
  ] as const) {
    test(name, () => {
      done(
        "encode",
        "lines.jsonl",
        "corpus.txt",
        "--tokenizer",
        "gpt2",
        "--append-token",
        end,
        "-o",
        name,
        ...more,
      );
      const { code, idCount, noncanonicalCount, places } = resultOf(name, "--tokenizer", "gpt2");
      expect({ code, noncanonicalCount, places }).toEqual({ code: 0, noncanonicalCount: 0, places: [] });
      expect(idCount).toBeGreaterThan(1000);
      const other = resultOf(name, "--tokenizer", "o200k");
      expect(other.code).toBe(1);
      expect(other.noncanonicalCount).toBe(other.places.length);
      expect(other.noncanonicalCount).toBeGreaterThan(0);
    });
  }
});

test("lines of decimal ids are documents, and the first place of each is shown", () => {
  const letters = (text: string) =>
    Array.from(text, (letter) => done("encode", put(home, "l", letter), "--tokenizer", "gpt2").trim());
  const path = put(
    home,
    "lines.txt",
    `${letters("the").join(" ")}\n\n${done("encode", put(home, "l", "the"), "--tokenizer", "gpt2")}`,
  );
  const { code, stdout, stderr } = run("ids", "check", path, "--tokenizer", "gpt2", "-q");
  expect(code).toBe(1);
  expect(stdout).toMatch(
    /^document 0, position 0\n {2}given {4}"t" "h"( "e")? \(.*\)\n {2}encoded {2}"the?" \(\d+\)\n$/,
  );
  expect(stderr).toBe(
    "bpe: error: 1 of 3 documents does not have the ids that encoding its text gives\n" +
      "hint: give the tokenizer and options that made these ids; to compare tokenizers, use bpe diff A B --text FILE\n",
  );
  const piped = bpe(["ids", "check", "-", "--tokenizer", "gpt2", "-q"], {
    cwd: home,
    stdin: readFileSync(path),
  });
  expect([piped.code, piped.stdout]).toEqual([1, stdout]);
});

test("a special token ends documents only in formats without document ends", () => {
  const parted = put(home, "parted.txt", `ab${end}ab${end}ab`);
  done("encode", parted, "--tokenizer", "gpt2", "-o", "parted.npy");
  put(home, "line.txt", done("encode", parted, "--tokenizer", "gpt2"));
  expect(resultOf("parted.npy", "--tokenizer", "gpt2").documentCount).toBe(3);
  expect(resultOf("line.txt", "--tokenizer", "gpt2").documentCount).toBe(1);
});

test("special tokens that were encoded as text", () => {
  const asText = ["--special-tokens-as-text"];
  done("encode", "corpus.txt", "--tokenizer", "gpt2", "--append-token", end, "-o", "text.npy", ...asText);
  expect(resultOf("text.npy", "--tokenizer", "gpt2", ...asText)).toMatchObject({ code: 0, documentCount: 1 });
  expect(resultOf("text.npy", "--tokenizer", "gpt2")).toMatchObject({ code: 1, noncanonicalCount: 1 });
});

test("mistakes are reported", () => {
  const told = (...args: string[]) => {
    const { code, stderr } = run("ids", "check", ...args, "-q");
    return [code, stderr.split("\n")[0]];
  };
  put(home, "high.txt", "5 9999\n");
  put(home, "word.txt", "5 x\n");
  put(home, "none.txt", "");
  expect(told("high.txt", "--tokenizer", "gpt2")).toEqual([
    1,
    'bpe: error: "high.txt": the id on line 1 is 9999, but must be from 0 to 599',
  ]);
  expect(told("word.txt", "--tokenizer", "gpt2")[1]).toBe(
    'bpe: error: line 1 of "word.txt" has "x", which is not an id',
  );
  expect(told("none.txt", "--tokenizer", "gpt2")).toEqual([0, ""]);
  expect(told("word.txt", "--tokenizer", "gpt2", "--document-end", "<x>")[1]).toBe(
    'bpe: error: --document-end "<x>" is not a special token of the tokenizer',
  );
});
