import { describe, expect, test } from "bun:test";
import type { Pair } from "../../../examples/learn.ts";
import * as byteCharacters from "../../../src/bytes/byte-characters.ts";
import { createMergeEngine } from "../../../src/merge/merge-memories.ts";
import type { MergeOptions } from "../../../src/merge/merge-options.ts";
import { checkCellCount, defaultTuning, type MergeTuning } from "../../../src/merge/merge-options.ts";
import { estimateMergeMemoryBytes, trainMerges } from "../../../src/merge/train-merges.ts";
import { UserError } from "../../../src/runtime/errors.ts";
import { isSmallScale } from "../../../src/runtime/scale.ts";
import { runToEnd } from "../../../src/runtime/slices.ts";
import type { Compat, Merges } from "../../../src/tokenizer/merges.ts";
import type { WordTable } from "../../../src/words/word-table.ts";
import * as wordTables from "../../../src/words/word-table.ts";
import { randomNumbers } from "../../random.ts";
import { rounds, turns } from "../../rounds.ts";
import { errorOf } from "../../thrown.ts";
import { isHuge } from "../runtime/huge-pages.ts";
import { wordTableOf } from "../words/generators.ts";
import { makeTuning, makeWords, sumOf, tableOf } from "./made-words.ts";
import { naiveMerges, naiveReplacedCounts, spelledMerges } from "./naive.ts";
import { naiveHuggingface } from "./naive-huggingface.ts";

const compats: readonly Compat[] = ["cs336", "huggingface", "rustbpe"];

const train = (words: WordTable, options: MergeOptions, tuning: MergeTuning = defaultTuning): Merges =>
  runToEnd(trainMerges(words, options, tuning));

function readable(merges: Merges): string[] {
  return spelledMerges(merges).map(({ left, right }) => `${left} ${right}`);
}

function oneWord(byteAt: (pos: number) => number, length: number): WordTable {
  return {
    wordCount: 1,
    bytes: Uint8Array.from({ length }, (_, pos) => byteAt(pos)),
    starts: Uint32Array.of(0, length),
    counts: Float64Array.of(1),
  };
}

/** Converts merges for comparison with `naiveHuggingface`, which writes bytes as characters. */
function inCharacters(merges: readonly Pair[]): Pair[] {
  const encode = (bytes: string) => byteCharacters.encode(Uint8Array.from(bytes, (c) => c.charCodeAt(0)));
  return merges.map(({ left, right, count }) => ({ left: encode(left), right: encode(right), count }));
}

describe("worked example", () => {
  // At first "e s" and "s t" have 9 occurrences each, and the tie goes to the greater pair, "s t".
  const words = wordTableOf([
    ["low", 5],
    ["lower", 2],
    ["widest", 3],
    ["newest", 6],
  ]);

  test("the greater of two equal pairs is merged first", () => {
    const merges = train(words, { mergeCount: 6, compat: "cs336" });
    expect(readable(merges)).toEqual(["s t", "e st", "o w", "l ow", "w est", "n e"]);
    expect([...merges.counts]).toEqual([9, 9, 7, 7, 6, 6]);
    expect([...merges.left.slice(0, 2)]).toEqual([115, 101]);
    expect([...merges.right.slice(0, 2)]).toEqual([116, 256]);
  });

  test("the other two rules prefer the smaller ids", () => {
    const expected = ["e s", "es t", "l o", "lo w", "e w", "n ew"];
    expect(readable(train(words, { mergeCount: 6, compat: "huggingface" }))).toEqual(expected);
    expect(readable(train(words, { mergeCount: 6, compat: "rustbpe" }))).toEqual(expected);
  });

  test("training stops early if no pairs are left", () => {
    expect(train(words, { mergeCount: 1000, compat: "cs336" }).mergeCount).toBe(12);
  });
});

