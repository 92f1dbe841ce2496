import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { findInputs } from "../../src/corpus/find-inputs.ts";
import type { Input } from "../../src/corpus/input.ts";
import { UserError } from "../../src/errors.ts";
import { trainMerges } from "../../src/merge/train-merges.ts";
import { boundlessPattern, compileBoundless } from "../../src/pattern/pattern.ts";
import { learnFromRuns } from "../../src/pipeline/boundless-training.ts";
import { countCorpus } from "../../src/pipeline/count-corpus.ts";
import { boundlessRules } from "../../src/pipeline/learn-merges.ts";
import { Tokenizer } from "../../src/pipeline/tokenizer.ts";
import { train } from "../../src/pipeline/train.ts";
import { atOnce } from "../../src/runtime/turns.ts";
import { partsOfVocabulary } from "../../src/tokenizer/trained-tokenizer.ts";
import { copyTokenBytes } from "../../src/vocabulary/token-bytes.ts";
import { tokenWordsOf } from "../../src/words/token-words.ts";
import { scratch } from "../binary.ts";
import { Random } from "../pattern/naive.ts";
import { rounds } from "../rounds.ts";
import { type NaiveOp, naiveBoundless, naiveEncode, naivePretokens, naiveSupermerges } from "./naive.ts";
import { scriptOfCharacter } from "./scripts-of-unicode.ts";

const compiled = compileBoundless();
const pretokens = (text: string) => naivePretokens(text, scriptOfCharacter);
const end = "<|e|>";

type Settings = {
  vocabSize: number;
  minFrequency: number;
  maxTokenLength: number | null;
  workerCount?: number;
};

async function trainOn(path: string, settings: Settings) {
  const { vocabulary, ledger } = await train(
    {
      ...{
        inputs: findInputs([path]),
        pattern: compiled,
        specialTokens: [end],
        compat: "cs336",
        workerCount: 1,
      },
      ...{ supermerges: true, ...settings },
    },
    () => {},
  );
  const { areSuper, left, right, counts } = vocabulary.operations!;
  const textOf = (token: number) =>
    Buffer.from(copyTokenBytes(vocabulary.tokenBytes, token)).toString("latin1");
  const ops = Array.from(areSuper, (isSuper, k): NaiveOp => {
    return { kind: isSuper ? "S" : "W", count: counts[k]!, left: textOf(left[k]!), right: textOf(right[k]!) };
  });
  return {
    ops,
    ledger,
    vocabulary,
    tokenizer: new Tokenizer(partsOfVocabulary(vocabulary, boundlessPattern())),
  };
}

const texts = {
  "few words, many ties": ["of", " the", " of", "the", " a", ",", " ", "\n", "I", ".", "'s"],
  "runs of one word": [" very", " very", " very", "a a a", " x", "1"],
  "several scripts": ["中", "国", "ー", "ー", "한국", " the", "か", "a", " ", "。", "\n", "ー ー", "µ"],
  "one token by two ways": ["ー", "ーー", "ア", "アー", "한", "µ", " ー", "\n1\n"],
};

function randomDocument(random: Random, parts: readonly string[]): string {
  return Array.from({ length: random.below(60) }, () => random.pick(parts)).join("");
}

for (const [name, parts] of Object.entries(texts)) {
  test(`operations and ids are those of the naive twin: ${name}`, async () => {
    const directory = scratch();
    const path = join(directory, "corpus.txt");
    const seed = 20261122;
    const random = new Random(seed);
    for (let trial = 0; trial < 15; trial++) {
      const documents = Array.from({ length: 1 + random.below(5) }, () => randomDocument(random, parts));
      if (documents.join("") === "") continue;
      writeFileSync(path, documents.join(end));
      const tokenCount = 1 + random.below(60);
      const limits = {
        minFrequency: random.pick([1, 1, 2, 3]),
        maxTokenLength: random.pick([null, null, 5]),
      };
      const { ops, tokenizer, ledger } = await trainOn(path, { vocabSize: 257 + tokenCount, ...limits });
      const wanted = naiveBoundless(documents, { tokenCount, ...limits, pretokens });
      expect({ seed, trial, documents, ops }).toEqual({ seed, trial, documents, ops: wanted });

      let idCount = 0;
      for (const text of documents) {
        const ids = tokenizer.encode(text);
        idCount += ids.length;
        const tokens = Array.from(ids, (id) => Buffer.from(tokenizer.tokenBytes(id)).toString("latin1"));
        expect({ seed, trial, text, tokens }).toEqual({
          seed,
          trial,
          text,
          tokens: naiveEncode(text, wanted, pretokens),
        });
        expect(Buffer.from(tokenizer.decode(ids)).toString()).toBe(text);
      }
      // What training says that its corpus has become is what encoding makes of it, where no token is made by two ways.
      const made = wanted.map(({ left, right }) => left + right);
      if (new Set(made).size === made.length) expect(ledger.tokensAfter.at(-1)).toBe(idCount);
    }
  });
}

