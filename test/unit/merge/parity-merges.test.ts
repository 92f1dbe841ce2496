import { describe, expect, test } from "bun:test";
import type { Parity } from "../../../src/formats/training-json.ts";
import type { MergeOptions } from "../../../src/merge/merge-options.ts";
import { defaultTuning, type MergeTuning } from "../../../src/merge/merge-options.ts";
import { trainParityMerges } from "../../../src/merge/parity-merges.ts";
import { trainMerges } from "../../../src/merge/train-merges.ts";
import { runToEnd } from "../../../src/runtime/slices.ts";
import type { Compat, Merges } from "../../../src/tokenizer/merges.ts";
import { pick, type Random, randomNumbers } from "../../random.ts";
import { rounds } from "../../rounds.ts";
import { makeTuning, makeWords, sumOf, tableOf } from "./made-words.ts";
import { type NaiveWords, spelledMerges } from "./naive.ts";
import { naiveParity } from "./naive-parity.ts";

const plain: Parity = { ratio: null, window: null, globalMerges: 0 };

function train(
  languages: readonly NaiveWords[],
  options: MergeOptions,
  parity: Partial<Parity> = {},
  dev: readonly NaiveWords[] | null = null,
  tuning: MergeTuning = defaultTuning,
): Merges {
  const tables = languages.map(tableOf);
  const devTables = dev?.map(tableOf) ?? null;
  return runToEnd(
    trainParityMerges(
      tableOf(sumOfWords(languages)),
      tables,
      devTables,
      { ...plain, ...parity },
      options,
      tuning,
    ),
  );
}

function sumOfWords(languages: readonly NaiveWords[]): NaiveWords {
  const sum = new Map<string, number>();
  for (const [word, count] of languages.flatMap((words) => [...words]))
    sum.set(word, (sum.get(word) ?? 0) + count);
  return sum;
}

const readable = (merges: Merges) => spelledMerges(merges).map(({ left, right }) => `${left} ${right}`);

const wordsOf = (words: Record<string, number>): NaiveWords => new Map(Object.entries(words));

describe("worked example", () => {
  const aabb = wordsOf({ aabb: 10 });
  const ccdd = wordsOf({ ccdd: 10 });

  test("the language with the longer text chooses, and of equal ones the first; ties go to the greater pair", () => {
    const merges = train([aabb, ccdd], { mergeCount: 6, compat: "huggingface" });
    expect(readable(merges)).toEqual(["b b", "d d", "a bb", "c dd", "a abb", "c cdd"]);
    expect([...merges.counts]).toEqual([10, 10, 10, 10, 10, 10]);
  });

  test("dev words determine which language is worst off", () => {
    const dev = [wordsOf({ ab: 1 }), wordsOf({ cdcdcd: 5 })];
    const merges = train([aabb, ccdd], { mergeCount: 4, compat: "huggingface" }, {}, dev);
    expect(readable(merges)).toEqual(["d d", "c dd", "c cdd", "b b"]);
  });
});

function makeLanguages(random: Random, count: number): NaiveWords[] {
  const languages = Array.from({ length: count }, () => makeWords(random));
  // Two equal languages are tied at each choice.
  if (count > 1 && random(4) === 0) languages[1] = languages[0]!;
  if (random(8) === 0) languages[random(count)] = new Map();
  return languages;
}

test.each([
  "cs336",
  "huggingface",
  "rustbpe",
] as const)("%s: the naive twin learns the same", (compat: Compat) => {
  for (let seed = 1; seed <= rounds(150); seed++) {
    const random = randomNumbers(7919 * seed + compat.length);
    const languageCount = 1 + random(6);
    const languages = makeLanguages(random, languageCount);
    const dev = random(3) === 0 ? makeLanguages(random, languageCount) : null;
    const parity: Parity = {
      ratio:
        dev === null && random(2) === 0 ? languages.map(() => pick(random, [1, 2, 0.5, 1.3, 2.5])) : null,
      window: random(2) === 0 ? { size: 1 + random(12), alpha: pick(random, [0.2, 0.5, 1, 1.2, 2]) } : null,
      globalMerges: random(3) === 0 ? random(12) : 0,
    };
    const options = {
      mergeCount: random(60),
      compat,
      ...(random(3) === 0 ? { minFrequency: random(6) } : {}),
      ...(random(4) === 0 ? { maxTokenLength: 2 + random(5) } : {}),
    };
    const tuning = random(3) === 0 ? defaultTuning : makeTuning(random);
    const merges = train(languages, options, parity, dev, tuning);
    const expected = naiveParity(languages, dev, parity, compat, options);
    expect({ seed, merges: spelledMerges(merges) }).toEqual({ seed, merges: expected });
  }
});

test("each language counts its replacements, and the merges have the sum", () => {
  const [a, b] = [new Map([["aaab", 3]]), new Map([["aab", 5]])];
  const merges = train([a, b], { mergeCount: 1, compat: "cs336" });
  // The language b is chosen, because its text is longer. In this text, "a a" and "a b" occur 5 times each, and the
  // greater pair wins.
  expect(readable(merges)).toEqual(["a b"]);
  expect([...merges.counts, ...merges.replacedCounts]).toEqual([8, 8]);
  expect([merges.startCounts[97], merges.startCounts[98]]).toEqual([19, 8]);
});

test("a single language learns the merges of an ordinary training", () => {
  for (let seed = 1; seed <= rounds(20); seed++) {
    const words = makeWords(randomNumbers(seed));
    const options: MergeOptions = { mergeCount: 50, compat: "cs336" };
    expect(sumOf(train([words], options))).toBe(sumOf(runToEnd(trainMerges(tableOf(words), options))));
    const together = train([words, words], options, { globalMerges: 50 });
    expect(together.left).toEqual(runToEnd(trainMerges(tableOf(words), options)).left);
  }
});

test("given merges come first, then those of all languages together, then those that languages choose", () => {
  for (let seed = 1; seed <= rounds(30); seed++) {
    const random = randomNumbers(seed * 31);
    const languages = makeLanguages(random, 1 + random(4));
    const letters = [...languages.flatMap((words) => [...words.keys()]).join("")];
    const [a, b, c] = [
      pick(random, letters) ?? "x",
      pick(random, letters) ?? "y",
      pick(random, letters) ?? "z",
    ];
    const bytes = [a, b, c].map((letter) => letter.charCodeAt(0)) as [number, number, number];
    const options = { mergeCount: 30, compat: "huggingface" as const };
    const parity: Parity = { ...plain, globalMerges: random(3) * 2 };
    const firstMerges = [[bytes[0], bytes[1]] as const, [256, bytes[2]] as const];
    const merges = train(languages, { ...options, firstMerges }, parity);
    const expected = naiveParity(languages, null, parity, "huggingface", {
      ...options,
      firstMerges: [[a, b] as const, [a + b, c] as const],
    });
    expect({ seed, merges: spelledMerges(merges) }).toEqual({ seed, merges: expected });
  }
});
