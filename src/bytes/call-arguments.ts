// Checks of what callers of the library pass. Types say the same, but JavaScript has none.
import { usageError } from "../errors.ts";
import { nearest } from "../runtime/hints.ts";
import { shown } from "./schema.ts";

/** What an argument may be, and how a message says that. */
export type ArgumentKind = { readonly accepts: (value: unknown) => boolean; readonly name: string };

const kind = (name: string, accepts: (value: unknown) => boolean): ArgumentKind => ({ name, accepts });

const isText = (value: unknown) => typeof value === "string";
const isListOf = (accepts: (value: unknown) => boolean) => (value: unknown) =>
  Array.isArray(value) && value.every(accepts);
/** A plain object, so that no Map, array or string is taken for one without fields. */
const isPlainObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" &&
  value !== null &&
  [Object.prototype, null].includes(Object.getPrototypeOf(value));

export const textArgument = kind("a string", isText);
export const textsArgument = kind("an array of strings", isListOf(isText));
export const pathArgument = kind(
  "a path: a string that is not empty",
  (value) => isText(value) && value !== "",
);
export const pathsArgument = kind(
  "a path or an array of paths",
  (value) => pathArgument.accepts(value) || isListOf(pathArgument.accepts)(value),
);
export const textOrBytesArgument = kind(
  "a string or bytes (Uint8Array)",
  (value) => isText(value) || value instanceof Uint8Array,
);
export const numberArgument = kind("a number", (value) => typeof value === "number");
export const flagArgument = kind("true or false", (value) => typeof value === "boolean");
export const callbackArgument = kind("a function", (value) => typeof value === "function");
export const objectArgument = kind("a plain object", isPlainObject);
export const signalArgument = kind("an AbortSignal", (value) => value instanceof AbortSignal);
export const wordOf = (words: readonly string[]) =>
  kind(`one of ${words.join(", ")}`, (value) => isText(value) && words.includes(value as string));

/** A UserError unless the value is of this kind. `name` is what the caller knows it by, as in `encode: text`. */
export function checkArgument(name: string, value: unknown, { accepts, name: wanted }: ArgumentKind): void {
  if (!accepts(value)) throw usageError(`${name} is ${described(value)}: it must be ${wanted}`);
}

/** A UserError for an option of the wrong kind, or one that nobody knows. An option that is undefined is left out. */
export function checkOptions(
  call: string,
  options: unknown,
  kinds: Readonly<Record<string, ArgumentKind>>,
): void {
  checkArgument(`${call}: options`, options, objectArgument);
  for (const [name, value] of Object.entries(options as Record<string, unknown>)) {
    if (value === undefined) continue;
    const wanted = Object.hasOwn(kinds, name) ? kinds[name] : undefined;
    if (wanted !== undefined) checkArgument(`${call}: ${name}`, value, wanted);
    else {
      const near = nearest(name, Object.keys(kinds));
      throw usageError(
        `${call} has no option "${name}"`,
        near === undefined ? `it has ${Object.keys(kinds).join(", ")}` : `did you mean ${near}?`,
      );
    }
  }
}

/** Any value, as messages show it. */
export function described(value: unknown): string {
  if (value === undefined) return "missing";
  if (typeof value === "function") return "a function";
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value === "symbol") return "a symbol";
  if (typeof value === "number") return String(value);
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  if (isObject && !isPlainObject(value))
    return `an object of ${value.constructor?.name || "an unnamed class"}`;
  try {
    return shown(value);
  } catch {
    return "an object that holds what JSON cannot";
  }
}
