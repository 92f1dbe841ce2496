import { nearest, UserError, usageError } from "#runtime";

// Checks data from outside: JSON, headers, records of a format. A check takes a value of unknown type and returns it
// typed, or throws a `Mismatch` that says what is wrong and where. The reader of the file adds the file's name.

/** Checks a value and returns it typed. `name` is the value's path, as in `options.pattern`; the root's name is "". */
export type Check<T> = (value: unknown, name: string) => T;

export type Checked<C> = C extends Check<infer T> ? T : never;

/** The error of a wrong value: `its "start" is -1, not a whole number from 0 to 100`. */
export class Mismatch extends Error {
  constructor(value: unknown, name: string, wanted: string) {
    const what = name === "" ? "it is" : `its "${name}" is`;
    super(value === undefined ? `it has no "${name}"` : `${what} ${showValue(value)}, ${wanted}`);
  }
}

/** Checks a value. On a mismatch, calls `fail` with the reason; `fail` must throw. */
export function checkOr<T>(check: Check<T>, value: unknown, fail: (what: string) => never): T {
  try {
    return check(value, "");
  } catch (error) {
    if (error instanceof Mismatch) return fail(error.message);
    throw error;
  }
}

/** Writes a value for a message: as JSON, cut to a readable length. */
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

/** The nesting limit of serde, the library with which HF reads its files. */
const jsonLevelsMax = 128;

/** Whether plain data has more levels of lists and objects than `levels`. */
export const isTooDeep = (value: unknown, levels = jsonLevelsMax): boolean =>
  typeof value === "object" &&
  value !== null &&
  (levels === 0 || Object.values(value).some((inner) => isTooDeep(inner, levels - 1)));

export const wholeNumber =
  (min = 0, max = Number.MAX_SAFE_INTEGER): Check<number> =>
  (value, name) => {
    if (typeof value === "number" && Number.isInteger(value) && value >= min && value <= max) return value;
    throw new Mismatch(value, name, `not a whole number from ${min} to ${max}`);
  };

export const amount: Check<number> = (value, name) => {
  if (typeof value === "number" && Number.isFinite(value) && value >= 0) return value;
  throw new Mismatch(value, name, "not a number of 0 or more");
};

/** A time in milliseconds since 1970, in the range of a `Date`. */
export const time: Check<number> = (value, name) => {
  if (typeof value === "number" && Math.abs(value) <= dateMsMax) return value;
  throw new Mismatch(value, name, "not a time in milliseconds");
};

const dateMsMax = 8.64e15;

/** Text without lone surrogates, which UTF-8 cannot encode. */
export const text: Check<string> = (value, name) => {
  if (typeof value === "string" && value.isWellFormed()) return value;
  throw new Mismatch(value, name, "not text");
};

/** PATH_MAX on Linux. */
const pathLengthMax = 4096;

/** The path of a file: text that the system accepts as a path. */
export const path: Check<string> = (value, name) => {
  if (typeof value === "string" && /^[^\0]+$/s.test(value) && value.length < pathLengthMax) return value;
  throw new Mismatch(value, name, "not a path");
};

/** Text that matches `form`; `wanted` is the end of the message for any other value, such as "not a version". */
export const textLike =
  (form: RegExp, wanted: string): Check<string> =>
  (value, name) => {
    if (typeof value === "string" && form.test(value)) return value;
    throw new Mismatch(value, name, wanted);
  };

export const flag: Check<boolean> = (value, name) => {
  if (typeof value === "boolean") return value;
  throw new Mismatch(value, name, "neither true nor false");
};

export const oneOf =
  <T extends string>(names: readonly T[]): Check<T> =>
  (value, name) => {
    const found = names.find((known) => known === value);
    if (found !== undefined) return found;
    throw new Mismatch(value, name, `none of ${names.join(", ")}`);
  };

/** A value that may be undefined, but not null. */
export const optional =
  <T>(check: Check<T>): Check<T | undefined> =>
  (value, name) =>
    value === undefined ? undefined : check(value, name);

export const orNull =
  <T>(check: Check<T>): Check<T | null> =>
  (value, name) =>
    value === null ? null : check(value, name);

export const listOf =
  <T>(check: Check<T>): Check<T[]> =>
  (value, name) => {
    if (!Array.isArray(value)) throw new Mismatch(value, name, "not a list");
    return value.map((item, i) => check(item, `${name}[${i}]`));
  };

