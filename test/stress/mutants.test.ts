// Mutants are valid files in which wild values replace some of the values. Each must be read, or refused with a message
// that names it. A damaged file of a cache is set aside instead.

import { beforeAll, expect, test } from "bun:test";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { randomSource } from "../../bench/random.ts";
import { findInputs } from "../../src/corpus/find-inputs.ts";
import * as planFile from "../../src/corpus/plan-file.ts";
import * as vocabularyStatistics from "../../src/evaluation/vocabulary-statistics.ts";
import { readIds } from "../../src/ids/id-reader.ts";
import { npyHead } from "../../src/ids/id-writers.ts";
import { Tokenizer } from "../../src/library/tokenizer.ts";
import { trainTokenizer } from "../../src/library/train-tokenizer.ts";
import { patterns } from "../../src/pattern/named-patterns.ts";
import * as compiledPatterns from "../../src/pattern/pattern.ts";
import { UserError } from "../../src/runtime/errors.ts";
import type { Message } from "../../src/runtime/message.ts";
import { runSliced } from "../../src/runtime/slices.ts";
import * as cuttings from "../../src/text/cutting.ts";
import { allAddedTokens } from "../../src/tokenizer/tokenizer-parts.ts";
import * as cacheDirectory from "../../src/words/cache-directory.ts";
import { CacheDirectory } from "../../src/words/cache-directory.ts";
import { countWords } from "../../src/words/count-words.ts";
import { CountsFiles, countsChunks } from "../../src/words/counts-files.ts";
import type { WordTable } from "../../src/words/word-table.ts";
import * as wordTables from "../../src/words/word-table.ts";
import { put, scratch } from "../binary.ts";
import { rounds } from "../rounds.ts";
import { wordTableOf } from "../unit/words/generators.ts";
import { countCached, countPlain, filesOf, randomText } from "../unit/words/world.ts";
import type { Random } from "./jobs.ts";
import { withDigest } from "./mutant-kinds.ts";
import { mutateJson, mutateNpy, readTokenizerFile, tokenizerFiles } from "./mutate.ts";
import {
  mutateCounts,
  mutateEntry,
  mutateIndex,
  mutateResult,
  mutateSum,
  mutateTsv,
} from "./mutate-words.ts";
import { madeText } from "./text.ts";

const seed = Number(process.env.MUTANTS_SEED ?? 20261122);
const mutantCount = Number(process.env.MUTANTS ?? rounds(40));
/** The maximum length of a message: it stays readable, whatever a file contains. */
const messageLengthMax = 1000;

const directory = scratch();
const valid = join(directory, "valid");
const mutants = join(directory, "mutants");
const corpus = put(directory, "corpus.txt", madeText(1, 60_000));

const specialTokens = ["<|endoftext|>"];

beforeAll(async () => {
  mkdirSync(mutants);
  await trainTokenizer({ files: corpus, vocabSize: 500, output: valid, pattern: "o200k", specialTokens });
});

const randomFor = (kind: string, n: number) =>
  randomSource(Number(Bun.hash(`${seed} ${kind} ${n}`) % 0x7fff_ffffn));

