// Hints name only what the caller can give: an option that the command has, and that no given option excludes.

import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { Tokenizer } from "../../src/library/tokenizer.ts";
import { binary, bpe, environment, put, scratch } from "../binary.ts";
import { refusalOf } from "../thrown.ts";
import { writeTokenizer } from "../unit/tokenizer/made-tokenizer.ts";

const home = scratch();
const tokenizer = writeTokenizer("gpt2");
put(home, "a.xz", Buffer.from("\xfd7zXZ\0", "latin1"));
put(home, "a.txt", "low lower newest widest");
put(home, "no.jsonl", '{"body": "a"}\n');
put(home, "bad.jsonl", '{"text": "a"}\nnot JSON\n');
put(home, "bad.json", '[{"text": "a"}, 1]');
put(home, "bad.fa", "ACGT\n");

const hintOf = (...typed: readonly string[]) => {
  const { stderr } = bpe(typed, { cwd: home });
  return stderr.match(/^hint: (.*)$/m)?.[1];
};
const encode = (...typed: string[]) =>
  hintOf("encode", ...typed, "--tokenizer", tokenizer, "-w1", "-o", "out.parquet");
/** Plans a file, and encodes the plan. */
function encodePlan(file: string, planning: string[] = [], ...typed: string[]): string | undefined {
  expect(bpe(["plan", file, ...planning, "--tokenizer", tokenizer, "-o", "plan"], { cwd: home }).code).toBe(
    0,
  );
  return encode("--ranges", "plan", ...typed);
}

test("text is piped only into a command that reads a pipe", () => {
  expect(hintOf("count", "a.xz")).toBe("unpack it: xz -dc a.xz | bpe … -");
  const prune = ["prune", tokenizer, "--text", "a.xz", "-n", "300", "-o", "smaller"];
  for (const typed of [["plan", "a.xz"], ["doctor", tokenizer, "--text", "a.xz"], prune])
    expect(hintOf(...typed)).toBe("unpack it: xz -dc a.xz > text.txt");
  const env = { ...environment, BPE_CALLER: "python" };
  const { stderr } = spawnSync(binary, ["count", "a.xz"], { cwd: home, env, encoding: "utf8" });
  expect(stderr).toEndWith("hint: unpack it: xz -dc a.xz > text.txt\n");
});

test("encodeFile of the library offers what its options can do", async () => {
  const loaded = await Tokenizer.load(tokenizer);
  const hint = async (name: string) =>
    (await refusalOf(loaded.encodeFile(join(home, name), join(home, "x.npy")))).hint;
  expect(await hint("a.xz")).toBe(`unpack it: xz -dc ${join(home, "a.xz")} > text.txt`);
  expect(await hint("bad.jsonl")).toBe(
    "correct this line: it must be one JSON object; if the file is plain text, use inputFormat text",
  );
});

test("a format is named only if neither a plan nor kept fields determine it", () => {
  const fields = "(fields of this record that are strings: body)";
  const named = `use --text-field to name the field that contains the text ${fields}, or correct this record`;
  expect(encode("no.jsonl")).toBe(`${named}; to read JSON as plain text, use --input-format text`);
  expect(encode("no.jsonl", "--keep-field", "body")).toBe(named);
  expect(encodePlan("no.jsonl")).toBe(
    `make a new plan with bpe plan --text-field NAME, where NAME is the field that contains the text ${fields}; or correct this record, and make a new plan`,
  );
  const lines = "correct this line: it must be one JSON object";
  expect(encode("bad.jsonl")).toBe(`${lines}; if the file is plain text, use --input-format text`);
  expect(encode("bad.jsonl", "--keep-field", "text")).toBe(lines);
  expect(encodePlan("bad.jsonl")).toBe(lines);
  const array = "correct the JSON: it must be one array of objects, or objects separated by white space";
  expect(encode("bad.json")).toBe(`${array}; if the file is plain text, use --input-format text`);
  expect(encode("bad.json", "--keep-field", "text")).toBe(array);
  const sequence = "write a header line before the sequence; if the file is plain text,";
  expect(encode("bad.fa", "--input-format", "fasta")).toBe(`${sequence} use --input-format text`);
  expect(encodePlan("bad.fa", ["--input-format", "fasta"])).toBe(
    `${sequence} make a plan with --input-format text`,
  );
  const without = "leave out --keep-field; if the file has records,";
  expect(encode("a.txt", "--keep-field", "id")).toBe(`${without} name their format: --input-format NAME`);
  expect(encodePlan("a.txt", [], "--keep-field", "id")).toBe(
    `${without} make a plan with their format: bpe plan --input-format NAME`,
  );
});

test("a size for pruning is named only if there is one", () => {
  const sized = (path: string, size: number) => hintOf("truncate", path, "-n", String(size), "-o", "smaller");
  const train = (size: string, into: string) =>
    expect(bpe(["train", "a.txt", "-n", size, "-w1", "-o", into], { cwd: home }).code).toBe(0);
  train("260", "trained");
  train("256", "bytes");
  expect(sized("trained", 260)).toBe("give a --vocab-size from 256 to 259");
  expect(sized("trained", 255)).toBe("give a --vocab-size from 256 to 259");
  expect(sized("bytes", 256)).toBe("none of its tokens can be removed, so use it as it is");
  expect(sized("bytes", 255)).toBe("none of its tokens can be removed, so use it as it is");
});
