import { expect, test } from "bun:test";
import { byteVocabulary, encodeWord } from "../../../examples/learn.ts";
import { trainMerges } from "../../../src/merge/train-merges.ts";
import { runToEnd } from "../../../src/runtime/slices.ts";
import type { Compat, Merges } from "../../../src/tokenizer/merges.ts";
import type { TokenCounts } from "../../../src/tokenizer/token-counts.ts";
import * as tokenCounting from "../../../src/tokenizer/token-counts.ts";
import * as vocabularies from "../../../src/tokenizer/vocabulary.ts";
import { randomNumbers } from "../../random.ts";
import { rounds } from "../../rounds.ts";
import { makeTuning, makeWords, tableOf } from "../merge/made-words.ts";
import { type NaiveWords, ranksOf, spelledMerges } from "../merge/naive.ts";

const compats: readonly Compat[] = ["cs336", "huggingface", "rustbpe"];

/** Returns the number of occurrences of each token when the first merges encode the words. */
function naiveCounts(words: NaiveWords, merges: Merges, mergeCount: number): number[] {
  const vocabulary = byteVocabulary("cs336");
  const pairs = spelledMerges(merges)
    .slice(0, mergeCount)
    .map(({ left, right }) => [left, right] as const);
  for (const [left, right] of pairs) vocabulary.set(left + right, vocabulary.size);
  const counts = new Array<number>(vocabulary.size).fill(0);
  const ranks = ranksOf(pairs);
  for (const [word, count] of words)
    for (const token of encodeWord(word, ranks)) counts[vocabulary.get(token)!]! += count;
  return counts;
}

const sum = (numbers: Iterable<number>) => [...numbers].reduce((total, number) => total + number, 0);

function naiveTokenCounts(words: NaiveWords, merges: Merges): TokenCounts {
  const after = Array.from({ length: merges.mergeCount + 1 }, (_, k) => naiveCounts(words, merges, k));
  return {
    startCount: 256,
    createdCounts: Float64Array.from([...after[0]!, ...after.slice(1).map((counts) => counts.at(-1)!)]),
    endCounts: Float64Array.from(after.at(-1)!),
    pairCounts: merges.counts,
    tokensAfter: Float64Array.from(after, sum),
  };
}

const learn = (words: NaiveWords, mergeCount: number, compat: Compat, seed?: number) => {
  const random = randomNumbers(seed ?? 1);
  const specialTokens = seed !== undefined && random(3) === 0 ? ["ab", "aaa", "b"] : [];
  const options = { mergeCount, compat, specialTokens, threadCount: 1 + random(4) };
  const table = tableOf(words);
  const merges = runToEnd(trainMerges(table, options, seed === undefined ? undefined : makeTuning(random)));
  return { table, merges, tokenCounts: tokenCounting.make(merges) };
};

for (const compat of compats) {
  test(`${compat}: counts are those of a naive encoder, when created, at the end and after each merge`, () => {
    for (let seed = 1; seed <= rounds(20); seed++) {
      const words = makeWords(randomNumbers(seed * 7919));
      const { merges, tokenCounts } = learn(words, 1 + (seed % 60), compat, seed);
      expect({ seed, tokenCounts }).toEqual({ seed, tokenCounts: naiveTokenCounts(words, merges) });
    }
  });
}

test("overlapping occurrences of a pair are counted once", () => {
  const { merges, tokenCounts } = learn(new Map([["aaaaaaa", 10]]), 2, "cs336");
  // "a a" occurs 6 times, of which 3 are replaced; then "aa aa" occurs twice, and one is replaced.
  expect([...merges.counts]).toEqual([60, 20]);
  expect([...tokenCounts.createdCounts.subarray(256)]).toEqual([30, 10]);
  expect([...tokenCounts.endCounts.subarray(256), tokenCounts.endCounts[97]!]).toEqual([10, 10, 10]);
  expect([...tokenCounts.tokensAfter]).toEqual([70, 40, 30]);
});

test("the token counts of the first merges are those of a training that stopped there", () => {
  for (let seed = 1; seed <= rounds(10); seed++) {
    const words = makeWords(randomNumbers(seed * 104729));
    const { tokenCounts, merges } = learn(words, 50, "rustbpe");
    const mergeCount = Math.floor(merges.mergeCount / (1 + (seed % 5)));
    const shorter = learn(words, mergeCount, "rustbpe");
    expect({ seed, tokenCounts: tokenCounting.ofFirst(tokenCounts, shorter.merges) }).toEqual({
      seed,
      tokenCounts: shorter.tokenCounts,
    });
  }
});

const exampleWords = new Map([
  ["low", 5],
  ["lower", 2],
  ["widest", 3],
  ["newest", 6],
]);

test("an intermediate token is absorbed by later merges, so that it occurs less often than the last merged pair", () => {
  // The merges make these tokens, with these counts: st 9, est 9, ow 7, low 7, west 6, ne 6, newest 6.
  const { tokenCounts } = learn(exampleWords, 7, "cs336");
  const found = [256, 257, 258, 259, 260, 261, 262].filter(
    (token) => tokenCounting.markIntermediates(tokenCounts)[token],
  );
  expect([...tokenCounts.endCounts.subarray(256)]).toEqual([0, 3, 0, 7, 0, 0, 6]);
  expect(found).toEqual([256, 257, 258, 260, 261]);
  // A byte is never an intermediate token, even if it is absorbed like "s".
  expect([tokenCounts.endCounts[115], tokenCounting.markIntermediates(tokenCounts)[115]]).toEqual([0, 0]);
  // "aaa" has "a a" twice, of which one is replaced. The token is rarer than its pair, but no merge absorbed it.
  const overlapping = learn(new Map([["aaa", 1]]), 1, "cs336").tokenCounts;
  expect([
    overlapping.pairCounts[0],
    overlapping.endCounts[256],
    tokenCounting.markIntermediates(overlapping)[256],
  ]).toEqual([2, 1, 0]);
});

