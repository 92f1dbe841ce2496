/**
 * A result: what a word was encoded to, in 64 bits, copied by one load and one store.
 *
 *   RESULT    BITS                                  MEANING
 *   missing   0
 *   narrow    id0 | id1 << 16 | id2 << 32           up to three ids of 16 bits
 *             | count << 48                         count = 1 .. 3
 *   wide      id0 | id1 << 32 | count << 59         up to two ids of 27 bits; count = 1, 2
 *   kept      offset | count << 32 | 1 << 63        `count` ids from `offset` on among the kept ids (word-cache.ts)
 *
 * Narrow or wide is a matter of the vocabulary: narrow if every id fits 16 bits. `kept`, as a signed number, is negative.
 *
 * The ids 262 and 7 are, narrow, 262 | 7 << 16 | 2 << 48 and, wide, 262 | 7 << 32 | 2 << 59.
 */
export const missing: u64 = 0;

export const narrowCountShift: u64 = 48;
export const narrowIdsMax: u32 = 3;

export const wideCountShift: u64 = 59;
export const wideIdsMask: u64 = (1 << wideCountShift) - 1;
export const wideIdsMax: u32 = 2;

const keptFlag: u64 = 1 << 63;

export function keptResult(offset: u32, count: u32): u64 {
  return keptFlag | ((<u64>count) << 32) | offset;
}

export function keptOffset(result: u64): u32 {
  return <u32>result;
}

export function keptCount(result: u64): u32 {
  return <u32>((result & ~keptFlag) >> 32);
}

/** The result that holds the `count` ids of 32 bits at `ids` itself, or `missing` where they are too many, or none. */
export function packedResult(ids: usize, count: u32, isNarrow: bool): u64 {
  if (count === 0 || count > (isNarrow ? narrowIdsMax : wideIdsMax)) return missing;
  let result: u64 = 0;
  const idBits: u64 = isNarrow ? 16 : 32;
  for (let i: u32 = 0; i < count; i++) result |= (<u64>load<u32>(ids + (i << 2))) << (idBits * i);
  return result | ((<u64>count) << (isNarrow ? narrowCountShift : wideCountShift));
}
