import { expect, test } from "bun:test";
import { firstShown, observationsOf } from "../../src/pages/app/observations.ts";
import type { Token } from "../../src/pages/unpacked.ts";

const tokenOf = (text: string, counts: Partial<Token> = {}): Token => ({
  ...{ id: 0, rank: 0, created: null, end: null, inText: null, tokensLeft: null },
  text: Buffer.from(text).toString("latin1"),
  length: Buffer.byteLength(text),
  ...counts,
});

const whats = (merged: readonly Token[], lastPairCount: number | null = null) =>
  observationsOf({ learned: merged, lastPairCount }).map(({ what, figure }) => `${what} ${figure}`.trim());

test("long tokens that overlap are one observation, and other tokens are not reported", () => {
  const sentence = "All rights reserved by the owner of this site";
  const parts = [0, 3, 6, 9].map((start) => tokenOf(sentence.slice(start, start + 30), { end: 12 }));
  const others = ["internationalization", "uncharacteristically"].map((text) => tokenOf(text));
  expect(whats([...parts, ...others])).toEqual(["A text repeats itself. 12 times"]);
  expect(observationsOf({ learned: [...parts, ...others], lastPairCount: null })[0]!.why).toContain(
    "4 of the 6 longest",
  );
  expect(whats([...parts.slice(0, 2), ...others])).toEqual([]);
  // A family of words is not reported as a sentence.
  const family = ["responsibility", " responsibilities", "irresponsibility", "RESPONSIBILITIES"];
  expect(whats(family.map((text) => tokenOf(text)))).toEqual([]);
});

test("tokens that never occur, intermediate ones, lines of one sign and parts of characters are counted", () => {
  const merged = [
    tokenOf("gone", { created: 9, end: 0 }),
    tokenOf("rare", { created: 9, end: 2 }),
    tokenOf("kept", { created: 9, end: 9 }),
    // This token is rarer than the last pair, but was never absorbed.
    tokenOf("late", { created: 3, end: 3 }),
  ];
  expect(whats(merged, 5)).toEqual([
    "1 learned token is never used. 25 %",
    "2 tokens are intermediate. 50 %",
  ]);
  expect(whats([tokenOf("-".repeat(20)), tokenOf(" ".repeat(9)), tokenOf("a".repeat(9))])).toEqual([
    "2 tokens are runs of one character. 67 %",
  ]);
  const half = { ...tokenOf("ab"), text: "\xe2\x80", length: 2 };
  expect(whats([half, tokenOf("naïve")])).toEqual(["1 token is part of a character. 50 %"]);
  expect(whats([])).toEqual([]);
});

test("shares are compared with those of vocabularies of the same size, and what is odd comes first", () => {
  const kept = (count: number) =>
    Array.from({ length: count }, (_, i) => tokenOf(`kept${i}`, { created: 9, end: 9 }));
  const rare = Array.from({ length: 100 }, (_, i) => tokenOf(`rare${i}`, { created: 9, end: 2 }));
  const lines = Array.from({ length: 20 }, (_, i) => tokenOf("-".repeat(20 + i), { created: 9, end: 9 }));
  const found = observationsOf({ learned: [...rare, ...kept(880), ...lines], lastPairCount: 5 });
  expect(found.map(({ figure, usual, isOdd }) => [figure, usual, isOdd])).toEqual([
    ["2.0 %", "more than the usual: up to 0.7 %", true],
    ["10 %", "usual ≤ 15 %", false],
  ]);
  // The usual share is that of the measured vocabulary size which is nearest by ratio: for the 1,960 tokens of `few`
  // that of 1,000 tokens, and for the 2,040 of `more` that of 4,000.
  const few = observationsOf({ learned: [...rare, ...kept(1860)], lastPairCount: 5 });
  expect(few.map(({ usual }) => usual)).toEqual(["usual ≤ 15 %"]);
  const more = observationsOf({ learned: [...rare, ...kept(1940)], lastPairCount: 5 });
  expect(more.map(({ usual }) => usual)).toEqual(["usual ≤ 20 %"]);
  // A vocabulary of less than half the smallest measured size is not judged.
  const small = observationsOf({ learned: [...rare, ...kept(300)], lastPairCount: 5 });
  expect(small.map(({ usual, isOdd }) => [usual, isOdd])).toEqual([["", false]]);
});

test("the token that is shown first is long, occurs, and is not a repetition", () => {
  const tokens = [
    tokenOf("aaaaaaaaaaaaaaaa", { end: 5 }),
    tokenOf("thousandfold", { end: 0 }),
    tokenOf(" weather", { end: 3 }),
    tokenOf("--------------------", { end: 9 }),
  ];
  expect(firstShown(tokens, tokens).text).toBe(" weather");
  // The parts of a longer token would be too narrow to read.
  const long = [tokenOf("incomprehensibilities", { end: 9 }), tokenOf("weather", { end: 3 })];
  expect(firstShown(long, long).text).toBe("weather");
  // Counts in a text take precedence over counts of the training.
  const counted = [tokenOf("thousandfold", { end: 4, inText: 0 }), tokenOf("two", { end: 1, inText: 2 })];
  expect(firstShown(counted, counted).text).toBe("two");
  expect(firstShown([], [tokenOf("a")]).text).toBe("a");
});
