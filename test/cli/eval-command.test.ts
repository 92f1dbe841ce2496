import { describe, expect, test } from "bun:test";
import { mkdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import type { Evaluation } from "../../src/evaluation/evaluation.ts";
import { binary, bpe, environment, put, scratch } from "../binary.ts";
import { writeTokenizer } from "../tokenizer/made-tokenizer.ts";

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
  test("columns that do not fit go into a table below", () => {
    const many = Array.from({ length: 9 }, (_, n) => `a-long-name-${n}=${tokenizers.gpt2}`);
    const { code, stdout } = bpe(["eval", ...many, "--text", english, "-q"]);
    expect(code).toBe(0);
    const lines = stdout.split("\n");
    expect(lines.every((line) => line.length <= 80)).toBe(true);
    for (let n = 0; n < 9; n++) {
      const heads = lines.filter(
        (line) => line.includes(`a-long-name-${n}`) && !line.startsWith("costliest"),
      );
      // The measures of the text, and the vocabularies.
      expect(heads.length).toBe(2);
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

  test("terms are those typed and then those of a file, each once", () => {
    const file = put(directory, "terms.txt", "hat\r\nthe cat\n\nthe\n");
    const args = [...named, "--text", english, "--term", "the", "--term=-x", "--terms", file];
    for (const { terms } of evaluateJson(args).tokenizers) {
      expect(terms.map(({ term }) => term)).toEqual(["the", "-x", "hat", "the cat"]);
    }
    const lines = bpe(["eval", ...args, "-q"]).stdout.split("\n");
    expect(lines.filter((line) => /^the cat(, behind a space)? +\d+ +\d+$/.test(line)).length).toBe(2);
    expect(evaluateJson([...named, "--text", english]).tokenizers[0]!.terms).toEqual([]);
  });

  test("rows without any value are left out", () => {
    const numbers = put(directory, "numbers.txt", "1234 the\n");
    const rowsOf = (text: string) => bpe(["eval", named[0]!, "--text", text, "--numbers", "-q"]).stdout;
    expect(rowsOf(english)).not.toContain("digit");
    expect(rowsOf(numbers)).toContain("tokens per digit group");
  });

  test("a directory of several sizes stands for all of them, the smallest first", () => {
    const sizes = scratch();
    mkdirSync(join(sizes, "run"));
    renameSync(writeTokenizer("gpt2"), join(sizes, "run", "16000"));
    renameSync(writeTokenizer("gpt2"), join(sizes, "run", "800"));
    const { tokenizers: found } = evaluateJson([join(sizes, "run"), "--text", english]);
    expect(found.map(({ name }) => name)).toEqual(["run/800", "run/16000"]);
  });

  test("wrong command lines and files are refused, each with what is wrong", () => {
    const cases: [args: string[], code: number, message: string][] = [
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
      [[named[0]!, "--text", join(directory, "nothing.txt")], 1, "nothing.txt"],
      [[named[0]!, "--text", put(directory, "empty.txt", "")], 1, "the corpus is empty"],
      [[directory, "--text", english], 1, "holds no tokenizer"],
      [[named[0]!, "--text", english, "--term", ""], 2, "--term is empty"],
      [[named[0]!, "--text", english, "--term", "x", "--csv"], 2, "--term does not go with --csv"],
      [[named[0]!, "--text", english, "--terms", english, "--csv"], 2, "--terms does not go with --csv"],
      [[named[0]!, "--text", english, "--terms", put(directory, "none.txt", "\n\n")], 1, "has no term"],
      [[named[0]!, "--text", english, "--terms", join(directory, "nowhere")], 1, "no such file"],
      [[named[0]!, "--text", english, "--terms", directory], 1, "is a directory"],
      [
        [named[0]!, "--text", english, "--terms", put(directory, "latin1.txt", Buffer.from([0xe9]))],
        1,
        "is not valid UTF-8",
      ],
    ];
    for (const [args, wantedCode, message] of cases) {
      const { code, stdout, stderr } = bpe(["eval", ...args]);
      expect(stderr).toContain(message);
      expect(code).toBe(wantedCode);
      expect(stdout).toBe("");
    }
  });
});
