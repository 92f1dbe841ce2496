import { expect, test } from "bun:test";
import * as tokenTables from "../../../src/tokenizer/token-table.ts";

const utf8 = (text: string) => new TextEncoder().encode(text);
const table = (...tokens: [id: number, text: string][]) =>
  tokenTables.build(tokens.map(([id, text]) => [id, utf8(text)] as const));

test("tokens make the table of the worked example, in any order", () => {
  for (const made of [table([0, "a"], [2, "th"]), table([2, "th"], [0, "a"])]) {
    expect(made).toEqual({
      idLimit: 3,
      tokenCount: 2,
      bytes: utf8("ath"),
      starts: Uint32Array.of(0, 1, 1, 3),
    });
  }
  expect(table()).toEqual({ idLimit: 0, tokenCount: 0, bytes: utf8(""), starts: Uint32Array.of(0) });
});

test("of tokens with one id the last counts, whether it is longer, shorter, equally long or empty", () => {
  for (const [first, last] of [
    ["ab", "c"],
    ["c", "ab"],
    ["ab", "cd"],
    ["ab", ""],
    ["", "ab"],
  ] as const) {
    expect(table([1, first], [0, "x"], [2, "yz"], [1, last])).toEqual(table([0, "x"], [1, last], [2, "yz"]));
  }
});

test("the largest id has its bytes", () => {
  const made = table([5, "a"], [tokenTables.idLimitMax - 1, "end"]);
  expect([made.tokenCount, made.idLimit]).toEqual([2, tokenTables.idLimitMax]);
  expect(tokenTables.bytesOf(made, tokenTables.idLimitMax - 1)).toEqual(utf8("end"));
});

test("as many ids are taken as their tokens fit, at least one, including those without a token", () => {
  const tokens = tokenTables.build([
    [0, new Uint8Array(3)],
    [2, new Uint8Array(10)],
  ]);
  const ids = Float64Array.of(0, 0, 2, 1, -1, 7, 0.5, 0, 2);
  const ends = (bytesMax: number) => {
    const found: number[] = [];
    for (let start = 0; start < ids.length; start = found.at(-1)!)
      found.push(tokenTables.decodableEnd(tokens, ids, start, bytesMax));
    return found;
  };
  expect(ends(1)).toEqual([1, 2, 3, 7, 8, 9]);
  expect(ends(6)).toEqual([2, 3, 8, 9]);
  expect(ends(16)).toEqual([7, 9]);
  expect(ends(29)).toEqual([9]);
});
