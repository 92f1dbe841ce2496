import { expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as tokenizerFiles from "../../src/formats/load-tokenizer.ts";
import { sha256Of } from "../../src/formats/output-file.ts";
import { binary, bpe, environment, scratch } from "../binary.ts";
import { writeTokenizer } from "../unit/tokenizer/made-tokenizer.ts";

const tokenizer = writeTokenizer("gpt2");
const home = scratch();
const image = (...args: string[]) => bpe(["image", "--progress", "none", ...args], { cwd: home });

test("an image goes to a file, or to standard output", () => {
  const { code, stderr } = image(tokenizer, "-o", "made.image");
  expect([code, stderr]).toEqual([0, expect.stringMatching(/^wrote an image of [\d.]+ [kM]B\n$/)]);
  const made = readFileSync(join(home, "made.image"));
  expect(made.toString("latin1", 0, 8)).toBe("bpeimage");
  const { stdout } = Bun.spawnSync([binary, "image", tokenizer, "-q"], { env: environment });
  expect(stdout.equals(made)).toBe(true);
});

test("a file of the tokenizer works like its directory", () => {
  expect(image(join(tokenizer, "tokenizer.json"), "--output=-x.image").code).toBe(0);
  expect(readFileSync(join(home, "-x.image")).toString("latin1", 0, 8)).toBe("bpeimage");
});

test("describes the tokenizer for the programs that load the image", async () => {
  expect(image(tokenizer, "-o", "facts.image").code).toBe(0);
  const bytes = readFileSync(join(home, "facts.image"));
  const [start, size] = [bytes.readUInt32LE(56), bytes.readUInt32LE(60)];
  const facts = JSON.parse(bytes.toString("utf8", start, start + size));
  const { tokens } = await tokenizerFiles.load(tokenizer);
  expect(facts).toMatchObject({ idLimit: tokens.idLimit, tokenCount: tokens.tokenCount });
  expect(facts.specialTokens["<|endoftext|>"]).toBeNumber();
  expect(facts.madeOf["tokenizer.json"]).toMatch(/^[0-9a-f]{64}$/);
});

test("bpe reads an image like the files, and refuses to change it", () => {
  expect(image(tokenizer, "-o", "read.image").code).toBe(0);
  writeFileSync(join(home, "text.txt"), "low lower<|endoftext|> 漢字 lowest\n".repeat(40));
  const answers = (path: string) =>
    [
      ["tokens", "text.txt", "--tokenizer", path, "--json"],
      ["encode", "text.txt", "--tokenizer", path, "-w", "2", "-o", "-", "--format", "txt"],
      ["explain", path, "low lowest<|endoftext|>"],
    ].map((args) => bpe([...args, "-q"], { cwd: home }).stdout.replaceAll(path, "PATH"));
  expect(answers("read.image")).toEqual(answers(tokenizer));
  const refused = (...args: string[]) => bpe(args, { cwd: home }).stderr;
  expect(refused("prune", "read.image", "--text", "text.txt", "-n", "300", "-o", "pruned")).toContain(
    'no tokens can be removed from "read.image": it is an image of a tokenizer',
  );
  expect(refused("train", "text.txt", "--extend", "read.image", "-n", "9999", "-o", "extended")).toContain(
    "it is an image of a tokenizer",
  );
  expect(refused("tokens", "text.txt", "--tokenizer", "read.image", "-p", "gpt2")).toContain(
    '"read.image" has its own pattern, so --pattern cannot be given',
  );
  const whole = readFileSync(join(home, "read.image"));
  writeFileSync(join(home, "cut.image"), whole.subarray(0, whole.length - 4));
  expect(refused("tokens", "text.txt", "--tokenizer", "cut.image")).toBe(
    'bpe: error: "cut.image" is a damaged tokenizer image\nhint: make it again with bpe image\n',
  );
});

test("missing or impossible arguments are reported, and nothing is written", () => {
  const refused = (...args: string[]) => {
    const { code, stderr } = image(...args);
    return [code, stderr.split("\n").find((line) => line.startsWith("bpe: error"))];
  };
  expect(refused(tokenizer, tokenizer)).toEqual([
    2,
    `bpe: error: bpe image takes <tokenizer>; "${tokenizer}" is one too many`,
  ]);
  expect(refused(tokenizer, "-o", tokenizer)[1]).toContain("would replace");
  expect(existsSync(join(home, "none.image"))).toBe(false);
});

const madeOf = (path: string) => {
  const bytes = readFileSync(path);
  const [start, size] = [bytes.readUInt32LE(56), bytes.readUInt32LE(60)];
  return JSON.parse(bytes.toString("utf8", start, start + size)).madeOf;
};

test("--format image puts an image of the files next to them, at each size", () => {
  writeFileSync(join(home, "corpus.txt"), "low lower lowest newest widest\n".repeat(50));
  const train = (...args: string[]) => {
    const given = ["train", "corpus.txt", "-w", "1", "-s", "<|end|>", "--no-ledger", "-q", "-o", "made"];
    const { code, stderr } = bpe([...given, ...args], { cwd: home });
    expect([code, stderr]).toEqual([0, ""]);
  };
  const usual = ["merges.txt", "special_tokens_map.json", "tokenizer.json", "tokenizer.tiktoken"];
  const all = [...usual, "tokenizer_config.json", "vocab.json"];
  // Each training replaces the whole result of the one before, also its images.
  for (const [args, directories, names] of [
    [
      ["-n", "262,266", "--format", "gpt2, image"],
      ["made/262", "made/266"],
      ["merges.txt", "vocab.json"],
    ],
    [["-n", "262", "--format", "image"], ["made"], all],
    [["-n", "262", "--format", "gpt2"], [], []],
  ] as const) {
    train(...args);
    for (const directory of directories) {
      const found = readdirSync(join(home, directory)).sort();
      expect(found).toEqual([...names, "tokenizer.image", "training.json"].sort());
      for (const [name, digest] of Object.entries(madeOf(join(home, directory, "tokenizer.image"))))
        expect([name, digest]).toEqual([
          name,
          found.includes(name) ? sha256Of([readFileSync(join(home, directory, name))]) : null,
        ]);
    }
  }
  expect(readdirSync(join(home, "made")).sort()).toEqual(["merges.txt", "training.json", "vocab.json"]);
  expect(
    bpe(["train", "corpus.txt", "-n", "262", "-o", "no", "--format", "images"], { cwd: home }).code,
  ).toBe(2);
});
