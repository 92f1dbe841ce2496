import { expect, test } from "bun:test";
import {
  keyOf,
  mergePair,
  countPairs as naivePairs,
  train as naiveTrain,
  wordsOf,
} from "../../examples/learn.ts";
import { trainTokenizer } from "../../src/library/train-in-browser.ts";
import * as compiledPatterns from "../../src/pattern/pattern.ts";
import {
  forEachToken,
  type JoinedText,
  joinWords,
  mergerOf,
  placesOfMerges,
  TextJoiner,
  tokenCountOf,
} from "../../src/playground/joined-text.ts";
import { countOfPair, countPairs, topPairs } from "../../src/playground/pair-ranking.ts";
import * as cuttings from "../../src/text/cutting.ts";
import { randomNumbers } from "../random.ts";

const random = randomNumbers(20261124);
const letters = ["a", "b", "ab", " ", " a", "é", "\n", "aaa", "🦊", "1"];
const randomText = (parts: number) =>
  Array.from({ length: parts }, () => letters[random(letters.length)]!).join("");
const latin1 = (bytes: Uint8Array) => Buffer.from(bytes).toString("latin1");

function tokensAt(text: JoinedText, merges: number, from = 0, end = text.bytes.length): string[] {
  const tokens: string[] = [];
  forEachToken(text, merges, [from, end], (_, start, stop) =>
    tokens.push(latin1(text.bytes.slice(start, stop))),
  );
  return tokens;
}

test("after any number of merges, a text is cut, and pairs are counted, as if the merges were made one by one", async () => {
  for (const rule of ["cs336", "rustbpe", "huggingface"] as const) {
    const text = randomText(400);
    const naive = naiveTrain(text, 256 + 60, rule);
    const trained = await trainTokenizer({ texts: [text], vocabSize: 256 + 60, compat: rule });
    const { vocabulary, words, tokenCounts } = trained.trained;
    const { left, right, tokenBytes } = vocabulary;
    const name = (token: number) => latin1(tokenBytes.copy(token));
    expect(Array.from(left, (token, m) => [name(token), name(right[m]!)])).toEqual(
      naive.merges.map((pair) => [pair.left, pair.right]),
    );
    const merger = mergerOf(left, right);
    const lineWise = rule === "huggingface";
    const cutting = cuttings.plain(compiledPatterns.resolve("gpt2", { lineWise }).compiled);
    const cut = new TextJoiner(cutting, merger).join(Buffer.from(text));
    const table = { ...joinWords(words, merger), starts: words.starts, counts: words.counts };
    let own = (lineWise ? text.split(/(?<=\n)/) : [text]).flatMap(wordsOf).map((word) => [...word]);
    const places = placesOfMerges(cut, left.length);
    for (let merges = 0; merges <= left.length; merges++) {
      expect(tokensAt(cut, merges)).toEqual(own.flat());
      expect(tokenCountOf(cut, merges)).toBe(own.flat().length);
      const counted = countPairs(table, merges);
      const wanted = naivePairs(own.map((tokens) => ({ tokens, count: 1 })));
      const top = topPairs(counted, 1000);
      expect(
        Object.fromEntries(top.map((pair) => [keyOf(name(pair.left), name(pair.right)), pair.count])),
      ).toEqual(Object.fromEntries(wanted.map((pair) => [keyOf(pair.left, pair.right), pair.count])));
      expect(top.map(({ count }) => count)).toEqual(top.map(({ count }) => count).sort((a, b) => b - a));
      expect(topPairs(counted, 3)).toEqual(top.slice(0, 3));
      if (merges === left.length) break;
      expect(countOfPair(counted, left[merges]!, right[merges]!)).toBe(tokenCounts.pairCounts[merges]!);
      const before = own.flat().length;
      own = own.map((tokens) => mergePair(tokens, name(left[merges]!), name(right[merges]!)));
      expect(places[merges]).toBe(before - own.flat().length);
    }
  }
});

test("special tokens, including those of one byte, are whole from the start, and nothing is joined across them", () => {
  const merger = mergerOf(Int32Array.of(97, 256), Int32Array.of(97, 256));
  const cutting = cuttings.plain(compiledPatterns.resolve("[^\\n]+|\\n").compiled, ["<|x|>", "!"]);
  const text = new TextJoiner(cutting, merger).join(Buffer.from("aa<|x|>aaaa!aa!"));
  const numbers: number[] = [];
  forEachToken(text, 2, [0, text.bytes.length], (token) => numbers.push(token));
  expect(numbers).toEqual([256, -1, 257, -2, 256, -2]);
  expect(tokensAt(text, 0)).toEqual(["a", "a", "<|x|>", "a", "a", "a", "a", "!", "a", "a", "!"]);
  expect([...placesOfMerges(text, 2)]).toEqual([4, 1]);
});

test("a repeated letter is joined from the left", () => {
  const merger = mergerOf(Int32Array.of(97, 256), Int32Array.of(97, 97));
  const cutting = cuttings.plain(compiledPatterns.resolve("a+").compiled);
  const text = new TextJoiner(cutting, merger).join(Buffer.from("aaaaaaa"));
  expect(tokensAt(text, 1)).toEqual(["aa", "aa", "aa", "a"]);
  expect(tokensAt(text, 2)).toEqual(["aa", "aa", "aaa"]);
});