test("a token that remains as often as the last pair occurred is not an intermediate token", () => {
  const words = new Map([
    ["abc", 2],
    ["ab", 2],
  ]);
  const { tokenCounts } = learn(words, 2, "cs336");
  expect([[...tokenCounts.pairCounts], tokenCounts.createdCounts[256], tokenCounts.endCounts[256]]).toEqual([
    [4, 2],
    4,
    2,
  ]);
  expect(tokenCounting.markIntermediates(tokenCounts)[256]).toBe(0);
});

test("sizes exclude tokens that only fill the vocabulary", () => {
  const words = makeWords(randomNumbers(6));
  const { merges, tokenCounts } = learn(words, 400, "cs336");
  const [plain, filled] = [1, 512].map((padTo) =>
    tokenCounting.factsOf(
      tokenCounts,
      vocabularies.build({ merges, specialTokens: ["<x>"], compat: "cs336", padTo }),
    ),
  );
  expect(filled).toEqual(plain!);
});

test("facts: bytes per token at ten sizes and at half the size, and how many tokens are absorbed", () => {
  const words = makeWords(randomNumbers(6));
  const table = tableOf(words);
  for (const compat of compats) {
    for (const specialTokens of [[], ["<x>", "ab", "b"]]) {
      const merges = runToEnd(trainMerges(table, { mergeCount: 400, compat, specialTokens: [] }));
      const vocabulary = vocabularies.build({
        merges,
        specialTokens: compat === "huggingface" ? specialTokens : ["<x>"],
        compat,
      });
      const tokenCounts = tokenCounting.make(merges);
      const facts = tokenCounting.factsOf(tokenCounts, vocabulary);
      const sizes = Array.from({ length: merges.mergeCount + 1 }, (_, mergeCount) => {
        const first = {
          ...merges,
          mergeCount,
          left: merges.left.slice(0, mergeCount),
          right: merges.right.slice(0, mergeCount),
        };
        return vocabularies.build({ merges: first, specialTokens: vocabulary.specialTokens, compat }).size;
      });
      const rate = (k: number) => tokenCounts.tokensAfter[0]! / tokenCounts.tokensAfter[k]!;
      const tenths = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map((i) => Math.round((merges.mergeCount * i) / 10));
      expect(facts.curve).toEqual(tenths.map((k) => ({ vocabSize: sizes[k]!, bytesPerToken: rate(k) })));
      const halfSize = Math.floor(vocabulary.size / 2);
      const half = sizes.lastIndexOf(halfSize);
      expect(facts.half).toEqual(half < 0 ? null : { vocabSize: halfSize, bytesPerToken: rate(half) });
      expect([facts.tokenCount, facts.bytesPerToken]).toEqual([
        tokenCounts.tokensAfter.at(-1)!,
        rate(merges.mergeCount),
      ]);
      const learned = Array.from({ length: merges.mergeCount }, (_, k) => 256 + k);
      const areIntermediate = tokenCounting.markIntermediates(tokenCounts);
      const absorbed = learned.filter((token) => areIntermediate[token]);
      expect(facts.residueCount).toBe(absorbed.length);
      expect(facts.neverReachedCount).toBe(
        absorbed.filter((token) => tokenCounts.endCounts[token] === 0).length,
      );
    }
  }
});

test("half the size is found even if some merges add no token, and is absent below the initial tokens", () => {
  const words = new Map(Array.from({ length: 900 }, (_, i) => [`${i * 7919}ab`, 1 + (i % 50)] as const));
  const table = tableOf(words);
  const merges = runToEnd(
    trainMerges(table, { mergeCount: 600, compat: "huggingface", specialTokens: ["ab"] }),
  );
  const vocabulary = vocabularies.build({ merges, specialTokens: ["ab"], compat: "huggingface" });
  expect([merges.mergeCount, vocabulary.size]).toEqual([601, 857]);
  const tokenCounts = tokenCounting.make(merges);
  const { half } = tokenCounting.factsOf(tokenCounts, vocabulary);
  const first = merges.left.findIndex((left, k) => left === 97 && merges.right[k] === 98);
  expect(first).toBeLessThan(100);
  // The 428 tokens are 256 bytes, the special token "ab", and the tokens of the first 172 merges, of which "a b" adds
  // none.
  expect(half).toEqual({
    vocabSize: 428,
    bytesPerToken: tokenCounts.tokensAfter[0]! / tokenCounts.tokensAfter[428 - 256]!,
  });
  const small = learn(exampleWords, 5, "cs336");
  const few = vocabularies.build({ merges: small.merges, specialTokens: [], compat: "cs336" });
  expect(tokenCounting.factsOf(small.tokenCounts, few).half).toBe(null);
});

test("without text there is no curve, and without merges a single point", () => {
  const none = learn(new Map(), 5, "cs336");
  const vocabulary = vocabularies.build({ merges: none.merges, specialTokens: [], compat: "cs336" });
  const nothing = {
    tokenCount: 0,
    bytesPerToken: null,
    half: null,
    curve: [],
    residueCount: 0,
    neverReachedCount: 0,
  };
  expect(tokenCounting.factsOf(none.tokenCounts, vocabulary)).toEqual(nothing);
  const single = learn(new Map([["a", 3]]), 5, "cs336");
  const bytesOnly = vocabularies.build({ merges: single.merges, specialTokens: [], compat: "cs336" });
  expect(tokenCounting.factsOf(single.tokenCounts, bytesOnly).curve).toEqual([
    { vocabSize: 256, bytesPerToken: 1 },
  ]);
});
