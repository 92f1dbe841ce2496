// Files of every structured kind that say something wild where they said something valid: each is read, or refused with a
// message that names it. `npm run test:faults` does the same to the executable.
import { beforeAll, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { randomSource } from "../bench/random.ts";
import { findInputs } from "../src/corpus/find-inputs.ts";
import { planLines } from "../src/corpus/plan.ts";
import type { PlanLine } from "../src/corpus/plan-lines.ts";
import { readPlan } from "../src/corpus/read-plan.ts";
import { readIds } from "../src/encode/files/id-reader.ts";
import { npyHead } from "../src/encode/files/npy.ts";
import { vocabularyStatistics } from "../src/encode/statistics.ts";
import { Tokenizer } from "../src/encode/tokenizer.ts";
import { allAddedTokens } from "../src/encode/tokenizer-parts.ts";
import { UserError } from "../src/errors.ts";
import { compilePattern, patterns } from "../src/pattern/index.ts";
import { trainTokenizer } from "../src/train-tokenizer.ts";
import { put, scratch } from "./binary.ts";
import type { Random } from "./faults/jobs.ts";
import { withDigest } from "./faults/mutant-kinds.ts";
import { mutateJson, mutateNpy } from "./faults/mutate.ts";
import { madeText } from "./faults/text.ts";
import { readTokenizerFile, tokenizerFiles } from "./faults/tokenizer-files.ts";

const seed = Number(process.env.MUTANTS_SEED ?? 20261122);
const mutantCount = Number(process.env.MUTANTS ?? 60);
/** Whatever stands in a file, a message stays one that people can read. */
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

/** Reads that many mutants; each has to be read, or refused by an error that names `named` and says a thing about it. */
async function readMutants(kind: string, named: string, read: (random: Random) => unknown): Promise<void> {
  let refusedCount = 0;
  for (let n = 0; n < mutantCount; n++) {
    const random = randomSource(Number(Bun.hash(`${seed} ${kind} ${n}`) % 0x7fff_ffffn));
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

for (const { name, loadedBy, beside, mutate } of tokenizerFiles) {
  test(`a mutated ${name} is loaded and used, or refused by name`, async () => {
    const directory = join(mutants, name);
    mkdirSync(directory);
    for (const other of beside) put(directory, other, readTokenizerFile(valid, other));
    const text = readTokenizerFile(valid, name);
    await readMutants(name, directory, async (random) => {
      put(directory, name, mutate(text, random));
      const tokenizer = await Tokenizer.load(join(directory, loadedBy));
      tokenizer.decode(tokenizer.encode("Some words, 漢字 é<|endoftext|> 12\n"));
      vocabularyStatistics(tokenizer.parts.tokens, allAddedTokens(tokenizer.parts), 3);
    });
  });
}

test("a mutated .npy file is read, or refused by name", async () => {
  const path = join(mutants, "ids.npy");
  const ids = new Uint8Array(Uint16Array.from({ length: 500 }, (_, i) => i).buffer);
  const file = Buffer.concat([npyHead("uint16", 500), ids]);
  await readMutants("npy", path, async (random) => {
    writeFileSync(path, mutateNpy(file, random));
    let readCount = 0;
    for await (const found of readIds(path, "uint16")) readCount += found.length;
    expect(readCount).toBeLessThanOrEqual(1200);
  });
});

test("a mutated plan is read, or refused by its line, also where its digests were made anew", async () => {
  const cutting = { patterns: patterns.gpt2.sources, specialTokens, isLinewise: false };
  const lines: PlanLine[] = [];
  const pattern = compilePattern(cutting.patterns);
  const options = { ...cutting, pattern, keepsTextsWhole: false, rangeSizeBytes: 20_000 };
  for await (const line of planLines({ ...options, inputs: findInputs([corpus]) })) lines.push(line);
  await readMutants("plan", "the plan, line", (random) => {
    const mutated: (PlanLine | string)[] = [...lines];
    const at = random.below(lines.length);
    const text = mutateJson(JSON.stringify(lines[at]), random);
    mutated[at] = random.below(4) === 0 ? text : withDigest(text);
    readPlan(
      mutated.map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n"),
      "the plan",
      cutting,
    );
  });
});
