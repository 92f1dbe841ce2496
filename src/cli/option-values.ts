import { usageError } from "../errors.ts";
import { nearest } from "../runtime/hints.ts";
import { optionWords } from "./option-table.ts";
import { grouped } from "./units.ts";

// Values of options: text as typed -> numbers, sizes, words of a list. A wrong one is a usage error that names the option.

type Words = typeof optionWords;

/** The options of a command by their long names, each with the texts typed for it; a flag has none. */
export class TypedOptions extends Map<string, readonly string[]> {
  /** The text typed for an option; undefined if it was not given. */
  text(name: string): string | undefined {
    return this.get(name)?.[0];
  }

  /** The same as a whole number of at least `least`. */
  wholeNumber(name: string, least: number): number | undefined {
    const text = this.text(name);
    return text === undefined ? undefined : wholeNumber(`--${name}`, text, least);
  }

  /** The same as a size of at least `leastBytes`, in bytes. */
  sizeBytes(name: string, leastBytes: number): number | undefined {
    const text = this.text(name);
    return text === undefined ? undefined : sizeBytes(`--${name}`, text, leastBytes);
  }

  /** The same as one of the option's words. */
  word<Name extends keyof Words>(name: Name): Words[Name][number] | undefined {
    const text = this.text(name);
    return text === undefined ? undefined : oneOf(`--${name}`, text, optionWords[name]);
  }
}

const multipliers = { "": 1, k: 1024, m: 1024 ** 2 };

/** Digits as people write them: `32000`, `32,000`, `32_000`. */
const written = String.raw`\d{1,3}(?:,\d{3})+|\d+(?:_\d+)*`;
const wholeForm = new RegExp(`^(${written})([km]?)$`);
const sizeForm = new RegExp(String.raw`^((?:${written})(?:\.\d+)?) ?(?:([kmgtp])(i?))?(b?)$`, "i");

const numberOf = (digits: string) => Number(digits.replaceAll(/[,_]/g, ""));

/**
 * A whole number of at least `least`: in digits, with `k` for 1,024 times and `m` for 1,024 times that, so `32k` is 32768.
 * Case does not matter.
 */
export function wholeNumber(option: string, text: string, least: number): number {
  const [, digits, unit = ""] = wholeForm.exec(text.toLowerCase()) ?? [];
  if (digits === undefined) {
    const hint = "digits only, or with k (1,024 times) or m (1,024 times 1,024): 32000, 32,000, 32k";
    throw usageError(`${option}: "${text}" is not a whole number`, hint);
  }
  const value = numberOf(digits) * multipliers[unit as keyof typeof multipliers];
  if (!Number.isSafeInteger(value)) throw usageError(`${option}: ${text} is too large`);
  if (value < least) throw usageError(`${option}: ${text} is too small, the least is ${least}`);
  return value;
}

/** One of the words listed. */
export function oneOf<const Word extends string>(option: string, text: string, words: readonly Word[]): Word {
  if ((words as readonly string[]).includes(text)) return text as Word;
  const near = nearest(text, words);
  const hint =
    near === undefined
      ? `one of: ${words.join(", ")}`
      : `did you mean ${near}? (one of: ${words.join(", ")})`;
  throw usageError(`${option}: unknown value "${text}"`, hint);
}

const prefixes = ["", "k", "m", "g", "t", "p"];

/**
 * A size as people type it, in bytes: `300MB`, `1.5GB`, `2GiB`, `1048576`. KB, MB, GB, TB, PB are powers of 1000, KiB,
 * MiB, … powers of 1024; case does not matter. `64k` might be either, and is refused: as a number it is 65,536.
 */
export function sizeBytes(option: string, text: string, leastBytes: number): number {
  const [, digits, prefix, binary, unit] = sizeForm.exec(text) ?? [];
  if (digits === undefined) {
    throw usageError(`${option}: "${text}" is not a size`, "e.g. 300MB, 1.5GB, 2GiB or 1048576");
  }
  const power = prefixes.indexOf(prefix?.toLowerCase() ?? "");
  const times = (base: number) => Math.floor(numberOf(digits) * base ** power);
  if (prefix !== undefined && !binary && !unit) {
    const [decimal, other] = ["B", "iB"].map((end) => `${digits}${prefix.toUpperCase()}${end}`);
    const hint = `${decimal} is ${grouped(times(1000))} bytes, ${other} ${grouped(times(1024))}`;
    throw usageError(`${option}: "${text}" does not say of which bytes`, hint);
  }
  const value = times(binary ? 1024 : 1000);
  if (!Number.isSafeInteger(value)) throw usageError(`${option}: ${text} is too large`);
  if (value < leastBytes) {
    throw usageError(`${option}: ${text} is too small, the least is ${leastBytes} bytes`);
  }
  return value;
}
