import { describe, expect, test } from "bun:test";
import { copyFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bpe, mergesOf, put, scratch, tokenizerFiles } from "../binary.ts";

const home = scratch();
const words = "low lower lowest new newer newest wide wider widest of the other and another ";
const corpus = put(home, "corpus.txt", `${words.repeat(30)}aaaa aaaaaaa<|end|>één été\n`.repeat(3));

function train(name: string, ...options: string[]) {
  const output = join(home, name);
  const { code, stderr } = bpe(["train", corpus, "-o", output, "-w", "1", ...options]);
  return { code, stderr, output };
}

const recordIn = (directory: string) => JSON.parse(readFileSync(join(directory, "training.json"), "utf8"));

/** The files that hold the vocabulary: the ledger counts from where its run began. */
function vocabularyFiles(directory: string): Record<string, string> {
  const { "tokens.tsv": _, ...files } = tokenizerFiles(directory);
  return files;
}

describe("an own tokenizer, on its own corpus", () => {
  test("becomes what one longer run gives, byte for byte, by every rule", () => {
    for (const compat of ["cs336", "huggingface", "rustbpe"]) {
      // Under HF's rule special tokens have the first ids, and a merge may spell one.
      const special = compat === "huggingface" ? ["-s", "<|end|>", "-s", "Ġlo", "-s", "we"] : [];
      for (const shorter of ["256", "270", "290"]) {
        const least = String(Number(shorter) + special.length / 2);
        const short = train("short", "-n", least, "--compat", compat, ...special).output;
        const long = train("long", "-n", "330", "--compat", compat, ...special).output;
        const { code, stderr, output } = train("extended", "--extend", short, "-n", "330", ...special);
        expect({ code, stderr }).toMatchObject({ code: 0 });
        expect(vocabularyFiles(output)).toEqual(vocabularyFiles(long));
        expect(recordIn(output).options.compat).toBe(compat);
      }
    }
  });

  test("with special tokens behind the merges, they keep their ids, and all kinds of file say so", () => {
    const base = train("base", "-n", "280", "-s", "<|end|>").output;
    const longer = train("longer", "-n", "300", "-s", "<|end|>").output;
    const { output, stderr } = train("extended", "--extend", base, "-n", "+20", "-s", "<|end|>");
    expect(stderr).toContain("ids 280 to 299");
    expect(mergesOf(output).slice(0, 43)).toEqual(mergesOf(longer));
    const text = put(home, "text.txt", "the lowest<|end|>wide été other");
    const encode = (path: string) => bpe(["encode", text, "--tokenizer", join(output, path), "-q"]).stdout;
    const ids = encode("tokenizer.json");
    expect(ids.split(" ")).toContain("279");
    expect(encode("vocab.json")).toBe(ids);
    expect(encode("tokenizer.tiktoken")).toBe(ids);
    expect(recordIn(output)).toMatchObject({
      base: { vocabSize: 280, path: base },
      options: {
        vocabSize: 300,
        newTokens: 20,
        specialTokens: ["<|end|>"],
        specialIds: [279],
        documentsEndAt: ["<|end|>"],
      },
    });
    const { files } = recordIn(output).base;
    expect(files.map(({ path }: { path: string }) => path)).toContain(join(base, "tokenizer.json"));
    expect(files[0].sha256).toMatch(/^[0-9a-f]{64}$/);
    // And once more, from what was extended.
    expect(train("more", "--extend", output, "-n", "+5").code).toBe(0);
    expect(train("again", "--extend", base, "-n", "305", "-s", "<|end|>").code).toBe(0);
  });
});