/** Makes and reads mutants of one kind. Each must be read, or refused by an error that contains `named`. */
async function readMutants(kind: string, named: string, read: (random: Random) => unknown): Promise<void> {
  let refusedCount = 0;
  for (let n = 0; n < mutantCount; n++) {
    const random = randomFor(kind, n);
    try {
      await read(random);
    } catch (error) {
      const what = `mutant ${n} of seed ${seed}: ${error}`;
      if (!(error instanceof UserError)) throw new Error(what, { cause: error });
      const { message } = error;
      if (!message.includes(named) || /undefined|\[object/.test(message)) throw new Error(what);
      if (message.length > messageLengthMax) throw new Error(what.slice(0, messageLengthMax));
      refusedCount++;
    }
  }
  expect(refusedCount).toBeGreaterThan(mutantCount / 5);
}

for (const { name, loadedBy, companions, mutate } of tokenizerFiles) {
  test(`a mutated ${name} is loaded and used, or refused, and the error names it`, async () => {
    const directory = join(mutants, name);
    mkdirSync(directory);
    for (const other of companions) put(directory, other, readTokenizerFile(valid, other));
    const text = readTokenizerFile(valid, name);
    await readMutants(name, directory, async (random) => {
      put(directory, name, mutate(text, random));
      const tokenizer = await Tokenizer.load(join(directory, loadedBy));
      tokenizer.decode(tokenizer.encode("Some words, 漢字 é<|endoftext|> 12\n"));
      await runSliced(vocabularyStatistics.of(tokenizer.parts.tokens, allAddedTokens(tokenizer.parts), 3));
    });
  });
}

test("a mutated .npy file is read, or refused, and the error names it", async () => {
  const path = join(mutants, "ids.npy");
  const ids = new Uint8Array(Uint16Array.from({ length: 500 }, (_, i) => i).buffer);
  const file = Buffer.concat([npyHead("uint16", 500), ids]);
  await readMutants("npy", path, async (random) => {
    writeFileSync(path, mutateNpy(file, random));
    let readCount = 0;
    for await (const found of readIds(path, { asked: "uint16", needed: "uint16" })) readCount += found.length;
    expect(readCount).toBeLessThanOrEqual(1200);
  });
});

test("a mutated plan is read, or refused by its line, including with new digests", async () => {
  const cutting = { patterns: patterns.gpt2.sources, specialTokens, isLinewise: false };
  const lines: planFile.Line[] = [];
  const pattern = compiledPatterns.compile(cutting.patterns);
  const options = { ...cutting, pattern, keepsTextsWhole: false, rangeSizeBytes: 20_000 };
  const planOptions = { ...options, inputs: findInputs([corpus]) };
  const lineOf = planFile.lineMaker(planOptions);
  for await (const range of planFile.plannedRanges(planOptions)) lines.push(lineOf(range));
  await readMutants("plan", "of the plan", (random) => {
    const mutated: (planFile.Line | string)[] = [...lines];
    const at = random.below(lines.length);
    const text = mutateJson(JSON.stringify(lines[at]), random);
    mutated[at] = random.below(4) === 0 ? text : withDigest(text);
    planFile.read(
      mutated.map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n"),
      "the plan",
      cutting,
    );
  });
});

const countsOptions = { patterns: patterns.gpt2.sources, specialTokens, isLinewise: false };
const someWords = () =>
  wordTableOf(
    Array.from({ length: 3000 }, (_, i) => [`w${(i * 7919) % 100_003}${"x".repeat(i % 40)}`, 1 + i]),
  );

for (const { name, mutate } of [
  { name: "words.counts", mutate: mutateCounts },
  {
    name: "words.tsv",
    mutate: (file: Buffer, random: Random) => Buffer.from(mutateTsv(file.toString(), random)),
  },
]) {
  test(`a mutated ${name} is added up, or refused with its name, even if its checksums were recomputed`, async () => {
    const path = join(mutants, name);
    const file = Buffer.concat([...countsChunks(path, someWords(), countsOptions)]);
    await readMutants(name, path, async (random) => {
      writeFileSync(path, mutate(file, random));
      const { words } = await trainWords(path);
      expect(wordTables.totalsOf(words).pretokenCount).toBeLessThan(2 ** 53);
    });
  });
}

/** Reads a counts file as a training does, and returns its words. */
function trainWords(path: string): Promise<{ words: WordTable }> {
  const countsFiles = new CountsFiles([path]);
  countsFiles.check(countsOptions, "");
  const pattern = compiledPatterns.compile(countsOptions.patterns);
  return countWords(
    { inputs: [], cutting: cuttings.plain(pattern, specialTokens), workerCount: 1, countsFiles },
    () => {},
  );
}

for (const { kind, mutate } of [
  { kind: ".words", mutate: mutateEntry },
  { kind: ".sum", mutate: mutateSum },
  { kind: "index", mutate: mutateIndex },
]) {
  test(`a mutated ${kind} of a cache is used, or set aside with one warning and written again`, async () => {
    const texts = join(mutants, `texts${kind}`);
    mkdirSync(texts);
    const paths = Array.from({ length: 4 }, (_, i) => put(texts, `text-${i}`, randomText(i + 1, 80)));
    const [filled, cache] = [join(mutants, `filled${kind}`), join(mutants, `cache${kind}`)];
    await countCached(filled, paths.slice(0, 3));
    // The sum is removed, because it would be read instead of the entries.
    if (kind === ".words") rmSync(filesOf(filled, ".sum")[0]!);
    const wanted = paths.slice(1);
    const plain = await countPlain(wanted);
    let setAsideCount = 0;
    for (let n = 0; n < mutantCount; n++) {
      const random = randomFor(kind, n);
      rmSync(cache, { recursive: true, force: true });
      cpSync(filled, cache, { recursive: true });
      const files = filesOf(cache, kind);
      const path = files[random.below(files.length)]!;
      writeFileSync(path, mutate(readFileSync(path), random));
      const about = { kind, n, seed };
      const { words, statistics, warnings } = await countCached(cache, wanted).catch((error: unknown) => {
        throw new Error(`mutant ${n} of seed ${seed}: ${error}`, { cause: error });
      });
      expect({ ...about, warnings: warnings.length }).toEqual({
        ...about,
        warnings: Math.min(1, warnings.length),
      });
      if (warnings.length === 0) continue;
      expect({ ...about, warnings }).toEqual({
        ...about,
        warnings: [expect.stringContaining(`"${path}" is damaged`)],
      });
      expect({ ...about, words, statistics }).toEqual({ ...about, ...plain });
      expect((await countCached(cache, wanted)).warnings).toEqual([]);
      setAsideCount++;
    }
    expect(setAsideCount).toBeGreaterThan(mutantCount / 5);
  });
}

test("a mutated .result of a cache never counts as up to date, and is set aside if it is invalid", () => {
  const path = join(mutants, "cache.result");
  const warnings: Message[] = [];
  const cache = new CacheDirectory(path, (warning) => warnings.push(warning));
  const madeOf: cacheDirectory.ResultSources = {
    version: "1",
    bunVersion: "2",
    code: "3",
    settings: { specialTokens: ["é"], vocabSize: 300 },
    inputs: [["é.txt", "0123456789abcdef-1-2"]],
    counts: [["a.counts", "7"]],
  };
  cacheDirectory.rememberResult(cache, join(mutants, "result"), valid, [], madeOf);
  const [result] = filesOf(path, ".result");
  const file = readFileSync(result!);
  expect(cacheDirectory.isUpToDate(cacheDirectory.readResult(cache, valid)!, valid, [], madeOf)).toBe(true);
  for (let n = 0; n < mutantCount; n++) {
    const mutant = mutateResult(file, randomFor("result", n));
    writeFileSync(result!, mutant);
    warnings.length = 0;
    const read = cacheDirectory.readResult(cache, valid);
    if (read !== undefined) {
      for (const content of cacheDirectory.contentsOf(read)) expect(content).toBeString();
      cacheDirectory.isUpToDate(read, valid, [], madeOf);
      continue;
    }
    expect(warnings).toEqual([`"${result}" is damaged: the output is made again`]);
    expect(existsSync(result!)).toBe(false);
  }
});
