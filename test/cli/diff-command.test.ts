import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { jsonChunks } from "../../src/cli/diff-command.ts";
import type { Difference } from "../../src/evaluation/difference.ts";
import { bpe, put, scratch } from "../binary.ts";
import { writeTokenizer } from "../tokenizer/made-tokenizer.ts";
import { misfits } from "./json-schema.ts";

const directory = scratch();
const a = writeTokenizer("gpt2");
const b = writeTokenizer("cl100k", "huggingface");
const text = put(directory, "text.txt", "the cat, don't  you\nthe hat 1234\n".repeat(9));

const json = (args: readonly string[]): Difference => {
  const { code, stdout, stderr } = bpe(["diff", ...args, "--json", "-q"]);
  expect([code, stderr]).toEqual([0, ""]);
  return JSON.parse(stdout);
};

describe("bpe diff", () => {
  test("says what differs, for people", () => {
    const { code, stdout, stderr } = bpe(["diff", `old=${a}`, `new=${b}`, "--text", text]);
    expect(code).toBe(0);
    expect(stderr).toContain("compared old with new");
    expect(stdout).toContain("they cut text by different patterns");
    expect(stdout).toMatch(/^old: tokenizer.json, pattern gpt2, /m);
    expect(stdout).toMatch(/^tokens: \d+ in both$/m);
    expect(stdout).toMatch(/^ {2}with another id: \d+$/m);
    expect(stdout).toMatch(/^text text: 63 words$/m);
    expect(stdout).toMatch(/^ {2}words cut differently: \d+ \(\d+\.\d\d %\), \d+ of them distinct$/m);
  });

  test("--json is as docs/difference.schema.json says", () => {
    const schema = JSON.parse(
      readFileSync(join(import.meta.dir, "../../docs/difference.schema.json"), "utf8"),
    );
    for (const args of [
      [a, b],
      [a, b, "--text", text],
    ]) {
      const found = json(args);
      expect(misfits(schema, found, schema)).toEqual([]);
      expect(misfits(schema, { ...found, tokens: undefined, more: 1 }, schema)).not.toEqual([]);
    }
  });

  test("several files are one text, and any number of workers prints the same bytes", () => {
    const other = put(directory, "other.txt", "the dog\n");
    const one = json([a, b, "--text", text, other]);
    expect(one.text).toMatchObject({ name: "text", inputs: [text, other], words: 65 });
    for (const w of ["2", "7"]) expect(json([a, b, "--text", text, other, "-w", w])).toEqual(one);
  });

  test("two tokenizers are needed, no more and no fewer", () => {
    const cases: [args: string[], code: number, message: string][] = [
      [[a], 2, "<b> is missing"],
      [[a, b, "c"], 2, 'found "c"'],
      [[a, join(directory, "none")], 1, "no such file or directory"],
      [[a, b, "--text", join(directory, "none.txt")], 1, "none.txt"],
    ];
    for (const [args, wantedCode, message] of cases) {
      const { code, stdout, stderr } = bpe(["diff", ...args]);
      expect(stderr).toContain(message);
      expect([code, stdout]).toEqual([wantedCode, ""]);
    }
  });
});

test("the chunks are what JSON.stringify makes, and long lists are cut", () => {
  const listOf = (length: number) => Array.from({ length }, (_, n) => ({ n, text: `"${n}\n` }));
  for (const value of [
    ...[null, 1.5, "\ud800", [], {}, [[]], { a: null, "b\n": { c: [] } }],
    ...[1_999, 2_000, 2_001, 4_000, 5_001].map((length) => ({
      a: listOf(length),
      b: { c: listOf(length), d: 1 },
    })),
  ]) {
    const chunks = [...jsonChunks(value)];
    expect(chunks.join("")).toBe(JSON.stringify(value));
    expect(Math.max(...chunks.map(({ length }) => length))).toBeLessThan(60_000);
  }
});
