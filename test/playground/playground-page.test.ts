import { expect, test } from "bun:test";
import { countPairs, mergePair, train, wordsOf } from "../../examples/learn.ts";
import { workedMerges } from "../../src/playground/playground-page.ts";

test("the merges of the page's example are those of a trainer, without ties", () => {
  const [[, letters], ...made] = workedMerges as [[string, string], ...[string, string][]];
  const text = letters.replaceAll(" ", "").replaceAll("␣", " ");
  const { merges } = train(text, 256 + made.length, "cs336");
  expect(made.map(([merge]) => merge)).toEqual(merges.map(({ left, right }) => `${left} + ${right}`));
  let pieces = letters.split(" ");
  const words = wordsOf(text).map((word) => ({ tokens: [...word], count: 1 }));
  for (const [i, { left, right }] of merges.entries()) {
    const counts = countPairs(words).map(({ count }) => count);
    expect(counts.filter((count) => count === Math.max(...counts)).length).toBe(1);
    for (const word of words) word.tokens = mergePair(word.tokens, left, right);
    pieces = mergePair(pieces, left, right);
    expect(made[i]![1].split(" ")).toEqual(pieces);
    // The merge's count on the page is the number of pieces that equal the merge's token.
    expect(pieces.filter((piece) => piece === left + right).length).toBe(merges[i]!.count);
  }
});
