import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { bpe, put, scratch } from "../binary.ts";
import { writeTokenizer } from "../tokenizer/made-tokenizer.ts";

// What is in the files: test/pipeline/id-files.test.ts.

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
  expect(encode(...options).stderr).toEndWith("3 documents in 3 files, 3 of them there before\n");
  expect(encode(...options, "--append-token", "<|end|>").stderr).toInclude(
    "is of another run: appendId was none",
  );
});

test("the ending names the format, and what files cannot be is refused", () => {
  expect(encode("-o", "d.parquet").stderr).toEndWith("3 documents in 1 file\n");
  expect(encode("-o", "d.ds").code).toBe(0);
  expect(
    readdirSync(home)
      .filter((name) => name.startsWith("d."))
      .sort(),
  ).toEqual([...["d.ds", "d.ds.index", "d.ds.metadata", "d.parquet"]]);
  const refused: [readonly string[], string][] = [
    [["--ids-format", "olmo"], "--ids-format is for files of ids"],
    [["-o", "-", "--shard-size", "5"], "--shard-size is for files of ids"],
    [["-o", "d.txt"], '--output "d.txt" ends in neither .npy nor .bin'],
    [["-o", "d/", "--ids-format", "olmo"], '--output "d/" is a directory'],
    [["-o", "d.parquet", "--dtype", "uint16"], "--dtype is not for parquet"],
  ];
  for (const [options, message] of refused) {
    const { code, stderr } = encode(...options);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  }
  const { code, stderr } = encode("-o", "d", "--ids-format", "olmo", "--document-end", "<|no|>");
  expect([code, stderr]).toEqual([1, expect.stringContaining('no special token "<|no|>" to end documents')]);
  expect(readdirSync(join(home)).filter((name) => name.startsWith("."))).toEqual([]);
});
