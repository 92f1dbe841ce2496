import { expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { saveTokenizer } from "../../../src/edit/save-tokenizer.ts";
import * as tokenizerFiles from "../../../src/formats/load-tokenizer.ts";
import * as compiledPatterns from "../../../src/pattern/pattern.ts";
import { digestOfParts } from "../../../src/tokenizer/parts-digest.ts";
import type { LoadOptions } from "../../../src/tokenizer/tokenizer-parts.ts";
import { bpe, put, scratch, tokenizerFiles as trainedFiles } from "../../binary.ts";

const home = scratch();
const corpus = put(home, "corpus.txt", "low lower lowest <|e|> new newer 你好 of the low ".repeat(40));
const made = (name: string, ...options: string[]) => {
  const path = join(home, name);
  expect(
    bpe(["train", corpus, "-w", "1", "-n", "300", "-s", "<|e|>", "-o", path, "-q", ...options]).code,
  ).toBe(0);
  return path;
};
const trained = made("trained");
const other = made("other", "-p", "o200k");

let undone = 0;
const save = async (path: string, output: string, options: LoadOptions = {}) =>
  saveTokenizer({
    path,
    fingerprint: digestOfParts(await tokenizerFiles.load(path, options)),
    output,
    guard: () => () => undone++,
  });

/** Makes a directory with only these files: copies, each given as its name and the path of the original. */
function foreign(name: string, ...files: readonly (readonly [string, string])[]): string {
  const path = join(home, name);
  mkdirSync(path);
  for (const [each, from] of files) writeFileSync(join(path, each), readFileSync(from));
  return path;
}

test("saves the trained tokenizer, and replaces only results", async () => {
  const output = join(home, "a", "b", "saved");
  for (const source of [trained, other, trained]) {
    await save(source, output);
    expect(trainedFiles(output)).toEqual(trainedFiles(source));
    const [ours, theirs] = [await tokenizerFiles.load(output), await tokenizerFiles.load(source)];
    expect(digestOfParts(ours)).toBe(digestOfParts(theirs));
  }
  const record = (path: string) => JSON.parse(readFileSync(join(path, "training.json"), "utf8"));
  expect(record(output)).toEqual(record(trained));
  expect(readdirSync(join(home, "a", "b"))).toEqual(["saved"]);
  await save(trained, trained);
  expect(undone).toBe(8);
});

test("files that others put there stay, and no link is followed", async () => {
  const theirs = foreign("theirs", ["tokenizer.json", corpus], ["notes", corpus]);
  symlinkSync(other, join(home, "link"));
  symlinkSync(join(home, "none"), join(home, "dangling"));
  const before = trainedFiles(other);
  for (const output of [theirs, join(home, "link"), join(home, "dangling"), corpus])
    await expect(save(trained, output)).rejects.toThrow(/is not replaced/);
  expect(readdirSync(theirs).sort()).toEqual(["notes", "tokenizer.json"]);
  expect(trainedFiles(other)).toEqual(before);
  expect(readdirSync(home).filter((name) => name.startsWith("."))).toEqual([]);
});

test("a tokenizer from elsewhere is saved under the names by which a directory is loaded", async () => {
  const [json, config] = [join(trained, "tokenizer.json"), join(trained, "tokenizer_config.json")];
  const source = foreign(
    "model",
    ["tokenizer.json", json],
    ["tokenizer_config.json", config],
    ["weights", corpus],
  );
  const output = join(home, "of-model");
  await save(source, output);
  expect(readdirSync(output).sort()).toEqual(["tokenizer.json", "tokenizer_config.json"]);
  const single = foreign("single", ["mine.json", json]);
  await save(join(single, "mine.json"), join(home, "of-file"));
  expect(readdirSync(join(home, "of-file"))).toEqual(["tokenizer.json"]);
});

test("a part of a tokenizer is refused, and no files are left", async () => {
  const before = readdirSync(home).sort();
  const output = join(home, "part");
  const specialTokens = [{ text: "<|x|>", id: 300 }];
  for (const [path, options] of [
    // The saved files would lack the pattern or the special tokens.
    [join(other, "vocab.json"), {}],
    [join(trained, "vocab.json"), { specialTokens }],
    [
      join(
        foreign("pair", ...["vocab.json", "merges.txt"].map((name) => [name, join(other, name)] as const)),
        "vocab.json",
      ),
      { pattern: compiledPatterns.resolve("o200k") },
    ],
  ] as const) {
    await expect(save(path, output, options)).rejects.toThrow("its files do not contain the whole tokenizer");
  }
  expect(readdirSync(home).sort()).toEqual([...before, "pair"].sort());
  const lacking = foreign(
    "lacking",
    ...["tokenizer.json", "training.json"].map((name) => [name, join(other, name)] as const),
  );
  await expect(save(lacking, output)).rejects.toThrow(/lacks ".*", which its training.json lists/);
});

test("the fingerprint is that of the ids, wherever the files are", async () => {
  const print = async (path: string, options: LoadOptions = {}) =>
    digestOfParts(await tokenizerFiles.load(path, options));
  expect(await print(join(trained, "tokenizer.json"))).toBe(await print(trained));
  const ways: [string, LoadOptions][] = [
    [trained, {}],
    [other, {}],
    [join(trained, "vocab.json"), { specialTokens: [{ text: "<|x|>", id: 300 }] }],
    [join(trained, "vocab.json"), { specialTokens: [{ text: "<|y|>", id: 300 }] }],
    [join(trained, "vocab.json"), { pattern: compiledPatterns.resolve("llama3") }],
  ];
  const prints = await Promise.all(ways.map(([path, options]) => print(path, options)));
  expect(new Set(prints).size).toBe(ways.length);
});
