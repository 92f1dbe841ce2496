import { expect, test } from "bun:test";
import type { Pair } from "../../../examples/learn.ts";
import * as byteCharacters from "../../../src/bytes/byte-characters.ts";
import type { MergeOptions } from "../../../src/merge/merge-options.ts";
import { trainMerges } from "../../../src/merge/train-merges.ts";
import * as kernels from "../../../src/runtime/kernel.ts";
import { runToEnd } from "../../../src/runtime/slices.ts";
import type { Compat } from "../../../src/tokenizer/merges.ts";
import { type Random, randomNumbers } from "../../random.ts";
import { places, rounds } from "../../rounds.ts";
import { makeTuning, makeWords, tableOf } from "./made-words.ts";
import { type NaiveWords, naiveMerges, spelledMerges } from "./naive.ts";
import { naiveHuggingface } from "./naive-huggingface.ts";
import { bytesOf, isBegun, isWhole, naiveMayJoin } from "./naive-whole-characters.ts";

const { exports } = kernels.create();
const stateOf = (bytes: string) =>
  bytesOf(bytes).reduce((state, byte) => exports.stateAfterByte(state, byte), exports.stateBeforeBytes());

test("the state after any bytes is whole, begun, a tail byte or stray, according to Unicode's table", () => {
  const all = Array.from({ length: 256 }, (_, byte) => String.fromCharCode(byte));
  const edges = ["", "a", "\x7f", "\x80", "\x8f", "\x90", "\x9f", "\xa0", "\xbf"];
  const leads = all.filter((byte) => byte >= "\x80");
  let wrong = "";
  for (const [turn, lead] of leads.entries()) {
    const seconds = [...edges.slice(1), ...Array.from(places(256, turn), (byte) => all[byte]!)];
    for (const [at, second] of seconds.entries())
      for (const third of places(edges.length, turn + at))
        for (const fourth of edges) {
          const bytes = lead + second + edges[third]! + fourth;
          const state = stateOf(bytes);
          const found = state === 0 ? "whole" : state < 8 ? "begun" : state < 11 ? "tail" : "stray";
          const isTail = bytes.length === 1 && bytes < "\xc0";
          const wholeBefore = [0, 1, 2, 3].some((n) => isWhole(bytes.slice(0, n)) && isBegun(bytes.slice(n)));
          const known = isWhole(bytes) ? "whole" : wholeBefore ? "begun" : isTail ? "tail" : "stray";
          if (found !== known) wrong ||= `${byteCharacters.encode(bytesOf(bytes))}: ${found}, not ${known}`;
        }
  }
  expect(wrong).toBe("");
});

const pools = [
  ["a", "b", " ", "é", "ñ", "ß"],
  ["한", "국", "글", "의", "이", " "],
  ["日", "本", "語", "中", "\u65e0"],
  ["😀", "😁", "🙏", "👍🏽", "a", "\u{1f1e6}"],
  ["\u0800", "\ud7ff", "\ue000", "\u{10000}", "\u{10ffff}", "\ufffd", "\u0080", "\u07ff"],
];
const stray = [
  "\x80",
  "\xbf",
  "\xc0",
  "\xc1",
  "\xed\xa0\x80",
  "\xf5",
  "\xff",
  "\xe4\xb8",
  "\xf0\x9f",
  "\xc3",
];

/**
 * Returns words with many ties and repeats. Usually they are made from a pool of five to eight characters, with an
 * occasional piece of a character and, in some texts, with bytes that are not UTF-8.
 */
function makeText(random: Random): Map<string, number> {
  if (random(5) === 0) return makeWords(random);
  const pool = pools[random(pools.length)]!;
  const strayShare = [0, 0, 6][random(3)]!;
  const words = new Map<string, number>();
  const wordCount = 1 + random(40);
  for (let w = 0; w < wordCount; w++) {
    let word = "";
    const length = 1 + random([3, 8, 20][random(3)]!);
    for (let k = 0; k < length; k++) {
      const bytes = Buffer.from(pool[random(pool.length)]!).toString("latin1");
      if (random(20) < strayShare) word += stray[random(stray.length)]!;
      else word += random(30) === 0 ? bytes.slice(0, 1 + random(bytes.length)) : bytes;
    }
    words.set(word, 1 + random(random(3) === 0 ? 50 : 3));
  }
  return words;
}

const trainedMerges = (words: NaiveWords, options: MergeOptions, random: Random): Pair[] =>
  spelledMerges(runToEnd(trainMerges(tableOf(words), options, makeTuning(random))));

for (const compat of ["cs336", "huggingface", "rustbpe"] satisfies Compat[]) {
  test(`${compat}: the engine agrees with its naive twin on text, ties and bytes that are not text`, () => {
    for (let seed = 1; seed <= rounds(120); seed++) {
      const random = randomNumbers(seed * 7919);
      const words = makeText(random);
      const limits = {
        mergeCount: 1 + random([5, 40, 200][random(3)]!),
        minFrequency: random(4) > 0 ? 1 : random(5),
        maxTokenLength: random(4) > 0 ? null : 1 + random(12),
      };
      const options = { ...limits, compat, wholeCharacters: true, threadCount: 1 + random(3) } as const;
      const merges = trainedMerges(words, options, random);
      const naive = { ...limits, mayJoin: naiveMayJoin };
      const inCharacters = (bytes: string) => byteCharacters.encode(bytesOf(bytes));
      const [found, known] =
        compat === "huggingface"
          ? [
              merges.map(({ left, right, count }) => ({
                left: inCharacters(left),
                right: inCharacters(right),
                count,
              })),
              naiveHuggingface(words, naive),
            ]
          : [merges, naiveMerges(compat, words, naive)];
      expect({ seed, merges: found }).toEqual({ seed, merges: known });
    }
  });
}

test("start tokens of several bytes follow the rule, whatever their content", () => {
  const pieces = [
    "a",
    "é",
    "\xe4",
    "\xb8",
    "\xad",
    "a\xe4",
    "\xe4\xb8",
    "\xb8\xad",
    "a\xe4\xb8",
    "\xff",
    "é\xc3",
  ];
  const spellings = pieces.map((piece) => (piece === "é" ? "\xc3\xa9" : piece.replace("é", "\xc3\xa9")));
  const starts = Uint32Array.from([0, ...spellings.map((_, k) => spellings.slice(0, k + 1).join("").length)]);
  const spelling = { bytes: bytesOf(spellings.join("")), starts };
  const startTokens = { count: spellings.length, spelling };
  for (let left = 0; left < spellings.length; left++) {
    for (let right = 0; right < spellings.length; right++) {
      const words = {
        wordCount: 1,
        tokens: Uint8Array.of(left, right),
        starts: Uint32Array.of(0, 2),
        counts: Float64Array.of(3),
      };
      const options = { mergeCount: 1, compat: "cs336", wholeCharacters: true, startTokens } as const;
      const { mergeCount } = runToEnd(trainMerges(words, options));
      const [a, b] = [spellings[left]!, spellings[right]!];
      expect({ a, b, mergeCount }).toEqual({ a, b, mergeCount: Number(naiveMayJoin(a, b)) });
    }
  }
});
