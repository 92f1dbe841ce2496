import { describe, expect, test } from "bun:test";
import * as byteCharacters from "../../../src/bytes/byte-characters.ts";
import type { MergeOptions } from "../../../src/merge/merge-options.ts";
import {
  defaultTuning,
  type MergeTuning,
  type StartTokens,
  type TieOrder,
} from "../../../src/merge/merge-options.ts";
import { trainMerges } from "../../../src/merge/train-merges.ts";
import { UserError } from "../../../src/runtime/errors.ts";
import { runToEnd } from "../../../src/runtime/slices.ts";
import type { Merges } from "../../../src/tokenizer/merges.ts";
import type { TokenWords } from "../../../src/words/word-table.ts";
import * as wordTables from "../../../src/words/word-table.ts";
import { type Random, randomNumbers } from "../../random.ts";
import { rounds } from "../../rounds.ts";
import { tokenWordsOf } from "../words/generators.ts";
import { makeTuning, makeWords, tableOf } from "./made-words.ts";

const orders: readonly TieOrder[] = ["greater bytes", "smaller characters", "smaller id"];

const train = (words: TokenWords, options: MergeOptions, tuning: MergeTuning = defaultTuning): Merges =>
  runToEnd(trainMerges(words, options, tuning));

type NaiveOptions = {
  readonly mergeCount: number;
  readonly minFrequency: number;
  readonly sizeMax: number;
  /** Whether the pair (a, b) wins a tie against the pair (c, d). */
  readonly wins: (a: number, b: number, c: number, d: number) => boolean;
  readonly sizeOf: (token: number) => number;
  /** Called when a token is made. Returns false if it existed already. */
  readonly make: (left: number, right: number) => boolean;
};

/**
 * Counts all pairs, merges the best one, and starts over. Tokens are numbered: first the start tokens, then the token
 * of each merge.
 */
function naiveMerges(words: readonly (readonly [number[], number])[], startCount: number, how: NaiveOptions) {
  const texts = words.map(([tokens, count]) => ({ tokens: [...tokens], count }));
  const merges: { left: number; right: number; count: number }[] = [];
  for (let entryCount = 0; entryCount < how.mergeCount; ) {
    const counts = new Map<number, number>();
    for (const { tokens, count } of texts) {
      for (let i = 0; i + 1 < tokens.length; i++) {
        const key = tokens[i]! * 2 ** 24 + tokens[i + 1]!;
        counts.set(key, (counts.get(key) ?? 0) + count);
      }
    }
    let best = { left: 0, right: 0, count: 0 };
    for (const [key, count] of counts) {
      const [left, right] = [Math.floor(key / 2 ** 24), key % 2 ** 24];
      if (how.sizeOf(left) + how.sizeOf(right) > how.sizeMax) continue;
      const isTie = count === best.count && how.wins(left, right, best.left, best.right);
      if (count > best.count || isTie) best = { left, right, count };
    }
    if (best.count < Math.max(1, how.minFrequency)) break;
    const made = startCount + merges.length;
    merges.push(best);
    if (how.make(best.left, best.right)) entryCount++;
    for (const { tokens } of texts) {
      for (let i = 0; i + 1 < tokens.length; i++) {
        if (tokens[i] === best.left && tokens[i + 1] === best.right) tokens.splice(i, 2, made);
      }
    }
  }
  return merges;
}

/** Returns distinct spellings. None is a prefix of another, so no two sequences of them have the same bytes. */
function makeSpellings(random: Random, count: number): string[] {
  const end = [0, 97, 200, 255][random(4)]!;
  const stem = Array.from({ length: 70 }, () => 32 + random(3));
  const spellings = new Set<string>();
  while (spellings.size < count) {
    const bytes = random(3) === 0 ? stem.slice(0, 1 + random(70)) : [];
    const own = Array.from({ length: random(8) }, () => 160 + random(30));
    spellings.add(String.fromCharCode(...bytes, ...own, end));
  }
  return [...spellings];
}

const bytesOf = (text: string) => Uint8Array.from(text, (c) => c.charCodeAt(0));

function spellingOf(spellings: readonly string[]): NonNullable<StartTokens["spelling"]> {
  const starts = new Uint32Array(spellings.length + 1);
  spellings.forEach((spelling, id) => {
    starts[id + 1] = starts[id]! + spelling.length;
  });
  return { bytes: bytesOf(spellings.join("")), starts };
}

