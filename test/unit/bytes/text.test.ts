import { expect, test } from "bun:test";
import * as ascii from "../../../src/bytes/ascii.ts";
import * as decimal from "../../../src/bytes/decimal.ts";
import * as json from "../../../src/bytes/json.ts";
import * as utf8 from "../../../src/bytes/utf8-characters.ts";
import { randomNumbers } from "../../random.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);

test("a number is written in decimal, and the bytes around it stay", () => {
  const numbers = [0, 1, 9, 10, 11, 99, 100, 2 ** 31, 2 ** 32 - 1, 2 ** 53 - 1, 2 ** 53];
  for (let exponent = 1; exponent < 16; exponent++) numbers.push(10 ** exponent - 1, 10 ** exponent);
  for (const number of numbers) {
    const bytes = new Uint8Array(decimal.digitsMax + 2).fill(0x2e);
    const end = decimal.put(number, bytes, 1);
    expect(Buffer.from(bytes).toString()).toBe(`.${number}`.padEnd(bytes.length, "."));
    expect(end).toBe(1 + String(number).length);
  }
});

test("white space is that of JSON", () => {
  const bytes = bytesOf(" \t\r\n\v x");
  expect(json.skipSpace(bytes, 0)).toBe(4);
  expect(json.skipSpace(bytes, 4)).toBe(4);
  expect(json.skipSpace(bytes, 5)).toBe(6);
  expect(json.skipSpace(bytesOf("  "), 1)).toBe(2);
});

test("line feeds are counted in a part of a buffer", () => {
  expect(ascii.countLineFeeds(bytesOf("\na\n\nb\n").subarray(1, 5))).toBe(2);
  expect(ascii.countLineFeeds(new Uint8Array(0))).toBe(0);
});

test("a byte-order mark is three bytes", () => {
  expect(utf8.startsWithBom(bytesOf("\ufefftext"))).toBe(true);
  expect(utf8.startsWithBom(bytesOf("\ufeff").subarray(0, 2))).toBe(false);
  expect(utf8.startsWithBom(bytesOf("text"))).toBe(false);
});

/** Returns the code point if the bytes are one valid character, otherwise -1. */
function naiveCodePoint(bytes: Uint8Array): number {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return [...text].length === 1 ? text.codePointAt(0)! : -1;
  } catch {
    return -1;
  }
}

/** Returns the code point of the character that begins at `pos` and ends by `limit`, or -1 if there is none. */
function naiveCodePointAt(bytes: Uint8Array, pos: number, limit: number): number {
  for (let end = pos + 1; end <= Math.min(pos + 4, limit); end++) {
    const codePoint = naiveCodePoint(bytes.subarray(pos, end));
    if (codePoint >= 0) return codePoint;
  }
  return -1;
}

/** Bytes at the edges of the ranges that UTF-8 distinguishes. */
const edges = [0, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf];
edges.push(0xe0, 0xe1, 0xec, 0xed, 0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xf8, 0xff);

const seed = 20261122;

test(`characters are those that a decoder finds, in random bytes (seed ${seed})`, () => {
  const random = randomNumbers(seed);
  for (let round = 0; round < 3000; round++) {
    const bytes = Uint8Array.from({ length: 1 + random(9) }, () => edges[random(edges.length)]!);
    const limit = random(bytes.length + 1);
    for (let pos = 0; pos < limit; pos++) {
      const codePoint = naiveCodePointAt(bytes, pos, limit);
      expect(utf8.codePointAt(bytes, pos, limit)).toBe(codePoint);
      expect(utf8.characterLengthAt(bytes, pos, limit)).toBe(codePoint < 0 ? 0 : utf8.byteCountOf(codePoint));
    }
    const lastOfFour = [4, 3, 2, 1].filter((length) => length <= limit);
    const before = lastOfFour.map((length) => naiveCodePoint(bytes.subarray(limit - length, limit)));
    if (limit > 0) expect(utf8.codePointBefore(bytes, limit)).toBe(before.find((found) => found >= 0) ?? -1);
    expect(utf8.codePointAt(bytes, limit, limit)).toBe(-1);
  }
});

test("every kind of code point is written unchanged, and so are the bytes around it", () => {
  for (const codePoint of [0, 0x7f, 0x80, 0x7ff, 0x800, 0xd7ff, 0xe000, 0xffff, 0x10000, 0x10ffff]) {
    const bytes = new Uint8Array(6).fill(0x2e);
    const end = utf8.putCharacter(bytes, 1, codePoint);
    expect(Buffer.from(bytes).toString()).toBe(`.${String.fromCodePoint(codePoint)}${".".repeat(6 - end)}`);
    expect([end - 1, utf8.codePointBefore(bytes, end)]).toEqual([utf8.byteCountOf(codePoint), codePoint]);
  }
});

test("a character is unfinished if more bytes can complete it", () => {
  const bytes = new TextEncoder().encode("€𐀀é");
  for (let limit = 1; limit <= bytes.length; limit++) {
    const starts = [0, 3, 7].filter((start) => start < limit);
    for (const start of starts) {
      const end = start === 0 ? 3 : start === 3 ? 7 : 9;
      expect(utf8.isUnfinished(bytes, start, limit)).toBe(limit < end);
    }
  }
  expect(utf8.isUnfinished(Uint8Array.of(0x80), 0, 1)).toBe(false);
});
