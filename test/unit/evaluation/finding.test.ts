import { expect, test } from "bun:test";
import type { Difference } from "../../../src/evaluation/difference.ts";
import type { Evaluation } from "../../../src/evaluation/evaluation.ts";
import * as findings from "../../../src/evaluation/finding.ts";

/**
 * Returns an evaluation with these numbers of tokens for each tokenizer and text. Unless `facts` say otherwise, texts
 * are named t0, t1, … and have 100 kB each. The bytes per token are those of texts of 1,000 bytes.
 */
function evaluationOf(
  tokens: Record<string, readonly number[]>,
  facts: object[] = [],
  sizes: readonly number[] = [],
): Evaluation {
  const names = Object.keys(tokens);
  const tokenizers = names.map((name, t) => ({
    name,
    vocabularySize: sizes[t] ?? 1000,
    texts: tokens[name]!.map((tokens, i) => ({
      text: `t${i}`,
      tokens,
      bytesPerToken: tokens === 0 ? null : 1000 / tokens,
    })),
    overall: { tokens: tokens[name]!.reduce((sum, tokens) => sum + tokens, 0) },
  }));
  const texts = tokens[names[0]!]!.map((_, i) => ({
    name: `t${i}`,
    bytes: 100_000,
    trainedBy: [],
    ...facts[i],
  }));
  return { texts, tokenizers } as unknown as Evaluation;
}

const sentence = (tokens: Record<string, readonly number[]>) => {
  const evaluation = evaluationOf(tokens);
  const finding = findings.of(evaluation);
  return finding && findings.spell(finding.sentence, evaluation);
};

test("on one text, the first tokenizer is compared with the best of the others", () => {
  expect(sentence({ a: [90], b: [100], c: [120] })).toBe("On t0, a needs 10 % fewer tokens than b.");
  expect(sentence({ a: [101], b: [100] })).toBe("On t0, a needs 1.0 % more tokens than b.");
  expect(sentence({ a: [250], b: [100] })).toBe("On t0, a needs 2.5 times as many tokens as b.");
});

test("a difference that rounds to nothing is called equal", () => {
  for (const other of [10_000, 10_004, 9996])
    expect(sentence({ a: [10_000], b: [other] })).toBe("On t0, a and b need equally many tokens.");
  expect(sentence({ a: [10_000], b: [10_006] })).toBe("On t0, a needs 0.1 % fewer tokens than b.");
});

test("each of two texts has its number, even if they contradict each other", () => {
  expect(sentence({ ours: [128, 90_000], theirs: [100, 100_000] })).toBe(
    "On t0, ours needs 28 % more tokens than theirs; on t1, 10 % fewer.",
  );
  expect(sentence({ a: [100, 50], b: [100, 100] })).toBe(
    "On t0, a and b need equally many tokens; on t1, 50 % fewer.",
  );
});

test("each text has the same weight, however large one of them is", () => {
  // In total, `a` needs fewer tokens, because nearly all tokens are those of the last text.
  const tokens = { a: [190, 200, 90_000], b: [100, 100, 100_000] };
  expect(sentence(tokens)).toBe(
    "a needs more tokens than b on t1 (2.0 times as many) and t0 (90 %), fewer on t2 (10 %).",
  );
  const average = evaluationOf(tokens);
  expect(findings.spell(findings.of(average)!.more, average)).toEndWith(
    " a needs 51 % more tokens than b on average (geometric mean; each text counts the same).",
  );
  // The best of the other tokenizers is chosen by the geometric mean, too.
  const finding = findings.of(evaluationOf({ a: [1, 1], large: [9, 1], small: [2, 3] }))!;
  expect(finding.sentence).toContain(2);
  expect(finding.sentence).not.toContain(1);
});

