import { expect, test } from "bun:test";
import { inflateRawSync } from "node:zlib";
import { sectionHtml } from "../../src/report/html.ts";
import {
  mergesSection,
  type PackedVocabulary,
  packVocabularies,
  packVocabulary,
  treeSection,
} from "../../src/report/packed-vocabulary.ts";
import { madeTokenizer } from "./made-report.ts";

/** The twin: each number by its definition. */
function unpack({ columns, data, mergeCount, idLimit }: PackedVocabulary): Record<string, number[]> {
  const raw = inflateRawSync(Buffer.from(data, "base64"));
  const made: Record<string, number[]> = {};
  let start = 0;
  for (const { name, width } of columns) {
    made[name] = Array.from({ length: mergeCount }, (_, i) => {
      let number = 0n;
      for (let plane = 0; plane < width; plane++) {
        number += BigInt(raw[start + plane * mergeCount + i]!) << BigInt(8 * plane);
      }
      return Number(number);
    });
    start += width * mergeCount;
  }
  expect(start).toBe(raw.length);
  const { step, ...rest } = made;
  let id = -1;
  return { ...rest, merged: step!.map((step) => (id = (id + 1 + step) % idLimit)) };
}

test("merges and counts come out as they went in", () => {
  const made = madeTokenizer(
    "t",
    [
      ["t", "h"],
      ["th", "e"],
      [" ", "the"],
      ["a", "b"],
    ],
    ["<|end|>"],
  );
  const merged = Int32Array.of(300, 256, 70_000, 299);
  const counts = (values: readonly number[]) => {
    const byId = new Float64Array(70_001);
    for (const [k, id] of merged.entries()) byId[id] = values[k]!;
    return byId;
  };
  const createdCounts = counts([2 ** 50 + 3, 2 ** 40 - 1, 2 ** 32 - 1, 255]);
  const endCounts = counts([0, 256, 65_535, 1]);
  const packed = packVocabulary(
    {
      ...made,
      tokens: { ...made.tokens, idLimit: 70_001 },
      lengths: new Uint32Array(70_001),
      merges: { ...made.merges, merged },
      counts: { of: "x.txt", endCounts },
      ledger: { createdCounts, endCounts, isIntermediate: () => false },
    },
    299,
    Bun.deflateSync,
  );
  expect(unpack(packed)).toEqual({
    left: [...made.merges.left],
    right: [...made.merges.right],
    merged: [...merged],
    created: [2 ** 50 + 3, 2 ** 40 - 1, 2 ** 32 - 1, 255],
    end: [0, 256, 65_535, 1],
  });
  expect(packed.firstShown).toBe(299);
  expect(packed.countsOf).toBe("x.txt");
});

test("tokens that no merge makes are listed with their bytes", () => {
  const { leaves, columns } = packVocabulary(
    madeTokenizer("t", [["a", "b"]], ["<|end|>"]),
    0,
    Bun.deflateSync,
  );
  expect(leaves).toHaveLength(257);
  expect(leaves[255]).toEqual([255, "\xff", 1, null]);
  expect(leaves[256]).toEqual([257, "<|end|>", 7, null]);
  expect(columns.map(({ name }) => name)).toEqual(["step", "left", "right"]);
});

test("a tokenizer without merges is packed, too", () => {
  expect(unpack(packVocabulary(madeTokenizer("t", []), 0, Bun.deflateSync)).left).toEqual([]);
});

test("of a part of the merges, those of frequent tokens come first, with all that they are made of", () => {
  const pairs = ["ab", "cd", "ef", "gh", "ij"].map(([left, right]) => [left!, right!] as const);
  const made = madeTokenizer("t", [...pairs, ["ab", "cd"], ["abcd", "ef"], ["gh", "ij"]]);
  const endCounts = new Float64Array(264);
  const packOf = (counts: Record<number, number>, first: number, most: number) => {
    for (const [id, count] of Object.entries(counts)) endCounts[Number(id)] = count;
    const packed = packVocabulary({ ...made, counts: { of: "x", endCounts } }, first, Bun.deflateSync, most);
    const { merged, left, end } = unpack(packed);
    const ids = merged!;
    expect(left).toEqual(ids.map((id) => made.merges.left[id - 256]!));
    expect(end).toEqual(ids.map((id) => endCounts[id]!));
    return ids;
  };
  // The first shown is 263 = 259 + 260; 261 = 256 + 257 is the most frequent.
  expect(packOf({ 261: 9, 258: 3 }, 263, 6)).toEqual([256, 257, 259, 260, 261, 263]);
  expect(packOf({ 261: 9, 258: 3 }, 263, 7)).toEqual([256, 257, 258, 259, 260, 261, 263]);
  // Nothing is frequent: the first merges.
  expect(packOf({ 261: 0, 258: 0 }, 65, 2)).toEqual([256, 257]);
  expect(packOf({}, 65, 8)).toHaveLength(8);
});

