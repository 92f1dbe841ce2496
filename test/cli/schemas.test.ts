import { describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { bpe, put, scratch } from "../binary.ts";
import { madeText } from "../unit/tokenizer/made-merges.ts";
import { writeTokenizer } from "../unit/tokenizer/made-tokenizer.ts";
import { misfits, type Schema } from "./json-schema.ts";

const home = scratch();
const corpus = put(home, "corpus.txt", madeText(5, 2000));
const idLines = put(home, "ids.txt", "116 104 101\n\n");
const records = put(home, "corpus.jsonl", `${JSON.stringify({ text: madeText(6, 200) })}\n`);

const schemaOf = (name: string): Schema =>
  JSON.parse(readFileSync(join(import.meta.dir, `../../docs/${name}.schema.json`), "utf8"));
const recordOf = (directory: string) =>
  JSON.parse(readFileSync(join(home, directory, "training.json"), "utf8"));
const run = (...args: string[]) => bpe(args, { cwd: home });
const resultOf = (...args: string[]) => {
  const { stderr } = run(...args, "--progress", "json");
  return JSON.parse(stderr.trim().split("\n").at(-1)!);
};

describe("docs/training.schema.json", () => {
  const schema = schemaOf("training");
  const result = schema.$defs!.result!;
  const trainings: Record<string, string[]> = {
    plain: [corpus, "-n", "400"],
    full: [corpus, records, "-n", "300,400", "-s", "<|endoftext|>", "--pad-to", "64", "-p", "\\S+|\\s+"],
    small: [corpus, "-n", "256", "--max-token-length", "5", "--format", "gpt2", "--ledger"],
    superwords: [corpus, "-n", "420", "--superwords-from", "400", "--compat", "huggingface"],
    whole: [corpus, "-n", "300", "--whole-characters", "--seed-token", "the"],
    first: [corpus, "-n", "300", "-s", "<s>", "--special-tokens-first"],
    normalized: [corpus, "-n", "300", "--normalize", "NFKC,lowercase"],
    further: [corpus, "--extend", "normalized", "-n", "+20"],
    like: [corpus, "-n", "300", "--like", "plain"],
    weighted: [corpus, records, "-n", "300", "--weight", "a=*.jsonl:0.5"],
    languages: [
      "--language",
      `a=${corpus}`,
      "--language",
      `b=${records}`,
      "--language-dev",
      `a=${corpus}`,
      `b=${corpus}`,
      "-n",
      "300",
    ],
    extended: [corpus, "--extend", "plain", "-n", "+20", "--whole-characters"],
  };

  for (const [name, args] of Object.entries(trainings)) {
    test(`${name}: the record and the result are as the schema says`, () => {
      const found = resultOf("train", ...args, "-o", name);
      expect(misfits(result, found, schema)).toEqual([]);
      const record = recordOf(name);
      expect(misfits(schema, record, schema)).toEqual([]);
      expect(found).toMatchObject(record);
      for (const field of Object.keys(record)) {
        expect(misfits(schema, { ...record, [field]: () => {} }, schema)).not.toEqual([]);
      }
      expect(misfits(schema, { ...record, more: 1 }, schema)).not.toEqual([]);
    });
  }

  test("the record's token counts agree with an encoding", () => {
    const { bytesPerToken, tokenCount, curve, half, residueCount } = recordOf("plain");
    const ids = run("encode", corpus, "--tokenizer", "plain", "-q").stdout.trim().split(" ");
    expect(tokenCount).toBe(ids.length);
    expect(bytesPerToken).toBe(readFileSync(corpus).length / ids.length);
    expect(curve).toHaveLength(10);
    expect(curve.at(-1)).toEqual({ vocabSize: 400, bytesPerToken });
    expect(half).toBe(null);
    expect(residueCount).toBeGreaterThan(0);
  });

  test("results without a new tokenizer, and the record of a pruned one", () => {
    const nightly = [corpus, "-n", "300", "-o", "nightly", "--cache", "cache", "--if-changed"];
    expect(resultOf("train", ...nightly).changed).toBe(true);
    const unchanged = resultOf("train", ...nightly);
    expect([unchanged.changed, misfits(result, unchanged, schema)]).toEqual([false, []]);
    for (const args of [
      ["missing.txt", "-n", "300"],
      [corpus, "-n", "3"],
    ]) {
      const failed = resultOf("train", ...args, "-o", "never");
      expect([failed.success, misfits(result, failed, schema)]).toEqual([false, []]);
    }
    run("prune", "full/400", "--text", corpus, "-n", "350", "-o", "pruned");
    expect(misfits(schema, recordOf("pruned"), schema)).toEqual([]);
    expect(misfits(schema, { ...recordOf("pruned"), pruned: 1 }, schema)).not.toEqual([]);
    run("convert", "plain", "-o", "converted");
    expect(misfits(schema, recordOf("converted"), schema)).toEqual([]);
    expect(misfits(schema, { ...recordOf("converted"), converted: 1 }, schema)).not.toEqual([]);
    run("truncate", "full/400", "-n", "350,320", "-o", "truncated");
    for (const path of ["truncated", "truncated/320"])
      expect(misfits(schema, recordOf(path), schema)).toEqual([]);
  });
});

describe("docs/inspection.schema.json", () => {
  const schema = schemaOf("inspection");
  const made = writeTokenizer("cl100k", "huggingface");

  test("inspect --json matches its schema, and has the values of the table", () => {
    for (const args of [[made], [made, "--text", corpus], ["plain", "--text", corpus], ["superwords"]]) {
      const { code, stdout } = run("inspect", ...args, "--json");
      expect(code).toBe(0);
      const found = JSON.parse(stdout);
      expect(misfits(schema, found, schema)).toEqual([]);
      for (const field of Object.keys(found)) {
        expect(misfits(schema, { ...found, [field]: () => {} }, schema)).not.toEqual([]);
      }
      expect(misfits(schema, { ...found, more: 1 }, schema)).not.toEqual([]);
      const table = run("inspect", ...args).stdout;
      expect(table).toContain(
        `${found.vocabularySize} tokens, ids up to ${found.idLimit - 1}, ${found.mergeCount} merges`,
      );
      for (const { id, token, bytes } of found.longestTokens) {
        expect(table).toContain(`${bytes} bytes  ${id} "${token}"`);
        expect(token).toMatch(/\p{L}/u);
      }
      for (const { name, tokenCount } of found.scripts)
        expect(table).toContain(`${name.padEnd(24)}${String(tokenCount).padStart(9)}`);
      if (found.text !== null)
        expect(table).toContain(`bytes/token     ${found.text.bytesPerToken.toFixed(3)}`);
    }
  });

  test("it contains what the training recorded, if its record lists the file", () => {
    const inspect = (path: string) => JSON.parse(run("inspect", path, "--json").stdout);
    const { training } = inspect("plain");
    expect(recordOf("plain")).toMatchObject(training);
    for (const file of ["tokenizer.json", "vocab.json", "tokenizer.tiktoken"]) {
      expect(inspect(join("plain", file)).training).toEqual(training);
    }
    expect(inspect("full/300").training.curve.at(-1).vocabSize).toBe(300);
    expect([inspect(made).training, inspect("extended").training, inspect("pruned").training]).toEqual([
      null,
      null,
      null,
    ]);
    // A file that the record does not list may be of another tokenizer.
    put(join(home, "plain"), "other.json", readFileSync(join(home, "plain/tokenizer.json")));
    expect(inspect("plain/other.json").training).toBe(null);
  });

  test("a directory of all special tokens, found in a text or not", () => {
    const found = JSON.parse(run("inspect", made, "--json").stdout);
    expect(found.specialTokens.map(({ id }: { id: number }) => id)).toEqual([0, 1, 2, 3]);
    expect(found.specialTokens[0]).toEqual({
      id: 0,
      content: "<|endoftext|>",
      special: true,
      normalized: false,
      lstrip: false,
      rstrip: false,
      singleWord: false,
      isFound: true,
      roles: ["bos", "eos"],
    });
  });
});

test("eval, diff, tokens and ids check with --json match their schemas, and no other schema", () => {
  const made = writeTokenizer("cl100k", "huggingface");
  const cases: [schema: string, ...args: string[]][] = [
    ["evaluation", "eval", "plain", made, "--text", corpus, records],
    ["evaluation", "eval", "plain", "--text", corpus, "--model", "d=4,layers=2"],
    ["difference", "diff", "plain", made],
    ["difference", "diff", "plain", made, "--text", corpus],
    ["tokens", "tokens", corpus, records, "texts", "--tokenizer", made],
    ["ids-check", "ids", "check", idLines, "--tokenizer", made],
  ];
  mkdirSync(join(home, "texts"));
  put(home, "texts/empty.txt", "");
  put(home, "texts/picture.png", Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0));
  for (const [name, ...args] of cases) {
    const schema = schemaOf(name);
    const found = JSON.parse(run(...args, "--json", "-q").stdout);
    expect(misfits(schema, found, schema)).toEqual([]);
    for (const field of Object.keys(found)) {
      expect(misfits(schema, { ...found, [field]: undefined, more: 1 }, schema)).not.toEqual([]);
    }
  }
});