describe("what is written", () => {
  const base = train("kinds", "-n", "270").output;

  test("is the kind of file that was named, and stays as it was but for the new rows", () => {
    const json = join(base, "tokenizer.json");
    const { output } = train("one-kind", "--extend", json, "-n", "+4");
    expect(Object.keys(tokenizerFiles(output))).toEqual(["tokenizer.json"]);
    const [before, after] = [json, join(output, "tokenizer.json")].map((path) => readFileSync(path, "utf8"));
    expect(after!.startsWith(before!.slice(0, before!.indexOf('"merges"') - 100))).toBe(true);
    const pair = train("pair", "--extend", join(base, "vocab.json"), "-n", "+4").output;
    expect(Object.keys(tokenizerFiles(pair))).toEqual(["merges.txt", "vocab.json"]);
    const merges = readFileSync(join(base, "merges.txt"), "utf8");
    expect(readFileSync(join(pair, "merges.txt"), "utf8").startsWith(merges)).toBe(true);
    const ranks = train("ranks", "--extend", join(base, "tokenizer.tiktoken"), "-n", "+4").output;
    expect(Object.keys(tokenizerFiles(ranks))).toEqual(["tokenizer.tiktoken"]);
    for (const path of [pair, ranks]) expect(encodings(path)).toBe(encodings(output));
  });

  test("has the base's layout: compact, escaped, merges as strings", () => {
    const parsed = JSON.parse(readFileSync(join(base, "tokenizer.json"), "utf8"));
    parsed.model.merges = parsed.model.merges.map((pair: string[]) => pair.join(" "));
    const escaped = JSON.stringify(parsed).replace(
      /[\u007f-\uffff]/g,
      (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`,
    );
    const path = put(home, "tokenizer.json", escaped);
    const { output } = train("layout", "--extend", path, "-n", "+4", "--compat", "cs336");
    const written = readFileSync(join(output, "tokenizer.json"), "utf8");
    const { vocab, merges } = JSON.parse(written).model;
    expect(merges.length).toBe(18);
    expect(Object.keys(vocab).length).toBe(274);
    expect(/^[\x00-\x7f]*$/.test(written)).toBe(true);
    expect(written.length - JSON.stringify(JSON.parse(escaped)).length).toBeLessThan(20_000);
    expect(encodings(output)).toBe(encodings(train("one-kind", "--extend", base, "-n", "+4").output));
  });

  test("what transformers reads beside the vocabulary goes along", () => {
    writeFileSync(join(base, "chat_template.jinja"), "{{ messages }}");
    const { output } = train("beside", "--extend", base, "-n", "+4");
    expect(tokenizerFiles(output)["chat_template.jinja"]).toBe("{{ messages }}");
    rmSync(join(base, "chat_template.jinja"));
  });
});

const encodings = (path: string) => bpe(["encode", corpus, "--tokenizer", path, "-q"]).stdout;

describe("what is refused", () => {
  const base = train("refusing", "-n", "270", "-s", "<|end|>").output;
  const refusal = (...options: string[]) => {
    const { code, stderr } = train("refused", "--extend", base, ...options);
    return { code, stderr };
  };

  test("options that the base decides, and sizes that are none", () => {
    for (const [options, message] of [
      [["-n", "+4", "--format", "gpt2"], "--format does not go with --extend"],
      [["-n", "+4", "--pad-to", "8"], "--pad-to does not go with --extend"],
      [["-n", "+4", "-p", "cl100k"], "--pattern is in tokenizer.json itself"],
      [["-n", "270"], "--vocab-size 270 is not more than the base has: 270"],
      [["-n", "+0"], "--vocab-size: 0 is too small"],
      [["-n", "+4,+8"], "--extend makes one size at a time"],
    ] as const) {
      expect(refusal(...options)).toMatchObject({ code: 2, stderr: expect.stringContaining(message) });
    }
    const { code, stderr } = train("refused", "-n", "300", "--compat", "extension");
    expect({ code, stderr }).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--compat extension is a rule for --extend"),
    });
  });

  test("a base that is not there, and one whose kinds of file are of different tokenizers", () => {
    const missing = train("refused", "--extend", join(home, "nothing"), "-n", "+4");
    expect(missing).toMatchObject({ code: 1, stderr: expect.stringContaining("no such file or directory") });
    const other = train("other", "-n", "275", "-s", "<|end|>").output;
    copyFileSync(join(other, "merges.txt"), join(base, "merges.txt"));
    copyFileSync(join(other, "vocab.json"), join(base, "vocab.json"));
    expect(refusal("-n", "+4")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("are not of one tokenizer"),
    });
  });
});

test("word counts, which do not say that text was normalized, are refused with a base that does so", () => {
  const base = train("normalizing", "-n", "270").output;
  const json = JSON.parse(readFileSync(join(base, "tokenizer.json"), "utf8"));
  const path = put(home, "tokenizer.json", JSON.stringify({ ...json, normalizer: { type: "NFC" } }));
  for (const option of ["--cache", "--save-counts"]) {
    const { code, stderr } = train("refused", "--extend", path, "-n", "+4", option, join(home, "some"));
    expect(code).toBe(2);
    expect(stderr).toContain(`${option} does not go with this --extend`);
  }
  expect(train("normalized", "--extend", path, "-n", "+4").code).toBe(0);
});

test("a corpus that gives no more ends the training early, and the summary says so", () => {
  const base = train("early", "-n", "270").output;
  const { code, stderr } = train("early-more", "--extend", base, "-n", "+5000");
  expect(code).toBe(0);
  expect(stderr).toContain("stopped early: the corpus gives no more of 5,000");
});

test("word counts stand for the corpus, and the cache for what is known", () => {
  const base = train("counted", "-n", "270").output;
  const counts = join(home, "words.counts");
  const fresh = train("fresh", "--extend", base, "-n", "+20", "--save-counts", counts).output;
  const output = join(home, "from-counts");
  expect(bpe(["train", "--counts", counts, "--extend", base, "-n", "+20", "-o", output]).code).toBe(0);
  expect(vocabularyFiles(output)).toEqual(vocabularyFiles(fresh));
  for (const name of ["first", "second"]) {
    const cached = train(name, "--extend", base, "-n", "+20", "--cache", join(home, "cache")).output;
    expect(vocabularyFiles(cached)).toEqual(vocabularyFiles(fresh));
  }
});
