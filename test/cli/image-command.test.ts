import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { loadTokenizerParts } from "../../src/formats/load-tokenizer.ts";
import { binary, bpe, environment, scratch } from "../binary.ts";
import { writeTokenizer } from "../tokenizer/made-tokenizer.ts";

const tokenizer = writeTokenizer("gpt2");
const home = scratch();
const image = (...args: string[]) => bpe(["image", "--progress", "none", ...args], { cwd: home });

test("an image goes to a file, or to standard output", () => {
  const { code, stderr } = image(tokenizer, "-o", "made.image");
  expect([code, stderr]).toEqual([0, expect.stringMatching(/^wrote an image of [\d.]+ kB\n$/)]);
  const made = readFileSync(join(home, "made.image"));
  expect(made.toString("latin1", 0, 8)).toBe("bpeimage");
  const { stdout } = Bun.spawnSync([binary, "image", tokenizer, "-q"], { env: environment });
  expect(stdout.equals(made)).toBe(true);
});

test("a file of the tokenizer is as good as its directory, wherever the image goes", () => {
  for (const path of ["a b/ü.image", "-x.image"]) {
    if (path.includes("/"))
      expect(image(tokenizer, "-o", path).stderr).toContain('there is no directory "a b"');
    const place = path.replace("/", " ");
    expect(image(join(tokenizer, "tokenizer.json"), `--output=${place}`).code).toBe(0);
    expect(readFileSync(join(home, place)).toString("latin1", 0, 8)).toBe("bpeimage");
  }
});

test("it says what the tokenizer is, for who uses it", async () => {
  expect(image(tokenizer, "-o", "facts.image").code).toBe(0);
  const bytes = readFileSync(join(home, "facts.image"));
  const [start, size] = [bytes.readUInt32LE(56), bytes.readUInt32LE(60)];
  const facts = JSON.parse(bytes.toString("utf8", start, start + size));
  const { tokens } = await loadTokenizerParts(tokenizer);
  expect(facts).toMatchObject({ idLimit: tokens.idLimit, tokenCount: tokens.tokenCount });
  expect(facts.specialTokens["<|endoftext|>"]).toBeNumber();
  expect(facts.madeOf["tokenizer.json"]).toMatch(/^[0-9a-f]{64}$/);
});

test("what is missing or cannot be is said, and nothing is written", () => {
  const refused = (...args: string[]) => {
    const { code, stderr } = image(...args);
    return [code, stderr.split("\n").find((line) => line.startsWith("bpe: error"))];
  };
  expect(refused()).toEqual([2, "bpe: error: <tokenizer> is missing"]);
  expect(refused("nothing", "-o", "none.image")).toEqual([
    1,
    'bpe: error: "nothing": no such file or directory',
  ]);
  expect(refused(tokenizer, tokenizer)).toEqual([
    2,
    `bpe: error: image takes <tokenizer>; "${tokenizer}" is one too many`,
  ]);
  expect(refused(tokenizer, "-o", tokenizer)[1]).toContain("would replace");
  expect(existsSync(join(home, "none.image"))).toBe(false);
});
