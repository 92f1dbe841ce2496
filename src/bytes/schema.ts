import { describeValue, showValue } from "./values.ts";

// Checks data from outside. A check takes a value of unknown type, and returns it typed or throws a `Mismatch`, which
// says what is wrong. The caller adds the name of the file.

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

/** Says what a value is and what it must be. In a message, this follows the name of the value. */
export const describeMismatch = (value: unknown, wanted: string): string =>
  value === undefined
    ? `is missing; it must be ${wanted}`
    : `is ${describeValue(value)}, but must be ${wanted}`;

/** Checks a value. On a mismatch, calls `fail` with the reason; `fail` must throw. */
export function checkOr<T>(check: Check<T>, value: unknown, fail: (what: string) => never): T {
  try {
    return check(value, "");
  } catch (error) {
    if (error instanceof Mismatch) return fail(error.message);
    throw error;
  }
}

export const wholeNumber =
  (min = 0, max = Number.MAX_SAFE_INTEGER): Check<number> =>
  (value, name) => {
    if (typeof value === "number" && Number.isInteger(value) && value >= min && value <= max) return value;
    throw new Mismatch(value, name, min === max ? `not ${min}` : `not a whole number from ${min} to ${max}`);
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

/** The path of a file: text without a zero byte, neither empty nor too long. */
export const path: Check<string> = (value, name) => {
  if (typeof value === "string" && /^[^\0]+$/s.test(value) && value.length < pathLengthMax) return value;
  throw new Mismatch(value, name, "not a path");
};

/**
 * Accepts text that matches `form`. `wanted` is the end of the message for any other value, such as "not a version".
 */
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
    throw new Mismatch(
      value,
      name,
      names.length === 1 ? `not ${JSON.stringify(names[0])}` : `none of ${names.join(", ")}`,
    );
  };

/** A value that may be undefined. `check` decides whether it may be null. */
export const optional =
  <T>(check: Check<T>): Check<T | undefined> =>
  (value, name) =>
    value === undefined ? undefined : check(value, name);

export const orNull =
  <T>(check: Check<T>): Check<T | null> =>
  (value, name) =>
    value === null ? null : check(value, name);

export const list =
  <T>(check: Check<T>): Check<T[]> =>
  (value, name) => {
    if (!Array.isArray(value)) throw new Mismatch(value, name, "not a list");
    return value.map((item, i) => check(item, `${name}[${i}]`));
  };

/** A list with one value for each check. */
export const tuple =
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
    Array.isArray(value) && value.length > 0 ? list(check)(value, name) : [check(value, name)];

type Fields = Readonly<Record<string, Check<unknown>>>;

/** An object with these fields. Other fields are allowed, and left out of the result. */
export const object = <F extends Fields>(fields: F): Check<{ readonly [K in keyof F]: Checked<F[K]> }> => {
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
