import { expect, test } from "bun:test";
import { oneOf, sizeBytes, wholeNumber } from "../../src/cli/arguments.ts";
import { optionWords } from "../../src/cli/option-table.ts";
import { readAskedSize, splitSizes } from "../../src/cli/training-options.ts";
import { inputFormats } from "../../src/corpus/input.ts";
import { formats } from "../../src/formats/formats.ts";
import { errorOf } from "../thrown.ts";

test("whole numbers are digits, with k for 1,024 times and m for that twice", () => {
  const numbers = {
    ...{ "00300": 300, "32k": 32768, "1K": 1024, "1m": 1048576, "3M": 3145728, "0k": 0 },
    ...{
      "32,000": 32000,
      "32_000": 32000,
      "1,048,576": 1048576,
      "1_048_576": 1048576,
      "3_2000": 32000,
      "1,000k": 1024000,
    },
  };
  for (const [text, value] of Object.entries(numbers)) expect(wholeNumber("-n", text, 0)).toBe(value);
  for (const text of ["9".repeat(30), "9007199254740991k", "8589934592m"]) {
    expect(() => wholeNumber("-n", text, 0)).toThrow(`-n: ${text} is too large`);
  }
  expect(wholeNumber("-n", "8589934591m", 0)).toBe(8589934591 * 1048576);
  for (const text of [
    "1e3",
    "",
    "-5",
    "3.5",
    "0x10",
    " 7",
    "k",
    "1.5k",
    "32kk",
    "1g",
    "32 k",
    "1kb",
    "32,00",
    "3200,000",
    ",000",
    "32__0",
    "_3",
    "3_",
  ]) {
    expect(errorOf(() => wholeNumber("--workers", text, 1)).message).toBe(
      `--workers: "${text}" is not a whole number`,
    );
  }
  expect(errorOf(() => wholeNumber("-w", "0", 1)).message).toBe("-w: 0 is too small, the least is 1");
});

test("a comma is in a number or between sizes: groups of three digits that cannot all be sizes are one number", () => {
  const one = ["32,000", "50,257", "128,256", "262,144", "1,000,256", "+8,000", "32000", "32_000"];
  for (const text of one) expect(splitSizes(text)).toEqual([text]);
  const several = [
    "16k,32k",
    "300,400",
    "16000,32000",
    "262,266,270",
    "32,000,64,000",
    "132,000,164,000",
    "+1k,+2k",
  ];
  for (const text of several) expect(splitSizes(text)).toEqual(text.split(","));
  expect(readAskedSize("+8,000", "it")).toEqual({ isMore: true, count: 8000 });
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
    "64KB": 64e3,
    "64KiB": 65536,
    "64Ki": 65536,
    "64,000": 64e3,
    "1_000.5KB": 1000500,
    "0.5 MiB": 524288,
    "1TB": 1e12,
    "12b": 12,
    "0.3kb": 300,
  };
  for (const [text, value] of Object.entries(sizes)) expect(sizeBytes("--size", text, 0)).toBe(value);
});

test("what is no size, too small or too large is a usage error that shows it", () => {
  for (const text of ["", "MB", "-1", "1,5GB", "1e9", "3XB", "10iB", "1..5k", "12 apples"]) {
    expect(() => sizeBytes("--size", text, 0)).toThrow(`--size: "${text}" is not a size`);
  }
  // As a number, 64k is 65,536.
  for (const [text, hint] of Object.entries({
    "64k": "64KB is 64,000 bytes, 64KiB 65,536",
    "1.5 G": "1.5GB is 1,500,000,000 bytes, 1.5GiB 1,610,612,736",
    "2m": "2MB is 2,000,000 bytes, 2MiB 2,097,152",
  })) {
    const error = errorOf(() => sizeBytes("--size", text, 0));
    expect([error.message, error.hint, error.exitCode]).toEqual([
      `--size: "${text}" does not say of which bytes`,
      hint,
      2,
    ]);
  }
  expect(() => sizeBytes("--size", "9999999PB", 0)).toThrow("--size: 9999999PB is too large");
  expect(() => sizeBytes("--size", "10", 11)).toThrow("--size: 10 is too small, the least is 11 bytes");
});

test("the table of commands lists the formats that there are", () => {
  expect<readonly string[]>(optionWords.format).toEqual(formats.map(({ name }) => name));
  // Ids are no text: only training and encoding read them.
  expect<readonly string[]>(optionWords["input-format"]).toEqual([...inputFormats, "ids"]);
});
