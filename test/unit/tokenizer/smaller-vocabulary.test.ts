import { expect, test } from "bun:test";
import * as vocabularies from "../../../src/tokenizer/vocabulary.ts";
import { mergesOf } from "./made-merges.ts";

// The merges are "a b", "ab c", "d e", "abc de".
const merges = mergesOf([97, 256, 100, 257], [98, 99, 101, 258]);

test("a smaller vocabulary has the first merges, up to its size", () => {
  const vocabulary = vocabularies.build({ merges, specialTokens: ["<|end|>"], compat: "cs336", padTo: 8 });
  expect(vocabulary.size).toBe(264);
  const counts = [256, 257, 258, 259, 260, 261, 262, 300].map(
    (size) => vocabularies.mergesOfSize(merges, vocabulary, size).mergeCount,
  );
  expect(counts).toEqual([0, 0, 1, 2, 3, 4, 4, 4]);
  expect([...vocabularies.mergesOfSize(merges, vocabulary, 259).left]).toEqual([97, 256]);
});

test("huggingface: a merge that spells a special token adds no entry, and none is kept after the last needed one", () => {
  const vocabulary = vocabularies.build({ merges, specialTokens: ["ab", "de"], compat: "huggingface" });
  expect(vocabulary.size).toBe(260);
  const counts = [258, 259, 260, 261].map(
    (size) => vocabularies.mergesOfSize(merges, vocabulary, size).mergeCount,
  );
  expect(counts).toEqual([0, 2, 4, 4]);
});
