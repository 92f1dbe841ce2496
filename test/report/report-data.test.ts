import { expect, test } from "bun:test";
import type { Compat } from "../../src/merge/merges.ts";
import { trainMerges } from "../../src/merge/train-merges.ts";
import { tokenBytesMax, vocabularyTokenizer } from "../../src/report/report-data.ts";
import { runToEnd } from "../../src/runtime/turns.ts";
import { tokenBytesOf } from "../../src/tokenizer/token-table.ts";
import { intermediates, makeLedger } from "../../src/vocabulary/ledger.ts";
import {
  buildVocabulary,
  copyTokenBytes,
  isSpecialEntry,
  specialOfEntry,
} from "../../src/vocabulary/vocabulary.ts";
import { wordTableOf } from "../words/generators.ts";

const specialTokens = ["<|end|>", "th", "x"];

function learned(text: string, mergeCount: number, compat: Compat) {
  const counts = new Map<string, number>();
  for (const word of text.split(/(?= )/)) counts.set(word, (counts.get(word) ?? 0) + 1);
  const words = wordTableOf([...counts].map(([word, count]) => [Buffer.from(word), count] as const));
  const specials = compat === "huggingface" ? specialTokens : ["<|end|>"];
  const merges = runToEnd(trainMerges(words, { mergeCount, specialTokens: specials, compat }));
  const vocabulary = buildVocabulary({ merges, specialTokens: specials, compat, padTo: 8 });
  return { vocabulary, ledger: makeLedger(merges) };
}

const texts = {
  english: "the other thing that they thought of then was there with them ".repeat(3),
  // Tokens longer than what is kept of them, and than what a report looks at.
  repetitive: `${"a".repeat(5000)} ${"ab".repeat(3000)} ${"é".repeat(900)}`,
};

for (const compat of ["cs336", "huggingface", "rustbpe"] as const) {
  for (const [name, text] of Object.entries(texts)) {
    test(`${compat}, ${name}: each id has the bytes, halves and counts of its token`, () => {
      const { vocabulary, ledger } = learned(text, 60, compat);
      const { size, entries, tokenIds, tokenBytes, left, right, mergeCount } = vocabulary;
      const made = vocabularyTokenizer("t", vocabulary, ledger, "the corpus");
      expect(made.tokens.idLimit).toBe(size);
      expect(made.tokens.tokenCount).toBe(size);
      for (let id = 0; id < size; id++) {
        const entry = entries[id]!;
        const bytes = isSpecialEntry(entry)
          ? new TextEncoder().encode(vocabulary.specialTokens[specialOfEntry(entry)]!)
          : copyTokenBytes(tokenBytes, entry);
        expect(made.lengths[id]).toBe(bytes.length);
        expect(Buffer.compare(tokenBytesOf(made.tokens, id), bytes.subarray(0, tokenBytesMax))).toBe(0);
      }
      for (const [token, id] of tokenIds.entries()) {
        expect(made.counts!.endCounts[id]).toBe(ledger.endCounts[token]!);
        expect(made.ledger!.createdCounts[id]).toBe(ledger.createdCounts[token]!);
        expect(made.ledger!.isIntermediate(id)).toBe(intermediates(ledger)[token] === 1);
      }
      for (let k = 0; k < mergeCount; k++) {
        expect(made.merges.left[k]).toBe(tokenIds[left[k]!]!);
        expect(made.merges.right[k]).toBe(tokenIds[right[k]!]!);
        expect(made.merges.merged[k]).toBe(tokenIds[256 + k]!);
      }
    });
  }
}
