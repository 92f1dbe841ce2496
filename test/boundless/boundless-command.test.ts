import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Tokenizer } from "../../src/pipeline/tokenizer.ts";
import { trainTokenizer } from "../../src/pipeline/train-tokenizer.ts";
import { bpe, put, scratch } from "../binary.ts";
import { Random } from "../pattern/naive.ts";

const directory = scratch();
const random = new Random(20261122);
const words = [
  "of",
  " the",
  " king",
  " very",
  ",",
  ".",
  "\nThe",
  " I",
  " 12",
  " don't",
  "中国",
  "か",
  "。",
  "<|e|>",
];
const text = Array.from({ length: 300_000 }, () => random.pick(words)).join("");
const corpus = put(directory, "corpus.txt", text);
const records = put(
  directory,
  "corpus.jsonl",
  text
    .split("<|e|>")
    .map((record) => `${JSON.stringify({ text: record })}\n`)
    .join(""),
);

const run = (...args: string[]) => bpe(args, { cwd: directory });
const train = (...args: string[]) =>
  run("train", "--progress", "none", "--superwords", "boundless", "-n", "330", "-s", "<|e|>", ...args);
const operationsIn = (name: string) => readFileSync(join(directory, name, "operations.txt"), "utf8");

describe("bpe train --superwords boundless", () => {
  test("writes operations and a record, and says who can read them", () => {
    const { code, stderr } = train(corpus, "-o", "one", "-w", "1");
    expect(code).toBe(0);
    expect(stderr).toContain(
      "supermerges, for bpe encode and the library: tokenizer.json and the like cannot hold them",
    );
    expect(readdirSync(join(directory, "one")).sort()).toEqual([
      "operations.txt",
      "tokens.tsv",
      "training.json",
    ]);
    const record = JSON.parse(readFileSync(join(directory, "one", "training.json"), "utf8"));
    expect([record.options.supermerges, record.options.pattern.name]).toEqual([true, "boundless"]);
    const [head, ...lines] = operationsIn("one").split("\n");
    expect(head).toBe(
      '#bpe-boundless\t{"version":1,"operationCount":73,"specialTokens":["<|e|>"],"reservedCount":0}',
    );
    expect(lines.filter((line) => line.startsWith("S\t")).length).toBeGreaterThan(5);
    expect(lines.filter((line) => /^[WS]\t\d+\t\S+ \S+$/.test(line)).length).toBe(73);
  });

  test("makes the same of 2 and 7 workers, of records, and of a limit that sends words to disk", () => {
    for (const [name, ...args] of [
      ["two", corpus, "-w", "2"],
      ["seven", corpus, "-w", "7"],
      ["records", records, "-w", "2"],
      ["limited", corpus, "-w", "1", "--memory-limit", "200MB"],
      ["cached", corpus, "--cache", "words"],
      ["cached-again", corpus, "--cache", "words"],
    ] as const) {
      const { code, stderr } = train(...args, "-o", name);
      expect({ name, code, stderr: code === 0 ? "" : stderr }).toEqual({ name, code: 0, stderr: "" });
      expect(operationsIn(name) === operationsIn("one")).toBe(true);
    }
  });

  test("--if-changed knows that a result had no supermerges", () => {
    const nightly = ["--cache", "words", "--if-changed", "-n", "330", "-s", "<|e|>", "-o", "nightly", "-q"];
    expect(run("train", corpus, ...nightly).code).toBe(0);
    expect(train(corpus, "--cache", "words", "--if-changed", "-o", "nightly").stderr).not.toContain(
      "unchanged",
    );
    expect(train(corpus, "--cache", "words", "--if-changed", "-o", "nightly").stderr).toContain("unchanged");
  });

  test("refuses what does not go with it", () => {
    for (const [wanted, ...args] of [
      ["it has a pretokenizer of its own", "-p", "gpt2"],
      ["it has rules of its own", "--compat", "cs336"],
      ["word counts do not say what follows what", "--counts", "x.tsv"],
      ["its pretokens are those of no --pattern", "--save-counts", "x.tsv"],
      ["what transformers reads is not written", "--eos", "<|e|>"],
      ["what transformers reads is not written", "--model-card"],
      ["it is another form of superwords", "--superwords-from", "300"],
      ["--format huggingface: it has no place for supermerges", "--format", "huggingface"],
      ["--format gpt2: it has no place for supermerges", "--format", "boundless,gpt2"],
      ["--format tiktoken: it has no place for supermerges", "--format", "tiktoken"],
    ] as const) {
      const { code, stderr } = train(corpus, "-o", "refused", ...args);
      expect({ args, code }).toEqual({ args, code: 2 });
      expect(stderr).toContain(wanted);
      expect(stderr).toContain("hint: ");
    }
    const sizes = run("train", corpus, "-o", "refused", "--superwords", "boundless", "-n", "300,330");
    expect([sizes.code, sizes.stderr.includes("one run makes one size")]).toEqual([2, true]);
    const other = run("train", corpus, "-o", "refused", "-n", "330", "--format", "boundless");
    expect([other.code, other.stderr.includes("--format boundless is for supermerges")]).toEqual([2, true]);
    const unknown = run("train", corpus, "-o", "refused", "-n", "330", "--superwords", "endless");
    expect([unknown.code, unknown.stderr.includes("boundless")]).toEqual([2, true]);
    expect(readdirSync(directory)).not.toContain("refused");
  });

  test("does not read standard input twice", () => {
    const child = Bun.spawnSync(
      [
        join(import.meta.dir, "../../dist/bpe"),
        "train",
        "-",
        "--superwords",
        "boundless",
        "-n",
        "300",
        "-o",
        "piped",
      ],
      { cwd: directory, stdin: Buffer.from("of the of the") },
    );
    expect(child.exitCode).toBe(1);
    expect(child.stderr.toString()).toContain(
      "need the corpus twice, and standard input can be read only once",
    );
    expect(readdirSync(directory)).not.toContain("piped");
  });
});

