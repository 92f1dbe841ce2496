import { expect, test } from "bun:test";
import {
  type ArgumentKind,
  checkArgument,
  checkOptions,
  described,
  numberArgument,
  objectArgument,
  pathsArgument,
  textArgument,
} from "../../src/bytes/schema.ts";
import { Tokenizer, trainTokenizer, UserError } from "../../src/index.ts";
import { errorOf } from "../thrown.ts";

test("any value is described, also what JSON cannot say", () => {
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
    [[1n], "an object that holds what JSON cannot"],
    [circular, "an object that holds what JSON cannot"],
    [new Named(), "an object of Named"],
    [new Map(), "an object of Map"],
    [Object.create(null), "{}"],
  ];
  for (const [value, text] of cases) expect(described(value)).toBe(text);
});

test("arguments of another kind are named, with what they must be", () => {
  const said = (value: unknown, kind: ArgumentKind) =>
    errorOf(() => checkArgument("call: it", value, kind)).message;
  expect(said(5, textArgument)).toBe("call: it is 5: it must be a string");
  expect(said(["a", ""], pathsArgument)).toContain("must be a path or an array of paths");
  for (const value of [null, [], "a", new Map(), 5])
    expect(said(value, objectArgument)).toContain("a plain object");
  checkArgument("call: it", ["a"], pathsArgument);
  checkArgument("call: it", Object.create(null), objectArgument);
});

test("an unknown option offers the nearest name, and one that is undefined is left out", () => {
  const kinds = { workers: numberArgument, pattern: textArgument };
  const { message, hint } = errorOf(() => checkOptions("call", { worker: 5 }, kinds));
  expect([message, hint]).toEqual(['call has no option "worker"', "did you mean workers?"]);
  expect(errorOf(() => checkOptions("call", { zzzzzzzz: 5 }, kinds)).hint).toBe("it has workers, pattern");
  expect(errorOf(() => checkOptions("call", { toString: 5 }, kinds)).message).toContain('"toString"');
  checkOptions("call", { workers: undefined }, kinds);
});

test("every entry of the library answers wrong arguments with an error of ours", async () => {
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
    [() => from!("tokenizer.json"), "is not JSON"],
    [() => from!({}), "must be the content of a tokenizer.json"],
    [() => new (Tokenizer as unknown as new () => unknown)(), "not made with new"],
    [() => any.encode!(), "text is missing"],
    [() => any.encode!("a", true), "options is true"],
    [() => any.decode!(), "ids is missing"],
    [() => any.decode!(new BigInt64Array(1)), "an object of BigInt64Array"],
    [() => any.decode!(["a"]), 'ids is ["a"]'],
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
