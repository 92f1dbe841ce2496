import { expect, test } from "bun:test";
import { encodeWord } from "../../../examples/learn.ts";
import { seedMerges } from "../../../src/merge/seed-merges.ts";
import { trainMerges } from "../../../src/merge/train-merges.ts";
import { runToEnd } from "../../../src/runtime/slices.ts";
import type { Compat } from "../../../src/tokenizer/merges.ts";
import { type Random, randomNumbers } from "../../random.ts";
import { rounds } from "../../rounds.ts";
import { makeTuning, tableOf } from "./made-words.ts";
import { ranksOf, spelledMerges } from "./naive.ts";
import { naiveSeeded, naiveSeedMerges } from "./naive-seeds.ts";
import { naiveMayJoin } from "./naive-whole-characters.ts";

type Pair = readonly [left: string, right: string];

const latin = (text: string) => Buffer.from(text).toString("latin1");

/** Converts merges over ids into pairs of strings of code points 0-255. */
function spelled(left: ArrayLike<number>, right: ArrayLike<number>): Pair[] {
  const bytes = Array.from({ length: 256 }, (_, byte) => String.fromCharCode(byte));
  return Array.from({ length: left.length }, (_, k) => {
    const pair: Pair = [bytes[left[k]!]!, bytes[right[k]!]!];
    bytes.push(pair[0] + pair[1]);
    return pair;
  });
}

const merged = (seeds: readonly string[]) => {
  const pairs = seedMerges(seeds);
  return spelled(
    pairs.map(([left]) => left),
    pairs.map(([, right]) => right),
  );
};

test("seeds are built from the left out of existing tokens, characters first", () => {
  const lines = (...seeds: string[]) => merged(seeds).map((pair) => pair.join(" "));
  expect(lines("aaaa", "aaaaa")).toEqual(["a a", "aa aa", "aaaa a"]);
  expect(lines("abab", "ab", "abc", "cab")).toEqual(["a b", "ab ab", "ab c", "c ab"]);
  expect(lines("bc", "abc", "bcd", "x", "bc")).toEqual(["b c", "a bc", "bc d"]);
  expect(merged(["né日"])).toEqual([
    ["\xc3", "\xa9"],
    ["n", "\xc3\xa9"],
    ["\xe6", "\x97"],
    ["\xe6\x97", "\xa5"],
    ["n\xc3\xa9", "\xe6\x97\xa5"],
  ]);
  const numbers = Array.from({ length: 1000 }, (_, n) => String(n));
  expect(seedMerges(numbers)).toHaveLength(990);
});

const pools = ["ab", "abc", "a", "aé", "日本é", "01 ", "😀👍é", " the"];

function makeSeeds(random: Random): string[] {
  const letters = [...pools[random(pools.length)]!];
  const text = (length: number) => Array.from({ length }, () => letters[random(letters.length)]!).join("");
  const seeds = Array.from({ length: 1 + random(12) }, () => {
    const part = text(1 + random(4));
    return random(2) === 0 ? part.repeat(1 + random(4)) : part + text(random(6));
  });
  // Prefixes and suffixes of the seeds, cut between characters.
  const others = seeds.map((seed) => {
    const characters = [...seed];
    const cut = 1 + random(characters.length);
    return (random(2) === 0 ? characters.slice(0, cut) : characters.slice(-cut)).join("");
  });
  return [...seeds, ...others].sort(() => random(3) - 1);
}

function makeWords(random: Random, seeds: readonly string[]): Map<string, number> {
  const letters = [...new Set([...seeds.join(""), "a", "x"])];
  const words = new Map<string, number>();
  for (let w = random(40); w > 0; w--) {
    const parts = Array.from({ length: 1 + random(6) }, () =>
      random(3) === 0 ? seeds[random(seeds.length)]! : letters[random(letters.length)]!,
    );
    words.set(latin(parts.join("")), 1 + random(random(2) === 0 ? 2 : 30));
  }
  return words;
}

for (const compat of ["cs336", "huggingface", "rustbpe"] satisfies Compat[]) {
  test(`${compat}: seeds first, then the engine continues like its naive twin, and every seed is one token`, () => {
    for (let seed = 1; seed <= rounds(120); seed++) {
      const random = randomNumbers(seed * 7919);
      const seeds = makeSeeds(random);
      const words = makeWords(random, seeds);
      const firstMerges = seedMerges(seeds);
      const known = seeds.map(latin);
      expect({ seed, merges: merged(seeds) }).toEqual({ seed, merges: naiveSeedMerges(known) });
      const longest = Math.max(...known.map(({ length }) => length));
      const maxTokenLength = random(3) > 0 ? null : longest + 1 + random(4);
      const isWhole = random(2) === 0;
      const options = {
        mergeCount: firstMerges.length + random([1, 5, 60][random(3)]!),
        minFrequency: random(3) > 0 ? 1 : random(6),
      };
      const learned = runToEnd(
        trainMerges(
          tableOf(words),
          {
            ...options,
            ...(isWhole && { wholeCharacters: true }),
            compat,
            maxTokenLength,
            firstMerges,
            threadCount: 1 + random(3),
          },
          makeTuning(random),
        ),
      );
      const merges = spelledMerges(learned);
      const naive = naiveSeeded(compat, words, known, {
        ...options,
        lengthMax: (maxTokenLength ?? Infinity) - (compat === "huggingface" ? 1 : 0),
        mayJoin: isWhole ? naiveMayJoin : () => true,
      });
      expect({ seed, seeds, merges }).toEqual({ seed, seeds, merges: naive });
      const ranks = ranksOf(merges.map(({ left, right }) => [left, right]));
      for (const word of known)
        expect({ seed, tokens: encodeWord(word, ranks) }).toEqual({ seed, tokens: [word] });
    }
  });
}
