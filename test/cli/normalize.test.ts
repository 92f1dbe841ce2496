import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Tokenizer } from "tokenizers";
import { randomSource } from "../../bench/random.ts";
import * as normalForms from "../../src/text/normalization.ts";
import { binary, bpe, put, scratch, tokenizerFiles } from "../binary.ts";

const home = scratch();
const random = randomSource(26);
const words = [
  "Ｆｕｌｌ",
  "été",
  "e\u0301te\u0301",
  "ﬁn",
  "ＡΣ",
  "Straße",
  "각",
  "\u1100\u1161\u11a8",
  "İ",
  "x²",
  "THE",
  "the",
];
const made = (count: number) =>
  Array.from(
    { length: count },
    () => words[random.below(words.length)]! + "aEiou"[random.below(5)] + " .,\n"[random.below(4)],
  ).join("");
const text = `${made(2000)}<|end|>\u0301${made(1000)}\r\n`;
const corpus = put(home, "corpus.txt", text);
const all = "NFKC,lowercase";
const plainer = text
  .split("<|end|>")
  .map((part) => normalForms.normalize(part, all))
  .join("<|end|>");
put(home, "normalized.txt", plainer);

const run = (...args: string[]) => bpe(args, { cwd: home });
const train = (output: string, ...args: string[]) =>
  run("train", ...(args.includes("-n") ? [] : ["-n", "330"]), "-o", output, ...args);
const file = (name: string) => readFileSync(join(home, name), "utf8");
const mergesIn = (output: string) => JSON.parse(file(join(output, "tokenizer.json"))).model.merges;
const specials = ["-s", "<|end|>"];

describe("train --normalize", () => {
  for (const compat of ["cs336", "huggingface", "rustbpe"]) {
    test(`${compat}: learns what a plain training learns of the normalized text, with any number of threads`, () => {
      expect(train("plain", "normalized.txt", ...specials, "--compat", compat).code).toBe(0);
      for (const workers of ["1", "2", "7"]) {
        const args = [corpus, ...specials, "--compat", compat, "--normalize", all, "-w", workers];
        expect(train("made", ...args).code).toBe(0);
        expect(mergesIn("made")).toEqual(mergesIn("plain"));
      }
    });
  }

  test("only tokenizer.json contains it, and encoding gives the ids of HF", async () => {
    const { stderr } = train(
      "made",
      corpus,
      ...specials,
      "--normalize",
      all,
      "--model-card",
      "--summary",
      "full",
    );
    expect(stderr).toContain("files of other formats are not written");
    expect(stderr).toContain("normal form NFKC,lowercase");
    expect(readdirSync(join(home, "made")).sort()).toEqual([
      ...["README.md", "special_tokens_map.json", "tokenizer.json", "tokenizer_config.json"],
      ...["tokens.tsv", "training.json"],
    ]);
    expect(file("made/README.md")).toContain("**Normal form of text**: NFKC, then lowercase.");
    expect(file("made/README.md")).toContain("decodes to its normal form");
    const json = file("made/tokenizer.json");
    expect(JSON.parse(json).normalizer).toEqual({
      type: "Sequence",
      normalizers: [{ type: "NFKC" }, { type: "Lowercase" }],
    });
    const wanted = await Tokenizer.fromString(json).encode(text);
    const got = run("encode", corpus, "--tokenizer", "made", "-w", "2", "-q")
      .stdout.trim()
      .split(" ")
      .map(Number);
    expect(got).toEqual(Array.from(wanted.getIds()));
    expect(JSON.parse(run("inspect", "made", "--json").stdout).normalForm).toBe(all);
  });

  test("a single step is not written as a sequence", () => {
    expect(train("one", corpus, "--normalize", "nfd").code).toBe(0);
    expect(JSON.parse(file("one/tokenizer.json")).normalizer).toEqual({ type: "NFD" });
  });

  test("impossible steps are refused before anything is read", () => {
    for (const [args, message] of [
      [["--normalize", "NFX"], '--normalize: unknown step "NFX"'],
      [["--normalize", ""], '--normalize: unknown step ""'],
      [["--normalize", "NFC,,lowercase"], '--normalize: unknown step ""'],
      [["--normalize", "NFC", "--format", "huggingface,gpt2"], "--format gpt2 cannot store a normalizer"],
      [["--normalize", "NFC", "--format", "tiktoken"], "--format tiktoken cannot store a normalizer"],
    ] as const) {
      const { code, stderr } = train("refused", "absent.txt", ...args);
      expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
    }
  });

  test("an image has the normalizer of the files that it is made of", () => {
    for (const formats of ["huggingface,image", "image"]) {
      expect(train("imaged", corpus, "--normalize", all, "--format", formats).code).toBe(0);
      expect(readdirSync(join(home, "imaged"))).toContain("tokenizer.json");
      const encoded = (path: string) => run("encode", corpus, "--tokenizer", path, "-q").stdout;
      expect(encoded("imaged/tokenizer.image")).toBe(encoded("imaged/tokenizer.json"));
    }
  });

  test("superwords and extensions cut the normalized text", () => {
    const superwords = ["-n", "345", "--superwords-from", "320"];
    expect(train("plain", "normalized.txt", ...superwords).code).toBe(0);
    expect(train("made", corpus, "--normalize", all, ...superwords).code).toBe(0);
    expect(run("encode", corpus, "--tokenizer", "made", "-q").stdout.length).toBeGreaterThan(0);

    expect(train("base", corpus, ...specials, "--normalize", all).code).toBe(0);
    expect(train("plain", "normalized.txt", ...specials).code).toBe(0);
    const more = ["-n", "+20", "--extend"];
    expect(
      train("further", corpus, ...more, "base", "--cache", "kept", "--save-counts", "x.counts").code,
    ).toBe(0);
    expect(train("plain-further", "normalized.txt", ...more, "plain").code).toBe(0);
    expect(mergesIn("further")).toEqual(mergesIn("plain-further"));
    expect(JSON.parse(file("further/tokenizer.json")).normalizer.type).toBe("Sequence");
    expect(train("again", "--counts", "x.counts", ...more, "base").code).toBe(0);
    expect(mergesIn("again")).toEqual(mergesIn("further"));
  });
});

