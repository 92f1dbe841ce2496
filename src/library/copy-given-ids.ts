import { argument, schema, typedArrayClass } from "#bytes";
import { usageError } from "#runtime";

/**
 * Returns a caller's ids. A Uint32Array or Uint16Array is returned unchanged. An array of numbers becomes a
 * Float64Array, because it may have numbers that are no ids, such as -1. Throws a usage error for anything else, and
 * for a detached array.
 */
export function copyGivenIds(call: string, ids: unknown): Uint32Array | Uint16Array | Float64Array {
  const kind = typedArrayClass(ids);
  if (kind === "Uint32Array" || kind === "Uint16Array") {
    argument.checkAttached(`${call}: ids`, ids as Uint32Array | Uint16Array);
    return ids as Uint32Array | Uint16Array;
  }
  const numbers = Array.isArray(ids) ? Array.from(ids) : undefined;
  const wrong = numbers?.findIndex((id) => typeof id !== "number") ?? -1;
  if (numbers !== undefined && wrong < 0) return Float64Array.from(numbers);
  const isBigInt = kind?.startsWith("Big") || typeof numbers?.[wrong] === "bigint";
  throw usageError(
    numbers === undefined
      ? `${call}: ids ${schema.describeMismatch(ids, "a Uint32Array, a Uint16Array or an array of numbers")}`
      : `${call}: ids[${wrong}] ${schema.describeMismatch(numbers[wrong], "a number")}`,
    isBigInt ? "convert the ids with Array.from(ids, Number)" : undefined,
  );
}

/** Returns the first position of an id in `ids`. Also finds numbers that are no ids, such as NaN. */
export const positionOf = (ids: ArrayLike<number>, id: number): number =>
  Array.from(ids).findIndex((each) => Object.is(each, id));
