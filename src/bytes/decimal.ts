import * as ascii from "./ascii.ts";
/** Writes a whole number from 0 to 2^53 in decimal at `pos`; returns where it ends. */
export function put(number: number, into: Uint8Array, pos: number): number {
  let digitCount = 1;
  for (let limit = 10; limit <= number; limit *= 10) digitCount++;
  let rest = number;
  for (let at = pos + digitCount - 1; at >= pos; at--) {
    const tenth = Math.floor(rest / 10);
    // Without the parentheses, `zero + rest` could exceed 2^53 and be rounded.
    into[at] = ascii.zero + (rest - 10 * tenth);
    rest = tenth;
  }
  return pos + digitCount;
}

export const digitsMax = 16;
