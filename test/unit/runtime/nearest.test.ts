import { expect, test } from "bun:test";
import { nearest } from "../../../src/runtime/nearest.ts";

test("a word two edits away is near; for longer words, up to a third of the letters", () => {
  expect(nearest("abc", ["abcxy"])).toBe("abcxy");
  expect(nearest("abc", ["abcxyz"])).toBeUndefined();
  expect(nearest("abcdefghi", ["abcdefghixyz"])).toBe("abcdefghixyz");
  expect(nearest("abcdefghi", ["abcdefghiwxyz"])).toBeUndefined();
});

test("the nearest word is offered, whatever its case, and of equally near ones the first", () => {
  expect(nearest("Cat", ["cart", "CAT", "cat"])).toBe("CAT");
});

test("two swapped letters are one edit, and only if both are there", () => {
  expect(nearest("hlep", ["keep", "help"])).toBe("help");
  expect(nearest("abpq", ["abqr", "abpx"])).toBe("abpx");
  expect(nearest("ab", ["ba"])).toBe("ba");
});
