import { describe, expect, test } from "bun:test";
import { crc32 } from "node:zlib";
import fc from "fast-check";
import { findInputs } from "../../../src/corpus/find-inputs.ts";
import type { TrainedVocabulary } from "../../../src/merge/learn-merges.ts";
import * as patternForms from "../../../src/pattern/export-form.ts";
import { train } from "../../../src/training/train.ts";
import { settle, trainingPattern } from "../../../src/training/training.ts";
import { put, scratch } from "../../binary.ts";
import { naiveWords } from "../../naive.ts";
import { rounds } from "../../rounds.ts";
import { errorOf } from "../../thrown.ts";
import { naiveMerges } from "../merge/naive.ts";

const directory = scratch();

type Settings = { mergeCount: number; specialTokens?: string[]; workerCount?: number };

async function trainOn(content: string | Uint8Array, settings: Settings): Promise<TrainedVocabulary> {
  const { mergeCount, specialTokens = [], workerCount = 1 } = settings;
  const inputs = findInputs([put(directory, "corpus", content)], { binary: "text" });
  const vocabSize = [{ isMore: false, count: 256 + specialTokens.length + mergeCount }];
  const training = settle({ vocabSize, specialTokens }, {});
  return train({ ...training, base: null }, { inputs, workerCount }, () => {});
}

/** Returns the merges as strings with one character for each byte. */
function mergesOf({ vocabulary }: TrainedVocabulary): [string, string][] {
  const { mergeCount, left, right, tokenBytes } = vocabulary;
  const text = (token: number) => Buffer.from(tokenBytes.copy(token)).toString("latin1");
  return Array.from({ length: mergeCount }, (_, k) => [text(left[k]!), text(right[k]!)]);
}

const naively = (content: string, { mergeCount, specialTokens = [] }: Settings) =>
  naiveMerges("cs336", naiveWords(content, specialTokens), { mergeCount }).map(
    ({ left, right }): [string, string] => [left, right],
  );

async function expectAgreement(content: string, settings: Settings): Promise<void> {
  expect(mergesOf(await trainOn(content, settings))).toEqual(naively(content, settings));
}

test("one memory serves to count, to merge, and to write", async () => {
  const { Memory } = WebAssembly;
  const created: WebAssembly.Memory[] = [];
  WebAssembly.Memory = class extends Memory {
    constructor(descriptor: WebAssembly.MemoryDescriptor) {
      super(descriptor);
      created.push(this);
    }
  };
  try {
    await trainOn("low lower lowest", { mergeCount: 5 });
  } finally {
    WebAssembly.Memory = Memory;
  }
  expect(created.length).toBe(1);
});

describe("training agrees with the naive twin", () => {
  const words = fc.constantFrom(
    "low",
    "lower",
    "newest",
    "widest",
    "aaaa",
    "abab",
    "a",
    "é",
    "日本",
    "12",
    "!!",
    "'s",
    "\n",
  );
  const gaps = fc.constantFrom(" ", " ", "", "  ", "\n", "<|end|>", "<|endless|>");
  const text = fc.array(fc.tuple(words, gaps), { maxLength: 80 }).map((parts) => `${parts.flat().join("")}.`);

  test("on random text with ties, repeats and special tokens", async () => {
    await fc.assert(
      fc.asyncProperty(text, fc.nat(40), (content, mergeCount) =>
        expectAgreement(content, { mergeCount, specialTokens: ["<|end|>", "<|endless|>"] }),
      ),
      { numRuns: rounds(300) },
    );
  });

  const repetitive: [string, string][] = [
    ["aaaa…", "a".repeat(1000)],
    ["abab…", "ab".repeat(500)],
    ["aab…", "aab".repeat(333)],
    ["runs of many lengths", Array.from({ length: 40 }, (_, i) => "a".repeat(i)).join("b")],
    ["all pairs tied", "ab cd ef gh ij kl mn op"],
    ["one byte", "x"],
    [
      "every character of one byte",
      Array.from({ length: 128 }, (_, i) => String.fromCharCode(i))
        .join("")
        .repeat(3),
    ],
  ];
  for (const [name, content] of repetitive) {
    test(`on ${name}`, () => expectAgreement(content, { mergeCount: 60 }));
  }
});

test("the worked example: low 5, lower 2, widest 3, newest 6", async () => {
  // "e s" and "s t" have 9 each, and the greater one is merged first. Special tokens keep words separate.
  const words = { low: 5, lower: 2, widest: 3, newest: 6 };
  const content = Object.entries(words)
    .flatMap(([word, count]) => Array(count).fill(word))
    .join("<|end|>");
  const trained = await trainOn(content, { mergeCount: 6, specialTokens: ["<|end|>"] });
  expect(mergesOf(trained).map((pair) => pair.join(" "))).toEqual([
    "s t",
    "e st",
    "o w",
    "l ow",
    "w est",
    "n e",
  ]);
  expect([trained.pretokenCount, trained.distinctWordCount]).toEqual([16, 4]);
});