/** Returns the words of `makeWords`, with start tokens instead of letters. */
function makeTokenWords(random: Random, count: number) {
  const tokenOf = (letter: string) => (letter.charCodeAt(0) * 7919) % count;
  return [...makeWords(random)].map(([word, times]): [number[], number] => [[...word].map(tokenOf), times]);
}

/** Returns the words in each integer type that is wide enough for their ids. */
function inWidths(words: readonly (readonly [number[], number])[], count: number): TokenWords[] {
  const table = tokenWordsOf(words, count);
  const widths = count <= 256 ? [Uint8Array, Uint16Array, Uint32Array] : [Uint16Array, Uint32Array];
  return widths.map((Width) => ({ ...table, tokens: Width.from(table.tokens) }));
}

describe("words of start tokens, with random tuning", () => {
  for (const ties of orders) {
    test(`${ties} win: the engine agrees with its naive twin`, () => {
      for (let seed = 1; seed <= rounds(70); seed++) {
        const random = randomNumbers(seed * 7919);
        const count = [4, 7, 30, 256, 257, 3000][random(6)]!;
        const spellings = makeSpellings(random, count);
        // The last two start tokens occur in no word, so that the two tokens in `known` can have their ranks.
        const words = makeTokenWords(random, count - 2);
        const ranks = shuffled(random, count);
        const known = [spellings[0]! + spellings[1]!, spellings[1]! + spellings[1]!];
        const knownRanks = ranks.slice(-2);
        // No merge produces these tokens: they contain the byte 1, which no start token has.
        const neverMade = Array.from({ length: random(50) }, (_, k) => ({
          bytes: bytesOf(`\u0001${known[k % 2]!.slice(random(3))}${k}`),
          rank: 0,
        }));
        const options: MergeOptions = {
          mergeCount: 1 + random([5, 20, 100][random(3)]!),
          compat: "cs336",
          ties,
          minFrequency: random(4) > 0 ? 1 : random(5),
          maxTokenLength: random(4) > 0 ? null : 1 + random(60),
          threadCount: 1 + random(4),
          startTokens: {
            count,
            spelling: spellingOf(spellings),
            ranks: Int32Array.from(ranks),
            known: [
              ...neverMade,
              ...known.map((spelling, k) => ({ bytes: bytesOf(spelling), rank: knownRanks[k]! })),
            ],
          },
        };
        const made = [...spellings];
        const keys: (string | number)[] = spellings.map((spelling, id) => keyOf(ties, spelling, ranks[id]!));
        const naive = naiveMerges(words, count, {
          mergeCount: options.mergeCount,
          minFrequency: options.minFrequency!,
          sizeMax: options.maxTokenLength ?? Infinity,
          sizeOf: (token) => made[token]!.length,
          wins(a, b, c, d) {
            const [p, q] = keys[a] === keys[c] ? [keys[b]!, keys[d]!] : [keys[a]!, keys[c]!];
            return ties === "greater bytes" ? p > q : p < q;
          },
          make(left, right) {
            const spelling = made[left]! + made[right]!;
            const isKnown = known.indexOf(spelling);
            keys.push(keyOf(ties, spelling, isKnown < 0 ? made.length : knownRanks[isKnown]!));
            made.push(spelling);
            return isKnown < 0;
          },
        });
        const tuning = makeTuning(random);
        const widths = inWidths(words, count);
        const merges = train(widths[random(widths.length)]!, options, tuning);
        const context = { seed, options, tuning };
        expect({ ...context, merges: pairsOf(merges) }).toEqual({ ...context, merges: naive });
        expect(merges.startCount).toBe(count);
      }
    });
  }

  for (const ties of orders) {
    test(`${ties} win: tokens that different merges spell alike are equal, and the older one wins`, () => {
      const spellings = ["a", "b", "c", "ab", "bc", "x"];
      for (let seed = 1; seed <= rounds(500); seed++) {
        const random = randomNumbers(seed * 31337);
        const words = Array.from({ length: 1 + random(30) }, (): [number[], number] => {
          const word = Array.from({ length: 2 + random(4) }, () => random(spellings.length));
          return [word, 1 + random(2)];
        });
        const known = ["abc", "xabc", "cab"].map((spelling, k) => ({ spelling, rank: -1 - k }));
        const made = [...spellings];
        const keys = spellings.map((spelling, id) => keyOf(ties, spelling, id));
        const wins = (p: readonly [number, number], q: readonly [number, number]) => {
          for (const side of [0, 1] as const) {
            const [one, other] = [keys[p[side]]!, keys[q[side]]!];
            if (one !== other) return ties === "greater bytes" ? one > other : one < other;
          }
          return p[0] === q[0] ? p[1] < q[1] : p[0] < q[0];
        };
        const naive = naiveMerges(words, spellings.length, {
          ...{ mergeCount: 40, minFrequency: 1, sizeMax: Infinity, sizeOf: (token) => made[token]!.length },
          wins: (a, b, c, d) => wins([a, b], [c, d]),
          make(left, right) {
            const spelling = made[left]! + made[right]!;
            const found = known.find((each) => each.spelling === spelling);
            keys.push(keyOf(ties, spelling, found?.rank ?? made.length));
            made.push(spelling);
            return found === undefined;
          },
        });
        const startTokens = {
          count: spellings.length,
          spelling: spellingOf(spellings),
          known: known.map(({ spelling, rank }) => ({ bytes: bytesOf(spelling), rank })),
        };
        const options: MergeOptions = { mergeCount: 40, compat: "cs336", ties, startTokens, minFrequency: 1 };
        const merges = train(tokenWordsOf(words, spellings.length), options, makeTuning(random));
        expect({ seed, merges: pairsOf(merges) }).toEqual({ seed, merges: naive });
      }
    });
  }

  test("100,000 existing tokens are looked up, not scanned, for each new token", () => {
    const spellings = Array.from({ length: 100_000 }, (_, k) => `<|extra_${k}|>`);
    const known = spellings.map((spelling, rank) => ({ bytes: bytesOf(spelling), rank }));
    const startTokens = { count: spellings.length, spelling: spellingOf(spellings), known };
    const words = tokenWordsOf([[[7, 99_999, 7], 3]], spellings.length);
    const merges = train(words, { mergeCount: 2, compat: "cs336", ties: "smaller characters", startTokens });
    expect(pairsOf(merges)).toEqual([
      { left: 7, right: 99_999, count: 3 },
      { left: 100_000, right: 7, count: 3 },
    ]);
  });

  test("start tokens without bytes: ids decide ties, and a length limit counts tokens", () => {
    for (let seed = 1; seed <= rounds(60); seed++) {
      const random = randomNumbers(seed * 104729);
      const count = [1, 4, 256, 400, 70_000][random(5)]!;
      const words = makeTokenWords(random, count);
      const maxTokenLength = random(2) === 0 ? null : 1 + random(6);
      const options: MergeOptions = {
        mergeCount: 60,
        compat: (["huggingface", "rustbpe"] as const)[seed % 2]!,
        maxTokenLength,
        startTokens: { count },
      };
      // With HF's rule, a token must be shorter than the limit, unless two start tokens make it.
      const isHuggingface = options.compat === "huggingface";
      const limit = (maxTokenLength ?? Infinity) - (isHuggingface ? 1 : 0);
      const sizes = Array.from({ length: count }, () => 1);
      const naive = naiveMerges(words, count, {
        mergeCount: 60,
        minFrequency: 1,
        sizeMax: isHuggingface ? Math.max(limit, 2) : limit,
        sizeOf: (token) => sizes[token]!,
        wins: (a, b, c, d) => (a === c ? b < d : a < c),
        make: (left, right) => sizes.push(sizes[left]! + sizes[right]!) > 0,
      });
      const merges = train(tokenWordsOf(words, count), options, makeTuning(random));
      expect({ seed, merges: pairsOf(merges) }).toEqual({ seed, merges: naive });
      const startCounts = new Float64Array(count);
      for (const [tokens, weight] of words) for (const token of tokens) startCounts[token]! += weight;
      expect({ seed, counts: merges.startCounts }).toEqual({ seed, counts: startCounts });
    }
  });

  test("without named start tokens, the engine uses the 256 bytes", () => {
    const words = tableOf(makeWords(randomNumbers(3)));
    const merges = train(wordTables.byteWords(words), { mergeCount: 50, compat: "cs336" });
    const spelling = spellingOf(Array.from({ length: 256 }, (_, byte) => String.fromCharCode(byte)));
    const named = { count: 256, spelling };
    expect(
      train(wordTables.byteWords(words), { mergeCount: 50, compat: "cs336", startTokens: named }),
    ).toEqual(merges);
  });
});

