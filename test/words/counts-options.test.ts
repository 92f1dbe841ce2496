import { expect, test } from "bun:test";
import { patterns } from "../../src/pattern/pattern.ts";
import { agreedOptions, type CountsOptions, checkOptions } from "../../src/words/counts-format.ts";
import { errorOf } from "../thrown.ts";

const options: CountsOptions = {
  patterns: ["\\p{N}{1,3}", " ?\\p{L}+|é"],
  specialTokens: ["<|a|>", "<|b|>"],
  isLinewise: false,
};

const check = (change: Partial<CountsOptions>) =>
  checkOptions({ name: "some.counts", options }, { name: "this run", options: { ...options, ...change } });
const messageOf = (change: Partial<CountsOptions>) => errorOf(() => check(change)).message;

test("what differs is named, a pattern by its names where it has any", () => {
  check({});
  check({ specialTokens: ["<|b|>", "<|a|>"] });
  expect(messageOf({ patterns: patterns["deepseek-v3"].sources })).toBe(
    'some.counts was made with the pattern "\\\\p{N}{1,3}", then " ?\\\\p{L}+|é", and this run has deepseek-v3',
  );
  expect(messageOf({ patterns: patterns.nemotron.sources })).toEndWith("and this run has tekken/nemotron");
  expect(messageOf({ patterns: ["\\p{N}{1,3}"] })).toEndWith('this run has "\\\\p{N}{1,3}"');
  expect(messageOf({ specialTokens: [] })).toBe(
    'some.counts was made with the special tokens ["<|a|>","<|b|>"], and this run has []',
  );
  expect(messageOf({ isLinewise: true })).toContain(
    "documents cut at line ends false, and this run has true",
  );
});

test("files have to agree with the first of them", () => {
  expect(agreedOptions([])).toBeNull();
  const some = { name: "a", options };
  expect(agreedOptions([some, { name: "b", options: { ...options } }])).toBe(options);
  const other = { name: "c", options: { ...options, isLinewise: true } };
  expect(errorOf(() => agreedOptions([some, some, other])).message).toStartWith("c was made with");
});
