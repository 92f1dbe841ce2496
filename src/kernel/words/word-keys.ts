/**
 * Words as keys of 64 bits, little-endian, and their hashes. A key has up to seven bytes of a word in its upper bytes and
 * the word's length in its lowest byte. It is never 0. Text is read up to 15 bytes past a word's end.
 */

/** Words of up to 7 bytes are short: one key. */
export const shortBytesMax: u32 = 7;
/** Words of 8 to 15 bytes are middle: their first 8 bytes, and a key of the others. */
export const middleBytesMax: u32 = 15;

// Odd and without structure. The golden ratio's multiplier spreads neighbours evenly, so it comes last; one of xxHash64.
const multiplier0: u64 = 0x9e3779b97f4a7c15;
const multiplier1: u64 = 0xc2b2ae3d27d4eb4f;

/** The key of a short word. */
export function shortKey(at: usize, length: u32): u64 {
  return (load<u64>(at) << (64 - 8 * length)) | length;
}

/** The key of a middle word's bytes behind the eighth. Two shifts, because a shift by 64 bits would do nothing. */
export function middleTailKey(at: usize, length: u32): u64 {
  return ((load<u64>(at, 8) << (8 * (middleBytesMax - length))) << 8) | length;
}

/** Writes the bytes of a short word, and up to 7 bytes too many. */
export function writeShort(at: usize, key: u64): void {
  store<u64>(at, key >> (64 - 8 * (key & 255)));
}

/** Writes the bytes of a middle word, and up to 8 bytes too many. */
export function writeMiddle(at: usize, head: u64, tailKey: u64): void {
  store<u64>(at, head);
  store<u64>(at, (tailKey >> 8) >> (8 * (middleBytesMax - (tailKey & 255))), 8);
}

/**
 * Hash of a short word. Every byte of the key reaches the top bits, from which tables take the slot. There is no further
 * step: a bare product spreads words that differ in a regular way (numbers, all words of two bytes) better than a mixed
 * one.
 */
export function hashShort(key: u64): u64 {
  return key * multiplier0;
}

/**
 * Hash of a middle word. The top byte of a key reaches only the top byte of a product. So the first product is mixed
 * before the second key is added; else words that differ only in bytes 7 and 14 would share 256 hashes.
 */
export function hashMiddle(head: u64, tailKey: u64): u64 {
  let hash = head * multiplier1;
  hash ^= hash >> 32;
  return (hash + tailKey) * multiplier0;
}

/** Hash of a long word. */
export function hashLong(at: usize, length: u32): u32 {
  return <u32>(hashBytes(at, length) >> 32);
}

/** Hash of any word: a chain over eight bytes a step, and the remaining bytes in the last step. */
export function hashBytes(at: usize, length: u32): u64 {
  let hash = <u64>length * multiplier1;
  const tail = at + (length & ~7);
  for (; at < tail; at += 8) hash = mixed(hash ^ load<u64>(at));
  return mixed(hash ^ tailBytes(tail, length)) * multiplier1;
}

function mixed(bits: u64): u64 {
  bits *= multiplier0;
  return bits ^ (bits >> 29);
}

/** The last `length & 7` bytes of a word, with zeros behind them. */
export function tailBytes(at: usize, length: u32): u64 {
  return load<u64>(at) & (((<u64>1) << (8 * (length & 7))) - 1);
}