test("of many texts, the finding names those on which a tokenizer needs fewer tokens, and those on which it needs more", () => {
  const b = [100, 100, 100, 100];
  expect(sentence({ a: [90, 80, 99, 95], b })).toBe(
    "a needs fewer tokens than b on all 4 texts (up to 20 %, on t1).",
  );
  expect(sentence({ a: [90, 80, 99, 105], b })).toBe(
    "a needs fewer tokens than b on t1 (20 %), t0 (10 %) and t2 (1.0 %), more on t3 (5.0 %).",
  );
  expect(sentence({ a: [90, 110, 100, 100], b })).toBe(
    "a needs fewer tokens than b on t0 (10 %), more on t1 (10 %), equally many on 2 texts.",
  );
  expect(sentence({ a: [100, 300, 100], b: [100, 100, 100] })).toBe(
    "a needs more tokens than b on t1 (3.0 times as many), equally many on 2 texts.",
  );
  expect(sentence({ a: [110, 140, 101, 190], b })).toBe(
    "b needs fewer tokens than a on all 4 texts; a needs up to 90 % more, on t3.",
  );
  expect(sentence({ a: [110, 140, 120], b: [100, 100, 100] })).toBe(
    "b needs fewer tokens than a on all 3 texts; a needs 40 % more on t1, 20 % on t2 and 10 % on t0.",
  );
  expect(sentence({ a: [110, 250, 120], b: [100, 100, 100] })).toBe(
    "b needs fewer tokens than a on all 3 texts; a needs 2.5 times as many on t1, 20 % more on t2 and 10 % on t0.",
  );
  expect(sentence({ a: b, b })).toBe("On all 4 texts, a and b need equally many tokens.");
});

test("a single tokenizer is described, and one without tokens has no finding", () => {
  expect(sentence({ a: [250] })).toBe("a averages 4.00 bytes per token on t0.");
  expect(sentence({ a: [250, 500] })).toBe("a averages 4.00 bytes per token on t0, and 2.00 on t1.");
  expect(sentence({ a: [0] })).toBeNull();
  expect(sentence({ a: [0], b: [2] })).toBeNull();
  expect(sentence({ a: [3], b: [0] })).toBeNull();
});

test("sizes follow the names if they differ, and the best tokenizer of the first one's size is compared, too", () => {
  const texts = (tokens: Record<string, readonly number[]>, ...sizes: number[]) => {
    const evaluation = evaluationOf(tokens, [], sizes);
    const { sentence, more } = findings.of(evaluation)!;
    return [sentence, more].map((parts) => findings.spell(parts, evaluation));
  };
  expect(texts({ a: [90], b: [100] })[1]).toBe("Both have 1,000 tokens.");
  expect(texts({ a: [90], b: [100] }, 1000, 2000)).toEqual([
    "On t0, a (1,000 tokens) needs 10 % fewer tokens than b (2,000).",
    "",
  ]);
  expect(texts({ a: [90], b: [100], c: [120] }, 1000, 2000, 3000)[1]).toBe(
    "Of the others, b needs the fewest tokens.",
  );
  expect(texts({ a: [110], b: [100], c: [120] })[1]).toStartWith(
    "Of all 3 tokenizers, b needs the fewest tokens.",
  );
  expect(texts({ a: [110, 120], b: [100, 100], c: [109, 120] }, 300, 500, 300)).toEqual([
    "On t0, a (300 tokens) needs 10 % more tokens than b (500); on t1, 20 % more.",
    "Of all 3 tokenizers, b needs the fewest tokens on average. At 300 tokens, a needs 0.9 % more tokens than c on t0, equally many on t1.",
  ]);
  const [sentence, more] = texts(
    { a: [187, 144, 111], b: [100, 100, 100], c: [190, 150, 400], d: [194, 141, 161] },
    ...[16, 200, 32, 16].map((thousands) => 1000 * thousands),
  );
  expect(sentence).toStartWith(
    "b (200,000 tokens) needs fewer tokens than a (16,000) on all 3 texts; a needs",
  );
  expect(more).toBe(
    "Of all 4 tokenizers, b needs the fewest tokens on average. At 16,000 tokens, a needs 31 % fewer tokens than d on t2, 3.6 % fewer on t0, 2.1 % more on t1. a needs 44 % more tokens than b on average (geometric mean; each text counts the same).",
  );
  const same = (a: number[], c: number[]) =>
    / At .* average /.exec(texts({ a, b: a.map(() => 50), c }, 300, 500, 300)[1]!)![0];
  expect(same([100, 100, 100], [100, 100, 100])).toStartWith(
    " At 300 tokens, on all 3 texts, a and c need equally many tokens. ",
  );
  expect(same([110, 120, 130, 140], [100, 100, 100, 100])).toStartWith(
    " At 300 tokens, c needs fewer tokens than a on all 4 texts; a needs up to 40 % more, on t3. ",
  );
});

