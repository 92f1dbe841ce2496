import { expect, spyOn, test } from "bun:test";
import { readFileSync } from "node:fs";
import { trainTokenizer } from "../../../src/index.ts";
import type { Tokenizer } from "../../../src/library/tokenizer.ts";
import * as training from "../../../src/merge/train-merges.ts";
import { usualSuperwordPattern } from "../../../src/pattern/named-patterns.ts";
import { isSmallScale } from "../../../src/runtime/scale.ts";
import * as counting from "../../../src/words/count-memory.ts";
import { put, scratch } from "../../binary.ts";
import { randomNumbers } from "../../random.ts";
import { rounds } from "../../rounds.ts";
import { naivePieces, naiveSuperwords } from "./naive-superwords.ts";

const seed = Number(process.env.TEST_SEED ?? 3);
const random = randomNumbers(seed);
const one = <T>(list: ArrayLike<T>) => list[random(list.length)]!;

const gpt2 = /'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+/gu;
const lifted = new RegExp(usualSuperwordPattern, "gu");

const words = ["a", "the", "of", "in", "x", "é", "ab", "ba", "12", ":", ",", "--", "漢字", "  ", '."', "aa"];
const ends = [" ", " ", " ", " ", "", "\n", ": ", "  \n", "\t", "\r\n"];
const madeText = (length: number) =>
  Array.from({ length }, () => one(words) + (random(5) === 0 ? one(ends) : " ")).join("");

/** Returns the merges of a tokenizer, as pairs of Latin-1 texts. */
function mergesOf(tokenizer: Tokenizer): [string, string][] {
  const { left, right } = tokenizer.parts.model.merges;
  const text = (id: number) => Buffer.from(tokenizer.decodeBytes([id])).toString("latin1");
  return Array.from(left, (id, k) => [text(id), text(right[k]!)]);
}

test("merges are those of naive learning, and documents and lines end pretokens", async () => {
  const home = scratch();
  let superCount = 0;
  let droppedCount = 0;
  let ambiguousCount = 0;
  for (let trial = 0; trial < rounds(100); trial++) {
    const documents = Array.from({ length: 1 + random(4) }, () => madeText(1 + random(60)));
    const [inherited, wanted] = [random(20), 20 + random(30)];
    const first = naiveSuperwords(naivePieces(documents, gpt2), [], inherited, { refuses: false }).merges;
    const naive = naiveSuperwords(naivePieces(documents, lifted), first, wanted);
    if (naive.isAmbiguous) ambiguousCount++;
    else {
      const tokenizer = await trainTokenizer({
        files: put(home, `${trial}.txt`, documents.join("<|end|>")),
        specialTokens: ["<|end|>"],
        vocabSize: 257 + wanted,
        superwordsFrom: 257 + inherited,
        compat: "huggingface",
        workers: 1,
      });
      const merges = mergesOf(tokenizer);
      expect({ seed, trial, documents, inherited, merges }).toEqual({
        seed,
        trial,
        documents,
        inherited,
        merges: naive.merges.map((pair) => [...pair]),
      });
    }
    superCount += naive.merges.filter((pair) => pair.join("").trim().includes(" ")).length;
    droppedCount += first.length - naive.keptCount;
  }
  expect(superCount).toBeGreaterThan(rounds(100));
  expect(droppedCount).toBeGreaterThan(0);
  expect(ambiguousCount).toBe(0);
});

test("1, 2 and 7 workers, little memory, records and files in parts give the same bytes", async () => {
  const home = scratch();
  const texts = Array.from({ length: 40 }, () => madeText(1500));
  const files = texts.map((text, i) => put(home, `${i}.txt`, text));
  const lines = put(home, "all.jsonl", texts.map((text) => `${JSON.stringify({ text })}\n`).join(""));
  const options = { vocabSize: 900, superwordsFrom: 600, compat: "cs336" } as const;
  const train = async (name: string, more: object) => {
    const output = `${home}/${name}`;
    await trainTokenizer({ files, ...options, ...more, output });
    return ["merges.txt", "tokenizer.json", "vocab.json"].map((file) =>
      readFileSync(`${output}/${file}`, "utf8"),
    );
  };
  const alone = await train("1", { workers: 1 });
  expect(alone[0]).toContain("Ġthe Ġof");
  expect(await train("2", { workers: 2 })).toEqual(alone);
  expect(await train("7", { workers: 7 })).toEqual(alone);
  expect(await train("records", { workers: 2, files: lines })).toEqual(alone);
  expect(await train("little", { workers: 2, memoryLimitBytes: 250e6 })).toEqual(alone);
});

test("words in sorted runs give the same merges", async () => {
  const home = scratch();
  const files = [put(home, "a.txt", madeText(2000)), put(home, "b.txt", madeText(2000))];
  const options = { files, vocabSize: 700, superwordsFrom: 500, workers: 1, memoryLimitBytes: 1e9 };
  const merges = mergesOf(await trainTokenizer(options));
  let limitedCount = 0;
  const little = spyOn(counting, "runOptionsOf").mockImplementation(({ scratch, countsOptions }) => {
    limitedCount++;
    return { ...scratch.open(), countsOptions, wordBytesMax: 1 << 19 };
  });
  try {
    expect(mergesOf(await trainTokenizer(options))).toEqual(merges);
  } finally {
    little.mockRestore();
  }
  expect(limitedCount).toBe(2);
});

test.skipIf(isSmallScale)("if memory proves too small while merging, the corpus is read again", async () => {
  const home = scratch();
  const files = put(home, "text.txt", madeText(3000));
  const options = { files, vocabSize: 500, superwordsFrom: 350, workers: 1 };
  const merges = mergesOf(await trainTokenizer(options));
  const { trainInPlace } = training;
  let failedCount = 0;
  const failing = spyOn(training, "trainInPlace").mockImplementation(function* (words, ...others) {
    failedCount++;
    yield* trainInPlace(words, ...others)!;
    return undefined;
  });
  try {
    expect(mergesOf(await trainTokenizer(options))).toEqual(merges);
  } finally {
    failing.mockRestore();
  }
  expect(failedCount).toBe(1);
});

test("a smaller vocabulary of one run is that of a separate run", async () => {
  const home = scratch();
  const files = put(home, "text.txt", madeText(3000));
  const merges = async (vocabSize: number) =>
    mergesOf(await trainTokenizer({ files, vocabSize, superwordsFrom: 350 }));
  const large = await merges(500);
  expect(large.length).toBe(244);
  expect(await merges(400)).toEqual(large.slice(0, 144));
});

test("nonsensical options are refused", async () => {
  const home = scratch();
  const files = put(home, "text.txt", madeText(100));
  const refused = (more: object) => trainTokenizer({ files, vocabSize: 400, ...more }).catch(String);
  expect(await refused({ superwordsFrom: 401 })).toContain("superwordsFrom 401 is more than vocabSize 400");
  expect(await refused({ superwordsFrom: 255 })).toContain("superwordsFrom is 255, but must be at least");
  expect(await refused({ superwordsFrom: 1.5 })).toContain("superwordsFrom is 1.5");
  expect(await refused({ superwordPattern: "a+" })).toContain("superwordPattern needs superwordsFrom");
  expect(await refused({ superwordsFrom: 300, superwordPattern: "(" })).toContain("pattern");
  expect(await refused({ superwordsFrom: 300, texts: ["a"] })).toContain("superwords read the corpus twice");
});