test("the vocabularies of a page have a bounded size together, and small ones stay whole", () => {
  // Halves at random, so that nothing can be compressed.
  let state = 1;
  const random = (below: number) => (state = (state * 48_271) % 2_147_483_647) % below;
  const grown = (count: number) => {
    const made = madeTokenizer("t", []);
    const idLimit = 256 + count;
    const halves = () => Int32Array.from({ length: count }, (_, k) => random(256 + k));
    const merged = Int32Array.from({ length: count }, (_, k) => 256 + k);
    const tokens = { ...made.tokens, idLimit };
    return {
      ...made,
      tokens,
      lengths: new Uint32Array(idLimit).fill(1),
      merges: { left: halves(), right: halves(), merged },
    };
  };
  const pack = (...counts: number[]) => {
    const steps = packVocabularies(
      counts.map(grown),
      counts.map(() => 0),
      Bun.deflateSync,
    );
    for (;;) {
      const { done, value } = steps.next();
      if (done) return value;
    }
  };
  const packed = pack(5000, 200_000, 120_000);
  const total = packed.reduce((sum, { data }) => sum + data.length, 0);
  expect(total).toBeLessThanOrEqual(500_000);
  expect(total).toBeGreaterThan(350_000);
  expect(packed.map(({ columns }) => columns[0]!.name)).toEqual(["step", "skipped", "skipped"]);
  expect(packed[1]!.mergeCount).toBe(packed[2]!.mergeCount);
  expect(treeSection(packed).text).toContain("has all");
  // One tokenizer is whole, whatever its size.
  const [one] = pack(200_000);
  expect(one!.mergeCount).toBe(200_000);
  expect(treeSection([one!]).text).not.toContain("has all");
});

test("the merges are in the page in their order, with what is left of the corpus", () => {
  const made = madeTokenizer("t", [
    ["a", "b"],
    ["ab", "<"],
  ]);
  const endCounts = new Float64Array(258);
  const createdCounts = endCounts.slice();
  createdCounts.set([30, 10], 256);
  const ledger = (tokensAfter: Float64Array) => ({
    ...made,
    counts: { of: "x", endCounts },
    ledger: { createdCounts, endCounts, tokensAfter, isIntermediate: () => false },
  });
  const rowsOf = (tokenizer: typeof made) =>
    [...sectionHtml(mergesSection(tokenizer)!).text.matchAll(/<tr><th scope="row">.*?<\/tr>/gs)].map(
      ([row]) =>
        row
          .replace(/<svg.*?<\/svg>/g, "")
          .replace(/(\s*<[^>]*>\s*)+/g, " ")
          .trim(),
    );
  const whole = ledger(Float64Array.of(100, 70, 60));
  expect(rowsOf(whole)).toEqual(["1 a + b ab 30 70", "2 ab + &lt; ab&lt; 10 60"]);
  expect(packVocabulary(whole, 0, Bun.deflateSync).tokensBefore).toBe(100);
  // What does not add up is not shown.
  const other = ledger(Float64Array.of(100, 70, 61));
  expect(rowsOf(other)).toEqual(["1 a + b ab 30", "2 ab + &lt; ab&lt; 10"]);
  expect(packVocabulary(other, 0, Bun.deflateSync).tokensBefore).toBeNull();
  // Without them there are other facts, and counts of a text.
  expect(rowsOf(made)).toEqual(["1 a + b ab 2 256", "2 ab + &lt; ab&lt; 3 257"]);
  const counted = { ...made, counts: { of: "x", endCounts: new Float64Array(258).fill(7) } };
  expect(rowsOf(counted)).toEqual(["1 a + b ab 2 256 7", "2 ab + &lt; ab&lt; 3 257 7"]);
  expect(mergesSection(madeTokenizer("t", []))).toBeNull();
});
