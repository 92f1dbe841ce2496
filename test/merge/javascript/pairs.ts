import { grow } from "./grow.ts";

/**
 * Pairs: the pairs that can still win, a record each, and a hash table from (left, right) to the record.
 *
 *   ARRAY         TYPE           LENGTH     MEANING
 *   lefts         Int32Array     capacity   token id of the left half of pair p
 *   rights        Int32Array     capacity   token id of the right half
 *   counts        Float64Array   capacity   occurrences now, weighted; 0: merged, gone or forgotten
 *   listCounts    Float64Array   capacity   `counts` when the list was written: their ratio says how stale it is
 *   listStarts    Int32Array     capacity   where its list stands in the arena (occurrences.ts)
 *   listLengths   Int32Array     capacity   entries in the list, stale ones included
 *   slots         Int32Array     power of 2 hash table: record + 1, 0: empty; linear probing, at most half full
 *
 * Records are never removed, and their lists stand in the arena in the order of the records.
 */
export type Pairs = {
  count: number;
  lefts: Int32Array;
  rights: Int32Array;
  counts: Float64Array;
  listCounts: Float64Array;
  listStarts: Int32Array;
  listLengths: Int32Array;
  slots: Int32Array;
};

export const noPair = -1;
const empty = 0;
/** Memory that is not touched is not taken, so the first capacity may well be more than is needed. */
const firstCapacityMin = 1 << 12;
const firstCapacityMax = 1 << 20;

/** An empty table that about `expectedCount` pairs go into without growing. */
export function createPairs(expectedCount: number): Pairs {
  let firstCapacity = firstCapacityMin;
  while (firstCapacity < expectedCount && firstCapacity < firstCapacityMax) firstCapacity *= 2;
  return {
    count: 0,
    lefts: new Int32Array(firstCapacity),
    rights: new Int32Array(firstCapacity),
    counts: new Float64Array(firstCapacity),
    listCounts: new Float64Array(firstCapacity),
    listStarts: new Int32Array(firstCapacity),
    listLengths: new Int32Array(firstCapacity),
    slots: new Int32Array(firstCapacity * 2),
  };
}

export function clearPairs(pairs: Pairs): void {
  pairs.count = 0;
  pairs.slots.fill(0);
}

export function findPair(pairs: Pairs, left: number, right: number): number {
  const { slots, lefts, rights } = pairs;
  const mask = slots.length - 1;
  for (let slot = hashPair(left, right) & mask; ; slot = (slot + 1) & mask) {
    const entry = slots[slot]!;
    if (entry === empty) return noPair;
    if (lefts[entry - 1] === left && rights[entry - 1] === right) return entry - 1;
  }
}

/** A record for a pair that has none. */
export function addPair(
  pairs: Pairs,
  left: number,
  right: number,
  count: number,
  listStart: number,
  listLength: number,
): number {
  if (pairs.count === pairs.lefts.length) growRecords(pairs);
  const p = pairs.count++;
  pairs.lefts[p] = left;
  pairs.rights[p] = right;
  pairs.counts[p] = count;
  pairs.listCounts[p] = count;
  pairs.listStarts[p] = listStart;
  pairs.listLengths[p] = listLength;
  if (pairs.count * 2 > pairs.slots.length) rehash(pairs);
  else insert(pairs.slots, p, left, right);
  return p;
}

function insert(slots: Int32Array, p: number, left: number, right: number): void {
  const mask = slots.length - 1;
  let slot = hashPair(left, right) & mask;
  while (slots[slot] !== empty) slot = (slot + 1) & mask;
  slots[slot] = p + 1;
}

/** Into a table twice as large. What has no count left is left out: it never gains one again. */
function rehash(pairs: Pairs): void {
  const { lefts, rights, counts, count } = pairs;
  const slots = new Int32Array(pairs.slots.length * 2);
  for (let p = 0; p < count; p++) if (counts[p]! > 0) insert(slots, p, lefts[p]!, rights[p]!);
  pairs.slots = slots;
}

function growRecords(pairs: Pairs): void {
  const capacity = pairs.lefts.length * 2;
  pairs.lefts = grow(pairs.lefts, capacity);
  pairs.rights = grow(pairs.rights, capacity);
  pairs.counts = grow(pairs.counts, capacity);
  pairs.listCounts = grow(pairs.listCounts, capacity);
  pairs.listStarts = grow(pairs.listStarts, capacity);
  pairs.listLengths = grow(pairs.listLengths, capacity);
}

function hashPair(left: number, right: number): number {
  let hash = Math.imul(left, 0x9e3779b1) ^ Math.imul(right, 0x85ebca77);
  hash ^= hash >>> 15;
  hash = Math.imul(hash, 0x2c1b3c6d);
  return hash ^ (hash >>> 12);
}
