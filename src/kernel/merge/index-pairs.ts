import {
  batchBytes,
  batchCells,
  batchEntryBytes,
  boundary,
  cells,
  entries,
  entryCapacityMax,
  Job,
  job,
  Part,
  pairBatches,
  queue,
  stagedLefts,
  weightEnds,
  weights,
} from "./merge-regions";
import { lengthOf } from "./merge-tokens";
import { entryAddress } from "./occurrences";
import { stepCount, stepOf } from "./word-layout";

/**
 * The work of each thread while the index is rebuilt (rebuild-index.ts): three walks over its part of the text (the
 * cells of the words: word-layout.ts). The first walk builds a *sketch*: the pairs are hashed to a limited number of
 * cells, and each cell adds up the weights of its pairs. (A cell of the sketch is not a cell of the text.) The second
 * walk counts the pairs that may be frequent. The third writes the lists of the pairs that are kept. The last two walks
 * collect pairs in batches, and then read the slots of a whole batch, so that cache misses overlap.
 *
 *   REGION       ELEMENT   ELEMENTS            MEANING
 *   entries      u32       2^sketchBits a part the sketch of each part: for each cell, the total weight of the pairs in
 *                                              it, at most 2^32 - 1
 *   stagedLefts  u16       2^sketchBits/16     a bit for each cell of the sketch: 1 if a walk collects its pairs
 *   queue, …     see below 1 stretch a part    while pairs are counted: the table of the pairs that a part counts. The
 *                                              *stretches* divide the regions from `queue` to the end of `entries`
 *                                              evenly among the parts
 *   queue        see below cursorSlots a part  while lists are written: a table of cursors, the entries where a part
 *                                              writes its next occurrence of each kept pair
 *   pairBatches  u32       4 x batchCells      for each part and each pair of a batch: its position, the
 *                                              address of its slot, and its key of 64 bits
 *
 * Both kinds of tables are hash tables with linear probing. Home slots ascend with the hashes. In a table of counts,
 * `overflowSlots` more slots follow the last home slot, and the very last slot is always free. A table of cursors wraps
 * around, and always has free slots. So every lookup ends. A slot has:
 *
 *   counts   left and right id: u16 or u32, as in the text   u32: occurrences, 0 in a free slot   u64: total weight
 *   cursors  left and right id: u16 or u32, as in the text   u32: the next entry, 0 in a free slot
 */

function theJob(): Job {
  return changetype<Job>(job);
}

function tokenAt<T>(position: u32): u32 {
  return <u32>load<T>(cells + <usize>position * sizeof<T>());
}

function hashOf(left: u32, right: u32): u32 {
  return (left * 0x9e3779b1 + right) * 0x85ebca77;
}

const cellMax: u64 = 0xffffffff;

/** Returns the address of the sketch of a part. */
export function sketchOf(index: u32, sketchBits: u32): usize {
  return entries + ((<usize>index) << (sketchBits + 2));
}

/**
 * Adds the pairs that begin in the next `work` cells of a part to the part's sketch. Returns true while cells are left.
 */
export function sketchPairs<T>(part: Part, index: u32, work: u32): bool {
  const job = theJob();
  const until = part.next + min(part.end - part.next, work);
  const sketch = sketchOf(index, job.sketchBits);
  const shift = 32 - job.sketchBits;
  const areSingle = job.areSingle !== 0;
  const wordEnd = boundary;
  let step = part.step;
  let weightEnd: u32 = 0;
  let weight: u64 = 0;
  let pos = part.next;
  let left = tokenAt<T>(pos);
  while (pos < until) {
    // Subtle: if every token covers one cell (`areSingle`), the branch is predictable, and the processor does not wait
    // for a length.
    const next = areSingle || left === wordEnd ? pos + 1 : pos + lengthOf(left);
    const right = tokenAt<T>(next);
    if (left !== wordEnd && right !== wordEnd) {
      if (pos >= weightEnd) {
        step = stepOf(stepCount, step, pos);
        weightEnd = load<u32>(weightEnds + ((<usize>step) << 2));
        weight = load<u64>(weights + ((<usize>step) << 3));
      }
      const cell = sketch + ((<usize>(hashOf(left, right) >> shift)) << 2);
      store<u32>(cell, <u32>min<u64>(<u64>load<u32>(cell) + weight, cellMax));
    }
    left = right;
    pos = next;
  }
  part.next = pos;
  part.step = step;
  return pos < part.end;
}

