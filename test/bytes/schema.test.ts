import { expect, test } from "bun:test";
import {
  type Check,
  checkOr,
  fieldsOf,
  flag,
  listOf,
  oneOf,
  oneOrMore,
  optional,
  orNull,
  path,
  shown,
  text,
  textLike,
  time,
  tupleOf,
  wholeNumber,
} from "../../src/bytes/schema.ts";

const failing = (what: string): never => {
  throw new Error(what);
};

/** Why the value does not pass. */
function errorOf(check: Check<unknown>, value: unknown): string {
  try {
    return `passed as ${shown(checkOr(check, value, failing))}`;
  } catch (error) {
    return (error as Error).message;
  }
}

test("values of the right kind pass as they are", () => {
  expect(checkOr(wholeNumber(1, 3), 3, failing)).toBe(3);
  expect(checkOr(time, 8.64e15, failing)).toBe(8.64e15);
  expect(checkOr(orNull(text), null, failing)).toBeNull();
  expect(checkOr(oneOrMore(text), "a", failing)).toEqual(["a"]);
  expect(checkOr(oneOrMore(text), ["a", "b"], failing)).toEqual(["a", "b"]);
  expect(checkOr(oneOf(["a", "b"]), "b", failing)).toBe("b");
  expect(checkOr(textLike(/^[ab]+$/, "no word"), "abba", failing)).toBe("abba");
  expect(checkOr(tupleOf(text, wholeNumber()), ["a", 1], failing)).toEqual(["a", 1]);
  const fields = fieldsOf({ a: listOf(flag), b: optional(path) });
  expect(checkOr(fields, { a: [true], other: 1 }, failing)).toEqual({ a: [true], b: undefined });
});

test("values of another kind, or out of range, are named and shown", () => {
  expect(errorOf(wholeNumber(1, 3), 4)).toBe("it is 4, no whole number from 1 to 3");
  for (const value of [0, 1.5, -1, 2 ** 53, Number.NaN, Number.POSITIVE_INFINITY, "1", null, [1], true]) {
    expect(errorOf(wholeNumber(1), value)).toContain("no whole number from 1 to 9007199254740991");
  }
  for (const value of [8.65e15, Number.NaN, -9e15, "0"]) expect(errorOf(time, value)).toContain("no time");
  for (const value of ["\ud800", 1, null, {}]) expect(errorOf(text, value)).toContain("no text");
  for (const value of ["", "a\0", "x".repeat(4096)]) expect(errorOf(path, value)).toContain("no path");
  expect(errorOf(flag, 1)).toBe("it is 1, neither true nor false");
  expect(errorOf(oneOf(["a", "b"]), "c")).toBe('it is "c", none of a, b');
  expect(errorOf(oneOrMore(text), [])).toBe("it is [], no text");
  for (const value of ["abc", "", null, ["a"]])
    expect(errorOf(textLike(/^[ab]+$/, "no word"), value)).toContain("no word");
  for (const value of [[], ["a"], ["a", 1, 2], "a1", { length: 2 }])
    expect(errorOf(tupleOf(text, wholeNumber()), value)).toContain("no list of 2");
  expect(errorOf(tupleOf(text, wholeNumber()), ["a", "1"])).toContain('its "[1]" is "1", no whole number');
  expect(errorOf(listOf(text), { length: 1e9 })).toBe('it is {"length":1000000000}, no list');
});

test("an error says where in the whole the value stands, or that it is missing", () => {
  const check = fieldsOf({ options: fieldsOf({ names: listOf(text) }) });
  expect(errorOf(check, { options: { names: ["a", 7] } })).toBe('its "options.names[1]" is 7, no text');
  expect(errorOf(check, { options: {} })).toBe('it has no "options.names"');
  expect(errorOf(check, { options: [] })).toBe('its "options" is [], no object');
  expect(errorOf(check, null)).toBe("it is null, no object");
});

test("a field that an object only inherits is missing", () => {
  expect(errorOf(fieldsOf({ toString: text }), {})).toBe('it has no "toString"');
});

test("what is shown of a value is short", () => {
  expect(shown("x".repeat(1000))).toHaveLength(101);
  expect(shown(undefined)).toBe("missing");
});
