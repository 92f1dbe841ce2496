import {
  lefts,
  lengths,
  prefixBytes,
  prefixLengthMax,
  prefixStarts,
  rights,
  stack,
  tokenCapacity,
} from "./merge-regions";

/**
 * Tokens: what each token id is made of. 0-255 are the bytes, merge k makes 256 + k.
 *
 *   REGION        ELEMENT  ELEMENTS                MEANING
 *   lefts         u32      tokenCapacity           token id of the left half; none for the 256 bytes
 *   rights        u32      tokenCapacity           token id of the right half
 *   lengths       u32      tokenCapacity           bytes in the token
 *   prefixBytes   u8       prefixLengthMax a token the first bytes of each token, so many at most, end to end
 *   prefixStarts  u32      tokenCapacity           where they begin
 *   stack         u32      2 x tokenCapacity       two stacks, for walks over derivations
 *
 * Keeping only a prefix bounds the memory: a vocabulary of one repetitive word of 10 MB holds tokens of megabytes.
 * There are no prefixes where no rule asks for bytes.
 */
export let madeCount: u32 = 0;
let prefixByteCount: u32 = 0;

export const byteCount: u32 = 256;

export function startTokens(): void {
  madeCount = byteCount;
  prefixByteCount = prefixLengthMax > 0 ? byteCount : 0;
  for (let byte: u32 = 0; byte < byteCount; byte++) {
    store<u32>(lengths + ((<usize>byte) << 2), 1);
    if (prefixLengthMax === 0) continue;
    store<u8>(prefixBytes + byte, <u8>byte);
    store<u32>(prefixStarts + ((<usize>byte) << 2), byte);
  }
}

export function leftOf(id: u32): u32 {
  return load<u32>(lefts + ((<usize>id) << 2));
}

export function rightOf(id: u32): u32 {
  return load<u32>(rights + ((<usize>id) << 2));
}

export function lengthOf(id: u32): u32 {
  return load<u32>(lengths + ((<usize>id) << 2));
}

/** The token `left right`, the next id. Its tie key is the rule's to give. */
export function addToken(left: u32, right: u32): u32 {
  assert(madeCount < tokenCapacity, "there is room for one token more");
  const id = madeCount++;
  store<u32>(lefts + ((<usize>id) << 2), left);
  store<u32>(rights + ((<usize>id) << 2), right);
  store<u32>(lengths + ((<usize>id) << 2), lengthOf(left) + lengthOf(right));
  if (prefixLengthMax > 0) writePrefix(id, left, right);
  return id;
}

export function prefixLengthOf(id: u32): u32 {
  return min(lengthOf(id), prefixLengthMax);
}

/** Address of the first of its bytes that are at hand. */
export function prefixOf(id: u32): usize {
  return prefixBytes + load<u32>(prefixStarts + ((<usize>id) << 2));
}

function writePrefix(id: u32, left: u32, right: u32): void {
  const length = prefixLengthOf(id);
  const leftLength = prefixLengthOf(left);
  store<u32>(prefixStarts + ((<usize>id) << 2), prefixByteCount);
  const prefix = prefixBytes + prefixByteCount;
  memory.copy(prefix, prefixOf(left), leftLength);
  // What the left half leaves room for; the right half has as much at hand, or is shorter.
  memory.copy(prefix + leftLength, prefixOf(right), length - leftLength);
  prefixByteCount += length;
}

/** Compares what is at hand of two tokens: the first `prefixLengthMax` bytes, then which ends first. */
export function comparePrefixes(a: u32, b: u32): i32 {
  const lengthA = prefixLengthOf(a);
  const lengthB = prefixLengthOf(b);
  const prefixA = prefixOf(a);
  const prefixB = prefixOf(b);
  const length = min(lengthA, lengthB);
  for (let k: u32 = 0; k < length; k++) {
    const difference = <i32>load<u8>(prefixA + k) - <i32>load<u8>(prefixB + k);
    if (difference !== 0) return difference;
  }
  return <i32>lengthA - <i32>lengthB;
}

/** Whether token `id` is the `length` bytes at `address`, however long it is. */
export function hasBytes(id: u32, address: usize, length: u32): bool {
  if (lengthOf(id) !== length) return false;
  let top = stack;
  store<u32>(top, id);
  top += 4;
  for (let pos: u32 = 0; top > stack; ) {
    top -= 4;
    const token = load<u32>(top);
    if (token >= byteCount) {
      store<u32>(top, rightOf(token));
      store<u32>(top, leftOf(token), 4);
      top += 8;
    } else if (token !== load<u8>(address + pos++)) return false;
  }
  return true;
}