/** Adds the sketches of the other parts to that of the first. */
export function joinSketches(partCount: u32, sketchBits: u32): void {
  const all = sketchOf(0, sketchBits);
  const bytes = (<usize>4) << sketchBits;
  for (let k: u32 = 1; k < partCount; k++) {
    const other = sketchOf(k, sketchBits) - all;
    for (let cell = all; cell < all + bytes; cell += 4) {
      const more = <u64>load<u32>(cell + other);
      store<u32>(cell, <u32>min<u64>(<u64>load<u32>(cell) + more, cellMax));
    }
  }
}

/** Marks the sketch's cell for a pair. The next walks collect only pairs of marked cells. */
export function lookAtPair(left: u32, right: u32): void {
  const cell = hashOf(left, right) >> (32 - theJob().sketchBits);
  const bits = stagedLefts + ((<usize>(cell >> 4)) << 1);
  store<u16>(bits, load<u16>(bits) | <u16>((<u32>1) << (cell & 15)));
}

function batchOf(index: u32): usize {
  return pairBatches + batchBytes * index;
}

/**
 * Collects a batch: the pairs that begin in the next `batchCells` cells of a part, before `until`, and whose cells in
 * the sketch are marked. Returns the end of the batch.
 */
function collect<T>(part: Part, index: u32, until: u32): usize {
  const job = theJob();
  const shift = 32 - job.sketchBits;
  const areSingle = job.areSingle !== 0;
  const wordEnd = boundary;
  const bits = stagedLefts;
  const stop = min(part.next + batchCells, until);
  let end = batchOf(index);
  let pos = part.next;
  let left = tokenAt<T>(pos);
  while (pos < stop) {
    const next = areSingle || left === wordEnd ? pos + 1 : pos + lengthOf(left);
    const right = tokenAt<T>(next);
    const cell = hashOf(left, right) >> shift;
    const bit = (<u32>load<u16>(bits + ((<usize>(cell >> 4)) << 1)) >> (cell & 15)) & 1;
    store<u32>(end, pos);
    store<u64>(end, keyOf<T>(left, right), 8);
    end += <usize>(u32(left !== wordEnd) & u32(right !== wordEnd) & bit) * batchEntryBytes;
    left = right;
    pos = next;
  }
  part.next = pos;
  return end;
}

function keyOf<T>(left: u32, right: u32): u64 {
  const cellBits = <u64>(8 * sizeof<T>());
  return <u64>left | ((<u64>right) << cellBits);
}

function loadKey<T>(slot: usize): u64 {
  return sizeof<T>() === 2 ? <u64>load<u32>(slot) : load<u64>(slot);
}

function storeKey<T>(slot: usize, key: u64): void {
  if (sizeof<T>() === 2) store<u32>(slot, <u32>key);
  else store<u64>(slot, key);
}

/**
 * Returns the address of the home slot of a key. Home slots ascend with the hashes of keys, whatever the number of
 * slots.
 */
function homeOf(table: usize, slotCount: u32, slotBytes: usize, key: u64): usize {
  return table + <usize>((((key * 0x9e3779b97f4a7c15) >> 32) * slotCount) >> 32) * slotBytes;
}

/**
 * For each entry of a batch, from `entry` to `end`, stores the address of the home slot of the entry's pair in the
 * entry, and prefetches that slot. Returns a value that keeps the loads from being optimized away.
 */
function findHomes(entry: usize, end: usize, table: usize, slotCount: u32, slotBytes: usize): u32 {
  let touched: u32 = 0;
  for (; entry < end; entry += batchEntryBytes) {
    const home = homeOf(table, slotCount, slotBytes, load<u64>(entry, 8));
    touched ^= load<u32>(home);
    store<u32>(entry, <u32>home, 4);
  }
  return touched;
}

const overflowSlots: u32 = isSmallScale ? 2 : 64;

// Tables of counts.

/** Counts are exact only below this limit, because JavaScript reads them as Float64. */
export const countEnd: u64 = 1 << 53;
const firstSlotCount: u32 = isSmallScale ? 4 : 1 << 13;

function countBytes<T>(): usize {
  return 2 * sizeof<T>() + 12;
}

export function occurrencesOf<T>(slot: usize): u32 {
  return load<u32>(slot + 2 * sizeof<T>());
}

export function weightOf<T>(slot: usize): u64 {
  return load<u64>(slot + 2 * sizeof<T>(), 4);
}

function storeCount<T>(slot: usize, key: u64, count: u32, weight: u64): void {
  storeKey<T>(slot, key);
  store<u32>(slot + 2 * sizeof<T>(), count);
  store<u64>(slot + 2 * sizeof<T>(), weight, 4);
}

/** Returns the size in bytes of each part's stretch for its table of counts. */
function stretchBytes(): usize {
  const end = entries + ((<usize>entryCapacityMax) << 2);
  return ((end - queue) / theJob().walkCount) & ~7;
}

/** Returns the address of a part's table of counts. */
function countsOf(index: u32): usize {
  return queue + stretchBytes() * index;
}

