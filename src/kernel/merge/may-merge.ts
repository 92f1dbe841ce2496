import { sizeOf } from "./merge-tokens";
import { mayJoinWords } from "./word-facts";

/**
 * Which pairs may be merged at all. A pair that may not gets no record when it is born, or when it is indexed: nothing is
 * ever done for it.
 */

/** A merge may make no token of more bytes, */
let sizeMax: u32 = 0;
/** but of two bytes always, if this is so. */
let bytePairsAlways: bool = false;

export function startLimits(tokenSizeMax: u32, mergesBytesAlways: bool): void {
  sizeMax = tokenSizeMax;
  bytePairsAlways = mergesBytesAlways;
}

export function mayMerge(left: u32, right: u32): bool {
  const size = sizeOf(left) + sizeOf(right);
  return (size <= sizeMax || (size === 2 && bytePairsAlways)) && mayJoinWords(left, right);
}
