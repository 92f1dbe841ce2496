import { reserveTable } from "../regions";
import { EncodingModel } from "./model-layout";

/**
 * The pairs of late merges (late-merges.ts), in a table of their own that is small enough to stay in the caches. Two
 * slots are a *bucket*. The top bits of a pair's hash select its home bucket. If that is full, the pair is in the next
 * bucket with a free slot.
 *
 *   ARRAY    TYPE   LENGTH                 MEANING
 *   slots    u64    2^(bucketBits + 1)     key << rankBits | rank + 1; 0 in a free slot. At most a quarter of the slots
 *                   + 2                    are used. The last two are always free
 *   filter   u64    2^(filterBits - 6)     a bit for the hash of each pair
 *
 * The *key* of a pair of 16-bit ids is left | right << 16, which a single load reads from adjacent ids. The key of a
 * pair of 32-bit ids is left | right << wideIdBits.
 */
let slots: usize = 0;
let bucketBits: u32 = 0;
let filter: usize = 0;
let filterBits: u32 = 0;

const bucketBytes: usize = 16;
const wideIdBits: u64 = 21;
const rankBits: u64 = 22;

/** Late merges need ids below this limit, so that a key and a rank fit into a slot. */
export const lateIdLimit: u32 = 1 << 21;

const multiplier: u64 = 0x9e3779b97f4a7c15;

/** Returns the hash of a key. Only its top bits depend on the whole key. */
export function hashOfKey(key: u64): u64 {
  return key * multiplier;
}

/** Returns the key of two ids of type T. */
export function keyOf<T>(left: u32, right: u32): u64 {
  const shift: u64 = sizeof<T>() === 2 ? 16 : wideIdBits;
  return <u64>left | ((<u64>right) << shift);
}

/** Returns the key of the two ids of type T at `id`. */
export function keyAt<T>(id: usize): u64 {
  return sizeof<T>() === 2 ? <u64>load<u32>(id) : keyOf<u32>(load<u32>(id), load<u32>(id, 4));
}

/** Adds the late merges of a model whose ids have type T. Returns false if memory runs out. */
export function indexLatePairs<T>(model: EncodingModel): bool {
  bucketBits = 3;
  while ((<u64>1) << bucketBits < 2 * <u64>(model.mergeCount - model.lateRank)) bucketBits++;
  filterBits = bucketBits + 3;
  slots = reserveTable((bucketBytes << bucketBits) + bucketBytes);
  filter = reserveTable((<usize>1) << (filterBits - 3));
  if (slots === 0 || filter === 0) return false;
  for (let rank = model.lateRank; rank < model.mergeCount; rank++) {
    const key = keyOf<T>(load<u32>(model.lefts + (rank << 2)), load<u32>(model.rights + (rank << 2)));
    const hash = hashOfKey(key);
    let at = homeOf(hash);
    while (load<u64>(slots + at) !== 0) at = (at + 8) & (emptyBucket() - 1);
    store<u64>(slots + at, (key << rankBits) | (rank + 1));
    const bit = hash >> (64 - <u64>filterBits);
    const word = filter + ((<usize>bit >> 6) << 3);
    store<u64>(word, load<u64>(word) | ((<u64>1) << (bit & 63)));
  }
  return true;
}

/** Returns the offset of the home bucket. */
function homeOf(hash: u64): usize {
  return <usize>(hash >> (64 - <u64>bucketBits)) * bucketBytes;
}

/** Returns the offset of the bucket that is always empty, after all others. */
function emptyBucket(): usize {
  return bucketBytes << bucketBits;
}

/** The rank of a pair that no late merge joins. It is higher than every real rank. */
export const noLateRank: u32 = u32.MAX_VALUE;

/** Returns the rank of the pair that has this key; `noLateRank` if no late merge joins the pair. */
export function findLate(key: u64): u32 {
  return findFrom(key, homeOf(hashOfKey(key)));
}

/**
 * Returns the same as `findLate`, and is faster if late merges join only few of the pairs. If the filter rejects a
 * pair, the bucket that is always empty is read instead of its home bucket. A branch instead would be slow, because the
 * processor could not predict it.
 */
export function findRareLate(key: u64): u32 {
  const hash = hashOfKey(key);
  const bit = hash >> (64 - <u64>filterBits);
  const passes = (load<u64>(filter + ((<usize>bit >> 6) << 3)) >> bit) & 1;
  return findFrom(key, select(homeOf(hash), emptyBucket(), <bool>passes));
}

function findFrom(key: u64, home: usize): u32 {
  const wanted = key << rankBits;
  const limit: u64 = 1 << rankBits;
  let at = home;
  while (true) {
    const second = load<u64>(slots + at, 8);
    // If a slot has this key, the exclusive or gives its rank + 1; if it has another key, a number not below `limit`.
    const rest = load<u64>(slots + at) ^ wanted;
    const secondRest = second ^ wanted;
    const found = select(rest, select<u64>(secondRest, 0, secondRest < limit), rest < limit);
    // A single branch, and a predictable one: few buckets are full.
    if (u32(found !== 0) | u32(second === 0)) return <u32>found - 1;
    at = (at + bucketBytes) & (emptyBucket() - 1);
    // Only a damaged image has no free slot.
    if (at === home) unreachable();
  }
}
