import { expect, test } from "bun:test";
import { optionWords } from "../../src/cli/option-table.ts";
import { oneOf, sizeBytes, wholeNumber } from "../../src/cli/option-values.ts";
import { inputFormats } from "../../src/corpus/input.ts";
import { formats } from "../../src/vocabulary/formats/formats.ts";
import { errorOf } from "../thrown.ts";

test("whole numbers are digits, with k for 1,024 times and m for that twice", () => {
  const numbers = { "00300": 300, "32k": 32768, "1K": 1024, "1m": 1048576, "3M": 3145728, "0k": 0 };
  for (const [text, value] of Object.entries(numbers)) expect(wholeNumber("-n", text, 0)).toBe(value);
  for (const text of ["9".repeat(30), "9007199254740991k", "8589934592m"]) {
    expect(() => wholeNumber("-n", text, 0)).toThrow(`-n: ${text} is too large`);
  }
  expect(wholeNumber("-n", "8589934591m", 0)).toBe(8589934591 * 1048576);
  for (const text of ["1e3", "", "-5", "3.5", "0x10", " 7", "k", "1.5k", "32kk", "1g", "32 k", "1kb"]) {
    expect(errorOf(() => wholeNumber("--workers", text, 1)).message).toBe(
      `--workers: "${text}" is not a whole number`,
    );
  }
  expect(errorOf(() => wholeNumber("-w", "0", 1)).message).toBe("-w: 0 is too small, the least is 1");
});

test("a word out of a list is checked, with the nearest", () => {
  expect(oneOf("--compat", "cs336", ["cs336", "rustbpe"])).toBe("cs336");
  expect(errorOf(() => oneOf("--compat", "rustbp", ["cs336", "rustbpe"])).hint).toStartWith(
    "did you mean rustbpe?",
  );
});

test("sizes are read with decimal and binary units, in any case, with fractions", () => {
  const sizes: Record<string, number> = {
    "1048576": 1048576,
    "0": 0,
    "300MB": 300e6,
    "300mb": 300e6,
    "1.5GB": 1.5e9,
    "2GiB": 2 ** 31,
    "64k": 64e3,
    "64Ki": 65536,
    "0.5 MiB": 524288,
    "1TB": 1e12,
    "12b": 12,
    "0.3k": 300,
  };
  for (const [text, value] of Object.entries(sizes)) expect(sizeBytes("--size", text, 0)).toBe(value);
});

test("what is no size, too small or too large is a usage error that shows it", () => {
  for (const text of ["", "MB", "-1", "1,5GB", "1e9", "3XB", "10iB", "1..5k", "12 apples"]) {
    expect(() => sizeBytes("--size", text, 0)).toThrow(`--size: "${text}" is not a size`);
  }
  expect(() => sizeBytes("--size", "9999999PB", 0)).toThrow("--size: 9999999PB is too large");
  expect(() => sizeBytes("--size", "10", 11)).toThrow("--size: 10 is too small, the least is 11 bytes");
});

test("the table of commands lists the formats that there are", () => {
  expect<readonly string[]>(optionWords.format).toEqual(formats.map(({ name }) => name));
  // Ids are no text: only training and encoding read them.
  expect<readonly string[]>(optionWords["input-format"]).toEqual([...inputFormats, "ids"]);
});
