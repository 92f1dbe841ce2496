import { expect, test } from "bun:test";
import fc from "fast-check";
import * as differences from "../../../src/evaluation/difference.ts";
import { tokenizerOfJson } from "../../../src/formats/tokenizer-json.ts";
import { runToEnd } from "../../../src/runtime/slices.ts";
import type { TokenizerParts } from "../../../src/tokenizer/tokenizer-parts.ts";
import { jsonOf, writeTokenizer } from "../tokenizer/made-tokenizer.ts";

const bytes = Object.keys(jsonOf(writeTokenizer("gpt2", "huggingface")).model.vocab).filter(
  (token) => [...token].length === 1,
);

let fileCount = 0;

/** Returns a tokenizer of bytes and these merges, with consecutive ids, followed by special tokens. */
function tokenizerOf(merges: readonly [string, string][], specials: readonly string[] = []): TokenizerParts {
  const json = jsonOf(writeTokenizer("gpt2", "huggingface"));
  const tokens = [...bytes, ...merges.map((halves) => halves.join("")), ...specials];
  json.model.vocab = Object.fromEntries(tokens.map((token, id) => [token, id]));
  json.model.merges = merges.map(([left, right]) => [left, right]);
  const flags = { single_word: false, lstrip: false, rstrip: false, normalized: false, special: true };
  json.added_tokens = specials.map((content) => ({ id: tokens.indexOf(content), content, ...flags }));
  return tokenizerOfJson(Buffer.from(JSON.stringify(json)), `tokenizer-${fileCount++}.json`);
}

const difference = ({ a, b }: { a: TokenizerParts; b: TokenizerParts }) => runToEnd(differences.of(a, b));

const ab: [string, string] = ["a", "b"];
const cd: [string, string] = ["c", "d"];
const ef: [string, string] = ["e", "f"];
const gh: [string, string] = ["g", "h"];

test("tokens of one tokenizer only, tokens with another id, and special tokens", () => {
  const a = tokenizerOf([ab, cd], ["<x>"]);
  const b = tokenizerOf([cd, ef], ["<y>"]);
  const { tokens } = difference({ a, b });
  expect(tokens).toEqual({
    inBoth: 257,
    onlyInA: [
      { token: "ab", id: 256, isSpecial: false },
      { token: "<x>", id: 258, isSpecial: true },
    ],
    onlyInB: [
      { token: "ef", id: 257, isSpecial: false },
      { token: "<y>", id: 258, isSpecial: true },
    ],
    moved: [{ token: "cd", idA: 257, idB: 256, isSpecial: false }],
  });
});

test("a special token is not the token with the same bytes", () => {
  const { tokens } = difference({ a: tokenizerOf([ab]), b: tokenizerOf([], ["ab"]) });
  expect(tokens.onlyInA).toEqual([{ token: "ab", id: 256, isSpecial: false }]);
  expect(tokens.onlyInB).toEqual([{ token: "ab", id: 256, isSpecial: true }]);
});

test("the reordered merges are the fewest that would have to move", () => {
  const a = tokenizerOf([ab, cd, ef, gh]);
  const b = tokenizerOf([cd, ef, gh, ab]);
  expect(difference({ a, b }).merges).toEqual({
    inBoth: 4,
    onlyInA: [],
    onlyInB: [],
    moved: [{ left: "a", right: "b", rankA: 0, rankB: 3 }],
  });
  expect(difference({ a: b, b: a }).merges.moved).toEqual([{ left: "a", right: "b", rankA: 3, rankB: 0 }]);
});

test("merges of one tokenizer only do not disturb the order of the others, and halves are distinguished", () => {
  const a = tokenizerOf([ab, cd, ["ab", "c"]]);
  const b = tokenizerOf([gh, ab, ["b", "c"], cd, ["a", "bc"]]);
  const { merges } = difference({ a, b });
  expect(merges.inBoth).toBe(2);
  expect(merges.moved).toEqual([]);
  expect(merges.onlyInA).toEqual([{ left: "ab", right: "c", rank: 2 }]);
  expect(merges.onlyInB).toEqual([
    { left: "g", right: "h", rank: 0 },
    { left: "b", right: "c", rank: 2 },
    { left: "a", right: "bc", rank: 4 },
  ]);
});

test("the facts of both", () => {
  const { a, b } = difference({ a: tokenizerOf([ab], ["<x>"]), b: tokenizerOf([]) });
  expect(a).toMatchObject({ kind: "tokenizer.json", pattern: "gpt2", vocabularySize: 258, mergeCount: 1 });
  expect(b).toMatchObject({ vocabularySize: 256, mergeCount: 0 });
});

test("large vocabularies are compared in steps, so that signals are handled between them", () => {
  const manyTokens = (from: number): [string, string][] =>
    Array.from(
      { length: 12_000 },
      (_, n) => [bytes[(n >> 8) + 40]!, bytes[n & 0xff]!] as [string, string],
    ).slice(from);
  const [a, b] = [tokenizerOf(manyTokens(0)), tokenizerOf(manyTokens(2_000))];
  let steps = 0;
  const work = differences.of(a, b);
  let step = work.next();
  for (; !step.done; step = work.next()) steps++;
  expect(step.value.tokens.onlyInA.length).toBe(2_000);
  expect(step.value.merges).toMatchObject({ inBoth: 10_000, onlyInB: [], moved: [] });
  // A step handles 5,000 entries. The two lists of tokens take three steps each, and the lists of merges three and two.
  // Comparing them takes further steps.
  expect(steps).toBeGreaterThan(12);
});

/** Returns the length of the longest ascending subsequence, by comparing all pairs of numbers. */
function naiveLength(numbers: readonly number[]): number {
  const lengths: number[] = [];
  for (const [i, number] of numbers.entries()) {
    const before = lengths.filter((_, j) => j < i && numbers[j]! < number);
    lengths.push(1 + Math.max(0, ...before));
  }
  return Math.max(0, ...lengths);
}

test("the indices ascend, their numbers ascend, and there is no longer subsequence", () => {
  const orders = fc.array(fc.nat(), { maxLength: 60 }).map((all) => [...new Set(all)]);
  fc.assert(
    fc.property(orders, (numbers) => {
      const indices = [...differences.longestIncreasing(numbers)];
      expect(indices).toEqual(indices.toSorted((a, b) => a - b));
      const chosen = indices.map((i) => numbers[i]!);
      expect(chosen).toEqual(chosen.toSorted((a, b) => a - b));
      expect(new Set(indices).size).toBe(indices.length);
      expect(indices.length).toBe(naiveLength(numbers));
    }),
  );
  expect([...differences.longestIncreasing([3, 1, 2])]).toEqual([1, 2]);
  expect([...differences.longestIncreasing([])]).toEqual([]);
});