test("the main number is in the sentence verbatim", () => {
  for (const tokens of [
    { a: [90], b: [100] },
    { a: [250, 1], b: [100, 1] },
    { a: [9, 8, 6], b: [9, 8, 7] },
  ]) {
    const { sentence, figure } = findings.of(evaluationOf(tokens))!;
    expect(sentence.some((part) => String(part).includes(figure!))).toBe(true);
  }
});

test("short texts and texts that a tokenizer was trained on are named", () => {
  const facts = [{ bytes: 49_999 }, { bytes: 50_000 }, { trainedBy: ["a", "b"] }];
  expect(findings.cautionsOf(evaluationOf({ a: [1, 1, 1] }, facts))).toEqual([
    "t0 has 50.0 kB: below 50 kB a single paragraph may decide the number.",
    "t2 is among the inputs that a and b learned from: its number is too good.",
  ]);
  const learned = [{ trainedBy: ["a"] }, { trainedBy: ["a", "b", "c"] }, { trainedBy: ["a"] }];
  expect(findings.cautionsOf(evaluationOf({ a: [1, 1, 1] }, learned))).toEqual([
    "t0 and t2 are among the inputs that a learned from: their numbers are too good.",
    "t1 is among the inputs that a, b and c learned from: its number is too good.",
  ]);
  expect(findings.cautionsOf(evaluationOf({ a: [1] }))).toEqual([]);
});

test("two tokenizers differ in how they cut a text, otherwise in their vocabularies", () => {
  const lists = (onlyInA: number, onlyInB: number, moved: number) => ({
    inBoth: 300,
    ...{ onlyInA: new Array(onlyInA), onlyInB: new Array(onlyInB), moved: new Array(moved) },
  });
  const found = (tokens: ReturnType<typeof lists>, moved: number, text: object | null) => {
    const difference = { tokens, merges: lists(0, 0, moved), text } as unknown as Difference;
    const { sentence, more } = findings.differenceOfTwo(difference);
    return [sentence, more].map((parts) =>
      findings.spell(parts, { tokenizers: [{ name: "a" }, { name: "b" }] }),
    );
  };
  expect(found(lists(2, 1000, 5), 0, null)).toEqual([
    "a and b share 300 tokens, 99.3 % of a and 23 % of b.",
    "",
  ]);
  expect(found(lists(0, 0, 0), 0, null)).toEqual(["a and b have the same 300 tokens and ids.", ""]);
  expect(found(lists(0, 0, 0), 2, null)).toEqual([
    "a and b have the same 300 tokens and ids, and 2 merges in another order.",
    "",
  ]);
  const text = { name: "x", tokensA: 90, tokensB: 100, words: 80, differentWords: 8 };
  expect(found(lists(2, 1, 0), 0, text)).toEqual([
    "On x, a needs 10 % fewer tokens than b; 10.0 % of the words of the text are cut differently.",
    "a and b share 300 tokens, 99.3 % of a and 99.7 % of b.",
  ]);
  const alike = { ...text, tokensA: 100, differentWords: 0 };
  expect(found(lists(0, 0, 0), 0, alike)[0]).toBe(
    "On x, a and b need equally many tokens; every word is cut alike.",
  );
  expect(found(lists(0, 0, 0), 0, { ...text, tokensA: 0 })[0]).toBe(
    "a and b have the same 300 tokens and ids.",
  );
});