test("bytes per token come from the tokens into which the corpus is cut at the end", async () => {
  const trained = await trainOn("aaaaa bb", { mergeCount: 2 });
  // "a a" is merged first, then "b b". So "aaaaa" becomes aa, aa, a, and " bb" becomes a space and bb: 5 tokens.
  expect([...trained.tokenCounts.tokensAfter]).toEqual([8, 6, 5]);
});

test("all 256 bytes are learned from, and invalid bytes are never joined", async () => {
  const content = Uint8Array.from({ length: 512 }, (_, i) => i & 255);
  const trained = await trainOn(content, { mergeCount: 300 });
  for (const [left, right] of mergesOf(trained)) expect(/[\x80-\xff]/.test(left + right)).toBe(false);
  expect(trained.statistics[0]).toMatchObject({ invalidByteCount: 256, firstInvalidByte: 128 });
});

test("the first invalid byte is found anywhere, including at the start and after others", async () => {
  for (const first of [0, 1, 5]) {
    const content = new Uint8Array(300_000).fill(97);
    for (let pos = first; pos < content.length; pos += 100_000) content[pos] = 0xff;
    const { statistics } = await trainOn(content, { mergeCount: 1 });
    expect(statistics[0]).toMatchObject({ invalidByteCount: 3, firstInvalidByte: first });
  }
});

test("a corpus of special tokens only has no words and no merges", async () => {
  const trained = await trainOn("<|end|><|end|>", { mergeCount: 10, specialTokens: ["<|end|>"] });
  expect([trained.pretokenCount, trained.vocabulary.mergeCount, trained.vocabulary.size]).toEqual([
    0, 0, 257,
  ]);
  expect(trained.statistics).toEqual([
    {
      ...{ textBytes: 14, documentCount: 0, invalidByteCount: 0, firstInvalidByte: -1 },
      crc32: crc32("<|end|><|end|>"),
    },
  ]);
});

test("no learned token contains a piece of a special token", async () => {
  const content = "some text<|endoftext|>more text<|endoftext|>".repeat(50);
  const trained = await trainOn(content, { mergeCount: 200, specialTokens: ["<|endoftext|>"] });
  for (const [left, right] of mergesOf(trained)) expect(left + right).not.toMatch(/[<|>]|of|end/);
});

describe("1, 2 and 7 workers learn the same", () => {
  const paragraphs = Array.from(
    { length: 3000 },
    (_, i) => `Paragraph ${i}: ${"naïve 日本語 words ".repeat(i % 7)}it's.\n`,
  );
  const cases: [string, string[]][] = [
    ["without special tokens", []],
    ["with special tokens", [" words "]],
  ];
  for (const [name, specialTokens] of cases) {
    test(name, async () => {
      const settings = { mergeCount: 200, specialTokens };
      const content = paragraphs.join("").repeat(8);
      const one = await trainOn(content, settings);
      for (const workerCount of [2, 7]) {
        const many = await trainOn(content, { ...settings, workerCount });
        expect(mergesOf(many)).toEqual(mergesOf(one));
        expect(many.statistics).toEqual(one.statistics);
        expect(many.pretokenCount).toEqual(one.pretokenCount);
      }
    });
  }
});

describe("the pattern of a training", () => {
  test("for HF is read like in HF's engine, and written for it as typed", () => {
    const typed = "\\w+$|\\w|\\W";
    const pattern = trainingPattern(typed, "huggingface");
    expect(pattern.sources).not.toEqual([typed]);
    expect(patternForms.exported(pattern)).toMatchObject({ regexes: [typed] });
    expect(trainingPattern("\\p{L}+|.", "huggingface").sources).toEqual(["\\p{L}+|."]);
    expect(errorOf(() => trainingPattern("(?i:ss)|.", "huggingface")).exitCode).toBe(2);
  });

  test("otherwise follows tiktoken, and is spelled out for HF", () => {
    const pattern = trainingPattern("a$|[\\s\\S]", "cs336");
    expect(pattern.sources).toEqual(["a$|[\\s\\S]"]);
    expect(patternForms.exported(pattern)).toMatchObject({ regexes: ["a\\z|[\\s\\S]"] });
  });

  test("without a form for HF's engine is refused", () => {
    const error = errorOf(() => trainingPattern("(?<=a(?!b))c|.", "cs336"));
    expect(error.message).toContain(
      "HF tokenizers would not be able to read this pattern in a tokenizer.json",
    );
    expect([error.exitCode, error.hint]).toEqual([2, expect.any(String)]);
  });

  test.each([
    "[a-z]+",
    "deepseek-v3",
    "\\s+(?!\\S)|\\S+",
  ])("for rustbpe is refused if rustbpe would cut otherwise: %s", (text) => {
    const error = errorOf(() => trainingPattern(text, "rustbpe"));
    expect(error.message).toContain("--compat rustbpe");
    expect([error.exitCode, error.hint]).toEqual([2, expect.any(String)]);
    expect(trainingPattern(text, "cs336").sources.length).toBeGreaterThan(0);
  });
});