/** A list with one value for each check. */
export const tupleOf =
  <T extends readonly unknown[]>(...checks: { readonly [I in keyof T]: Check<T[I]> }): Check<T> =>
  (value, name) => {
    if (!Array.isArray(value) || value.length !== checks.length) {
      throw new Mismatch(value, name, `not a list of ${checks.length} values`);
    }
    return checks.map((check, i) => check(value[i], `${name}[${i}]`)) as unknown as T;
  };

/** A value, or a list of at least one value. Always returns a list. */
export const oneOrMore =
  <T>(check: Check<T>): Check<T[]> =>
  (value, name) =>
    Array.isArray(value) && value.length > 0 ? listOf(check)(value, name) : [check(value, name)];

type Fields = Readonly<Record<string, Check<unknown>>>;

/** An object with these fields. Other fields are allowed, and left out of the result. */
export const fieldsOf = <F extends Fields>(fields: F): Check<{ readonly [K in keyof F]: Checked<F[K]> }> => {
  const checks = Object.entries(fields);
  return (value, name) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      throw new Mismatch(value, name, "not an object");
    }
    const prefix = name === "" ? "" : `${name}.`;
    const checked: Record<string, unknown> = {};
    for (const [key, check] of checks) {
      const field = Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined;
      checked[key] = check(field, prefix + key);
    }
    return checked as { readonly [K in keyof F]: Checked<F[K]> };
  };
};

// Checks the arguments of the library's functions. TypeScript's types say the same, but JavaScript does not check them.

export type ArgumentKind = { readonly accepts: (value: unknown) => boolean; readonly name: string };

const kind = (name: string, accepts: (value: unknown) => boolean): ArgumentKind => ({ name, accepts });

const isText = (value: unknown) => typeof value === "string";
const isListOf = (accepts: (value: unknown) => boolean) => (value: unknown) =>
  Array.isArray(value) && Array.from(value).every(accepts);
/** Whether a value is a plain object of any realm, and not a Map, array or string. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

const typedArrays = Object.getPrototypeOf(Uint8Array.prototype) as object;
const classNameOf = Object.getOwnPropertyDescriptor(typedArrays, Symbol.toStringTag)!.get!;

/** The class name of a typed array of any realm (`Uint8Array` for Node's Buffer); undefined for any other value. */
export const typedArrayClass = (value: unknown): string | undefined => classNameOf.call(value);

export const textsArgument = kind("an array of strings", isListOf(isText));
export const objectArgument = kind("a plain object", isPlainObject);
/** Throws a UserError unless the value is of this kind. `name` names the argument, as in `encode: text`. */
export function checkArgument(name: string, value: unknown, { accepts, name: wanted }: ArgumentKind): void {
  if (!accepts(value)) throw usageError(`${name} is ${describeValue(value)}: it must be ${wanted}`);
}

/** Throws a UserError for a detached array, which would otherwise look empty. */
export function checkAttached(name: string, array: Uint8Array | Uint16Array | Uint32Array): void {
  if (array.length > 0) return;
  try {
    Uint8Array.prototype.keys.call(array);
  } catch {
    throw usageError(
      `${name} is detached: its memory was transferred, or became shorter`,
      "use an array before it is transferred, or transfer a copy of it (slice)",
    );
  }
}

/**
 * Returns the options, each read once, without those that are undefined. Throws a UserError for a value of the wrong
 * kind or an unknown option.
 */
export function checkOptions<Options extends object>(
  call: string,
  options: Options,
  kinds: Readonly<Record<string, ArgumentKind>>,
): Options {
  checkArgument(`${call}: options`, options, objectArgument);
  const read: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue;
    const wanted = Object.hasOwn(kinds, name) ? kinds[name] : undefined;
    if (wanted !== undefined) {
      checkArgument(`${call}: ${name}`, value, wanted);
      read[name] = value;
    } else {
      const near = nearest(name, Object.keys(kinds));
      throw usageError(
        `${call} has no option "${name}"`,
        near === undefined ? `it has ${Object.keys(kinds).join(", ")}` : `did you mean ${near}?`,
      );
    }
  }
  return read as Options;
}

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

/** Parses JSON. `path` is the file's name in messages, as in `objectAt`. */
export function parseJson(text: string, path: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new UserError(`"${path}" is not JSON: ${(error as Error).message}`);
  }
  if (!isTooDeep(value)) return value;
  throw new UserError(`"${path}" is nested too deeply: at most ${jsonLevelsMax} levels can be read`);
}

/** Returns the value as a JSON object, or throws a UserError that names the place. */
export function objectAt(value: unknown, path: string, what: string): Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new UserError(`"${path}": ${what} is missing or not an object`);
  }
  return value as Record<string, unknown>;
}
