import { expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { bpe, put, scratch } from "../binary.ts";
import { jsonOf, writeTokenizer } from "../unit/tokenizer/made-tokenizer.ts";

const home = scratch();
const tokenizer = writeTokenizer("gpt2");
const text = put(home, "a.txt", "low lower<|endoftext|>newest<|endoftext|>widest");
const encode = (...options: string[]) =>
  bpe(["encode", text, "--tokenizer", tokenizer, "-w", "1", ...options], { cwd: home });

test("shards are written, and none is written again", () => {
  const options = ["-o", "c", "--ids-format", "megatron", "--shard-size", "1"];
  expect(encode(...options).stderr).toEndWith("3 documents in 3 files\n");
  const names = [0, 1, 2].flatMap((n) => [`c_0000${n}.bin`, `c_0000${n}.idx`]);
  expect(readdirSync(home).sort()).toEqual(["a.txt", "c.json", ...names]);
  expect(encode(...options).stderr).toEndWith("3 documents in 3 files, 3 of them from earlier runs\n");
  expect(encode(...options, "--append-token", "<|end|>").stderr).toInclude(
    "belongs to a run whose options or inputs differ from those of this run: the id of --append-token is none",
  );
});

test("parts of a plan are joined, and unchanged inputs are not encoded again", () => {
  const run = (...typed: string[]) => bpe([...typed, "-q"], { cwd: home });
  expect(run("plan", text, "--tokenizer", tokenizer, "-o", "plan.jsonl").code).toBe(0);
  const one = ["--tokenizer", tokenizer, "-w", "1"];
  expect(run("encode", "--ranges", "plan.jsonl", ...one, "-o", "p", "--ids-format", "part").code).toBe(0);
  const join = ["ids", "join", "p*.json", "--plan", "plan.jsonl", "-o", "j.ds", "--shard-size", "2"];
  expect(bpe(join, { cwd: home }).stderr).toMatch(
    /^joined 1 part to \d+ ids in .*\n3 documents in 3 files; empty documents are left out\n$/,
  );
  expect(bpe(join, { cwd: home }).stderr).toStartWith('unchanged: "j.json" was made from the same inputs');
  const other = [...join, "--dtype", "uint32"];
  expect(run(...other).stderr).toInclude(
    '"j.json" belongs to a run whose options or inputs differ from those of this run: --dtype is uint16 in "j.json", but uint32 in this run',
  );
  expect(bpe([...other, "--if-changed"], { cwd: home }).stderr).toStartWith("joined 1 part");
  const refused = run("ids", "join", "p.json", "--plan", "plan.jsonl", "-o", "j.part");
  expect([refused.code, refused.stderr]).toEqual([
    2,
    expect.stringContaining("the joined parts cannot be written in the format"),
  ]);
  const encoded = ["-o", "o.ds", "--shard-size", "2", "--if-changed"];
  expect(encode(...encoded).stderr).toEndWith("3 documents in 3 files; empty documents are left out\n");
  expect(encode(...encoded).stderr).toStartWith('unchanged: "o.json" was made from the same inputs');
});

test("parts that could not be joined are refused before they are encoded", () => {
  const run = (...typed: string[]) => bpe([...typed, "-q"], { cwd: home });
  const two = [put(home, "x.txt", "low lower"), put(home, "y.txt", "newest"), put(home, "z.txt", "widest")];
  expect(run("plan", ...two, "--tokenizer", tokenizer, "-o", "plan3.jsonl").code).toBe(0);
  const [first, second, third] = readFileSync(join(home, "plan3.jsonl"), "utf8").split("\n");
  const part = ["--tokenizer", tokenizer, "-w", "1", "-o", "shuffled", "--ids-format", "part"];
  for (const [lines, message] of [
    [
      [second, first],
      'line 2 of "shuffled.jsonl": this is line 1 of the plan, but the line before it is line 2 of the plan',
    ],
    [
      [first, third],
      'line 2 of "shuffled.jsonl": this is line 3 of the plan, but the line before it is line 1 of the plan',
    ],
    [
      [first, second, first],
      'line 3 of "shuffled.jsonl": this is line 1 of the plan, but the line before it is line 2 of the plan',
    ],
  ] as const) {
    put(home, "shuffled.jsonl", lines.join("\n"));
    const refused = run("encode", "--ranges", "shuffled.jsonl", ...part);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining(message)]);
    expect(existsSync(join(home, "shuffled.json"))).toBe(false);
  }
  // A file of plain ids, such as .npy, has the ids in the order of the lines, whatever it is. With the format `part`,
  // the lines must be consecutive in the plan.
  put(home, "shuffled.jsonl", [second, first].join("\n"));
  expect(run("encode", "--ranges", "shuffled.jsonl", ...part.slice(0, 4), "-o", "s.npy").code).toBe(0);
  put(home, "shuffled.jsonl", [second, third].join("\n"));
  expect(run("encode", "--ranges", "shuffled.jsonl", ...part).code).toBe(0);
  const whole = run("encode", text, ...part);
  expect([whole.code, whole.stderr]).toEqual([
    2,
    expect.stringContaining("--ids-format part needs --ranges"),
  ]);
});