describe("a tokenizer with supermerges", () => {
  test("encodes the same with 1, 2 and 7 workers as the library does, and decodes to the text", async () => {
    const tokenizer = await Tokenizer.load(join(directory, "one"));
    const wanted = tokenizer.encode(text);
    expect(Buffer.from(tokenizer.decode(wanted)).equals(Buffer.from(text))).toBe(true);
    for (const workers of ["1", "2", "7"]) {
      const { code } = run("encode", corpus, "--tokenizer", "one", "-w", workers, "-o", "ids.bin", "-q");
      expect(code).toBe(0);
      const ids = new Uint16Array(readFileSync(join(directory, "ids.bin")).buffer);
      expect(ids.length).toBe(wanted.length);
      expect(ids.every((id, i) => id === wanted[i])).toBe(true);
    }
    const supers = tokenizer.encode("of the king, of the");
    const shown = Array.from(supers, (id) => new TextDecoder().decode(tokenizer.tokenBytes(id)));
    expect(shown.some((token) => token.includes(" ", 1))).toBe(true);
    expect(shown.join("")).toBe("of the king, of the");
  });

  test("is what the library trains, with its special tokens", async () => {
    const options = { vocabSize: 330, specialTokens: ["<|e|>"], superwords: "boundless" } as const;
    const trained = await trainTokenizer({ files: corpus, ...options, workers: 1 });
    const loaded = await Tokenizer.load(join(directory, "one"));
    const sample = text.slice(0, 20_000);
    expect([...trained.encode(sample)]).toEqual([...loaded.encode(sample)]);
    expect(trained.specialTokens).toEqual(new Map([["<|e|>", 329]]));
    expect(trained.size).toBe(330);
    for (const [wanted, wrong] of [
      ["leave pattern out", { pattern: "gpt2" }],
      ["leave compat out", { compat: "cs336" }],
      ["leave model out", { model: { addsBos: true } }],
      ["leave superwordsFrom out", { superwordsFrom: 300 }],
      ["must be one of boundless", { superwords: "endless" as "boundless" }],
    ] as const) {
      await expect(trainTokenizer({ files: corpus, ...options, ...wrong })).rejects.toThrow(wanted);
    }
  });

  test("is inspected with the number of its supermerges", () => {
    const { code, stdout } = run("inspect", "one");
    expect(code).toBe(0);
    expect(stdout).toMatch(/\d+ merges, \d+ supermerges/);
    expect(run("encode", corpus, "--tokenizer", "one", "-p", "gpt2").stderr).toContain(
      "--pattern is in operations.txt itself",
    );
  });

  test("is refused where its file is damaged", async () => {
    const whole = operationsIn("one");
    const lines = whole.split("\n");
    const replaced = (line: number, by: string) => lines.with(line, by).join("\n");
    for (const [wanted, content] of [
      ["it says that it has 73 operations, and has 72", [...lines.slice(0, 73), lines[74], ""].join("\n")],
      ["it says that it has 73 operations, and has 72", whole.slice(0, -1)],
      ["line 4 is no operation", replaced(3, "X\t3\ta b")],
      ["line 4 is no operation", replaced(3, "W\t3\ta b c")],
      ['line 4 needs the token "zz"', replaced(3, "W\t3\tzz b")],
      ['is not "#bpe-boundless" and its settings', replaced(0, "#bpe-boundless\t{")],
      ["it is not as it was written", replaced(3, lines[3]!.replace(/\d+/, "1"))],
      ["it is not as it was written", lines.with(1, lines[2]!).with(2, lines[1]!).join("\n")],
      ["it is not as it was written", replaced(74, lines[74]!.slice(0, -1))],
      ["it is not as it was written", replaced(0, lines[0]!.replace("<|e|>", "<|f|>"))],
      ["it has version 2", replaced(0, lines[0]!.replace(":1", ":2"))],
      ['it has no "specialTokens"', replaced(0, '#bpe-boundless\t{"version":1,"operationCount":73}')],
    ] as const) {
      const path = put(directory, "operations.txt", content);
      await expect(Tokenizer.load(path)).rejects.toThrow(wanted);
    }
    expect((await Tokenizer.load(put(directory, "renamed.txt", whole))).size).toBe(330);
  });

  test("is refused wherever a bit of its file is another", async () => {
    const whole = Buffer.from(operationsIn("one"));
    for (let at = 0; at < whole.length; at++) {
      const damaged = Buffer.from(whole);
      damaged[at]! ^= 1 << (at % 8);
      await expect(Tokenizer.load(put(directory, "operations.txt", damaged))).rejects.toThrow(
        "operations.txt",
      );
    }
  });
});
