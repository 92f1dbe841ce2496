import { expect, test } from "bun:test";
import { cutSamples } from "../../src/cli/report-writer.ts";
import { classesOf, mergesWithin } from "../../src/cli/train-report.ts";
import { shapesOf } from "../../src/cli/train-summary.ts";
import { trainMerges } from "../../src/merge/train-merges.ts";
import { resolvePattern } from "../../src/pattern/pattern.ts";
import { vocabularyTokenizer } from "../../src/report/report-data.ts";
import { runToEnd } from "../../src/runtime/turns.ts";
import { trainedParts } from "../../src/tokenizer/tokenizer-parts.ts";
import { makeLedger } from "../../src/vocabulary/ledger.ts";
import { buildVocabulary } from "../../src/vocabulary/vocabulary.ts";
import { wordTableOf } from "../words/generators.ts";

const learnedText =
  "the other thing they thought of then was there with them, aaaa aaaaaaa naïve naïveté 2024 20 ";
const words = wordTableOf(learnedText.split(/(?= )/).map((word, i) => [Buffer.from(word), 5 + i] as const));

for (const compat of ["cs336", "huggingface"] as const) {
  test(`${compat}: a text is cut by the merges whose token is in it as by all of them`, () => {
    const specialTokens = compat === "huggingface" ? ["<|end|>", "th"] : ["<|end|>"];
    const learned = runToEnd(trainMerges(words, { mergeCount: 90, specialTokens, compat }));
    const vocabulary = buildVocabulary({ merges: learned, specialTokens, compat, padTo: 1 });
    const ledger = makeLedger(learned);
    const tokenizer = vocabularyTokenizer("t", vocabulary, ledger, "the corpus");
    const pattern = resolvePattern("gpt2");
    const cut = (texts: readonly Uint8Array[], merges?: ReturnType<typeof mergesWithin>) =>
      cutSamples(
        texts.map((bytes) => ({ name: "text", bytes })),
        [{ parts: trainedParts(vocabulary, pattern, null, merges), tokens: tokenizer.tokens }],
      );
    const chosen = ["they thought then", "aaaaa naïv", "other<|end|>things thaw 2024", "zzz\xff \n\n", ""];
    for (const some of [chosen, ...chosen.map((text) => [text])]) {
      const texts = some.map((text) => Buffer.from(text, "latin1"));
      const within = mergesWithin(texts, vocabulary, tokenizer);
      expect(within.merged.length).toBeLessThan(learned.mergeCount);
      expect(cut(texts, within)).toEqual(cut(texts));
    }
  });
}

test("with the classes of the tokens, their shapes are those without", () => {
  const texts = ["–".repeat(6), "\u00a0".repeat(9), `${" ".repeat(6000)}x`, "=-=-the ", "-".repeat(6000)];
  const table = wordTableOf(texts.map((text, i) => [Buffer.from(text), 9 + i] as const));
  // In HF's files the second special token is the first bytes of a dash; it has letters.
  for (const specialTokens of [["<|end|>"], ["<|end|>", "âĢĵ"]]) {
    const learned = runToEnd(trainMerges(table, { mergeCount: 60, specialTokens, compat: "huggingface" }));
    const vocabulary = buildVocabulary({ merges: learned, specialTokens, compat: "huggingface" });
    const tokenizer = vocabularyTokenizer("t", vocabulary, makeLedger(learned), "the corpus");
    const classes = classesOf(vocabulary, tokenizer);
    expect(classes === undefined).toBe(specialTokens.length === 2);
    const shapes = shapesOf(vocabulary, classes);
    expect(shapes).toEqual(shapesOf(vocabulary));
    expect(shapes.whitespaceCount).toBeGreaterThan(10);
    expect(shapes.separatorCount).toBeGreaterThan(10);
  }
});
