// Checks the arguments of the library's functions, because JavaScript does not check types.

import { nearest, usageError } from "#runtime";
import { describeMismatch } from "./schema.ts";
import { isPlainObject } from "./values.ts";
export type Kind = { readonly accepts: (value: unknown) => boolean; readonly name: string };

const kind = (name: string, accepts: (value: unknown) => boolean): Kind => ({ name, accepts });

const isText = (value: unknown) => typeof value === "string";
const isListOf = (accepts: (value: unknown) => boolean) => (value: unknown) =>
  Array.isArray(value) && Array.from(value).every(accepts);
export const texts = kind("an array of strings", isListOf(isText));
export const plainObject = kind("a plain object", isPlainObject);
/** Throws a UserError unless the value is of this kind. `name` names the argument, as in `encode: text`. */
export function check(name: string, value: unknown, { accepts, name: wanted }: Kind): void {
  if (!accepts(value)) throw usageError(`${name} ${describeMismatch(value, wanted)}`);
}

/** Throws a UserError for a detached array, which would otherwise look empty. */
export function checkAttached(name: string, array: Uint8Array | Uint16Array | Uint32Array): void {
  if (array.length > 0) return;
  try {
    Uint8Array.prototype.keys.call(array);
  } catch {
    throw usageError(
      `${name} is a detached array: its buffer was transferred or shrunk`,
      "make this call before the transfer, or transfer a copy: array.slice().buffer",
    );
  }
}

/**
 * Reads each option once, and returns the options that are not undefined. Throws a UserError if `options` is not a
 * plain object, or if an option that is not undefined is unknown or has a value of the wrong kind.
 */
export function checkOptions<Options extends object>(
  call: string,
  options: Options,
  kinds: Readonly<Record<string, Kind>>,
): Options {
  check(`${call}: options`, options, plainObject);
  const read: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue;
    const wanted = Object.hasOwn(kinds, name) ? kinds[name] : undefined;
    if (wanted !== undefined) {
      check(`${call}: ${name}`, value, wanted);
      read[name] = value;
    } else {
      const near = nearest(name, Object.keys(kinds));
      throw usageError(
        `${call} has no option "${name}"`,
        near === undefined ? `the options are ${Object.keys(kinds).join(", ")}` : `did you mean ${near}?`,
      );
    }
  }
  return read as Options;
}
