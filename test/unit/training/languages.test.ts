import { expect, test } from "bun:test";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { trainTokenizer } from "../../../src/index.ts";
import { put, scratch } from "../../binary.ts";
import { naiveWords } from "../../naive.ts";
import { randomNumbers } from "../../random.ts";
import { rounds } from "../../rounds.ts";
import { refusalOf } from "../../thrown.ts";
import type { NaiveWords } from "../merge/naive.ts";
import { naiveParity } from "../merge/naive-parity.ts";

const home = scratch();
const plain = { ratio: null, window: null, globalMerges: 0 };

/** Multiplies counts by an integer weight. */
const times = (words: NaiveWords, weight: number) =>
  new Map([...words].map(([word, n]) => [word, n * weight]));

function together(all: readonly NaiveWords[]): Map<string, number> {
  const sum = new Map<string, number>();
  for (const words of all) for (const [word, n] of words) sum.set(word, (sum.get(word) ?? 0) + n);
  return sum;
}

test("each language has its own words, whatever its files, and the merges are those of a naive twin", async () => {
  const seed = Number(process.env.BPE_TEST_SEED ?? Date.now() % 2 ** 31);
  const random = randomNumbers(seed);
  const pick = <T>(from: readonly T[]) => from[random(from.length)]!;
  const alphabets = [
    ["low", "lower", " new", "est", " the"],
    ["नम", "स्ते", " हि"],
    [" aaaa", "ab", "ba", "12"],
    ["日本", "語", "!!"],
  ];
  const forms: ((text: string, name: string) => string)[] = [
    (text, name) => put(home, `${name}.txt`, text),
    (text, name) => put(home, `${name}.txt.gz`, gzipSync(text)),
    (text, name) => put(home, `${name}.jsonl`, `${JSON.stringify({ text })}\n`),
  ];
  for (let round = 0; round < rounds(25); round++) {
    const compat = pick(["cs336", "huggingface", "rustbpe"] as const);
    const hasDev = random(2) === 0;
    const weights: Record<string, number> = {};
    const make = (k: number, what: string) =>
      Array.from({ length: 1 + random(3) }, (_, i) => {
        const words = alphabets[random(5) === 0 ? random(4) : k]!;
        const text = Array.from({ length: 1 + random(40) }, () => pick(words)).join("");
        const file = pick(forms)(text, `${what}-${k}-${i}`);
        const weight = 1 + random(3);
        if (random(4) === 0) weights[file] = weight;
        return { file, words: times(naiveWords(text), weights[file] ?? 1) };
      });
    const made = Array.from({ length: 1 + random(4) }, (_, k) => ({
      name: `language ${k}`,
      train: make(k, "train"),
      dev: hasDev ? make(k, "dev") : [],
    }));
    const languages = made.map(({ name, train, dev }) => ({
      name,
      files: train.map(({ file }) => file),
      ...(hasDev && { dev: dev.map(({ file }) => file) }),
    }));
    const wordsOf = (what: "train" | "dev") =>
      made.map((language) => together(language[what].map(({ words }) => words)));
    const wanted = naiveParity(wordsOf("train"), hasDev ? wordsOf("dev") : null, plain, compat, {
      mergeCount: 40,
      minFrequency: compat === "huggingface" ? 0 : 1,
    });
    const options = { languages, weights, compat, vocabSize: 296, workers: pick([1, 2, 3]) };
    const cache = random(3) === 0 ? join(home, "cache") : undefined;
    for (const again of cache === undefined ? [1] : [1, 2]) {
      const tokenizer = await trainTokenizer({ ...options, cache });
      const merges = tokenizer.merges.map((pair) => pair.map((half) => Buffer.from(half).toString("latin1")));
      expect([seed, round, again, merges]).toEqual([
        seed,
        round,
        again,
        wanted.map(({ left, right }) => [left, right]),
      ]);
      const all = together(wordsOf("train"));
      expect(tokenizer.statistics.distinctWordCount).toBe(all.size);
      expect(tokenizer.statistics.wordCount).toBe([...all.values()].reduce((sum, n) => sum + n));
    }
  }
}, 600_000);

test("invalid languages are refused", async () => {
  const files = put(home, "a.txt", "some text");
  const refused = async (languages: unknown, more: object = {}) =>
    (await refusalOf(trainTokenizer({ languages, vocabSize: 300, ...more } as never))).message;
  const en = { name: "en", files };
  expect(await refused({ en: files })).toContain("an array of languages");
  expect(await refused([{ name: "en" }])).toContain("languages[0]: files");
  expect(await refused([{ ...en, more: 1 }])).toContain('no option "more"');
  expect(await refused([{ name: "", files }])).toContain("languages[0]: name is empty");
  expect(await refused([{ name: "en", files: [] }])).toContain('must name files of the language "en"');
  expect(
    await refused([
      { ...en, dev: files },
      { name: "hi", files },
    ]),
  ).toContain('missing for the language "hi"');
  expect(await refused([])).toContain("nothing to train on");
});
