import { expect, test } from "bun:test";
import * as argument from "../../../src/bytes/argument.ts";
import * as schema from "../../../src/bytes/schema.ts";
import { describeValue, showValue } from "../../../src/bytes/values.ts";
import { Tokenizer, trainTokenizer, UserError } from "../../../src/index.ts";
import { numberArgument, pathsArgument, textArgument } from "../../../src/library/check-arguments.ts";
import { errorOf } from "../../thrown.ts";

const failing = (what: string): never => {
  throw new Error(what);
};

/** Returns the reason why the value fails the check, or "passed as" with the value if it passes. */
function failureOf(check: schema.Check<unknown>, value: unknown): string {
  try {
    return `passed as ${showValue(schema.checkOr(check, value, failing))}`;
  } catch (error) {
    return (error as Error).message;
  }
}

test("values of the right kind are unchanged", () => {
  expect(schema.checkOr(schema.wholeNumber(1, 3), 3, failing)).toBe(3);
  expect(schema.checkOr(schema.time, 8.64e15, failing)).toBe(8.64e15);
  expect(schema.checkOr(schema.orNull(schema.text), null, failing)).toBeNull();
  expect(schema.checkOr(schema.oneOrMore(schema.text), "a", failing)).toEqual(["a"]);
  expect(schema.checkOr(schema.oneOrMore(schema.text), ["a", "b"], failing)).toEqual(["a", "b"]);
  expect(schema.checkOr(schema.oneOf(["a", "b"]), "b", failing)).toBe("b");
  expect(schema.checkOr(schema.textLike(/^[ab]+$/, "no word"), "abba", failing)).toBe("abba");
  expect(schema.checkOr(schema.tuple(schema.text, schema.wholeNumber()), ["a", 1], failing)).toEqual([
    "a",
    1,
  ]);
  const fields = schema.object({ a: schema.list(schema.flag), b: schema.optional(schema.path) });
  expect(schema.checkOr(fields, { a: [true], other: 1 }, failing)).toEqual({ a: [true], b: undefined });
});

test("values of another kind, or out of range, are named and shown", () => {
  expect(failureOf(schema.wholeNumber(1, 3), 4)).toBe("it is 4, not a whole number from 1 to 3");
  for (const value of [0, 1.5, -1, 2 ** 53, Number.NaN, Number.POSITIVE_INFINITY, "1", null, [1], true]) {
    expect(failureOf(schema.wholeNumber(1), value)).toContain(
      "not a whole number from 1 to 9007199254740991",
    );
  }
  for (const value of [8.65e15, Number.NaN, -9e15, "0"])
    expect(failureOf(schema.time, value)).toContain("not a time");
  for (const value of ["\ud800", 1, null, {}]) expect(failureOf(schema.text, value)).toContain("not text");
  for (const value of ["", "a\0", "x".repeat(4096)])
    expect(failureOf(schema.path, value)).toContain("not a path");
  expect(failureOf(schema.flag, 1)).toBe("it is 1, neither true nor false");
  expect(failureOf(schema.oneOf(["a", "b"]), "c")).toBe('it is "c", none of a, b');
  expect(failureOf(schema.oneOrMore(schema.text), [])).toBe("it is [], not text");
  for (const value of ["abc", "", null, ["a"]])
    expect(failureOf(schema.textLike(/^[ab]+$/, "no word"), value)).toContain("no word");
  for (const value of [[], ["a"], ["a", 1, 2], "a1", { length: 2 }])
    expect(failureOf(schema.tuple(schema.text, schema.wholeNumber()), value)).toContain("not a list of 2");
  expect(failureOf(schema.tuple(schema.text, schema.wholeNumber()), ["a", "1"])).toContain(
    'its "[1]" is "1", not a whole number',
  );
  expect(failureOf(schema.list(schema.text), { length: 1e9 })).toBe(
    'it is {"length":1000000000}, not a list',
  );
});

test("an error has the path of the value, or says that it is missing", () => {
  const check = schema.object({ options: schema.object({ names: schema.list(schema.text) }) });
  expect(failureOf(check, { options: { names: ["a", 7] } })).toBe('its "options.names[1]" is 7, not text');
  expect(failureOf(check, { options: {} })).toBe('it has no "options.names"');
  expect(failureOf(check, { options: [] })).toBe('its "options" is [], not an object');
  expect(failureOf(check, null)).toBe("it is null, not an object");
});

test("a field that an object only inherits is missing", () => {
  expect(failureOf(schema.object({ toString: schema.text }), {})).toBe('it has no "toString"');
});

test("values are shortened in errors", () => {
  expect(showValue("x".repeat(1000))).toHaveLength(101);
  expect(showValue(undefined)).toBe("missing");
});