function tableBytes<T>(slotCount: u32): usize {
  return <usize>(slotCount + overflowSlots) * countBytes<T>();
}

/** Returns the address after a part's table of counts. */
function countsEnd<T>(part: Part, index: u32): usize {
  return countsOf(index) + tableBytes<T>(part.countSlots);
}

/** Begins an empty table of counts. */
export function startCounts<T>(part: Part, index: u32): void {
  part.countSlots = firstSlotCount;
  part.countedPairs = 0;
  part.isFull = 0;
  memory.fill(countsOf(index), 0, tableBytes<T>(firstSlotCount));
}

/**
 * Counts the pairs that begin in the next `work` cells of a part. Returns false when no cells are left, or when the
 * table is full (`part.isFull`).
 */
export function countPairs<T>(part: Part, index: u32, work: u32): bool {
  const until = part.next + min(part.end - part.next, work);
  const batch = batchOf(index);
  const table = countsOf(index);
  let step = part.step;
  let weightEnd: u32 = 0;
  let weight: u64 = 0;
  while (part.next < until) {
    const end = collect<T>(part, index, until);
    if (!reserveCounts<T>(part, index, <u32>((end - batch) / batchEntryBytes))) return false;
    part.touched ^= findHomes(batch, end, table, part.countSlots, countBytes<T>());
    for (let entry = batch; entry < end; entry += batchEntryBytes) {
      const pos = load<u32>(entry);
      if (pos >= weightEnd) {
        step = stepOf(stepCount, step, pos);
        weightEnd = load<u32>(weightEnds + ((<usize>step) << 2));
        weight = load<u64>(weights + ((<usize>step) << 3));
      }
      const slotCount = part.countSlots;
      if (!addCount<T>(part, index, <usize>load<u32>(entry, 4), load<u64>(entry, 8), 1, weight)) return false;
      // If the table has grown, the rest of the batch has other home slots.
      if (part.countSlots !== slotCount) {
        findHomes(entry + batchEntryBytes, end, table, part.countSlots, countBytes<T>());
      }
    }
  }
  part.step = step;
  return part.next < part.end;
}

/**
 * Adds `count` and `weight` to those of a pair, given its home slot. Returns false if the table would have to grow
 * beyond the part's stretch.
 */
function addCount<T>(part: Part, index: u32, home: usize, key: u64, count: u32, weight: u64): bool {
  let slot = home;
  while (occurrencesOf<T>(slot) !== 0 && loadKey<T>(slot) !== key) slot += countBytes<T>();
  const before = occurrencesOf<T>(slot);
  if (before === 0) {
    if (slot + countBytes<T>() === countsEnd<T>(part, index)) {
      return (
        growCounts<T>(part, index) &&
        addCount<T>(
          part,
          index,
          homeOf(countsOf(index), part.countSlots, countBytes<T>(), key),
          key,
          count,
          weight,
        )
      );
    }
    part.countedPairs++;
  }
  const sum = before === 0 ? weight : min(weightOf<T>(slot) + weight, countEnd);
  storeCount<T>(slot, key, before + count, sum);
  return true;
}

/**
 * Grows the table if `pairCount` more pairs would fill more than three quarters of its home slots. Returns false if the
 * stretch is too small.
 */
function reserveCounts<T>(part: Part, index: u32, pairCount: u32): bool {
  while (<u64>(part.countedPairs + pairCount) * 4 > <u64>part.countSlots * 3) {
    if (!growCounts<T>(part, index)) return false;
  }
  return true;
}

/**
 * Doubles the number of home slots in place. Returns false, and sets `part.isFull`, if the stretch is too small.
 *
 * The old slots are moved to the end of the table, and read from front to back. A slot is free once it was read, and
 * the new home of its pair is at or before it. So the pair finds a free slot at or before the one that was read.
 */
function growCounts<T>(part: Part, index: u32): bool {
  if (tableBytes<T>(2 * part.countSlots) > stretchBytes()) {
    part.isFull = 1;
    return false;
  }
  const table = countsOf(index);
  const oldBytes = tableBytes<T>(part.countSlots);
  part.countSlots *= 2;
  const slotCount = part.countSlots;
  const end = countsEnd<T>(part, index);
  memory.copy(end - oldBytes, table, oldBytes);
  memory.fill(table, 0, end - oldBytes - table);
  for (let from = end - oldBytes; from < end; from += countBytes<T>()) {
    const count = occurrencesOf<T>(from);
    if (count === 0) continue;
    const key = loadKey<T>(from);
    const weight = weightOf<T>(from);
    storeCount<T>(from, 0, 0, 0);
    let slot = homeOf(table, slotCount, countBytes<T>(), key);
    while (occurrencesOf<T>(slot) !== 0) slot += countBytes<T>();
    storeCount<T>(slot, key, count, weight);
  }
  return true;
}

