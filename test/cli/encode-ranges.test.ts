import { expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bpe, put, scratch } from "../binary.ts";
import { madeText } from "../vocabulary/made-merges.ts";

// Many short processes, on machines that may do other work.
setDefaultTimeout(600_000);
const home = scratch();

const special = "<|end|>";
put(home, "first.txt", [1, 2, 3].map((seed) => madeText(seed, 5000)).join(special));
put(home, "empty.txt", "");
put(home, "second.txt", madeText(7, 10_000));
put(home, "packed.gz", Bun.gzipSync(madeText(8, 2000)));
put(home, "empty.gz", Bun.gzipSync(""));
const records = [20, 21, 22, 23].map((seed) => JSON.stringify({ text: madeText(seed, 4000) }));
put(home, "records.jsonl", records.join("\n"));
const files = ["first.txt", "empty.txt", "records.jsonl", "empty.gz", "packed.gz", "second.txt"];
const run = (...args: string[]) => bpe([...args, "-q"], { cwd: home });
const done = (...args: string[]) => {
  const { code, stdout, stderr } = run(...args);
  expect([code, stderr]).toEqual([0, ""]);
  return stdout;
};
done("train", ...files, "-n", "700", "-p", "o200k", "-s", special, "-o", "tokenizer");

const plan = (...args: string[]) =>
  done("plan", ...files, "--range-size", "64Ki", ...args)
    .trim()
    .split("\n");
const read = (name: string) => readFileSync(join(home, name));

/** Encodes the plan in slices of so many lines, and gives the files of the parts in order. */
function encodeParts(
  lines: readonly string[],
  sliceLines: number,
  ending: string,
  ...args: string[]
): string[] {
  const names: string[] = [];
  for (let from = 0; from < lines.length; from += sliceLines) {
    const name = `part-${String(from).padStart(4, "0")}.${ending}`;
    writeFileSync(join(home, "slice.jsonl"), lines.slice(from, from + sliceLines).join("\n"));
    done("encode", "--ranges", "slice.jsonl", "-o", name, ...args);
    names.push(name);
  }
  return names;
}

test("parts, joined in their order, are the ids of the whole", () => {
  const lines = plan("--tokenizer", "tokenizer");
  expect(lines.length).toBeGreaterThan(6);
  const whole = (...args: string[]) => {
    done("encode", ...files, "-o", "whole.bin", ...args);
    return read("whole.bin");
  };
  const joined = (names: string[], headBytes = 0) =>
    Buffer.concat(names.map((name) => read(name).subarray(headBytes)));

  const plain = ["--tokenizer", "tokenizer"];
  const expected = whole(...plain);
  expect(joined(encodeParts(lines, 3, "bin", ...plain, "-w", "2")).equals(expected)).toBe(true);
  expect(joined(encodeParts(lines, 4, "npy", ...plain), 128).equals(expected)).toBe(true);
  // A range a part, also of inputs without text; the token goes behind those that end their input, or a record.
  const appending = [...plain, "--append-token", special];
  expect(joined(encodeParts(lines, 1, "bin", ...appending)).equals(whole(...appending))).toBe(true);
});

test("without -o the lines of the parts join, too", () => {
  const lines = plan("--tokenizer", "tokenizer");
  const parts = lines.map((line) => {
    put(home, "slice.jsonl", line);
    return done("encode", "--ranges", "slice.jsonl", "--tokenizer", "tokenizer");
  });
  const whole = done("encode", ...files, "--tokenizer", "tokenizer");
  const joined = parts.reduce(
    (text, part) => text + (text === "" || text.endsWith("\n") || part === "\n" ? "" : " ") + part,
  );
  expect(joined === whole).toBe(true);
});

test("the plan that a tokenizer's words were counted by is the plan to encode by", () => {
  expect(plan("-p", "o200k", "-s", special)).toEqual(plan("--tokenizer", "tokenizer"));
  put(home, "other.jsonl", plan("-s", special)[0]!);
  const { code, stderr } = run("encode", "--ranges", "other.jsonl", "--tokenizer", "tokenizer");
  expect(stderr).toContain("other.jsonl, line 1: it was planned for another pattern");
  expect(code).toBe(1);
  const asText = plan("--tokenizer", "tokenizer", "--special-tokens-as-text");
  put(home, "as-text.jsonl", asText.join("\n"));
  const args = ["--tokenizer", "tokenizer", "--special-tokens-as-text"];
  expect(done("encode", "--ranges", "as-text.jsonl", ...args)).toBe(done("encode", ...files, ...args));
  expect(run("encode", "--ranges", "as-text.jsonl", "--tokenizer", "tokenizer").stderr).toContain(
    "it was planned for other special tokens",
  );
});

test("a tokenizer whose texts cannot be cut gets them whole, and records in parts", () => {
  const json = JSON.parse(read("tokenizer/tokenizer.json").toString());
  put(home, "nfc.json", JSON.stringify({ ...json, normalizer: { type: "NFC" } }));
  const lines = plan("--tokenizer", "nfc.json");
  const rangesOf = (file: string) => lines.filter((line) => JSON.parse(line).path === file).length;
  for (const file of files) {
    if (file === "records.jsonl") expect(rangesOf(file)).toBeGreaterThan(1);
    else expect(rangesOf(file)).toBe(1);
  }
  done("encode", ...files, "-o", "whole.bin", "--tokenizer", "nfc.json");
  const parts = encodeParts(lines, 1, "bin", "--tokenizer", "nfc.json");
  expect(Buffer.concat(parts.map(read)).equals(read("whole.bin"))).toBe(true);
  done("encode", ...files, "-o", "two.bin", "--tokenizer", "nfc.json", "-w", "2");
  expect(read("two.bin").equals(read("whole.bin"))).toBe(true);
  put(home, "cut.jsonl", plan("--tokenizer", "tokenizer")[0]!);
  const { code, stderr } = run("encode", "--ranges", "cut.jsonl", "--tokenizer", "nfc.json");
  expect(stderr).toContain("cut.jsonl, line 1: it is a part of a text");
  expect(code).toBe(1);
});

test("options that do not go together are exit 2", () => {
  const usage = (message: string, ...args: string[]) => {
    const { code, stderr } = run(...args);
    expect(stderr).toContain(message);
    expect(code).toBe(2);
  };
  usage("the ranges name their files", "encode", "first.txt", "--ranges", "x", "--tokenizer", "tokenizer");
  usage(
    "--compat does not go with --tokenizer",
    "plan",
    "first.txt",
    "--compat",
    "cs336",
    "--tokenizer",
    "tokenizer",
  );
  usage("--special-tokens-as-text needs --tokenizer", "plan", "first.txt", "--special-tokens-as-text");
});
