import { describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import type { Evaluation } from "../../src/evaluation/evaluation.ts";
import { binary, bpe, environment, put, scratch } from "../binary.ts";
import { writeTokenizer } from "../tokenizer/made-tokenizer.ts";
import { misfits } from "./json-schema.ts";

const directory = scratch();
const tokenizers = { gpt2: writeTokenizer("gpt2"), cl100k: writeTokenizer("cl100k", "huggingface") };
const english = put(directory, "english.txt", "the cat, the cat and the hat\n".repeat(20));
const greek = put(directory, "greek.txt", "η γάτα, η γάτα και το καπέλο\n".repeat(10));

const named = Object.entries(tokenizers).map(([name, path]) => `${name}=${path}`);
const evaluateJson = (args: readonly string[]): Evaluation => {
  const { code, stdout, stderr } = bpe(["eval", ...args, "--json", "-q"]);
  expect(stderr).toBe("");
  expect(code).toBe(0);
  return JSON.parse(stdout);
};

describe("bpe eval", () => {
  test("shows a table for each text, one for all, and one of parity, in 80 columns", () => {
    const { code, stdout, stderr } = bpe(["eval", ...named, "--text", english, greek]);
    expect(code).toBe(0);
    expect(stderr).toContain("measured 2 tokenizers on 2 texts");
    const lines = stdout.split("\n");
    expect(lines[0]).toBe("english: 580 B, 580 characters, 140 words, 5 of them distinct");
    expect(lines[1]).toMatch(/^ +gpt2 +cl100k$/);
    expect(lines.filter((line) => /^(greek: |all texts$|parity of the texts$)/.test(line)).length).toBe(3);
    expect(lines.filter((line) => line.startsWith("fertility ")).length).toBe(3);
    expect(lines.filter((line) => line.startsWith("Gini of fertility ")).length).toBe(1);
    expect(lines.every((line) => [...line].length <= 80)).toBe(true);
    expect(stdout).not.toContain("\x1b");
  });

  test("a word whose tokens are parts of characters is shown before them", () => {
    const path = put(directory, "cjk.txt", "龘靐 ");
    const { stdout } = bpe(["eval", `gpt2=${tokenizers.gpt2}`, "--text", path, "-q"]);
    expect(stdout).toMatch(/ 1 x 龘靐 = .*\\x/);
  });

  test("columns that do not fit go into a table below", () => {
    const many = Array.from({ length: 9 }, (_, n) => `a-long-name-${n}=${tokenizers.gpt2}`);
    const { code, stdout } = bpe(["eval", ...many, "--text", english, "-q"]);
    expect(code).toBe(0);
    const lines = stdout.split("\n");
    expect(lines.every((line) => line.length <= 80)).toBe(true);
    for (let n = 0; n < 9; n++) {
      const heads = lines.filter((line) => line.includes(`a-long-name-${n}`) && !line.startsWith("dearest"));
      expect(heads.length).toBe(1);
    }
    expect(lines.filter((line) => line.startsWith("fertility ")).length).toBeGreaterThan(1);
  });

  test("--json has all numbers, and tokens are those of bpe encode", () => {
    const { texts, tokenizers: results } = evaluateJson([...named, "--text", `en=${english}`, `el=${greek}`]);
    expect(texts.map(({ name }) => name)).toEqual(["en", "el"]);
    expect(texts.map(({ inputs }) => inputs)).toEqual([[english], [greek]]);
    expect(results.map(({ name }) => name)).toEqual(["gpt2", "cl100k"]);
    for (const { path, texts: measured } of results) {
      for (const [i, file] of [english, greek].entries()) {
        const { stdout } = bpe(["encode", file, "--tokenizer", path, "-q"]);
        expect(measured[i]!.tokens).toBe(stdout.trim().split(" ").length);
      }
    }
  });

  test("--json is as docs/evaluation.schema.json says", () => {
    const schema = JSON.parse(
      readFileSync(join(import.meta.dir, "../../docs/evaluation.schema.json"), "utf8"),
    );
    const result = evaluateJson([...named, "--text", english, greek]);
    expect(misfits(schema, result, schema)).toEqual([]);
    const { tokenizers: _, ...rest } = result;
    expect(misfits(schema, rest, schema)).not.toEqual([]);
  });

  test("--csv has a row for each tokenizer and text, and one for all texts", () => {
    const { stdout } = bpe(["eval", ...named, "--text", english, greek, "--csv", "-q"]);
    const [head, ...rows] = stdout.trimEnd().split("\n");
    const { tokenizers: results } = evaluateJson([...named, "--text", english, greek]);
    expect(head).toStartWith("tokenizer,text,vocabulary_size,bytes,characters,words,tokens,bytes_per_token,");
    expect(rows.map((row) => row.split(",").slice(0, 2))).toEqual(
      ["gpt2", "cl100k"].flatMap((name) => ["english", "greek", "(all)"].map((text) => [name, text])),
    );
    expect(rows.every((row) => row.split(",").length === head!.split(",").length)).toBe(true);
    const fertility = head!.split(",").indexOf("fertility");
    expect(Number(rows[0]!.split(",")[fertility])).toBe(results[0]!.texts[0]!.fertility!);
    expect(Number(rows[2]!.split(",")[fertility])).toBe(results[0]!.overall.fertility!);
  });

  test("names with commas and quotes stay one cell of CSV", () => {
    const { stdout } = bpe(["eval", named[0]!, "--text", `a "b", c=${english}`, "--csv", "-q"]);
    expect(stdout.split("\n")[1]).toStartWith('gpt2,"a ""b"", c",');
  });

  test("values with one NAME are one text; files of equal names are called by their paths", () => {
    const other = put(scratch(), "english.txt", "the hat\n");
    const one = evaluateJson([named[0]!, "--text", `en=${english}`, "--text", `en=${other}`]);
    expect(one.texts.map(({ name, inputs }) => [name, inputs])).toEqual([["en", [english, other]]]);
    const two = evaluateJson([named[0]!, "--text", english, "--text", other]);
    expect(two.texts.map(({ name }) => name)).toEqual([english, other]);
  });

  test("arguments behind --text are texts, those behind --text=FILE are tokenizers", () => {
    expect(evaluateJson([`--text=${english}`, ...named]).tokenizers.length).toBe(2);
    const { code, stderr } = bpe(["eval", "--text", english, named[0]!]);
    expect(code).toBe(2);
    expect(stderr).toContain("<tokenizer>... is missing");
  });

  test("standard input and pipes are texts, and nothing of them is left in TMPDIR", async () => {
    const wanted = evaluateJson([named[0]!, "--text", `text=${english}`]);
    const run = Bun.spawn([binary, "eval", named[0]!, "--text", "text=-", "--json", "-q"], {
      env: environment,
      stdin: Bun.file(english),
    });
    const { texts, ...rest } = JSON.parse(await new Response(run.stdout).text()) as Evaluation;
    expect(texts).toEqual([{ ...wanted.texts[0]!, inputs: ["-"] }]);
    expect(rest).toEqual({ ...wanted, texts: undefined } as never);
    const piped = Bun.spawnSync(
      [
        "bash",
        "-c",
        `cat "${english}" | "${binary}" eval "${named[0]}" --text <(cat "${greek}") - --json -q`,
      ],
      { env: environment },
    );
    const both = JSON.parse(piped.stdout.toString()) as Evaluation;
    expect(both.texts.map(({ bytes }) => bytes)).toEqual([500, 580]);
    expect(both.texts[1]!.name).toBe("stdin");
  });

  test("a directory of several sizes stands for all of them, the smallest first", () => {
    const sizes = scratch();
    mkdirSync(join(sizes, "run"));
    renameSync(writeTokenizer("gpt2"), join(sizes, "run", "16000"));
    renameSync(writeTokenizer("gpt2"), join(sizes, "run", "800"));
    const { tokenizers: found } = evaluateJson([join(sizes, "run"), "--text", english]);
    expect(found.map(({ name }) => name)).toEqual(["run/800", "run/16000"]);
  });

  test("any number of workers prints the same bytes", () => {
    const outputs = ["1", "2", "7"].map((w) => {
      return bpe(["eval", ...named, "--text", english, greek, "--json", "-q", "-w", w]).stdout;
    });
    expect(outputs[0]!.length).toBeGreaterThan(1000);
    expect(new Set(outputs).size).toBe(1);
  });

  test("bytes that are not UTF-8 are told", () => {
    const broken = put(directory, "broken.txt", Buffer.from("a \xff b\xe9", "latin1"));
    const { code, stderr } = bpe(["eval", named[0]!, "--text", broken]);
    expect(code).toBe(0);
    expect(stderr).toContain('warning: 2 bytes of text "broken" are not valid UTF-8');
  });

  test("wrong command lines and files are refused, each with what is wrong", () => {
    const cases: [args: string[], code: number, message: string][] = [
      [[named[0]!], 2, "--text is missing"],
      [[named[0]!, "--text", english, "--json", "--csv"], 2, "--json and --csv: choose one of them"],
      [
        [`a=${tokenizers.gpt2}`, `a=${tokenizers.cl100k}`, "--text", english],
        2,
        'two tokenizers are called "a"',
      ],
      [[tokenizers.gpt2, tokenizers.gpt2, "--text", english], 2, "two tokenizers are called"],
      [[`=${tokenizers.gpt2}`, "--text", english], 2, "has no name"],
      [[named[0]!, "--text", "en="], 2, "has no path"],
      [[named[0]!, "--text", "-", "x=-"], 2, "standard input (-) is named twice"],
      [[join(directory, "none"), "--text", english], 1, "no such file or directory"],
      [[named[0]!, "--text", join(directory, "none.txt")], 1, "none.txt"],
      [[named[0]!, "--text", put(directory, "empty.txt", "")], 1, "the corpus is empty"],
      [[directory, "--text", english], 1, "holds no tokenizer"],
    ];
    for (const [args, wantedCode, message] of cases) {
      const { code, stdout, stderr } = bpe(["eval", ...args]);
      expect(stderr).toContain(message);
      expect(code).toBe(wantedCode);
      expect(stdout).toBe("");
    }
  });
});
