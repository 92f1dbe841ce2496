import { Pair, pairCapacity, pairs, slots } from "./merge-regions";

/**
 * Pairs: a record for each pair that may be merged, and whose count reached the threshold (pair-queue.ts) when it was
 * created or indexed; and a hash table from (left, right) to the record.
 *
 *   REGION  ELEMENT  ELEMENTS          MEANING
 *   pairs   Pair     pairCapacity      the records, `pairCount` of them
 *   slots   u32      2 x pairCapacity  hash table with linear probing, at most half full. 0: an empty slot. Only the
 *                                      first `slotMask` + 1 slots, a power of two, are in use
 *
 * A slot has 1 + the index of a record in its low bits, those of `slotMask`. Above them is a tag: the bits of the hash
 * that do not select the slot. Records are never removed one by one, only all at once (`clearPairs`). The lists of
 * occurrences (occurrences.ts) are in the order of the records.
 */
export let pairCount: u32 = 0;
let slotMask: u32 = 0;

export const noPair: u32 = 0xffffffff;
const firstSlotCountMin: u32 = isSmallScale ? 2 : 1 << 13;
const firstSlotCountMax: u32 = isSmallScale ? 8 : 1 << 21;

/**
 * Begins an empty table of a size suitable for `expectedCount` pairs. It has from `firstSlotCountMin` to
 * `firstSlotCountMax` slots, or fewer if the region is smaller.
 */
export function startPairs(expectedCount: u32): void {
  let slotCount = firstSlotCountMin;
  while (slotCount < 2 * expectedCount && slotCount < firstSlotCountMax) slotCount *= 2;
  slotMask = min(slotCount, 2 * pairCapacity) - 1;
  pairCount = 0;
}

export function pairAt(p: u32): Pair {
  return changetype<Pair>(pairs + <usize>p * offsetof<Pair>());
}

export function hasRoomForPairs(count: u32): bool {
  return pairCapacity - pairCount >= count;
}

export function findPair(left: u32, right: u32): u32 {
  const mask = slotMask;
  const hash = hashPair(left, right);
  let slot = hash & mask;
  let entry = entryOf(slot);
  while (entry !== 0) {
    // Most pairs that are looked up have no record, so a record is read only if the tag matches.
    if (((entry ^ hash) & ~mask) === 0) {
      const p = (entry & mask) - 1;
      const pair = pairAt(p);
      if (pair.left === left && pair.right === right) return p;
    }
    slot = (slot + 1) & mask;
    entry = entryOf(slot);
  }
  return noPair;
}

function entryOf(slot: u32): u32 {
  return load<u32>(slots + ((<usize>slot) << 2));
}

/** Adds a record for a pair that has none. Returns its index. */
export function addPair(left: u32, right: u32, count: u64, listStart: u32, listLength: u32): u32 {
  assert(pairCount < pairCapacity, "there is room for one pair more");
  const p = pairCount++;
  const pair = pairAt(p);
  pair.left = left;
  pair.right = right;
  pair.count = count;
  pair.listCount = count;
  pair.listStart = listStart;
  pair.listLength = listLength;
  if (pairCount * 2 > slotMask + 1) {
    startGrowth();
    growSome(pairCount);
  } else insertPair(p);
  return p;
}

/** Whether adding the next pair makes the hash table grow, which takes long if there are many pairs. */
export function isFull(): bool {
  return pairCount * 2 >= slotMask + 1;
}

function insertPair(p: u32): void {
  const pair = pairAt(p);
  const hash = hashPair(pair.left, pair.right);
  let slot = hash & slotMask;
  while (entryOf(slot) !== 0) slot = (slot + 1) & slotMask;
  assert(p < slotMask, "a record fits into the low bits of an entry");
  store<u32>(slots + ((<usize>slot) << 2), (hash & ~slotMask) | (p + 1));
}

/** The next record to insert into a growing table. */
let nextToInsert: u32 = 0;

/** Begins to double the hash table. No pair may be looked up until `growSome` has finished. */
export function startGrowth(): void {
  slotMask = 2 * slotMask + 1;
  assert(slotMask < 2 * pairCapacity, "the hash table stays in its region");
  emptySlots();
  nextToInsert = 0;
}

/**
 * Inserts the next `work` records into the hash table. Returns false after the last. Leaves out pairs with count 0,
 * which need not be found, since a count of 0 stays 0.
 */
export function growSome(work: u32): bool {
  const until = nextToInsert + min(pairCount - nextToInsert, work);
  for (; nextToInsert < until; nextToInsert++) if (pairAt(nextToInsert).count > 0) insertPair(nextToInsert);
  return nextToInsert < pairCount;
}

function emptySlots(): void {
  memory.fill(slots, 0, (<usize>slotMask + 1) << 2);
}

/** Removes all pairs. The contents of their records stay until they are overwritten. */
export function clearPairs(): void {
  pairCount = 0;
  emptySlots();
}

function hashPair(left: u32, right: u32): u32 {
  return <u32>(((((<u64>left) << 32) | right) * 0x9e3779b97f4a7c15) >> 32);
}
