import { expect, test } from "bun:test";
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { trainTokenizer } from "../../src/index.ts";
import { mergesOf, put, scratch, tokenizerFiles } from "../binary.ts";
import { madeText } from "../vocabulary/made-merges.ts";

const home = scratch();
const at = (name: string) => join(home, name);
const files = [1, 2, 3].map((seed) => put(home, `text-${seed}.txt`, madeText(seed, 400)));

test("with a cache the tokenizer is the same, and only what is new is counted", async () => {
  const countedBytes = async (some: readonly string[], output: string, cache?: string) => {
    let done = 0;
    await trainTokenizer({
      files: some,
      vocabSize: 400,
      specialTokens: ["<x>"],
      output: at(output),
      ...(cache !== undefined && { cache: at(cache) }),
      onProgress: (progress) => {
        if (progress.stage === "counting") done = Math.max(done, progress.done);
      },
    });
    return done;
  };
  const wholeBytes = await countedBytes(files, "plain");
  const oneBytes = await countedBytes(files.slice(2), "one");
  await countedBytes(files.slice(0, 2), "cached", "cache");
  expect(await countedBytes(files, "cached", "cache")).toBe(oneBytes);
  expect(oneBytes).toBeLessThan(wholeBytes);
  expect(tokenizerFiles(at("cached"))).toEqual(tokenizerFiles(at("plain")));
  expect(mergesOf(at("plain")).length).toBeGreaterThan(100);
  expect(readdirSync(at("cache")).filter((name) => name.startsWith("."))).toEqual([]);
});

test("a cache keeps to its limit, and says what is wrong with it", async () => {
  const warnings: string[] = [];
  const train = (cacheLimitBytes: number) =>
    trainTokenizer({
      files,
      vocabSize: 300,
      cache: at("small"),
      cacheLimitBytes,
      onWarning: (message) => warnings.push(message),
    });
  await train(1e9);
  expect(warnings).toEqual([]);
  const [entry] = readdirSync(at("small")).filter((name) => name.endsWith(".words"));
  for (const name of readdirSync(at("small"))) {
    if (name === entry) writeFileSync(join(at("small"), name), "damaged");
    else rmSync(join(at("small"), name));
  }
  await train(0);
  expect(warnings).toEqual([expect.stringContaining(entry!), expect.stringContaining("larger than")]);
});

test("files of a directory that are not read are told", async () => {
  const directory = join(home, "mixed");
  mkdirSync(directory);
  writeFileSync(join(directory, "a.txt"), "some words, some more words");
  writeFileSync(join(directory, "b.png"), Buffer.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10, 0, 0]));
  const warnings: string[] = [];
  await trainTokenizer({ files: directory, vocabSize: 260, onWarning: (message) => warnings.push(message) });
  expect(warnings).toEqual([expect.stringMatching(/^".*b\.png" is not read: ./)]);
});

test("a limit without a cache, and a corpus that holds what is written, are mistakes", async () => {
  const options = { files, vocabSize: 300 };
  await expect(trainTokenizer({ ...options, cacheLimitBytes: 1 })).rejects.toThrow("cacheLimitBytes");
  await expect(trainTokenizer({ ...options, cache: "" })).rejects.toThrow("cache is empty");
  await expect(trainTokenizer({ ...options, cache: at("c"), cacheLimitBytes: -1 })).rejects.toThrow("is -1");
  const misplaced = { ...options, output: at("new"), cache: join(at("new"), "cache") };
  await expect(trainTokenizer(misplaced)).rejects.toThrow("replaced as a whole");
  mkdirSync(at("corpus"));
  put(at("corpus"), "a.txt", "some text");
  const inside = { files: at("corpus"), vocabSize: 300, output: join(at("corpus"), "tokenizer") };
  await trainTokenizer(inside);
  await expect(trainTokenizer(inside)).rejects.toThrow("which this run writes");
});
