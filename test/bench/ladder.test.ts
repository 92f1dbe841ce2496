import { describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { buildCpp, compilerVersion } from "../../bench/ladder/cpp/build.ts";
import { fitExponent, type Point, timeAt } from "../../bench/ladder/growth.ts";
import { strategies } from "../../bench/ladder/strategies.ts";
import { type Learned, nothingLearned, type Strategy } from "../../bench/ladder/strategy.ts";
import { readMerges, readWordsFile, writeMerges, writeWords } from "../../bench/ladder/words-file.ts";
import type { WordTable } from "../../src/words/word-table.ts";
import { scratch } from "../binary.ts";
import { randomNumbers } from "../random.ts";
import { rounds } from "../rounds.ts";
import { makeWords, tableOf } from "../unit/merge/made-words.ts";
import { naiveMerges } from "../unit/merge/naive.ts";

function train(strategy: Strategy, words: WordTable, mergeCount: number): Learned {
  const learned = nothingLearned();
  for (const _ of strategy.train(words, mergeCount, learned));
  return learned;
}

/** Returns merges in the form of the naive trainer: the bytes of both halves, and the count. */
function spelled({ left, right, counts }: Learned) {
  const bytes = Array.from({ length: 256 }, (_, byte) => String.fromCharCode(byte));
  return counts.map((count, k) => {
    const merge = { left: bytes[left[k]!]!, right: bytes[right[k]!]!, count };
    bytes.push(merge.left + merge.right);
    return merge;
  });
}

describe("every rung of the ladder learns the merges of the naive trainer", () => {
  for (const strategy of strategies) {
    test(`${strategy.name}: random, tied and repetitive words`, () => {
      for (let seed = 1; seed <= rounds(50); seed++) {
        const words = makeWords(randomNumbers(seed * 7919));
        const mergeCount = 1 + ((seed * 31) % 80);
        const expected = naiveMerges("cs336", words, { mergeCount });
        const learned = spelled(train(strategy, tableOf(words), mergeCount));
        expect({ seed, merges: learned }).toEqual({ seed, merges: expected });
      }
    });
  }
});

test("a rung ends early if the words give fewer merges than requested", () => {
  const words = new Map([
    ["aaaaaaaa", 3],
    ["abab", 2],
    ["b", 5],
  ]);
  const expected = naiveMerges("cs336", words, { mergeCount: 1000 });
  expect(expected.length).toBeLessThan(10);
  for (const strategy of strategies) {
    expect(spelled(train(strategy, tableOf(words), 1000))).toEqual(expected);
  }
});

describe("the files between the programs", () => {
  const directory = scratch();

  test("words are read verbatim, also with padding before the counts", () => {
    for (let wordCount = 1; wordCount <= 4; wordCount++) {
      const words = tableOf(
        new Map(["a", "bc", "\u00ff\u0000", "d"].slice(0, wordCount).map((w, i) => [w, i + 2 ** 40])),
      );
      writeWords(`${directory}/words.bin`, words);
      expect(readWordsFile(`${directory}/words.bin`)).toEqual(words);
    }
  });

  test.skipIf(compilerVersion() === undefined)("the trainers in C++ learn the same merges and counts", () => {
    buildCpp(`${directory}/train`, "-O1");
    for (const trainer of ["exact-index", "word-lists"]) {
      for (let seed = 1; seed <= rounds(15); seed++) {
        const words = tableOf(makeWords(randomNumbers(seed * 7919)));
        const [wordsPath, mergesPath, expectedPath] = ["words", "merges", "expected"].map(
          (n) => `${directory}/${n}`,
        );
        writeWords(wordsPath!, words);
        writeMerges(expectedPath!, train(strategies.at(-1)!, words, 80));
        const { status } = spawnSync(`${directory}/train`, [trainer, wordsPath!, mergesPath!, "80", "10"]);
        expect({ seed, status, merges: readMerges(mergesPath!) }).toEqual({
          seed,
          status: 0,
          merges: readMerges(expectedPath!),
        });
      }
    }
  });
});

describe("how time grows", () => {
  const point = (wordCount: number, ms: number, kind: Point["kind"] = "measured") => ({
    wordCount,
    mergeCount: 1,
    ms,
    kind,
  });

  test("the exponent of a power law is found, and estimates do not bend it", () => {
    const points = [point(10, 3 * 10 ** 1.5), point(100, 3 * 100 ** 1.5), point(1000, 1, "estimated")];
    const fit = fitExponent(points, ({ wordCount }) => wordCount)!;
    expect(fit.exponent).toBeCloseTo(1.5, 10);
    expect(fit.pointCount).toBe(2);
    expect(fitExponent(points.slice(1), ({ wordCount }) => wordCount)).toBeUndefined();
  });

  test("an interrupted run continues at the pace since its last checkpoint", () => {
    const timing = {
      checkpoints: [{ mergeCount: 100, ms: 50 }],
      end: { mergeCount: 150, ms: 150 },
      isStopped: true,
    };
    expect(timeAt(timing, 7, 100)).toEqual({ wordCount: 7, mergeCount: 100, ms: 50, kind: "measured" });
    expect(timeAt(timing, 7, 1000)).toEqual({ wordCount: 7, mergeCount: 1000, ms: 1850, kind: "estimated" });
    expect(timeAt({ ...timing, isStopped: false }, 7, 1000)).toBeUndefined();
  });

  test("a run stopped before its first checkpoint gives only a lower bound of its time", () => {
    const timing = { checkpoints: [], end: { mergeCount: 9, ms: 90 }, isStopped: true };
    expect(timeAt(timing, 7, 1000)).toEqual({ wordCount: 7, mergeCount: 1000, ms: 90, kind: "exceeded" });
  });
});
