import { expect, test } from "bun:test";
import { meaningOf } from "../../../src/evaluate/difference-meaning.ts";
import type { TextDifference } from "../../../src/evaluation/difference.ts";
import * as findings from "../../../src/evaluation/finding.ts";

type Words = readonly (readonly [word: string, count: number, a: number, b: number])[];

function meaning(tokensA: number, tokensB: number, words: Words = [], characters = 10_000): string {
  const mostFrequent = words.map(([word, count, a, b]) => ({
    ...{ word, count },
    ...{ piecesA: new Array(a).fill(""), piecesB: new Array(b).fill("") },
  }));
  const text = { name: "x", tokensA, tokensB, mostFrequent } as unknown as TextDifference;
  return findings.spell(meaningOf(text, characters), { tokenizers: [{ name: "a" }, { name: "b" }] });
}

test("a difference is tokens per 1,000 characters, cost and context", () => {
  expect(meaning(2000, 2500)).toBe(
    "1,000 characters of x are 200 tokens with a, 250 with b. At the same price per token, the text costs 20 % less with a; the same context holds 25 % more text.",
  );
  expect(meaning(6000, 2000)).toContain(
    "At the same price per token, the text costs 67 % less with b; the same context holds 3.0 times as much text.",
  );
  expect(meaning(2000, 2000)).toBe("1,000 characters of x are 200 tokens with a, 200 with b.");
  for (const empty of [meaning(0, 1), meaning(1, 0), meaning(1, 2, [], 0)]) expect(empty).toBe("");
});

test("a difference is attributed to kinds of words", () => {
  const words: Words = [
    [" said,", 30, 1, 3],
    ["\\x0aThe", 20, 1, 2],
    [" 1984.", 10, 1, 2],
    [" GmbH", 10, 1, 2],
    [" Привет", 4, 1, 2],
    [" --", 30, 2, 1],
  ];
  expect(meaning(2000, 2500, words)).toEndWith(
    " 58 % of the tokens that it saves are in lower-case words, 19 % in capitalized words; it needs more in signs.",
  );
  // Here b needs fewer tokens in all, but more of them in the listed words together. So no kinds of words are named.
  expect(meaning(2500, 2000, words)).toEndWith(" more text.");
  const one = (word: string) => /are in (.*)\.$/.exec(meaning(2, 3, [[word, 1, 1, 2]]))![1];
  expect([" don't", " USA", " x86", " ÉTÉ", "(café)", " 12:30", " 東京", " camelCase"].map(one)).toEqual([
    "lower-case words",
    "words in capitals",
    "words with digits, signs or inner capitals",
    "words in capitals",
    "lower-case words",
    "numbers",
    "words in other scripts than Latin",
    "words with digits, signs or inner capitals",
  ]);
});
