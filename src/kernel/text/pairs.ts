import { reserveTable } from "../regions";

/** A list of pairs of numbers, u32[2] each. */
@unmanaged
export class Pairs {
  start: usize;
  capacity: u32;
  count: u32;
}

const pairBytes: u32 = 8;
const leastCapacity: u32 = isSmallScale ? 2 : 32;

/** Creates an empty list; returns null if memory runs out. */
export function newPairs(): Pairs | null {
  const address = reserveTable(offsetof<Pairs>());
  if (address === 0) return null;
  memory.fill(address, 0, offsetof<Pairs>());
  return changetype<Pairs>(address);
}

export function firstOf(pairs: Pairs, index: u32): u32 {
  return load<u32>(pairs.start + index * pairBytes);
}

export function secondOf(pairs: Pairs, index: u32): u32 {
  return load<u32>(pairs.start + index * pairBytes, 4);
}

/** Adds a pair; returns false if memory runs out, or the list would exceed 512 MiB. */
export function addPair(pairs: Pairs, first: u32, second: u32): bool {
  if (pairs.count === pairs.capacity) {
    const capacity = max(2 * pairs.capacity, leastCapacity);
    const start: usize = capacity > 1 << 26 ? 0 : reserveTable(capacity * pairBytes);
    if (start === 0) return false;
    memory.copy(start, pairs.start, pairs.count * pairBytes);
    pairs.start = start;
    pairs.capacity = capacity;
  }
  const at = pairs.start + pairs.count++ * pairBytes;
  store<u32>(at, first);
  store<u32>(at, second, 4);
  return true;
}

/**
 * Returns how many pairs have a first number (with `bySecond`, a second number) of at most `limit`. The pairs must be
 * in ascending order of both numbers.
 */
export function pairsUpTo(pairs: Pairs, limit: u32, bySecond: bool): u32 {
  let low: u32 = 0;
  let high = pairs.count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((bySecond ? secondOf(pairs, middle) : firstOf(pairs, middle)) <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