test("a supermerge that spells a token that is there makes that token", async () => {
  const seed = 20261123;
  const random = new Random(seed);
  const names = ["a", "b", "aa", "ab", "ba", "aab"];
  const starts = [0];
  for (const name of names) starts.push(starts.at(-1)! + name.length);
  const tokens = {
    count: names.length,
    bytes: Buffer.from(names.join("")),
    starts: Uint32Array.from(starts),
  };
  let repeatCount = 0;
  for (let trial = 0; trial < rounds(20); trial++) {
    const runs = Array.from(
      { length: 1 + random.below(8) },
      () =>
        [
          Array.from({ length: 2 + random.below(8) }, () => random.below(names.length)),
          1 + random.below(3),
        ] as const,
    );
    const learned = await learnFromRuns(tokenWordsOf(runs, names.length), tokens, async (words, spelled) => {
      const startTokens = { count: spelled.count, spelling: spelled.packed() };
      return atOnce(
        trainMerges(words, { mergeCount: 1000, compat: "cs336", ...boundlessRules, startTokens }),
      );
    });
    const spelled = [...names];
    const found = learned.made.map((token, k) => {
      const [left, right] = [spelled[learned.left[k]!]!, spelled[learned.right[k]!]!];
      if (token < spelled.length) repeatCount++;
      spelled[token] ??= left + right;
      expect(spelled[token]).toBe(left + right);
      return { left, right, count: learned.counts[k]! };
    });
    expect(new Set(spelled).size).toBe(spelled.length);
    const wanted = naiveSupermerges(
      runs.map(([run, count]) => ({ tokens: run.map((id) => names[id]!), count })),
    );
    expect({ seed, trial, runs, found }).toEqual({ seed, trial, runs, found: wanted });
  }
  expect(repeatCount).toBeGreaterThan(rounds(10));
});

test("1, 2 and 7 workers count the same runs, however the text is cut", async () => {
  const directory = scratch();
  const path = join(directory, "corpus.txt");
  const random = new Random(20261124);
  const words = ["of", " the", "\nThe", ",", ".", " I", "中", "。", "か", " x1", end, "\n"];
  writeFileSync(path, Array.from({ length: 20_000 }, () => random.pick(words)).join(""));
  const names = ["of", " the", "The", " I", "中", "か"];
  const starts = [0];
  for (const name of names) starts.push(starts.at(-1)! + Buffer.byteLength(name));
  const runTokens = {
    count: names.length,
    bytes: Buffer.from(names.join("")),
    starts: Uint32Array.from(starts),
  };
  const counted: string[] = [];
  for (const [workerCount, rangeSizeBytes] of [
    [1, 1 << 20],
    [1, 3000],
    [2, 1000],
    [7, 400],
  ] as const) {
    const specialTokens = [Buffer.from(end)];
    const { counter } = await countCorpus(
      {
        inputs: findInputs([path]),
        pattern: compiled,
        specialTokens,
        runTokens,
        workerCount,
        rangeSizeBytes,
      },
      () => {},
    );
    const { wordCount, bytes, starts: ends, counts } = counter.words.toWordTable();
    const rows = Array.from({ length: wordCount }, (_, w) => {
      return `${Buffer.from(bytes.subarray(ends[w]!, ends[w + 1]!)).toString("hex")} ${counts[w]}`;
    });
    counted.push(rows.sort().join("\n"));
  }
  expect(new Set(counted).size).toBe(1);
  expect(counted[0]!.split("\n").length).toBeGreaterThan(100);
});

test("without runs all merges are made, as BoundlessBPE's authors would if they did not stop there", async () => {
  const directory = scratch();
  const path = join(directory, "digits.txt");
  writeFileSync(path, "12 12 12 34 34");
  const { ops } = await trainOn(path, { vocabSize: 261, minFrequency: 1, maxTokenLength: null });
  expect(ops.map(({ kind, left, right }) => `${kind} ${left}${right}`)).toEqual(["W 12", "W 34"]);
});

test("a stream, or word counts alone, cannot be read twice", async () => {
  const directory = scratch();
  const path = join(directory, "corpus.txt");
  writeFileSync(path, "of the");
  const input = findInputs([path])[0]!;
  const corpus = { pattern: compiled, specialTokens: [], workerCount: 1 } as const;
  const limits = { vocabSize: 260, minFrequency: 1, maxTokenLength: null } as const;
  const options = { ...corpus, ...limits, compat: "cs336", supermerges: true } as const;
  const failing = (inputs: readonly Input[]) => train({ ...options, inputs }, () => {});
  await expect(failing([{ ...input, isStream: true }])).rejects.toThrow(UserError);
  await expect(failing([])).rejects.toThrow("word counts do not say what follows what");
});
