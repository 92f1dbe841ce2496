import { argument, schema, typedArrayClass } from "#bytes";
import { usageError } from "#runtime";

// Checks the arguments of the library's functions. TypeScript's types say the same, but JavaScript does not check them.

const kind = (name: string, accepts: (value: unknown) => boolean): argument.Kind => ({ name, accepts });

const isText = (value: unknown) => typeof value === "string";

/** Whether a value is an AbortSignal of any realm. */
export const isSignal = (value: unknown): value is AbortSignal =>
  Object.prototype.toString.call(value) === "[object AbortSignal]" &&
  typeof (value as AbortSignal).throwIfAborted === "function";

export const textArgument = kind("a string", isText);
export const pathArgument = kind(
  "a path: a string that is not empty",
  (value) => isText(value) && value !== "",
);
export const pathsArgument = kind(
  "a path or an array of paths",
  (value) =>
    pathArgument.accepts(value) || (Array.isArray(value) && Array.from(value).every(pathArgument.accepts)),
);
const textOrBytesArgument = kind(
  "a string or bytes (Uint8Array)",
  (value) => isText(value) || typedArrayClass(value) === "Uint8Array",
);
export const arrayArgument = kind("an array", Array.isArray);
export const numberArgument = kind("a number", (value) => typeof value === "number");
export const flagArgument = kind("true or false", (value) => typeof value === "boolean");
export const callbackArgument = kind("a function", (value) => typeof value === "function");
export const signalArgument = kind("an AbortSignal", isSignal);
export const wordOf = (words: readonly string[]) =>
  kind(`one of ${words.join(", ")}`, (value) => isText(value) && words.includes(value as string));

/**
 * Returns a caller's text: a string, or bytes that nothing changes while they are read. Throws a UserError for any
 * other value, and for a detached array.
 */
export function readText(name: string, text: unknown): string | Uint8Array<ArrayBuffer> {
  if (typeof text === "string") return text;
  argument.check(name, text, textOrBytesArgument);
  return unchangingBytes(name, text as Uint8Array);
}

/** Returns the bytes as a plain Uint8Array in unshared memory of fixed size; copies them only if necessary. */
export function unchangingBytes(name: string, bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  argument.checkAttached(name, bytes);
  const { buffer, byteOffset, byteLength } = bytes;
  const isSteady = isSteadyBuffer(buffer);
  if (isSteady && Object.getPrototypeOf(bytes) === Uint8Array.prototype) return bytes as Steady;
  const plain = new Uint8Array(buffer, byteOffset, byteLength);
  return (isSteady ? plain : plain.slice()) as Steady;
}

type Steady = Uint8Array<ArrayBuffer>;

const isSteadyBuffer = (buffer: ArrayBufferLike) =>
  !(buffer as { readonly resizable?: boolean }).resizable &&
  (buffer instanceof ArrayBuffer || Object.prototype.toString.call(buffer) === "[object ArrayBuffer]");

/** Throws a UserError unless `value` is a safe integer in this range. */
export function checkWhole(
  name: string,
  value: number,
  least: number,
  most = Number.POSITIVE_INFINITY,
): void {
  if (Number.isSafeInteger(value) && value >= least && value <= most) return;
  const range = most === Number.POSITIVE_INFINITY ? `of ${least} or more` : `from ${least} to ${most}`;
  throw usageError(`${name} ${schema.describeMismatch(value, `a whole number ${range}`)}`);
}
