import { expect, test } from "bun:test";
import { inflateRawSync } from "node:zlib";
import { jsonForPage, type PackedVocabulary, packVocabulary } from "../../src/report/packed-vocabulary.ts";
import { hostileTexts, madeTokenizer } from "./made-report.ts";

/** The twin: each number by its definition. */
function unpack({ columns, data, mergeCount }: PackedVocabulary): Record<string, number[]> {
  const raw = inflateRawSync(Buffer.from(data, "base64"));
  let pos = 0;
  const made: Record<string, number[]> = {};
  for (const { name, bits } of columns) {
    // Arrays of numbers have to begin at a multiple of their size.
    expect(pos % (bits / 8)).toBe(0);
    made[name] = Array.from({ length: mergeCount }, () => {
      const number =
        bits === 16 ? raw.readUInt16LE(pos) : bits === 32 ? raw.readUInt32LE(pos) : raw.readDoubleLE(pos);
      pos += bits / 8;
      return number;
    });
  }
  expect(pos).toBe(raw.length);
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
  const birthCounts = counts([2 ** 40, 2 ** 40 - 1, 7, 255]);
  const endCounts = counts([0, 256, 65_535, 1]);
  const packed = packVocabulary(
    {
      ...made,
      tokens: { ...made.tokens, idLimit: 70_001 },
      lengths: new Uint32Array(70_001),
      merges: { ...made.merges, merged },
      counts: { of: "x.txt", endCounts },
      ledger: { birthCounts, endCounts, isResidue: () => false },
    },
    299,
    Bun.deflateSync,
  );
  expect(unpack(packed)).toEqual({
    left: [...made.merges.left],
    right: [...made.merges.right],
    merged: [...merged],
    birth: [2 ** 40, 2 ** 40 - 1, 7, 255],
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
  expect(columns.map(({ name }) => name)).toEqual(["left", "right", "merged"]);
});

test("a tokenizer without merges is packed, too", () => {
  expect(unpack(packVocabulary(madeTokenizer("t", []), 0, Bun.deflateSync)).left).toEqual([]);
});

test("JSON in a page ends no element, and is the same JSON", () => {
  const text = jsonForPage(hostileTexts);
  expect(text).not.toMatch(/[<>&\u2028\u2029]/);
  expect(JSON.parse(text)).toEqual(hostileTexts);
});