describe("random words, with random tuning", () => {
  for (const compat of compats) {
    test(`${compat}: the engine agrees with its naive twin, counts included`, () => {
      for (let seed = 1; seed <= rounds(150); seed++) {
        const random = randomNumbers(seed * 7919);
        const words = makeWords(random);
        const options = {
          mergeCount: 1 + random([5, 20, 100, 300][random(4)]!),
          compat,
          minFrequency: random(4) > 0 ? 1 : random(5),
          maxTokenLength: random(4) > 0 ? null : 1 + random(9),
          specialTokens: random(4) > 0 ? [] : ["<x>", "ab", "aaa", "b"],
          threadCount: 1 + random(4),
        };
        const tuning = makeTuning(random);
        const learned = train(tableOf(words), options, tuning);
        const merges = spelledMerges(learned);
        const context = { seed, options, tuning };
        const found =
          compat === "huggingface"
            ? [inCharacters(merges), naiveHuggingface(words, options)]
            : [merges, naiveMerges(compat, words, options)];
        expect({ ...context, merges: found[0] }).toEqual({ ...context, merges: found[1]! });
        const replacedCounts = naiveReplacedCounts(words, merges);
        const startCounts = new Array<number>(256).fill(0);
        for (const [word, count] of words)
          for (const byte of Buffer.from(word, "latin1")) startCounts[byte]! += count;
        expect({
          ...context,
          replacedCounts: [...learned.replacedCounts],
          startCounts: [...learned.startCounts],
        }).toEqual({ ...context, replacedCounts, startCounts });
      }
    });
  }

  test("in ties, special tokens that merges spell come before the first letter of the alphabet, in their order", () => {
    const specialTokens = ["#$", '!"', "!!", '"#', "$!", '!"#'];
    for (let seed = 1; seed <= rounds(150); seed++) {
      const random = randomNumbers(seed * 7919);
      const word = () => Array.from({ length: 2 + random(6) }, () => '!"#$'[random(4)]!).join("");
      const words = new Map(Array.from({ length: 1 + random(20) }, () => [word(), 1 + random(2)]));
      const options = { mergeCount: 60, compat: "huggingface", specialTokens } as const;
      const merges = spelledMerges(train(tableOf(words), options));
      expect({ seed, merges: inCharacters(merges) }).toEqual({
        seed,
        merges: naiveHuggingface(words, options),
      });
    }
  });

  test("no two merges produce the same bytes: a pair is created only once, which the engine relies on", () => {
    for (let seed = 1; seed <= rounds(100); seed++) {
      const words = makeWords(randomNumbers(seed * 31337));
      const made = naiveMerges("rustbpe", words, { mergeCount: 300 }).map(({ left, right }) => left + right);
      expect({ seed, distinct: new Set(made).size }).toEqual({ seed, distinct: made.length });
    }
  });
});

describe("edges", () => {
  test("no words, or words of one byte, give no merges", () => {
    for (const compat of compats) {
      expect(train(wordTableOf([]), { mergeCount: 10, compat }).mergeCount).toBe(0);
      expect(train(wordTableOf([["a", 5], ["b", 5]]), { mergeCount: 10, compat }).mergeCount).toBe(0); // biome-ignore format: one thought
      expect(train(wordTableOf([["ab", 5]]), { mergeCount: 0, compat }).mergeCount).toBe(0);
    }
  });

  test("counts are exact just below 2^53 and refused from there on", () => {
    const limit = 2 ** 53;
    const merges = train(wordTableOf([["ab", limit - 2], ["abc", 1]]), { mergeCount: 1, compat: "cs336" }); // biome-ignore format: one thought
    expect(merges.counts[0]).toBe(limit - 1);
    const tooMany = wordTableOf([["ab", limit - 2], ["abc", 2]]); // biome-ignore format: one thought
    expect(() => train(tooMany, { mergeCount: 1, compat: "cs336" })).toThrow(UserError);
  });

  test("a vocabulary of more than 2^16 tokens is supported, and its ids are right", () => {
    const random = randomNumbers(5);
    const words = makeWords(random);
    for (const mergeCount of [65_279, 65_280, 70_000]) {
      const merges = train(tableOf(words), { mergeCount, compat: "cs336" });
      expect(spelledMerges(merges)).toEqual(naiveMerges("cs336", words, { mergeCount }));
    }
  });
});

