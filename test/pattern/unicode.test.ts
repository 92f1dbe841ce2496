import { expect, test } from "bun:test";
import { codePointCountOf, complementOf, intersectionOf, unionOf } from "../../src/pattern/ranges.ts";
import {
  engineSet,
  foldCase,
  generalCategories,
  propertySet,
  whiteSpace,
} from "../../src/pattern/unicode.ts";
import { unicodeVersion } from "../../src/pattern/unicode-data.ts";

test("the embedded categories are those of the running Bun, whose Unicode version is the one pinned", () => {
  expect(unicodeVersion).toBe(process.versions.unicode!);
  for (const name of [...generalCategories, "L", "M", "N", "P", "S", "Z"]) {
    // Surrogates are in no UTF-8 text; the engine is asked about code points only.
    const engine = intersectionOf(engineSet(`\\p{${name}}`)!, complementOf([0xd800, 0xdfff]));
    expect(intersectionOf(propertySet(name)!, complementOf([0xd800, 0xdfff]))).toEqual(engine);
  }
});

test("the categories divide all code points", () => {
  const sets = generalCategories.map((name) => propertySet(name)!);
  expect(sets.reduce((sum, set) => sum + codePointCountOf(set), 0)).toBe(0x110000);
  expect(unionOf(sets)).toEqual([0, 0x10ffff]);
});

test("white space is Unicode's White_Space", () => {
  expect(whiteSpace).toEqual(engineSet("\\p{White_Space}")!);
});

test("case is folded in small sets as in large ones", () => {
  expect(foldCase([115, 115])).toEqual([83, 83, 115, 115, 0x17f, 0x17f]);
  expect(foldCase([107, 107])).toEqual(engineSet("k", "i")!);
  expect(foldCase([0x61, 0x7a])).toEqual(engineSet("[a-z]", "i")!);
  expect(foldCase([0x3b1, 0x3c9])).toEqual(engineSet("[\\u{3b1}-\\u{3c9}]", "i")!);
});
