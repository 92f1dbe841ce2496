import { expect, test } from "bun:test";
import { defaultTuning, type MergeTuning } from "../../src/merge/merge-tuning.ts";
import { type MergeOptions, trainMerges } from "../../src/merge/train-merges.ts";
import { atOnce } from "../../src/runtime/turns.ts";
import { type WordTable, wordTableOf } from "../../src/words/word-table.ts";
import { makeTuning, makeWords, seededRandom, tableOf } from "../merge/made-words.ts";
import { rounds } from "../rounds.ts";
import { naiveMerges } from "./naive.ts";

const boundless = { compat: "cs336", ties: "smaller bytes", equalPairs: "disjoint" } as const;

function merges(words: WordTable, options: Partial<MergeOptions>, tuning: MergeTuning = defaultTuning) {
  const all = { ...boundless, mergeCount: 300, ...options };
  const learned = atOnce(trainMerges(words, all, tuning));
  const texts = Array.from({ length: 256 }, (_, byte) => String.fromCharCode(byte));
  return Array.from({ length: learned.mergeCount }, (_, k) => {
    const [left, right] = [texts[learned.left[k]!]!, texts[learned.right[k]!]!];
    texts.push(left + right);
    return { left, right, count: learned.counts[k]! };
  });
}

test("five equal letters hold their pair twice, and the smaller of two equal pairs is merged first", () => {
  const words = wordTableOf([
    ["aaaaa", 2],
    ["xy", 5],
    ["pq", 5],
  ]);
  expect(merges(words, { mergeCount: 3 })).toEqual([
    { left: "p", right: "q", count: 5 },
    { left: "x", right: "y", count: 5 },
    { left: "a", right: "a", count: 4 },
  ]);
});

test("merges of repetitive words are those of the naive twin, whatever the engine's knobs say", () => {
  const seed = 20261122;
  const random = seededRandom(seed);
  for (let trial = 0; trial < rounds(60); trial++) {
    const words = makeWords(random);
    const options = {
      mergeCount: 1 + random(40),
      minFrequency: random(4),
      maxTokenLength: random(3) === 0 ? 2 + random(6) : null,
    };
    const tuning = makeTuning(random);
    const wanted = naiveMerges(words, options);
    const found = merges(tableOf(words), { ...options, threadCount: 1 + random(4) }, tuning);
    expect({ seed, trial, found }).toEqual({ seed, trial, found: wanted });
  }
});

test("a row of a million equal letters is recounted in slices", () => {
  const length = 1_000_001;
  const words = {
    wordCount: 1,
    bytes: new Uint8Array(length).fill(97),
    starts: Uint32Array.of(0, length),
    counts: Float64Array.of(3),
  };
  const work = trainMerges(words, { ...boundless, mergeCount: 4 }, { ...defaultTuning, sliceWork: 1000 });
  let turnCount = 0;
  let step = work.next();
  for (; !step.done; step = work.next()) turnCount++;
  expect([...step.value.counts]).toEqual([1_500_000, 750_000, 375_000, 187_500]);
  expect(turnCount).toBeGreaterThan(5 * 1000);
});