test("more cells than positions can address are an error with a remedy, without overflow", () => {
  const options = { mergeCount: 1, compat: "cs336" } as const;
  checkCellCount(2 ** 31 - 2, options);
  for (const cellCount of [2 ** 31 - 1, 2 ** 32]) {
    expect(errorOf(() => checkCellCount(cellCount, options)).hint).toContain("--pattern");
  }
});

describe("words in several memories", () => {
  const random = randomNumbers(11);
  const length = 20;
  const someWords = (wordCount: number, byteAt: (pos: number) => number) => {
    const word = (w: number) =>
      String.fromCharCode(...Array.from({ length }, (_, k) => byteAt(w * length + k)));
    return tableOf(new Map(Array.from({ length: wordCount }, (_, w) => [word(w), 1])));
  };
  const noise = someWords(5_000, () => random(256));

  const pairs = someWords(30_000, () => 97 + Math.min(random(26), random(26)));

  /** Returns the least `memoryBytesMax` with which an engine of `memoryCount` memories can be created. */
  function leastBytes(words: WordTable, options: MergeOptions, memoryCount: number): number {
    const fits = (memoryBytesMax: number) =>
      createMergeEngine(wordTables.byteWords(words), memoryCount, options, {
        ...defaultTuning,
        memoryBytesMax,
      }) !== undefined;
    let [low, high] = [0, 2 ** 32];
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (fits(middle)) high = middle;
      else low = middle;
    }
    return high;
  }

  /** Returns the phases in the order in which the training enters them, and the merges. */
  function phasesOf(words: WordTable, options: MergeOptions, tuning: MergeTuning) {
    const training = trainMerges(words, options, { ...tuning, sliceWork: 1 << 12 });
    const phases: string[] = [];
    let step = training.next();
    for (; !step.done; step = training.next()) {
      if (phases.at(-1) !== step.value.phase) phases.push(step.value.phase);
    }
    return { phases, merges: step.value };
  }

  test("the merges are the same in any number of memories", () => {
    const sums = {
      cs336: "3000 072e3ac9b146f05c",
      huggingface: "3000 52142a731309c83b",
      rustbpe: "3000 ae33be4f3ac72867",
    };
    for (const [turn, compat] of compats.entries()) {
      const options = { mergeCount: 3000, compat, specialTokens: ["ab"] };
      for (const memoryCountMin of [1, 2, 3, 5]) {
        for (const threshold of turns(["rising", 1, 300] as const, turn + memoryCountMin)) {
          const tuning = { ...defaultTuning, memoryCountMin, threshold, arenaSlack: 1 };
          const merges = sumOf(train(noise, options, tuning));
          expect({ compat, threshold, memoryCountMin, merges }).toEqual({
            compat,
            threshold,
            memoryCountMin,
            merges: sums[compat],
          });
        }
      }
    }
  });

  test("more memories than words, and no words, make no difference", () => {
    const tuning = { ...defaultTuning, memoryCountMin: 4 };
    expect(train(wordTableOf([]), { mergeCount: 10, compat: "cs336" }, tuning).mergeCount).toBe(0);
    const merges = train(wordTableOf([["aaaaa", 3]]), { mergeCount: 3, compat: "cs336" }, tuning);
    expect(readable(merges)).toEqual(["a a", "aa aa", "aaaa a"]);
    expect([...merges.counts]).toEqual([12, 3, 3]);
  });

  test("a count of 2^53 over all memories is refused, and the one below is exact", () => {
    const tuning = { ...defaultTuning, memoryCountMin: 2 };
    const counts = (second: number) => wordTableOf([["abc", 2 ** 52], ["abd", second]]); // biome-ignore format: one thought
    const merges = train(counts(2 ** 52 - 1), { mergeCount: 1, compat: "cs336" }, tuning);
    expect(merges.counts[0]).toBe(2 ** 53 - 1);
    expect(() => train(counts(2 ** 52), { mergeCount: 1, compat: "cs336" }, tuning)).toThrow(UserError);
  });

  test("words that do not fit into one memory are in two", () => {
    const options: MergeOptions = { mergeCount: 50, compat: "cs336" };
    const memoryBytesMax = leastBytes(noise, options, 1) - 1;
    expect(
      createMergeEngine(wordTables.byteWords(noise), 1, options, { ...defaultTuning, memoryBytesMax }),
    ).toBeUndefined();
    expect(
      createMergeEngine(wordTables.byteWords(noise), 2, options, { ...defaultTuning, memoryBytesMax }),
    ).toBeDefined();
    const { phases, merges } = phasesOf(noise, options, { ...defaultTuning, memoryBytesMax });
    expect(phases.slice(-3)).toEqual(["layout", "index", "merge"]);
    expect(merges).toEqual(train(noise, options));
  });

  test("each memory frees space in its own arena", () => {
    const options: MergeOptions = { mergeCount: 3000, compat: "cs336" };
    const tuning = { ...defaultTuning, memoryCountMin: 3, arenaSlack: 1 };
    expect(sumOf(train(pairs, options, tuning))).toBe("3000 25475870e2d69af5");
  });

  test("if a single memory proves too small later, training starts over with two: too many occurrences", () => {
    // Each word is "ab" nine times, followed by the number of the word in two bytes. The first merge, of "a b", needs
    // more room for occurrences (arena) than the memory has.
    const letterAt = (word: number, place: number) => 99 + (Math.floor(word / 100 ** place) % 100);
    const words = someWords(10_000, (pos) => {
      const [word, k] = [Math.floor(pos / 20), pos % 20];
      return k < 18 ? 97 + (k & 1) : letterAt(word, k - 18);
    });
    const options: MergeOptions = { mergeCount: 3000, compat: "cs336" };
    const memoryBytesMax = leastBytes(words, options, 1);
    const { phases, merges } = phasesOf(words, options, { ...defaultTuning, threshold: 1, memoryBytesMax });
    expect(phases).toEqual(["layout", "index", "merge", "layout", "index", "merge"]);
    expect(sumOf(merges)).toBe("3000 2dcf0327fd02ecc5");
  });

  test("a word that does not fit into a memory is refused", () => {
    const options: MergeOptions = { mergeCount: 20, compat: "cs336" };
    const word = oneWord(() => random(256), 100_000);
    const memoryBytesMax = leastBytes(word, options, 1) - 1;
    expect(() => train(word, options, { ...defaultTuning, memoryBytesMax })).toThrow(UserError);
    const alternating = oneWord((pos) => 97 + (pos & 1), 200_000);
    const tight = { ...defaultTuning, memoryBytesMax: leastBytes(alternating, options, 1) };
    expect(() => train(alternating, options, tight)).toThrow(UserError);
    const roomy = { ...tight, memoryBytesMax: tight.memoryBytesMax + 4 * 100_000 };
    expect(sumOf(train(alternating, options, roomy))).toBe("20 baf4e15d21811ed6");
  });
});

