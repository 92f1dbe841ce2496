import { expect, test } from "bun:test";
import * as byteCharacters from "../../../src/bytes/byte-characters.ts";
import { tokensTsv, tokensTsvBytesMax, tokensTsvFiles } from "../../../src/formats/tokens-tsv.ts";
import { trainMerges } from "../../../src/merge/train-merges.ts";
import { runToEnd } from "../../../src/runtime/slices.ts";
import type { Compat } from "../../../src/tokenizer/merges.ts";
import * as tokenCounting from "../../../src/tokenizer/token-counts.ts";
import * as vocabularies from "../../../src/tokenizer/vocabulary.ts";
import { wordTableOf } from "../words/generators.ts";

const oddSpecials = ["<|end|>", "tab\tand\nline", "é漢"];

function made(
  words: readonly (readonly [string, number])[],
  mergeCount: number,
  compat: Compat,
  specialTokens: string[],
) {
  const table = wordTableOf(words);
  const merges = runToEnd(trainMerges(table, { mergeCount, compat, specialTokens }));
  const vocabulary = vocabularies.build({ merges, specialTokens, compat });
  const tokenCounts = tokenCounting.make(merges);
  const file = tokensTsv(vocabulary, tokenCounts);
  const text = Buffer.concat([...file.chunks()].map((chunk) => chunk.slice())).toString();
  const [head, ...rows] = text
    .slice(0, -1)
    .split("\n")
    .map((line) => line.split("\t"));
  return { vocabulary, tokenCounts, merges, text, head, rows };
}

const words = [
  ["low", 5],
  [" lower", 2],
  ["\n\t漢字漢字", 3],
  ["aaaaaaa", 1e9],
  ["x".repeat(300), 7],
] as const;

for (const compat of ["cs336", "huggingface"] as const) {
  test(`${compat}: a row for each id, with the token's halves and its number of occurrences`, () => {
    const { vocabulary, tokenCounts, merges, head, rows, text } = made(words, 60, compat, oddSpecials);
    expect(head).toEqual(["id", "token", "bytes", "birth", "end", "left", "right"]);
    expect(rows.map(([id]) => Number(id))).toEqual([...Array(vocabulary.size).keys()]);
    vocabulary.tokenIds.forEach((id, token) => {
      const [, spelled, length, birth, end, left, right] = rows[id]!;
      expect(Number(length)).toBe(byteCharacters.decode(spelled!)!.length);
      expect([Number(birth), Number(end)]).toEqual([
        tokenCounts.createdCounts[token]!,
        tokenCounts.endCounts[token]!,
      ]);
      if (token < 256)
        expect([spelled, left, right]).toEqual([byteCharacters.encode(Uint8Array.of(token)), "", ""]);
      else {
        const [l, r] = [merges.left[token - 256]!, merges.right[token - 256]!];
        expect([left, right]).toEqual([l, r].map((half) => String(vocabulary.tokenIds[half])));
        expect(spelled).toBe([left, right].map((half) => rows[Number(half)]![1]).join(""));
      }
    });
    oddSpecials.forEach((special, s) => {
      const bytes = Buffer.from(special);
      const row = [byteCharacters.encode(bytes), String(bytes.length), "", "", "", ""];
      expect(rows[vocabulary.specialIds[s]!]!.slice(1)).toEqual(row);
    });
    expect(tokensTsvBytesMax(vocabulary, tokenCounts)).toBeGreaterThan(Buffer.byteLength(text));
  });
}

test("huggingface: a special token that is also a learned one has the learned one's row", () => {
  const { vocabulary, rows, merges, text, tokenCounts } = made([["abab", 4]], 3, "huggingface", [
    "ab",
    "b",
    "<x>",
  ]);
  expect(vocabulary.tokenIds[256]).toBe(0);
  expect(rows[0]).toEqual([
    "0",
    "ab",
    "2",
    "8",
    String(merges.mergeCount > 1 ? 0 : 8),
    String(vocabulary.tokenIds[97]),
    "1",
  ]);
  expect(rows[1]!.slice(1)).toEqual(["b", "1", "8", "0", "", ""]);
  expect(tokensTsvBytesMax(vocabulary, tokenCounts)).toBeGreaterThan(Buffer.byteLength(text));
});

test("the table is written on request, or by default if it cannot exceed 1 MB", () => {
  const { vocabulary, tokenCounts } = made(words, 60, "cs336", []);
  const filesOf = (isWanted: boolean | undefined, of = vocabulary) =>
    tokensTsvFiles(isWanted, of, tokenCounts);
  const names = (...args: Parameters<typeof filesOf>) => filesOf(...args).map(({ name }) => name);
  expect([names(true), names(false), names(undefined)]).toEqual([["tokens.tsv"], [], ["tokens.tsv"]]);
  // A long special token fills the table. In byte-to-character form, each of its bytes takes two bytes of the table.
  const filled = (length: number) =>
    vocabularies.build({ merges: vocabulary, specialTokens: ["\u0080".repeat(length)], compat: "cs336" });
  // U+0080 is two bytes in UTF-8, so it takes four bytes of the table.
  const room = 1e6 - tokensTsvBytesMax(filled(100_000), tokenCounts);
  const length = 100_000 + Math.ceil(room / 4) - 1;
  expect([names(undefined, filled(length)), names(undefined, filled(length + 1))]).toEqual([
    ["tokens.tsv"],
    [],
  ]);
  const [file] = filesOf(true, filled(length));
  const sizeBytes = [...file!.chunks()].reduce((sum, chunk) => sum + chunk.length, 0);
  expect(sizeBytes).toBeLessThan(1e6);
  expect(sizeBytes).toBeGreaterThan(0.95e6);
});
