import { usageError } from "../errors.ts";
import { nearest } from "../runtime/hints.ts";
import { optionWords } from "./option-table.ts";

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

/**
 * A whole number of at least `least`: in digits, with `k` for 1,024 times and `m` for 1,024 times that, so `32k` is 32768.
 * Case does not matter.
 */
export function wholeNumber(option: string, text: string, least: number): number {
  const [, digits, unit = ""] = /^(\d+)([km]?)$/.exec(text.toLowerCase()) ?? [];
  if (digits === undefined) {
    const hint = "digits only, or with k (1,024 times) or m (1,024 times 1,024): 32000, 32k";
    throw usageError(`${option}: "${text}" is not a whole number`, hint);
  }
  const value = Number(digits) * multipliers[unit as keyof typeof multipliers];
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
 * A size as people type it, in bytes: `300MB`, `1.5GB`, `2GiB`, `64k`, `1048576`. k, M, G, T, P are powers of 1000, Ki,
 * Mi, … powers of 1024; the `B` may be left out, and case does not matter.
 */
export function sizeBytes(option: string, text: string, leastBytes: number): number {
  const [, digits, prefix, binary] = /^(\d+(?:\.\d+)?) ?(?:([kmgtp])(i?))?b?$/i.exec(text) ?? [];
  if (digits === undefined) {
    throw usageError(`${option}: "${text}" is not a size`, "e.g. 300MB, 1.5GB, 2GiB or 1048576");
  }
  const power = prefixes.indexOf(prefix?.toLowerCase() ?? "");
  const value = Math.floor(Number(digits) * (binary ? 1024 : 1000) ** power);
  if (!Number.isSafeInteger(value)) throw usageError(`${option}: ${text} is too large`);
  if (value < leastBytes) {
    throw usageError(`${option}: ${text} is too small, the least is ${leastBytes} bytes`);
  }
  return value;
}