describe("slices", () => {
  test("work between two yields is bounded where many pairs have the highest count", () => {
    const words = wordTableOf(
      Array.from({ length: 10_000 }, (_, word) => [`${String.fromCharCode(word / 100, word % 100)}`, 1]),
    );
    const training = trainMerges(
      words,
      { mergeCount: 1, compat: "cs336" },
      { ...defaultTuning, sliceWork: 50 },
    );
    const phases = Array.from(training, ({ phase }) => phase);
    // All pairs have the highest count. So before the first merge, they are sorted by the tie rule, in steps of the
    // phase "merge".
    expect(phases.filter((phase) => phase === "merge").length).toBeGreaterThanOrEqual(10_000 / 50);
  });

  test("work between two yields is bounded in every phase, even with one huge word", () => {
    const training = trainMerges(
      oneWord(() => 97, 400_000),
      { mergeCount: 10, compat: "cs336" },
      { ...defaultTuning, sliceWork: 1000 },
    );
    const phases = { layout: 0, index: 0, merge: 0 };
    for (let step = training.next(); !step.done; step = training.next()) phases[step.value.phase]++;
    // A pass over the 400,000 cells yields more than 300 times, and the index takes two passes.
    expect(phases.layout).toBeGreaterThan(300);
    expect(phases.index).toBeGreaterThan(600);
    expect(phases.merge).toBeGreaterThan(600);
  });
});

