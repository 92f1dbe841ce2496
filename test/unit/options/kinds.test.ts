import { expect, test } from "bun:test";
import { oneOf, sizeBytes, sizes as sizesKind, splitSizes, wholeNumber } from "../../../src/options/kinds.ts";
import { rowsOf } from "../../rows.ts";
import { errorOf } from "../../thrown.ts";

test("whole numbers are digits; k multiplies them by 1,024, and m by 1,024 squared", () => {
  const numbers = rowsOf(`
    00300 | 300
    32k | 32768
    1K | 1024
    1m | 1048576
    0k | 0
    32,000 | 32000
    32_000 | 32000
    1,048,576 | 1048576
    3_2000 | 32000
    1,000k | 1024000
  `);
  for (const [text, value] of numbers) expect(wholeNumber("-n", text!, 0)).toBe(Number(value));
  for (const text of ["9".repeat(30), "9007199254740991k", "8589934592m"]) {
    expect(() => wholeNumber("-n", text, 0)).toThrow(`-n is ${text}, but must be below 2^53`);
  }
  expect(wholeNumber("-n", "8589934591m", 0)).toBe(8589934591 * 1048576);
  const wrong = "1e3,-5,3.5,0x10, 7,k,1.5k,32kk,1g,32 k,1kb,32__0,_3,3_,".split(",");
  for (const text of [...wrong, "32,00", "3200,000", ",000"]) {
    expect(errorOf(() => wholeNumber("--workers", text, 1)).message).toBe(
      `--workers is "${text}", but must be a whole number`,
    );
  }
  expect(errorOf(() => wholeNumber("-w", "0", 1)).message).toBe("-w is 0, but must be at least 1");
});

test("a comma is in a number or between sizes: groups of three digits that cannot all be sizes are one number", () => {
  const one = ["32,000", "50,257", "128,256", "262,144", "1,000,256", "+8,000", "32000", "32_000"];
  for (const text of one) expect(splitSizes(text)).toEqual([text]);
  const several = "16k,32k 300,400 262,266,270 32,000,64,000 132,000,164,000 +1k,+2k".split(" ");
  for (const text of several) expect(splitSizes(text)).toEqual(text.split(","));
  expect(sizesKind.read(["+8,000"], "--vocab-size")).toEqual([{ isMore: true, count: 8000 }]);
});

test("a word that is not in its list is refused with the nearest one", () => {
  expect(oneOf("--compat", "cs336", ["cs336", "rustbpe"])).toBe("cs336");
  expect(errorOf(() => oneOf("--compat", "rustbp", ["cs336", "rustbpe"])).hint).toStartWith(
    "did you mean rustbpe?",
  );
});

test("sizes are read with decimal and binary units, in upper and lower case, with fractions", () => {
  const sizes = rowsOf(`
    1048576 | 1048576
    0 | 0
    300MB | 300e6
    300mb | 300e6
    1.5GB | 1.5e9
    2GiB | 2147483648
    64KB | 64e3
    64Ki | 65536
    64,000 | 64e3
    1_000.5KB | 1000500
    0.5 MiB | 524288
    1TB | 1e12
    12b | 12
    0.3kb | 300
  `);
  for (const [text, value] of sizes) expect(sizeBytes("--size", text!, 0)).toBe(Number(value));
});

test("an invalid, too small or too large size is a usage error that shows it", () => {
  for (const text of ["", "MB", "-1", "1,5GB", "1e9", "3XB", "10iB", "1..5k", "12 apples"]) {
    expect(() => sizeBytes("--size", text, 0)).toThrow(`--size is "${text}", but must be a size`);
  }
  // These sizes are ambiguous: is k 1,000, or 1,024 as in options for whole numbers?
  for (const [text, hint] of Object.entries({
    "64k": "write 64KB for 64,000 bytes, or 64KiB for 65,536 bytes",
    "1.5 G": "write 1.5GB for 1,500,000,000 bytes, or 1.5GiB for 1,610,612,736 bytes",
    "2m": "write 2MB for 2,000,000 bytes, or 2MiB for 2,097,152 bytes",
  })) {
    const error = errorOf(() => sizeBytes("--size", text, 0));
    expect([error.message, error.hint, error.exitCode]).toEqual([
      `--size is "${text}", which can mean two sizes`,
      hint,
      2,
    ]);
  }
  // A small number without a unit is probably a mistake, so it is refused.
  for (const text of ["1", "10", "999"]) {
    const error = errorOf(() => sizeBytes("--size", text, 0));
    expect([error.message, error.hint]).toEqual([
      `--size is only ${text === "1" ? "1 byte" : `${text} bytes`}`,
      `did you mean ${text}GB or ${text}MB?`,
    ]);
  }
  expect(["0", "10B", "1000"].map((text) => sizeBytes("--size", text, 0))).toEqual([0, 10, 1000]);
  expect(() => sizeBytes("--size", "9999999PB", 0)).toThrow(
    "--size is 9999999PB, but must be below 2^53 bytes",
  );
  expect(() => sizeBytes("--size", "1000", 1001)).toThrow("--size is 1000, but must be at least 1,001 bytes");
});