test("empty documents are left out on request, and an appended token keeps each of them", () => {
  const records = put(
    home,
    "empty.jsonl",
    ["low", "", "lower"].map((text) => JSON.stringify({ text })).join("\n"),
  );
  for (const format of ["olmo", "datatrove", "megatron"]) {
    const options = ["--tokenizer", tokenizer, "-w", "1", "--ids-format", format, "-o", `empty-${format}`];
    const omitted = bpe(["encode", records, ...options], { cwd: home });
    const suffix = format === "megatron" ? "" : "; empty documents are left out";
    expect(omitted.stderr).toEndWith(`3 documents in 1 file${suffix}\n`);
    const appended = bpe(["encode", records, ...options, "--append-token", "<|endoftext|>"], { cwd: home });
    expect(appended.stderr).toEndWith("3 documents in 1 file\n");
    if (format !== "datatrove") continue;
    const ends = new BigUint64Array(readFileSync(join(home, "empty-datatrove.ds.index")).buffer.slice(0));
    expect(ends).toHaveLength(3);
  }
});

test("a tokenizer that another thread loads has the table that types and digests need", () => {
  const large = scratch();
  put(large, "tokenizer.json", `${JSON.stringify(jsonOf(tokenizer))}${" ".repeat(8_000_000)}`);
  const asked = [
    ["--ids-format", "megatron"],
    ["--shard-size", "2"],
  ];
  for (const [i, options] of asked.entries()) {
    const run = bpe([
      "encode",
      text,
      "--tokenizer",
      large,
      "-w",
      "1",
      "-o",
      join(large, `${i}.bin`),
      ...options,
    ]);
    expect(run.stderr).toInclude("3 documents in");
  }
});

test("the ending selects the format, and impossible combinations are refused", () => {
  expect(encode("-o", "d.parquet").stderr).toEndWith("3 documents in 1 file\n");
  expect(encode("-o", "d.ds").code).toBe(0);
  expect(
    readdirSync(home)
      .filter((name) => name.startsWith("d."))
      .sort(),
  ).toEqual([...["d.ds", "d.ds.index", "d.ds.metadata", "d.parquet"]]);
  const refused: [readonly string[], string][] = [
    [["--ids-format", "olmo"], "--ids-format is for files of ids, but without -o"],
    [["-o", "-", "--shard-size", "5"], "--shard-size is for files of ids, but without -o"],
    [["-o", "d.txt"], '--output "d.txt" does not say which format to write'],
    [["-o", "d/", "--ids-format", "olmo"], '--output "d/" is a directory'],
    [["-o", "d.parquet", "--dtype", "uint16"], "--dtype has no effect on parquet"],
    [["--keep-field", "id"], "--keep-field is for files of ids, but without -o"],
    [
      ["-o", "d.npy", "--keep-field", "id"],
      "--keep-field is for parquet, but the ids would be written as npy",
    ],
    [["-o", "d.parquet", "--keep-field", "id,a,id:text"], '--keep-field names "id" twice'],
    [["-o", "d.parquet", "--keep-field", "input_ids"], "--keep-field cannot keep the field input_ids"],
    [["-o", "d.parquet", "--keep-field", "id,"], "--keep-field contains an empty name"],
  ];
  for (const [options, message] of refused) {
    const { code, stderr } = encode(...options);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  }
  const plain = encode("-o", "f.parquet", "--keep-field", "id");
  expect([plain.code, plain.stderr]).toEqual([
    1,
    expect.stringContaining(`"${text}" is read as plain text, which has no fields for --keep-field`),
  ]);
  const { code, stderr } = encode("-o", "d", "--ids-format", "olmo", "--document-end", "<|no|>");
  expect([code, stderr]).toEqual([
    1,
    expect.stringContaining('--document-end "<|no|>" is not a special token of the tokenizer'),
  ]);
  expect(readdirSync(join(home)).filter((name) => name.startsWith("."))).toEqual([]);
});

test("shards are decoded only by the tokenizer that encoded them, whether special tokens were text or not", () => {
  const other = writeTokenizer("cl100k", "huggingface");
  for (const [name, ...options] of [["e"], ["f", "--special-tokens-as-text"]]) {
    expect(encode("-o", `${name}.npy`, "--shard-size", "100", ...options, "-q").code).toBe(0);
    const decode = (by: string) =>
      bpe(["decode", `${name}_00000.npy`, "--tokenizer", by, "-q"], { cwd: home });
    expect(decode(tokenizer)).toEqual({ code: 0, stdout: readFileSync(text, "utf8"), stderr: "" });
    expect(decode(other)).toMatchObject({
      ...{ code: 1, stdout: "" },
      stderr: expect.stringContaining(`"${name}_00000.npy" was not encoded with "${other}/`),
    });
    // A file that has the name of the manifest, but other content, is ignored.
    for (const json of ["{", "[]", '{"format":1,"request":{},"shards":[],"next":null}']) {
      put(home, `${name}.json`, json);
      expect(decode(tokenizer).code).toBe(0);
    }
  }
});

test("a tokenizer that another thread loads also encodes shards", () => {
  const path = join(import.meta.dir, "../../node_modules/tiktoken/encoders/r50k_base.json");
  const { bpe_ranks } = JSON.parse(readFileSync(path, "utf8")) as { bpe_ranks: string };
  // A line of `bpe_ranks` is a mark, the rank of the first token, and tokens with consecutive ranks.
  const ranks = bpe_ranks.split("\n").flatMap((line) => {
    const [, first, ...tokens] = line.split(" ");
    return tokens.map((token, i) => `${token} ${Number(first) + i}\n`);
  });
  const large = put(home, "large.tiktoken", ranks.join(""));
  const shards = ["encode", text, "--tokenizer", large, "-o", "g.bin", "--shard-size", "9", "-w", "1", "-q"];
  expect(bpe(shards, { cwd: home })).toEqual({ code: 0, stdout: "", stderr: "" });
  const decoded = bpe(["decode", "g_00000.bin", "--tokenizer", large, "-q"], { cwd: home });
  expect(readFileSync(text, "utf8").startsWith(decoded.stdout) && decoded.stdout.length > 9).toBe(true);
});
