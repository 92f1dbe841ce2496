import { usageError } from "./arguments.ts";

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