test("any value is described, including those that JSON cannot represent", () => {
  class Named {}
  const circular: Record<string, unknown> = {};
  circular.self = circular;
  const cases: [unknown, string][] = [
    [undefined, "missing"],
    [null, "null"],
    ["a", '"a"'],
    [Number.NaN, "NaN"],
    [5n, "5n"],
    [Symbol("s"), "a symbol"],
    [() => {}, "a function"],
    [{ a: [1] }, '{"a":[1]}'],
    [[1n], "an object that JSON cannot represent"],
    [circular, "an object that JSON cannot represent"],
    [new Named(), "an object of Named"],
    [new Map(), "an object of Map"],
    [Object.create(null), "{}"],
  ];
  for (const [value, text] of cases) expect(describeValue(value)).toBe(text);
});

test("wrong arguments are named, with what they must be", () => {
  const said = (value: unknown, kind: argument.Kind) =>
    errorOf(() => argument.check("call: it", value, kind)).message;
  expect(said(5, textArgument)).toBe("call: it is 5, but must be a string");
  expect(said(["a", ""], pathsArgument)).toContain("must be a path or an array of paths");
  for (const value of [null, [], "a", new Map(), 5])
    expect(said(value, argument.plainObject)).toContain("a plain object");
  argument.check("call: it", ["a"], pathsArgument);
  argument.check("call: it", Object.create(null), argument.plainObject);
});

test("an unknown option offers the nearest name, and one that is undefined is left out", () => {
  const kinds = { workers: numberArgument, pattern: textArgument };
  const { message, hint } = errorOf(() => argument.checkOptions("call", { worker: 5 }, kinds));
  expect([message, hint]).toEqual(['call has no option "worker"', "did you mean workers?"]);
  expect(errorOf(() => argument.checkOptions("call", { zzzzzzzz: 5 }, kinds)).hint).toBe(
    "the options are workers, pattern",
  );
  expect(errorOf(() => argument.checkOptions("call", { toString: 5 }, kinds)).message).toContain(
    '"toString"',
  );
  argument.checkOptions("call", { workers: undefined }, kinds);
});

test("every entry point of the library answers wrong arguments with an error of ours", async () => {
  const tokenizer = await trainTokenizer({ texts: ["a b a b"], vocabSize: 257 });
  const [train, load, from] = [trainTokenizer, Tokenizer.load, Tokenizer.from] as unknown as ((
    ...args: unknown[]
  ) => unknown)[];
  const any = tokenizer as unknown as Record<string, (...args: unknown[]) => unknown>;
  const calls: [() => unknown, string][] = [
    [() => train!(), "trainTokenizer: options is missing"],
    [() => train!("corpus.txt"), "trainTokenizer: options is"],
    [() => train!({ files: "a" }), "vocabSize is missing"],
    [() => train!({ files: 5, vocabSize: 300 }), "files is 5"],
    [() => train!({ file: "a", vocabSize: 300 }), 'no option "file"'],
    [() => train!({ texts: ["a"], vocabSize: "300" }), 'vocabSize is "300"'],
    [() => train!({ texts: ["a"], vocabSize: 300, specialTokens: "x" }), 'specialTokens is "x"'],
    [() => train!({ texts: ["a"], vocabSize: 300, compat: "hf" }), "must be one of cs336"],
    [() => train!({ texts: ["a"], vocabSize: 300, signal: {} }), "must be an AbortSignal"],
    [() => train!({ texts: ["a"], vocabSize: 300, model: { roles: { boss: "x" } } }), "did you mean bos?"],
    [() => load!(), "path is missing"],
    [() => load!("a", 5), "options is 5"],
    [() => load!("a", { specialTokens: { a: -1 } }), 'special token "a" is -1'],
    [() => from!(), "json is missing"],
    [() => from!(""), "is empty"],
    [() => from!("tokenizer.json"), "must be the content of a tokenizer.json"],
    [() => from!(new ArrayBuffer(2)), "its bytes as a Uint8Array"],
    [() => from!("[1"), "is not JSON"],
    [() => from!({}), "must be the content of a tokenizer.json"],
    [() => new (Tokenizer as unknown as new () => unknown)(), "cannot be made with new"],
    [() => any.encode!(), "text is missing"],
    [() => any.encode!("a", true), "options is true"],
    [() => any.decode!(), "ids is missing"],
    [
      () => any.decode!(new BigUint64Array(1)),
      "array of numbers convert the ids with Array.from(ids, Number)",
    ],
    [() => any.decode!([1, 5n]), "ids[1] is 5n, but must be a number convert the ids"],
    [() => any.decode!([1, "a"]), 'ids[1] is "a", but must be a number'],
    [() => any.decode!([1.5]), "id 1.5 at position 0"],
    [() => any.tokenBytes!("a"), 'id is "a"'],
    [() => any.encodeFile!(), "files is missing"],
    [() => any.encodeFile!("a", "b.npy", { workers: 0 }), "workers is 0"],
    [() => any.save!(), "directory is missing"],
    [() => any.files!({ formats: ["hf"] }), 'unknown format "hf"'],
  ];
  for (const [call, message] of calls) {
    const error = await (async () => call())().then(
      () => "nothing",
      (reason) => reason,
    );
    expect(error).toBeInstanceOf(UserError);
    expect(`${error.message} ${error.hint}`).toContain(message);
  }
});