describe("edges", () => {
  const startTokens = { count: 1000 };

  test("no words, or words of one token, give no merges", () => {
    const learn = (entries: [number[], number][]) =>
      train(tokenWordsOf(entries, 1000), { mergeCount: 10, compat: "rustbpe", startTokens }).mergeCount;
    expect(learn([])).toBe(0);
    expect(learn([[[999], 5]])).toBe(0); // biome-ignore format: one thought
    expect(learn([[[999, 998], 5]])).toBe(1); // biome-ignore format: one thought
  });

  test("counts are exact just below 2^53 and refused from there on, in one memory and in two", () => {
    for (const memoryCountMin of [1, 2]) {
      const learn = (second: number) =>
        train(
          tokenWordsOf([[[500, 501], 2 ** 52], [[500, 501, 502], second]], 1000), // biome-ignore format: one thought
          { mergeCount: 1, compat: "rustbpe", startTokens },
          { ...defaultTuning, memoryCountMin },
        );
      expect(learn(2 ** 52 - 1).counts[0]).toBe(2 ** 53 - 1);
      expect(() => learn(2 ** 52)).toThrow(UserError);
    }
  });

  test("many pairs are indexed in slices, and so is the growth of their table", () => {
    const random = randomNumbers(9);
    const word = Array.from({ length: 60_000 }, () => random(1000));
    const options = { mergeCount: 20, compat: "rustbpe", startTokens } as const;
    const whole = train(tokenWordsOf([[word, 1]], 1000), options);
    const sliceWork = 1 << 10;
    const training = trainMerges(tokenWordsOf([[word, 1]], 1000), options, { ...defaultTuning, sliceWork });
    let sliceCount = 0;
    let step = training.next();
    for (; !step.done; step = training.next()) sliceCount++;
    expect(step.value).toEqual(whole);
    // Layout, counting, tallying, storing and lists take 60,000 steps of work each. Growing the table takes at least
    // 57,000 more.
    expect(sliceCount).toBeGreaterThan((5 * 60_000 + 57_000) / sliceWork);
  });
  test("any number of threads finds the same pairs in a text, and so do their helpers", () => {
    for (const [wordLength, wordCount] of [
      [60_000, 1],
      [6, 20_000],
    ] as const) {
      const random = randomNumbers(wordLength);
      // Many pairs occur only once, which makes the tables grow, and some are frequent.
      const token = () => (random(2) === 0 ? random(900) : 900 + random(12));
      const word = () => Array.from({ length: wordLength }, token);
      const words = tokenWordsOf(
        Array.from({ length: wordCount }, () => [word(), 1 + random(3)]),
        1000,
      );
      for (const threshold of ["rising", 300] as const) {
        const options = { mergeCount: 200, compat: "rustbpe", startTokens } as const;
        const alone = train(words, options, { ...defaultTuning, threshold });
        for (const threadCount of [2, 3, 8]) {
          for (const [startsHelpers, memoryCountMin] of [
            [false, 1],
            [true, 1],
            [false, 2],
          ] as const) {
            // biome-ignore format: one thought
            if (memoryCountMin > wordCount) continue;
            const tuning = { ...defaultTuning, threshold, sharedCellCount: 0, startsHelpers, memoryCountMin };
            const merges = train(words, { ...options, threadCount }, tuning);
            expect({ threadCount, startsHelpers, memoryCountMin, merges }).toEqual({
              threadCount,
              startsHelpers,
              memoryCountMin,
              merges: alone,
            });
          }
        }
      }
    }
  });
});

function pairsOf({ mergeCount, left, right, counts }: Merges) {
  return Array.from({ length: mergeCount }, (_, k) => ({
    left: left[k]!,
    right: right[k]!,
    count: counts[k]!,
  }));
}

function keyOf(ties: TieOrder, spelling: string, rank: number): string | number {
  if (ties === "smaller id") return rank;
  if (ties !== "smaller characters") return spelling;
  return [...spelling].map((c) => byteCharacters.characters[c.charCodeAt(0)]!).join("");
}

function shuffled(random: Random, count: number): number[] {
  const numbers = Array.from({ length: count }, (_, k) => k);
  for (let k = count - 1; k > 0; k--) {
    const other = random(k + 1);
    [numbers[k], numbers[other]] = [numbers[other]!, numbers[k]!];
  }
  return numbers;
}