// The main thread reads the tables when the walks have ended.

/** Returns the number of slots of a table of counts, including those after the last home slot. */
export function countSlotsOf(part: Part): u32 {
  return part.countSlots + overflowSlots;
}

/** Returns the address of a slot in a part's table of counts. */
export function countAt<T>(index: u32, slot: u32): usize {
  return countsOf(index) + <usize>slot * countBytes<T>();
}

export function leftOfKey<T>(slot: usize): u32 {
  return <u32>load<T>(slot);
}

export function rightOfKey<T>(slot: usize): u32 {
  return <u32>load<T>(slot + sizeof<T>());
}

/**
 * Adds `slotCount` slots of another part's table, from slot `first` on, to the table of the first part. Returns false
 * if the first part's stretch is too small.
 */
export function joinCounts<T>(all: Part, index: u32, first: u32, slotCount: u32): bool {
  const end = countAt<T>(index, first + slotCount);
  for (let slot = countAt<T>(index, first); slot < end; slot += countBytes<T>()) {
    const count = occurrencesOf<T>(slot);
    if (count === 0) continue;
    if (!reserveCounts<T>(all, 0, 1)) return false;
    const key = loadKey<T>(slot);
    const home = homeOf(countsOf(0), all.countSlots, countBytes<T>(), key);
    if (!addCount<T>(all, 0, home, key, count, weightOf<T>(slot))) return false;
  }
  return true;
}

// Tables of cursors.

function cursorBytes<T>(): usize {
  return 2 * sizeof<T>() + 4;
}

function cursorsOf<T>(index: u32): usize {
  return queue + <usize>index * theJob().cursorSlots * cursorBytes<T>();
}

/**
 * Begins an empty table of cursors for each part, with space for `pairCount` pairs. If these tables would overwrite the
 * lists, or counts that are still needed, begins only a table for the first part, and returns false. The first part
 * then walks over all of the text.
 */
export function startCursors<T>(pairCount: u32): bool {
  const job = theJob();
  const slotBytes = cursorBytes<T>();
  const parts = job.walkCount;
  const room = min(stretchBytes(), entries - queue);
  const wanted: u64 = 2 * <u64>pairCount + 1;
  const fits = wanted * parts * slotBytes <= room;
  job.cursorSlots = fits ? <u32>wanted : <u32>min(wanted, (entries - queue) / slotBytes);
  if (!fits) job.walkCount = 1;
  memory.fill(queue, 0, <usize>job.cursorSlots * job.walkCount * slotBytes);
  return fits;
}

/** Sets the entry where a part writes the next occurrence of a pair. */
export function addCursor<T>(index: u32, left: u32, right: u32, cursor: u32): void {
  const table = cursorsOf<T>(index);
  const slotCount = theJob().cursorSlots;
  const key = keyOf<T>(left, right);
  let slot = homeOf(table, slotCount, cursorBytes<T>(), key);
  const end = table + <usize>slotCount * cursorBytes<T>();
  while (load<u32>(slot + 2 * sizeof<T>()) !== 0) {
    slot += cursorBytes<T>();
    if (slot === end) slot = table;
  }
  storeKey<T>(slot, key);
  store<u32>(slot + 2 * sizeof<T>(), cursor);
}

/**
 * Writes the occurrences of kept pairs in the next `work` cells of a part to their lists. Returns true while cells are
 * left.
 */
export function writePairs<T>(part: Part, index: u32, work: u32): bool {
  const until = part.next + min(part.end - part.next, work);
  const batch = batchOf(index);
  const slotCount = theJob().cursorSlots;
  const table = cursorsOf<T>(index);
  const tableEnd = table + <usize>slotCount * cursorBytes<T>();
  while (part.next < until) {
    const end = collect<T>(part, index, until);
    part.touched ^= findHomes(batch, end, table, slotCount, cursorBytes<T>());
    for (let entry = batch; entry < end; entry += batchEntryBytes) {
      const pos = load<u32>(entry);
      const key = load<u64>(entry, 8);
      let slot = <usize>load<u32>(entry, 4);
      let cursor = load<u32>(slot + 2 * sizeof<T>());
      while (cursor !== 0 && loadKey<T>(slot) !== key) {
        slot += cursorBytes<T>();
        if (slot === tableEnd) slot = table;
        cursor = load<u32>(slot + 2 * sizeof<T>());
      }
      if (cursor === 0) continue;
      store<u32>(entryAddress(cursor), pos);
      store<u32>(slot + 2 * sizeof<T>(), cursor + 1);
    }
  }
  return part.next < part.end;
}