describe("counts of normalized text", () => {
  test("record the normal form, and are added only to counts of the same form", () => {
    expect(run("count", corpus, "--normalize", all, ...specials, "-o", "a.counts").code).toBe(0);
    expect(run("count", corpus, "--normalize", all, ...specials, "-o", "a.tsv").code).toBe(0);
    expect(run("count", "normalized.txt", ...specials, "-o", "b.tsv").code).toBe(0);
    const rows = (name: string) => file(name).split("\n").slice(1);
    expect(rows("a.tsv")).toEqual(rows("b.tsv"));
    expect(file("a.tsv").split("\n")[0]).toContain('"normalization":"NFKC,lowercase"');
    expect(train("made", corpus, "--normalize", all, ...specials).code).toBe(0);
    for (const counts of ["a.counts", "a.tsv"]) {
      // The file of word counts states the normalization, so no option is needed.
      expect(train("counted", "--counts", counts).code).toBe(0);
      const { files: _, ...wanted } = tokenizerFiles(join(home, "made"));
      const { files: __, ...got } = tokenizerFiles(join(home, "counted"));
      expect(got).toEqual(wanted);
    }
    for (const [counts, args, differs] of [
      ["a.counts", ["--normalize", "NFC"], "NFKC,lowercase, but this run has NFC"],
      ["b.tsv", ["--normalize", "NFC"], "none, but this run has NFC"],
    ] as const) {
      const { code, stderr } = train("refused", "--counts", counts, ...specials, ...args);
      expect([code, stderr]).toEqual([1, expect.stringContaining(`the normalizer ${differs}`)]);
    }
    const { stderr } = run("count", "--counts", "a.counts", "--counts", "b.tsv");
    expect(stderr).toContain("the normalizer");
  });

  test("a cache stores the words of each normal form separately", () => {
    const nightly = (form: string | undefined, ...args: string[]) => {
      const normal = form === undefined ? [] : ["--normalize", form];
      expect(train("nightly", corpus, ...normal, "--cache", "cache", ...args).code).toBe(0);
      const cached = mergesIn("nightly");
      expect(train("afresh", corpus, ...normal).code).toBe(0);
      expect(cached).toEqual(mergesIn("afresh"));
    };
    for (let night = 0; night < 2; night++)
      for (const form of [undefined, "NFC", all, "NFD", "lowercase,NFKC"]) nightly(form);
    const entries = readdirSync(join(home, "cache")).filter((name) => name.endsWith(".words"));
    expect(entries).toHaveLength(5);
    const again = ["--cache", "cache", "--if-changed", "--normalize", "NFC"];
    expect(train("nightly", corpus, ...again).stderr).not.toContain("unchanged");
    expect(train("nightly", corpus, ...again).stderr).toContain("unchanged");
  });
});

test("each record and each pipe is normalized separately", () => {
  const lines = text.split("\n").filter((line) => line !== "");
  put(home, "lines.jsonl", lines.map((line) => `${JSON.stringify({ text: line })}\n`).join(""));
  put(
    home,
    "plain.jsonl",
    lines.map((line) => `${JSON.stringify({ text: normalForms.normalize(line, all) })}\n`).join(""),
  );
  expect(train("plain", "plain.jsonl").code).toBe(0);
  expect(train("made", "lines.jsonl", "--normalize", all, "-w", "2").code).toBe(0);
  expect(mergesIn("made")).toEqual(mergesIn("plain"));
  expect(train("plain", corpus, "--normalize", all).code).toBe(0);
  const command = `cat corpus.txt | ${binary} train - -n 330 -o made -q --normalize ${all}`;
  expect(Bun.spawnSync(["sh", "-c", command], { cwd: home }).exitCode).toBe(0);
  expect(mergesIn("made")).toEqual(mergesIn("plain"));
});
