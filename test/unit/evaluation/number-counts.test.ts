import { expect, test } from "bun:test";
import fc from "fast-check";
import { holdsDigit, NumberCounts } from "../../../src/evaluation/number-counts.ts";
import * as unicode from "../../../src/pattern/unicode.ts";
import { naiveNumber } from "./naive-evaluation.ts";

/** Counts the numbers in the bytes of these tokens. Digits are put before and after these bytes, and must not count. */
function countsOfPieces(pieces: readonly Uint8Array[], occurrences = 1): NumberCounts {
  const counts = new NumberCounts();
  const bytes = Buffer.concat([Buffer.from("12"), ...pieces, Buffer.from("3")]);
  const ends = pieces.map((_, i) => pieces.slice(0, i + 1).reduce((sum, { length }) => sum + length, 2));
  counts.add(bytes, 2, bytes.length - 1, ends, occurrences);
  return counts;
}

/** Counts the numbers of a text whose tokens are separated by `|`. */
const countsOf = (cut: string, occurrences?: number) =>
  countsOfPieces(
    cut.split("|").map((piece) => Buffer.from(piece)),
    occurrences,
  );

test("TokEval's worked examples have the published F1", () => {
  const examples: [cut: string, score: number][] = [
    ["1|234|567", 1],
    ["1234|567", 2 / 3],
    ["12|345|67", 0],
    ["1234567", 0],
    ["42", 1],
    ["4|2", 0],
  ];
  for (const [cut, score] of examples)
    expect([...countsOf(cut).scores]).toEqual(score === 0 ? [] : [[score, 1]]);
});

test("groups from the right and from the left", () => {
  const cuts: [cut: string, fromRight: number, fromLeft: number][] = [
    ["1|234|567", 1, 0],
    ["123|456|7", 0, 1],
    ["123|456", 1, 1],
    ["x1|234.|567|8", 1, 1],
    ["1234|567", 0, 0],
    ["1|2|3|4", 0, 0],
    ["123", 0, 0],
    ["1234", 0, 0],
  ];
  for (const [cut, fromRight, fromLeft] of cuts) {
    expect(countsOf(cut, 3)).toMatchObject({ fromRight: 3 * fromRight, fromLeft: 3 * fromLeft });
  }
});

test("digits of every script count; characters that only look like one do not", () => {
  expect(countsOf("١٢|٣٤ ५६७ ９ 𝟠𝟡")).toMatchObject({ count: 4, longCount: 1, tokens: 5, digitGroups: 5 });
  expect(countsOf("²|½|Ⅷ|一|①|/:").count).toBe(0);
});

test("Unicode decides whether a character is a digit", () => {
  const digits = unicode.propertySet("Nd")!;
  for (let codePoint = 0; codePoint < 0x110000; codePoint++) {
    if (codePoint >= 0xd800 && codePoint < 0xe000) continue;
    const bytes = Buffer.from(String.fromCodePoint(codePoint));
    if (holdsDigit(bytes, 0, bytes.length) !== unicode.contains(digits, codePoint))
      throw new Error(String(codePoint));
  }
});

test("a border within the bytes of a digit is a border, but not one of a group", () => {
  const digit = Buffer.from("५");
  const counts = countsOfPieces([digit, digit.subarray(0, 1), digit.subarray(1), digit, digit]);
  expect(counts).toMatchObject({ count: 1, tokens: 5, longCount: 1, fromRight: 0 });
  expect([...counts.scores.keys()]).toEqual([2 / 5]);
});

test("numbers that are cut anywhere are counted as by a naive count", () => {
  const cut = fc.array(fc.integer({ min: 1, max: 14 }), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(cut, fc.integer({ min: 1, max: 9 }), (lengths, occurrences) => {
      const borders = lengths.map((_, i) => lengths.slice(0, i).reduce((sum, length) => sum + length, 0));
      const wanted = naiveNumber(
        lengths.reduce((sum, length) => sum + length, 0),
        borders.slice(1),
      );
      const counts = countsOf(lengths.map((length) => "7".repeat(length)).join("|"), occurrences);
      expect(counts).toMatchObject({
        count: occurrences,
        digitGroups: occurrences * wanted.groups,
        tokens: occurrences * wanted.tokens,
        longCount: occurrences * Number(wanted.isLong),
        fromRight: occurrences * Number(wanted.fromRight),
        fromLeft: occurrences * Number(wanted.fromLeft),
      });
      expect([...counts.scores.keys()][0] ?? 0).toBeCloseTo(wanted.score, 12);
    }),
  );
});

test("a number of a million digits is counted in linear time", () => {
  const counts = new NumberCounts();
  const ends = Array.from({ length: 1_000_000 }, (_, i) => i + 1);
  counts.add(Buffer.alloc(1_000_000, "7"), 0, 1_000_000, ends, 1);
  expect(counts).toMatchObject({ count: 1, digitGroups: 333_334, tokens: 1_000_000 });
});
