import { expect, test } from "bun:test";
import { trainMerges } from "../../src/merge/train-merges.ts";
import { type Token, tableOf, unpack, vocabularyOf } from "../../src/pages/unpacked.ts";
import { packLoaded, packTrained } from "../../src/reports/packed-vocabulary.ts";
import { runToEnd } from "../../src/runtime/slices.ts";
import type { Compat } from "../../src/tokenizer/merges.ts";
import * as tokenCounting from "../../src/tokenizer/token-counts.ts";
import * as tokenTables from "../../src/tokenizer/token-table.ts";
import type { TokenizerParts } from "../../src/tokenizer/tokenizer-parts.ts";
import * as vocabularies from "../../src/tokenizer/vocabulary.ts";
import { wordTableOf } from "../unit/words/generators.ts";

const specialTokens = ["<|end|>", "th", "x"];

function learned(text: string, mergeCount: number, compat: Compat) {
  const counts = new Map<string, number>();
  for (const word of text.split(/(?= )/)) counts.set(word, (counts.get(word) ?? 0) + 1);
  const words = wordTableOf([...counts].map(([word, count]) => [Buffer.from(word), count] as const));
  const specials = compat === "huggingface" ? specialTokens : ["<|end|>"];
  const merges = runToEnd(trainMerges(words, { mergeCount, specialTokens: specials, compat }));
  const vocabulary = vocabularies.build({ merges, specialTokens: specials, compat, padTo: 8 });
  return { vocabulary, tokenCounts: tokenCounting.make(merges) };
}

const texts = {
  english: "the other thing that they thought of then was there with them ".repeat(3),
  // This text has tokens of more bytes than a page stores.
  repetitive: `${"a".repeat(5000)} ${"ab".repeat(3000)} ${"é".repeat(900)}`,
};

const latin1 = (bytes: Uint8Array) => Buffer.from(bytes.subarray(0, 256)).toString("latin1");

for (const compat of ["cs336", "huggingface", "rustbpe"] as const) {
  for (const [name, text] of Object.entries(texts)) {
    test(`${compat}, ${name}: each id has the bytes, halves and counts of its token`, async () => {
      const { vocabulary, tokenCounts } = learned(text, 60, compat);
      const { size, entries, tokenIds, tokenBytes, left, right, mergeCount } = vocabulary;
      const packed = packTrained(vocabulary, tokenCounts, Bun.deflateSync);
      const { byId, merged } = await unpack(packed);
      expect(byId.size).toBe(size);
      for (let id = 0; id < size; id++) {
        const entry = entries[id]!;
        const bytes = vocabularies.isSpecialEntry(entry)
          ? new TextEncoder().encode(vocabulary.specialTokens[vocabularies.specialOfEntry(entry)]!)
          : tokenBytes.copy(entry);
        expect([id, byId.get(id)!.text, byId.get(id)!.length]).toEqual([id, latin1(bytes), bytes.length]);
      }
      for (let token = 0; token < 256; token++) {
        const { created, end } = byId.get(tokenIds[token]!)!;
        expect([created, end]).toEqual([tokenCounts.createdCounts[token]!, tokenCounts.endCounts[token]!]);
      }
      expect(merged).toHaveLength(mergeCount);
      for (const [k, made] of merged.entries()) {
        expect([made.left!.id, made.right!.id, made.id, made.rank]).toEqual([
          tokenIds[left[k]!]!,
          tokenIds[right[k]!]!,
          tokenIds[256 + k]!,
          k,
        ]);
        expect([made.created, made.end]).toEqual([
          tokenCounts.createdCounts[256 + k]!,
          tokenCounts.endCounts[256 + k]!,
        ]);
        if (packed.tokensBefore !== null) expect(made.tokensLeft).toBe(tokenCounts.tokensAfter[k + 1]!);
      }
      expect(packed.lastPairCount).toBe(tokenCounts.pairCounts.at(-1)!);
    });
  }
}

/** Returns the parts of a tokenizer with these merges and a token for each byte. */
function loaded(pairs: readonly (readonly [left: number, right: number, id: number])[]): TokenizerParts {
  const bytes = new Map(Array.from({ length: 256 }, (_, byte) => [byte, Uint8Array.of(byte)]));
  for (const [left, right, id] of pairs)
    bytes.set(id, Uint8Array.of(...bytes.get(left)!, ...bytes.get(right)!));
  const column = (i: 0 | 1 | 2) => Int32Array.from(pairs, (pair) => pair[i]);
  const merges = { left: column(0), right: column(1), merged: column(2) };
  return { tokens: tokenTables.build(bytes), model: { merges } } as unknown as TokenizerParts;
}

