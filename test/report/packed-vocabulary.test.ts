import { expect, test } from "bun:test";
import { inflateRawSync } from "node:zlib";
import { jsonForPage, type PackedVocabulary, packVocabulary } from "../../src/report/packed-vocabulary.ts";
import { hostileTexts } from "./hostile-texts.ts";
import { madeTokenizer } from "./made-report.ts";

/** The twin: each number by its definition. */
function unpack({ columns, runs, data, mergeCount }: PackedVocabulary): Record<string, number[]> {
  const raw = inflateRawSync(Buffer.from(data, "base64"));
  const made: Record<string, number[]> = {
    merged: runs.flatMap(([first, count]) => Array.from({ length: count }, (_, i) => first + i)),
  };
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
  return made;
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
  expect(columns.map(({ name }) => name)).toEqual(["left", "right"]);
});

test("a tokenizer without merges is packed, too", () => {
  expect(unpack(packVocabulary(madeTokenizer("t", []), 0, Bun.deflateSync)).left).toEqual([]);
});

test("JSON in a page ends no element, and is the same JSON", () => {
  const text = jsonForPage(hostileTexts);
  expect(text).not.toMatch(/[<>&\u2028\u2029]/);
  expect(JSON.parse(text)).toEqual(hostileTexts);
});
