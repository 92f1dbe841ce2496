import { expect, test } from "bun:test";
import fc from "fast-check";
import { SpecialTokenFinder } from "../../src/bytes/special-token-finder.ts";
import { countSpecialTokens } from "../../src/evaluation/special-occurrences.ts";
import { gatherTextWords } from "../../src/evaluation/text-words.ts";
import { atOnce } from "../../src/runtime/turns.ts";
import { wordTableOf } from "../../src/words/word-table.ts";
import { naiveWords } from "./naive-evaluation.ts";

/** How often each token is found in the whole text. */
function naiveOccurrences(text: string, tokens: readonly string[]): number[] {
  const bytes = Buffer.from(text);
  const finder = new SpecialTokenFinder(tokens.map((token) => Buffer.from(token)));
  finder.reset(bytes);
  const counts = tokens.map(() => 0);
  for (let at = finder.find(0, bytes.length); at < bytes.length; ) {
    const end = at + finder.lengthAt(at, bytes.length);
    counts[tokens.indexOf(bytes.subarray(at, end).toString())]!++;
    at = finder.find(end, bytes.length);
  }
  return counts;
}

function textWordsOf(text: string) {
  const counts = new Map<string, number>();
  for (const { before, word } of naiveWords(text)) {
    counts.set(before + word, (counts.get(before + word) ?? 0) + 1);
  }
  return atOnce(gatherTextWords(wordTableOf(counts)));
}

test("tokens are found in words as in the text: from the left, the longest, not overlapping", () => {
  const tokens = ["ab", "abc", "bc", "<|x|>", "é"];
  const parts = fc.constantFrom("a", "b", "c", "ab", "bc", "<|x|>", "<|x", "|>", "é", " ", "\n", "\xa0");
  fc.assert(
    fc.property(fc.array(parts, { maxLength: 60 }), (all) => {
      const text = all.join("");
      const found = atOnce(
        countSpecialTokens(
          textWordsOf(text),
          tokens.map((token) => Buffer.from(token)),
        ),
      );
      expect([...found]).toEqual(naiveOccurrences(text, tokens));
    }),
    { numRuns: 500 },
  );
});

test("words that only together look like a token hold none, and hide none", () => {
  // End to end the words are "xaba": "ab" seems to begin in the first and to end in the second.
  const words = textWordsOf("xa ba ab");
  expect([...atOnce(countSpecialTokens(words, [Buffer.from("ab"), Buffer.from("ba")]))]).toEqual([1, 1]);
});