test("ids in any order and counts of any size are unpacked as they were packed", async () => {
  const parts = loaded([
    [116, 104, 300],
    [300, 101, 256],
    [32, 256, 70_000],
    [97, 98, 299],
  ]);
  const ids = [300, 256, 70_000, 299];
  const counts = (values: readonly number[]) => {
    const byId = new Float64Array(70_001);
    for (const [k, id] of ids.entries()) byId[id] = values[k]!;
    return byId;
  };
  const values = {
    created: [2 ** 50 + 3, 2 ** 40 - 1, 2 ** 32 - 1, 255],
    end: [0, 256, 65_535, 1],
    inText: [7, 0, 1, 2 ** 33],
  };
  const packed = packLoaded(
    parts,
    {
      tokenCounts: {
        createdCounts: counts(values.created),
        endCounts: counts(values.end),
        tokensAfter: Float64Array.of(9, 8, 7, 6, 5),
        lastPairCount: 3,
      },
      textCounts: counts(values.inText),
    },
    Bun.deflateSync,
  );
  const { merged } = await unpack(packed);
  const column = (name: keyof Token) => merged.map((token) => token[name]);
  expect(merged.map(({ id }) => id)).toEqual(ids);
  expect(merged.map(({ text }) => text)).toEqual(["th", "the", " the", "ab"]);
  for (const name of ["created", "end", "inText"] as const) expect(column(name)).toEqual(values[name]);
  // The occurrences of the created tokens do not explain why 5 of 9 tokens are left, so `tokensBefore` is omitted.
  expect([packed.tokensBefore, packed.lastPairCount]).toEqual([null, 3]);
});

test("a merge whose half only a later merge creates is unpacked, too, as in the file of Llama 3", async () => {
  const bytes = new Map(Array.from({ length: 256 }, (_, byte) => [byte, Uint8Array.of(byte)]));
  for (const [id, token] of ["  ", "   ", "    "].entries()) bytes.set(256 + id, Buffer.from(token));
  const merges = {
    left: Int32Array.of(32, 32, 256, 256),
    right: Int32Array.of(32, 257, 32, 256),
    merged: Int32Array.of(256, 258, 257, 258),
  };
  const parts = { tokens: tokenTables.build(bytes), model: { merges } } as unknown as TokenizerParts;
  const { merged, byId } = await unpack(packLoaded(parts, {}, Bun.deflateSync));
  expect(merged.map(({ id, text, rank }) => [id, text, rank])).toEqual([
    [256, "  ", 0],
    [258, "    ", 1],
    [257, "   ", 2],
    [258, "    ", 3],
  ]);
  // Two merges make token 258. Its rank is that of the first merge whose halves exist by then, as in encoding.
  expect([byId.get(258)!.rank, byId.size]).toEqual([3, 259]);
});

test("tokens are in the order of their merges, also if a half is the result of a later merge", () => {
  const merges = { left: [257, 97, 97], right: [97, 98, 97], merged: [256, 257, 258] };
  const leaf = (id: number) => [id, String.fromCharCode(id), 1, null, null, null] as const;
  const { tokens } = vocabularyOf(merges, [leaf(98), leaf(97)], null);
  expect(tokens.map(({ id, text, rank }) => [id, text, rank])).toEqual([
    [98, "b", undefined],
    [97, "a", undefined],
    [256, "aba", 0],
    [257, "ab", 1],
    [258, "aa", 2],
  ]);
});

test("without counts a page has none, and a tokenizer without merges is packed, too", async () => {
  const packed = packLoaded(loaded([[97, 98, 256]]), {}, Bun.deflateSync);
  expect(packed.columns.map(({ name }) => name)).toEqual(["step", "left", "right"]);
  const { merged } = await unpack(packed);
  expect(merged[0]).toMatchObject({ text: "ab", created: null, end: null, inText: null, tokensLeft: null });
  const none = await unpack(packLoaded(loaded([]), {}, Bun.deflateSync));
  expect([none.merged.length, none.tokens.length]).toEqual([0, 256]);
});

test("the table of a vocabulary has the bytes of each id, in any order and with gaps", () => {
  const noMerges = { left: [], right: [], merged: [] };
  const leaf = (id: number, text: string) => [id, text, text.length, null, null, null] as const;
  const { idLimit, tokenCount, bytes, starts } = tableOf(
    vocabularyOf(noMerges, [leaf(4, "th"), leaf(0, "\xe9"), leaf(2, "x")], null),
  );
  expect([idLimit, tokenCount, [...bytes], [...starts]]).toEqual([
    5,
    3,
    [0xe9, 0x78, 0x74, 0x68],
    [0, 1, 1, 2, 2, 4],
  ]);
});
