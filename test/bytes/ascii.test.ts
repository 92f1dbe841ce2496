import { expect, test } from "bun:test";
import {
  beginsWithMark,
  countLineFeeds,
  decimalDigitsMax,
  putDecimal,
  skipSpace,
} from "../../src/bytes/text.ts";

const utf8 = (text: string) => new TextEncoder().encode(text);

test("a number is written in decimal, and nothing beside it", () => {
  const numbers = [0, 1, 9, 10, 11, 99, 100, 2 ** 31, 2 ** 32 - 1, 2 ** 53 - 1, 2 ** 53];
  for (let exponent = 1; exponent < 16; exponent++) numbers.push(10 ** exponent - 1, 10 ** exponent);
  for (const number of numbers) {
    const bytes = new Uint8Array(decimalDigitsMax + 2).fill(0x2e);
    const end = putDecimal(number, bytes, 1);
    expect(Buffer.from(bytes).toString()).toBe(`.${number}`.padEnd(bytes.length, "."));
    expect(end).toBe(1 + String(number).length);
  }
});

test("white space is what JSON takes for it", () => {
  const bytes = utf8(" \t\r\n\v x");
  expect(skipSpace(bytes, 0)).toBe(4);
  expect(skipSpace(bytes, 4)).toBe(4);
  expect(skipSpace(bytes, 5)).toBe(6);
  expect(skipSpace(utf8("  "), 1)).toBe(2);
});

test("line feeds are counted in a part of a buffer", () => {
  expect(countLineFeeds(utf8("\na\n\nb\n").subarray(1, 5))).toBe(2);
  expect(countLineFeeds(new Uint8Array(0))).toBe(0);
});

test("a byte-order mark is three bytes", () => {
  expect(beginsWithMark(utf8("\ufefftext"))).toBe(true);
  expect(beginsWithMark(utf8("\ufeff").subarray(0, 2))).toBe(false);
  expect(beginsWithMark(utf8("text"))).toBe(false);
});
