import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parquetWriteBuffer } from "hyparquet-writer";
import { bpe, put, scratch } from "../../binary.ts";
import { isThorough, turns } from "../../rounds.ts";
import { writeTokenizer } from "./made-tokenizer.ts";

const home = scratch();
const tokenizer = writeTokenizer("gpt2");
const words = "the lowest newest widest é漢 1234, ".repeat(30_000);
/** A long text that cannot be cut. */
const uncut = "widest".repeat(500_000);
const texts = [words, `${words}${uncut} ${words}`, words];

const encoded = (name: string, files: readonly string[], ...args: string[]) => {
  const path = join(home, name);
  const run = bpe(["encode", ...files, "--tokenizer", tokenizer, "-o", path, "-q", ...args]);
  expect([run.stderr, run.code]).toEqual(["", 0]);
  return readFileSync(path);
};

test("texts that one thread leaves to another keep their position among the others, with any number of threads", () => {
  const files = texts.map((text, i) => put(home, `${i}.txt`, text));
  const parts = files.slice(0, 2).map((file, i) => encoded(`${i}.bin`, [file], "-w", "1"));
  parts.push(parts[0]!);
  for (const workers of isThorough ? ["1", "2", "3"] : ["2"]) {
    expect(encoded(`all-${workers}.bin`, files, "-w", workers).equals(Buffer.concat(parts))).toBe(true);
  }
});

test("pages and lines that one thread leaves to another keep their position, too", () => {
  // The page and one of the lines take long.
  const long = words.repeat(16);
  const records = ["a few words", long, words];
  const columnData = [{ name: "text", data: records, type: "STRING" as const, encoding: "PLAIN" as const }];
  const page = put(home, "x.parquet", new Uint8Array(parquetWriteBuffer({ columnData, pageSize: 1 << 30 })));
  const lines = put(home, "x.jsonl", records.map((text) => `${JSON.stringify({ text })}\n`).join(""));
  const plain = Buffer.concat(
    records.map((text, i) => encoded(`record-${i}.bin`, [put(home, `record-${i}.txt`, text)])),
  );
  for (const workers of turns(["1", "2"], 0)) {
    expect(encoded("page.bin", [page], "-w", workers).equals(plain)).toBe(true);
    expect(encoded("lines.bin", [lines], "-w", workers).equals(plain)).toBe(true);
  }
});