describe("long words", () => {
  test("a megabyte of one letter is merged by doubling", () => {
    const merges = train(oneWord(() => 97, 1 << 20), { mergeCount: 1000, compat: "cs336" }); // biome-ignore format: one thought
    expect(merges.mergeCount).toBe(20);
    expect(merges.counts[19]).toBe(1);
  });

  test("a megabyte of DNA, and repeats whose tokens grow long, take little time", () => {
    const random = randomNumbers(7);
    const dna = oneWord(() => "ACGT".charCodeAt(random(4)), 1 << 20);
    expect(train(dna, { mergeCount: 1000, compat: "cs336" }).mergeCount).toBe(1000);
    let runEnd = 0;
    const runs = oneWord((pos) => {
      if (pos < runEnd) return 97;
      runEnd = pos + 1 + random(1000);
      return 98;
    }, 1 << 18);
    expect(train(runs, { mergeCount: 4000, compat: "cs336" }).mergeCount).toBeGreaterThan(500);
  });
});

const words = tableOf(makeWords(randomNumbers(3)));

test("the estimate grows with the requested merges only up to what the words can give", () => {
  const estimate = (mergeCount: number) =>
    estimateMergeMemoryBytes(wordTables.byteWordsSize(wordTables.sizeOf(words)), {
      mergeCount,
      compat: "cs336",
    });
  expect(estimate(20)).toBeGreaterThan(estimate(10));
  expect(estimate(1e9)).toBe(estimate(1e8));
});

test("the bound covers the cells, and the occurrences of words that are longer than sorting needs", () => {
  const [wordCount, positionCount] = [1e6, 7e6];
  const bound = estimateMergeMemoryBytes({ wordCount, positionCount }, { mergeCount: 10, compat: "rustbpe" });
  expect(bound).toBeGreaterThan(2 * (positionCount + wordCount) + 4 * positionCount);
  expect(bound).toBeLessThan(2 * (2 * (positionCount + wordCount) + 4 * positionCount));
});

test.skipIf(isSmallScale)("helper threads are counted if there are enough cells for them", () => {
  const bound = (wordCount: number, threadCount: number) =>
    estimateMergeMemoryBytes(
      { wordCount, positionCount: 7 * wordCount },
      { mergeCount: 10, compat: "rustbpe", threadCount },
    );
  expect(bound(1e5, 2)).toBe(bound(1e5, 1));
  expect(bound(1e6, 2) - bound(1e6, 1)).toBeGreaterThan(12e6);
  expect(bound(1e6, 2) - bound(1e6, 1)).toBeLessThan(15e6);
  expect(bound(1e6, 100)).toBe(bound(1e6, 8));
});

test("for superwords, the lists of many cells are in huge pages, and those of few are not", () => {
  const areHuge = (sharedCellCount: number, limitsWords = true) => {
    const tuning = { ...defaultTuning, sharedCellCount };
    const words = wordTables.byteWords(oneWord((pos) => pos, 400_000));
    const [first] = createMergeEngine(
      words,
      1,
      { mergeCount: 9, compat: "cs336", limitsWords },
      tuning,
    )!.memories;
    const { exports, memory } = first!;
    // Skips 64 KB, because huge pages are requested only from a multiple of 64 KB on.
    return isHuge(new Uint8Array(memory.buffer, (exports.mergeWordCounts.value >>> 0) + (1 << 16)));
  };
  // With the boundary cells before and after the word, the text has 400,002 cells.
  expect(areHuge(400_002)).not.toBe(false);
  expect(areHuge(400_003)).not.toBe(true);
  expect(areHuge(0, false)).not.toBe(true);
});

test("words that need several memories have their tokens in each of them", () => {
  const bound = (wordCount: number, mergeCount: number) =>
    estimateMergeMemoryBytes({ wordCount, positionCount: 12 * wordCount }, { mergeCount, compat: "rustbpe" });
  const bytesOfTokens = (wordCount: number) => bound(wordCount, 60_000) - bound(wordCount, 30_000);
  expect(bytesOfTokens(20e6)).toBe(bytesOfTokens(1e6));
  expect(bytesOfTokens(60e6)).toBe(3 * bytesOfTokens(20e6));
});
