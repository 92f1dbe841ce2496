import { expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Tokenizer, trainTokenizer, UserError } from "../../../src/index.ts";
import * as outputLock from "../../../src/store/output-lock.ts";
import { placeOf } from "../../../src/store/output-place.ts";
import { put, scratch } from "../../binary.ts";
import { madeText } from "../tokenizer/made-merges.ts";

const special = "<|endoftext|>";
const home = scratch();
const text = Array.from({ length: 20 }, (_, seed) => madeText(seed, 300)).join(special);
const corpus = put(home, "corpus.txt", text);

test("a tokenizer is trained, used at once, and loaded again from its files", async () => {
  for (const compat of ["cs336", "huggingface", "rustbpe"] as const) {
    const output = join(home, compat);
    const options = {
      files: corpus,
      vocabSize: 700,
      specialTokens: [special],
      pattern: "gpt4",
      compat,
      output,
    };
    const trained = await trainTokenizer(options);
    expect(trained.size).toBe(700);
    const ids = trained.encode(text);
    expect(trained.decode(ids)).toBe(text);
    for (const name of ["", "tokenizer.json", "vocab.json", "merges.txt", "tokenizer.tiktoken"]) {
      const loaded = await Tokenizer.load(join(output, name));
      expect(loaded.specialTokens.get(special)).toBe(trained.specialTokens.get(special)!);
      expect(Bun.deepEquals(loaded.encode(text), ids)).toBe(true);
    }
  }
});

test("bos is added on request, by a tokenizer just trained and by its files, and a file URL is loaded", async () => {
  const output = join(home, "with-bos");
  const model = { roles: { bos: special }, addsBos: true };
  const trained = await trainTokenizer({
    files: corpus,
    vocabSize: 300,
    specialTokens: [special],
    model,
    output,
  });
  const loaded = await Tokenizer.load(pathToFileURL(output));
  const bos = trained.specialTokens.get(special)!;
  for (const tokenizer of [trained, loaded]) {
    expect([...tokenizer.encode("ab", { addSpecialTokens: true })]).toEqual([bos, ...tokenizer.encode("ab")]);
    expect([...tokenizer.encode("ab")]).not.toContain(bos);
  }
});

test("encodeFile of a tokenizer from memory reads no training.json in the working directory", async () => {
  const record = JSON.stringify({
    files: ["training.json"],
    inputs: [{ path: "a", format: "jsonl", textField: "other" }],
  });
  const folder = join(home, "with-record");
  mkdirSync(folder);
  writeFileSync(join(folder, "training.json"), record);
  writeFileSync(join(folder, "a.jsonl"), '{"text":"ab","other":"abcdef"}\n');
  const trained = await trainTokenizer({ files: corpus, vocabSize: 257 });
  const tokenizer = Tokenizer.from(trained.files().get("tokenizer.json")!);
  const before = process.cwd();
  process.chdir(folder);
  try {
    for (const each of [trained, tokenizer]) expect(await each.encodeFile("a.jsonl", "ids.npy")).toBe(2);
  } finally {
    process.chdir(before);
  }
});

test("encodeFile writes the ids of encode", async () => {
  const tokenizer = await trainTokenizer({ files: corpus, vocabSize: 400, specialTokens: [special] });
  const output = join(home, "ids.bin");
  const idCount = await tokenizer.encodeFile([corpus, corpus], output, {
    appendToken: special,
    dtype: "uint32",
  });
  const ids = [...tokenizer.encode(text), tokenizer.specialTokens.get(special)!];
  const written = readFileSync(output);
  expect(idCount).toBe(2 * ids.length);
  expect([...new Uint32Array(written.buffer, written.byteOffset, idCount)]).toEqual([...ids, ...ids]);
});

test("encodeFile does not touch an output that another run writes, and leaves no lock", async () => {
  const tokenizer = await trainTokenizer({ files: corpus, vocabSize: 300 });
  const folder = join(home, "locked");
  mkdirSync(folder);
  const output = join(folder, "ids.npy");
  const lock = outputLock.takeNow(placeOf(output));
  await expect(tokenizer.encodeFile(corpus, output)).rejects.toThrow("is already an output of this process");
  expect(readdirSync(folder)).toEqual([".ids.npy.bpe-lock"]);
  lock.release();
  await expect(tokenizer.encodeFile(join(home, "none"), output)).rejects.toThrow("no such file");
  expect(await tokenizer.encodeFile(corpus, output)).toBeGreaterThan(0);
  expect(readdirSync(folder)).toEqual(["ids.npy"]);
});

test("a signal ends encodeFile with its reason, and nothing is written; an error of onProgress does the same", async () => {
  const tokenizer = await trainTokenizer({ files: corpus, vocabSize: 300 });
  const long = put(home, "long.txt", text.repeat(40));
  const folder = join(home, "stopped");
  mkdirSync(folder);
  for (const workers of [1, 2]) {
    const stop = new AbortController();
    const reason = new Error("enough");
    const output = join(folder, "ids.npy");
    const options = { workers, signal: stop.signal, onProgress: () => stop.abort(reason) };
    await expect(tokenizer.encodeFile([long, long], output, options)).rejects.toBe(reason);
    const onProgress = () => {
      throw reason;
    };
    await expect(tokenizer.encodeFile(long, output, { workers, onProgress })).rejects.toBe(reason);
    await expect(tokenizer.encodeFile(long, output, { signal: stop.signal })).rejects.toBe(reason);
    expect(readdirSync(folder)).toEqual([]);
  }
});

test("mistakes are UserErrors", async () => {
  await expect(trainTokenizer({ files: corpus, vocabSize: 100 })).rejects.toThrow(UserError);
  await expect(trainTokenizer({ files: corpus, vocabSize: 300, workers: 0 })).rejects.toThrow("workers is 0");
  await expect(trainTokenizer({ files: join(home, "none"), vocabSize: 300 })).rejects.toThrow("no such file");
  await expect(Tokenizer.load(home)).rejects.toThrow("contains no tokenizer");
  await expect(Tokenizer.load(join(home, "none"))).rejects.toThrow("no such file or directory");
});

test("a word of two megabytes is encoded", async () => {
  const tokenizer = await trainTokenizer({ files: corpus, vocabSize: 700 });
  for (const word of ["a".repeat(2e6), "thelowing".repeat(2e5)]) {
    const ids = tokenizer.encode(word);
    expect(tokenizer.decode(ids) === word).toBe(true);
  }
});
