import { describe, expect, test } from "bun:test";
import { mkdirSync, renameSync, symlinkSync } from "node:fs";
import { basename, join } from "node:path";
import type { Evaluation } from "../../src/evaluation/evaluation.ts";
import { binary, bpe, environment, put, scratch } from "../binary.ts";
import { rowsOf } from "../rows.ts";
import { writeTokenizer } from "../unit/tokenizer/made-tokenizer.ts";

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
  const linesOf = (...args: readonly string[]) => {
    const { code, stdout, stderr } = bpe(["eval", ...args, "-q"]);
    expect(stderr).toBe("");
    expect(code).toBe(0);
    return stdout.split("\n").slice(0, -1);
  };
  const two = [...named, "--text", `en=${english}`, `el=${greek}`];

  test("one table: bytes per token of each tokenizer and text, the best marked", () => {
    const sizes = join(scratch(), "sizes");
    expect(bpe(["train", english, "-n", "260,270", "-o", sizes, "-q"]).code).toBe(0);
    const two = [sizes, "--text", `en=${english}`, `el=${greek}`];
    const { tokenizers: results } = evaluateJson(two);
    const rows = results.map(({ texts, overall }) =>
      [...texts, overall].map(({ bytesPerToken }) => bytesPerToken!.toFixed(3)),
    );
    const lines = linesOf(...two);
    expect(lines[0]).toBe("bytes per token: bytes divided by tokens. Higher is better; * marks the best.");
    expect(lines[1]!.trim().split(/ +/)).toEqual(["en", "el", "(all)"]);
    expect(lines.slice(2).map((line) => line.replaceAll("*", "").split(/ +/))).toEqual([
      ["sizes/260", ...rows[0]!],
      ["sizes/270", ...rows[1]!],
    ]);
    // Neither tokenizer learned Greek, so they are equal on it.
    expect(lines[2]).not.toContain("*");
    expect(lines[3]!.split(/ +/).map((cell) => cell.endsWith("*"))).toEqual([false, true, false, true]);
  });

  test("--measure prints a table for each name, in their order", () => {
    const headsOf = (...args: string[]) =>
      linesOf(...two, ...args)
        .join("\n")
        .split("\n\n")
        .map((table) => table.split(":")[0]);
    expect(headsOf("--measure", "fertility, tokens,fertility")).toEqual(["fertility", "tokens"]);
    expect(headsOf("--measure", "parity,texts")).toEqual([
      "texts",
      "parity, Gini coefficient",
      "parity, cost ratio",
      "parity, cheapest text",
      "parity, costliest text",
    ]);
    expect(headsOf("--numbers").length).toBe(1 + 6);
    // A measure of numbers turns on the measuring of numbers, as `--numbers` does.
    expect(headsOf("--measure", "digit_alignment")).toEqual(["digit alignment"]);
  });

  test("--measure all is one table: of several texts all of them together, with parity and vocabulary", () => {
    const { tokenizers: results, texts } = evaluateJson(two);
    const lines = linesOf(...two, "--measure", "all");
    const sum = (field: "characters" | "words") => texts[0]![field] + texts[1]![field];
    expect(lines.slice(0, 2).join(" ")).toBe(
      `all texts together: 1.1 kB, ${sum("characters")} characters, ${sum("words")} words. --measure NAME prints each text.`,
    );
    const headAt = lines.findIndex((line) => line.trim().startsWith("better "));
    expect(lines[headAt]!.trim().split(/ +/)).toEqual(["better", "gpt2", "cl100k"]);
    const rows = lines.slice(headAt + 1);
    expect(rows).toHaveLength(14 + 3 * 2 + 3);
    const cellsOf = (name: string) =>
      rows
        .find((line) => line.startsWith(`${name}  `))!
        .slice(name.length)
        .replaceAll("*", "")
        .trim()
        .split(/ +/);
    const [a, b] = results;
    expect(cellsOf("tokens")).toEqual(["lower", String(a.overall.tokens), String(b.overall.tokens)]);
    const shares = [a, b].map(({ parity }) => parity!.giniBytes.toFixed(4));
    expect(cellsOf("Gini coefficient per byte")).toEqual(["lower", ...shares]);
    expect(cellsOf("vocabulary, tokens")).toEqual(["-", ...[a, b].map((of) => String(of.vocabularySize))]);
    // The texts contain no numbers, so only the two counts of numbers have a value: 0.
    expect(linesOf(...two, "--measure", "all", "--numbers")).toHaveLength(lines.length + 2);
    // For one tokenizer, texts are columns. Measures of the tokenizer itself, such as its vocabulary, are in the column
    // of all texts.
    const ofOne = linesOf(named[0]!, ...two.slice(2), "--measure", "all");
    expect(ofOne[1]!.trim().split(/ +/)).toEqual(["better", "en", "el", "(all)"]);
    expect(ofOne.at(-3)).toMatch(/^vocabulary, tokens +- +- +- +\d+$/);
    // With one text, measures that compare texts are left out. With many tokenizers, measures are columns headed by
    // numbers, which a legend explains.
    const ofText = linesOf(...named, "--text", english, "--measure", "all");
    expect([ofText.length, ofText.some((line) => line.startsWith("Gini"))]).toEqual([2 + 14 + 3, false]);
    const many = Array.from({ length: 9 }, (_, n) => `tokenizer-${n}=${tokenizers.gpt2}`);
    const wide = linesOf(...many, ...two.slice(2), "--measure", "all");
    expect(Math.max(...wide.map((line) => line.length))).toBeLessThanOrEqual(80);
    expect(wide.join("\n")).toContain("tokenizer-8");
  });

  test("the summary begins with the finding: the first tokenizer compared with the best of the others", () => {
    const firstLine = (...args: string[]) =>
      bpe(["eval", "--progress", "none", ...args]).stderr.split("\n")[0]!;
    const sizes = join(scratch(), "sizes");
    expect(bpe(["train", english, "-n", "260,270", "-o", sizes, "-q"]).code).toBe(0);
    const [small, large] = [join(sizes, "260"), join(sizes, "270")];
    const { tokenizers: found } = evaluateJson([small, large, "--text", english]);
    const [a, b] = found.map(({ overall }) => overall.tokens) as [number, number];
    expect(b).toBeLessThan(a);
    const shown = (percent: number) => `${percent.toFixed(percent < 9.95 ? 1 : 0)} %`;
    const name = basename(english).replace(".txt", "");
    const much = a / b >= 2 ? `${(a / b).toFixed(1)} times as many` : `${shown(100 * (a / b - 1))} more`;
    expect(firstLine(small, large, "--text", english)).toBe(
      `On ${name}, 260 (260 tokens) needs ${much} tokens ${a / b >= 2 ? "as" : "than"} 270 (267).`,
    );
    const three = [large, small, `x=${small}`, "--text", `en=${english}`, `el=${greek}`];
    expect(firstLine(...three)).toMatch(
      /^On en, 270 \(267 tokens\) needs [\d.]+ % fewer tokens than 260 \(260\); on el, .*\. Of the others, 260 needs the fewest tokens on average\.$/,
    );
    expect(firstLine(large, `x=${large}`, "--text", english)).toBe(
      `On ${name}, 270 and x need equally many tokens. Both have 267 tokens.`,
    );
    // Both tokenizers learned from this text, and the text is short.
    const cautions = bpe(["eval", "--progress", "none", small, large, "--text", english]).stderr;
    expect(cautions.split("\n").slice(1, 3)).toEqual([
      expect.stringMatching(/ has .*B: below 50 kB a single paragraph may decide the number\.$/),
      `${name} is among the inputs that 260 and 270 learned from: its number is too good.`,
    ]);
    const { texts } = evaluateJson([small, "--text", english, greek]);
    expect(texts.map(({ trainedBy }) => trainedBy)).toEqual([["260"], []]);
    expect(firstLine(large, "--text", greek)).toContain("a single paragraph may decide");
  });

  test("of one text, or one tokenizer, several measures are one table", () => {
    const numbers = put(directory, "numbers.txt", "1234 the\n");
    const measures = ["--measure", "numbers,digit_alignment,renyi_entropy_2"];
    const lines = linesOf(...named, "--text", numbers, ...measures);
    expect(lines.length).toBe(5);
    expect(lines[0]).toStartWith("numbers: 9 B, 9 characters, 2 words, 2 distinct");
    expect(lines[1]!.trim().split(/ +/)).toEqual(["better", "gpt2", "cl100k"]);
    expect(lines[2]).toMatch(/^numbers +- +1 +1$/);
    expect(lines[3]).toMatch(/^digit alignment +higher +[\d.]+\*? +[\d.]+\*?$/);
    const flat = linesOf(named[0]!, ...two.slice(2), "--measure", "fertility,tokens");
    expect(flat.length).toBe(4);
    expect(flat[1]!.trim().split(/ +/)).toEqual(["better", "en", "el", "(all)"]);
    expect(flat[3]).toMatch(/^tokens +lower( +\d+){3}$/);
  });

  test("all measures are one table, also of many tokenizers; the measures then have numbers", () => {
    const many = Array.from({ length: 8 }, (_, n) => `tokenizer-${n}=${tokenizers.gpt2}`);
    for (const texts of [[english], [`en=${english}`, `el=${greek}`]]) {
      const lines = linesOf(...many, "--text", ...texts, "--measure", "all");
      expect(lines.filter((line) => /^ +1( +\d)+$/.test(line))).toEqual([expect.stringMatching(/ 8$/)]);
      expect(lines.every((line) => line.length <= 80)).toBe(true);
      expect(lines.join(" ")).toContain("1 = tokens (lower), 2 = bytes per token (higher)");
    }
  });

  test("a table of several measures is never cut between tokenizers: if it does not fit, each measure has its own", () => {
    const many = Array.from({ length: 8 }, (_, n) => `tokenizer-${n}=${tokenizers.gpt2}`);
    const lines = linesOf(...many, "--text", english, "--measure", "tokens,fertility");
    expect(lines.length).toBe(2 * 10 + 1);
    expect(lines.filter((line) => line.startsWith("tokenizer-7 ")).length).toBe(2);
    const texts = Array.from({ length: 12 }, (_, n) => `text-${n}=${english}`);
    const split = linesOf(named[0]!, "--text", ...texts, "--measure", "tokens,fertility");
    expect(split.filter((line) => line.startsWith("tokens ")).length).toBeGreaterThan(1);
    for (const line of [...lines, ...split]) expect(line.length).toBeLessThanOrEqual(80);
  });

  test("a value that does not exist is a dash, and never the best", () => {
    const blank = put(directory, "blank.txt", "  \n");
    const lines = linesOf(
      ...named,
      "--text",
      `en=${english}`,
      `blank=${blank}`,
      "--measure",
      "fertility,parity",
    );
    expect(lines[2]).toMatch(/^gpt2 +[\d.]+\*? +- /);
    expect(lines[3]).toMatch(/^cl100k +[\d.]+\*? +- /);
    // The tables of parity have only dashes, because only one of the texts has words.
    expect(lines.filter((line) => /^gpt2( +-){4}$/.test(line)).length).toBe(4);
  });

  test("--words prints the given number of costliest words, for each text and tokenizer", () => {
    expect(linesOf(...two).join()).not.toContain("costliest");
    const { tokenizers: results } = evaluateJson(two);
    const counted = (lines: readonly string[]) =>
      lines
        .slice(lines.indexOf("") + 1)
        .filter((line) => / x /.test(line))
        .join(",")
        .split(" x ").length - 1;
    const most = (n: number) =>
      results
        .flatMap(({ texts }) => texts.map(({ costliestWords }) => Math.min(n, costliestWords.length)))
        .reduce((sum, count) => sum + count, 0);
    expect(counted(linesOf(...two, "--words", "1"))).toBe(most(1));
    const lines = linesOf(...two, "--words", "20");
    expect(counted(lines)).toBe(most(20));
    expect(most(20)).toBeGreaterThan(most(1));
    expect(lines.filter((line) => line.startsWith("costliest words of")).length).toBe(2);
    expect(lines.every((line) => line.length <= 80)).toBe(true);
  });

  test("names of texts and tokenizers stay on their line, and do nothing to the terminal", () => {
    const args = [
      `a\x1b[2J=${tokenizers.gpt2}`,
      "--text",
      `x\ny=${english}`,
      "--measure",
      "all",
      "--words",
      "2",
    ];
    const { stdout } = bpe(["eval", ...args, "-q"]);
    expect(stdout).not.toContain("\x1b");
    expect(stdout).toContain("a\\x1b[2J:");
    expect(stdout).toContain("costliest words of x\\x0ay: how often");
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

  test("arguments after --text are texts, those after --text=FILE are tokenizers", () => {
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
    const lines = linesOf(...args);
    expect(
      lines.filter((line) => line.trim().replaceAll(/ {2,}/g, "|") === "the|-x|hat|the cat").length,
    ).toBe(2);
    expect(evaluateJson([...named, "--text", english]).tokenizers[0]!.terms).toEqual([]);
  });

  test("--model: FLOPs per byte are FLOPs per token divided by bytes per token, also relative to the first tokenizer", () => {
    const model = ["--model", "d=64,layers=2", "--model", "tied=1"];
    const { model: shape, tokenizers: found } = evaluateJson([...two, ...model]);
    expect(shape).toMatchObject({ d: 64, layers: 2, tied: 1 });
    const [first, second] = found as [Evaluation["tokenizers"][0], Evaluation["tokenizers"][0]];
    for (const { modelCost, texts, overall, vocabularySize } of found) {
      expect(modelCost!.embeddingParameters).toBe(64 * vocabularySize);
      for (const { flopsPerByte, bytesPerToken } of [...texts, overall])
        expect(flopsPerByte! * bytesPerToken!).toBeCloseTo(modelCost!.flopsPerToken, 3);
    }
    expect([first.overall.relativeCost, ...first.texts.map((of) => of.relativeCost)]).toEqual([1, 1, 1]);
    expect(second.texts[1]!.relativeCost).toBe(
      second.texts[1]!.flopsPerByte! / first.texts[1]!.flopsPerByte!,
    );
    const heads = linesOf(...two, ...model).filter((_, i, lines) => i === 0 || lines[i - 1] === "");
    expect(heads.map((line) => line.split(":")[0])).toEqual([
      "bytes per token",
      "FLOPs per byte",
      "cost relative to the first",
      "model",
    ]);
    expect(linesOf(...two, ...model, "--measure", "model").at(-1)).toMatch(
      /^of these embedding and head( +[\d.]+ %){2}$/,
    );
    expect(linesOf(...two, ...model, "--measure", "all").at(-4)).toMatch(
      /^FLOPs per token +-( +[\d.]+ M){2}$/,
    );
    const csv = (...args: string[]) =>
      linesOf(...two, "--csv", ...args).map((line) => line.split(",").slice(-2));
    expect(csv(...model)[1]).toEqual([String(first.texts[0]!.flopsPerByte), "1"]);
    expect(csv().slice(0, 2)).toEqual([
      ["flops_per_byte", "relative_cost"],
      ["", ""],
    ]);
  });

  test("a directory of several sizes means all of them, the smallest first", () => {
    const sizes = scratch();
    mkdirSync(join(sizes, "run"));
    renameSync(writeTokenizer("gpt2"), join(sizes, "run", "16000"));
    renameSync(writeTokenizer("gpt2"), join(sizes, "run", "800"));
    const { tokenizers: found } = evaluateJson([join(sizes, "run"), "--text", english]);
    expect(found.map(({ name }) => name)).toEqual(["run/800", "run/16000"]);
  });

  test("wrong command lines and files are refused, each with the reason", () => {
    for (const [name, path] of Object.entries(tokenizers)) symlinkSync(path, join(directory, name));
    put(directory, "empty.txt", "");
    put(directory, "long.txt", `a\n${"x".repeat(1024)}\n${"x".repeat(1025)}`);
    put(directory, "none.txt", "\n\n");
    put(directory, "latin1.txt", Buffer.from([0xe9]));
    const cases = rowsOf(`
      a=gpt2 a=cl100k --text T | 2 | two tokenizers are called "a"
      gpt2 gpt2 --text T | 2 | two tokenizers are called
      =gpt2 --text T | 2 | has no name
      gpt2 --text en= | 2 | has no path
      gpt2 --text - x=- | 2 | standard input (-) is named more than once
      gpt2 --text empty.txt | 1 | the corpus is empty
      gpt2 --text T --term= | 2 | --term is empty
      gpt2 --text T --model d=4 | 2 | --model: layers is missing
      gpt2 --text T --model english.txt | 1 | --model "english.txt": it is not a config.json
      gpt2 --text T --measure model | 2 | --measure model needs --model
      gpt2 --text T --term ${"é".repeat(513)} | 2 | --term: the term has 1,026 bytes, but must have at most 1,024
      gpt2 --text T --terms long.txt | 1 | long.txt": the term has 1,025 bytes, but must have at most 1,024
      gpt2 --text T --measure fertilty | 2 | did you mean fertility? (one of: tokens,
      gpt2 --text T --measure= | 2 | --measure: unknown value ""
      gpt2 --text T --measure parity | 2 | only one text is given
      gpt2 --text T --measure all --csv | 2 | the CSV always has every measure
      gpt2 --text T --words 3 --json | 2 | the JSON has everything
      gpt2 --text T --words 0 | 2 | --words is 0, but must be at least 1
      gpt2 --text T --words 21 | 2 | --words is 21, but must be at most 20
      gpt2 --text T --terms none.txt | 1 | has no term
      gpt2 --text T --terms latin1.txt | 1 | is not valid UTF-8
    `);
    for (const [typed, wantedCode, message] of cases) {
      const args = typed!.split(" ").map((word) => (word === "T" ? "english.txt" : word));
      const { code, stdout, stderr } = bpe(["eval", ...args], { cwd: directory });
      expect(stderr).toContain(message!);
      expect([typed, code, stdout]).toEqual([typed, Number(wantedCode), ""]);
    }
  });
});
