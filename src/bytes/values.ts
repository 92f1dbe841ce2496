/**
 * Returns a value as JSON for a message, cut to a readable length. A value that JSON leaves out, such as undefined,
 * becomes "missing".
 */
export function showValue(value: unknown): string {
  let json: string;
  try {
    json = JSON.stringify(value) ?? "missing";
  } catch (error) {
    // JSON.parse accepts nesting that is too deep for JSON.stringify.
    if (!(error instanceof RangeError)) throw error;
    json = "nested too deeply";
  }
  return json.length > shownLengthMax ? `${json.slice(0, shownLengthMax)}…` : json;
}

const shownLengthMax = 100;

/** Whether a value is a plain object of any realm, and not a Map, array or string. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

const typedArrays = Object.getPrototypeOf(Uint8Array.prototype) as object;
const classNameOf = Object.getOwnPropertyDescriptor(typedArrays, Symbol.toStringTag)!.get!;

/** The class name of a typed array of any realm; undefined for any other value. */
export const typedArrayClass = (value: unknown): string | undefined => classNameOf.call(value);

/** Describes a value of any type for a message. */
export function describeValue(value: unknown): string {
  if (value === undefined) return "missing";
  if (typeof value === "function") return "a function";
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value === "symbol") return "a symbol";
  if (typeof value === "number") return String(value);
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  if (isObject && !isPlainObject(value))
    return `an object of ${value.constructor?.name || "an unnamed class"}`;
  try {
    return showValue(value);
  } catch {
    return "an object that JSON cannot represent";
  }
}
