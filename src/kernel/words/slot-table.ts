import { asideBytes, asideStart } from "../regions";
import { hashMiddle, hashShort } from "./word-keys";

/**
 * SlotTable: a hash table with open addressing and linear probing. The first 8 bytes of a slot are 0 if and only if it is
 * free. The rest of a slot depends on the kind of the table, which the size of a slot tells:
 *
 *   KIND     SLOT BYTES   LAID OUT IN
 *   long     8            long-words.ts
 *   short    16           short-words.ts
 *   middle   24           middle-words.ts
 *
 * The home slot of a key is the top `slotBits` bits of its hash. So keys are nearly in the order of their hashes, at every
 * size: two tables are added up by walking through both from front to back, and a table grows in place.
 *
 * The head of a table, 32 bytes:
 *
 *   OFFSET   FIELD         MEANING
 *   0        slots         address of slot 0
 *   4        slotBytes     size of a slot
 *   8        slotBits      the table has 2^slotBits slots
 *   12       slotBitsMax   the most its region has room for
 *   16       usedCount     slots that are not free
 */
@unmanaged
export class SlotTable {
  slots: usize;
  slotBytes: u32;
  slotBits: u32;
  slotBitsMax: u32;
  usedCount: u32;
}

export const longSlotBytes: u32 = 8;
export const shortSlotBytes: u32 = 16;
export const middleSlotBytes: u32 = 24;

/** Begins an empty table of 2^slotBits slots in a region that is all zeros. */
export function beginTable(
  table: SlotTable,
  slots: usize,
  slotBytes: u32,
  slotBits: u32,
  slotBitsMax: u32,
): void {
  table.slots = slots;
  table.slotBytes = slotBytes;
  table.slotBits = slotBits;
  table.slotBitsMax = slotBitsMax;
  table.usedCount = 0;
}

/** How many slots fit into a region, as a power of two. */
export function slotBitsIn(regionBytes: usize, slotBytes: u32): u32 {
  return 31 - clz(<u32>(regionBytes / slotBytes));
}

/** Address behind the last slot. */
export function endOfSlots(table: SlotTable): usize {
  return table.slots + ((<usize>table.slotBytes) << table.slotBits);
}

/** The bits by which a hash is shifted to give the home slot. */
export function homeShift(table: SlotTable): u64 {
  return 64 - <u64>table.slotBits;
}

/** log2 of the slots needed for so many more keys. At most three quarters are used: a missing key takes 8.5 probes. */
export function slotBitsWith(table: SlotTable, keyCount: f64): u32 {
  const usedCount = <f64>table.usedCount + keyCount;
  let slotBits = table.slotBits;
  while (slotBits < 63 && usedCount * 4 > 3 * <f64>((<u64>1) << slotBits)) slotBits++;
  return slotBits;
}

/** Makes room for so many more keys. False if the region has none. */
export function reserve(table: SlotTable, keyCount: u32): bool {
  const usedCount = <u64>table.usedCount + keyCount;
  if (usedCount * 4 <= (<u64>3) << table.slotBits) return true;
  const slotBits = slotBitsWith(table, <f64>keyCount);
  return slotBits <= table.slotBitsMax && grow(table, slotBits);
}

function grow(table: SlotTable, slotBits: u32): bool {
  const end = endOfSlots(table);
  const slotCount: u32 = 1 << table.slotBits;
  table.slotBits = slotBits;
  touch(end, endOfSlots(table));
  return spread(table, slotCount);
}

/** Bytes of the smallest page of memory. */
const pageBytes: usize = 4096;

/**
 * Writes to each page of fresh memory. A page that is read first and written later, as slots are, costs two faults instead
 * of one, and the second one interrupts the other cores.
 */
function touch(start: usize, end: usize): void {
  for (let at = start; at < end; at += pageBytes) store<u8>(at, 0);
}

/** The hash of a slot's key. `eight0` and `eight1` are the slot's first 16 bytes. */
function hashOf(slotBytes: usize, eight0: u64, eight1: u64): u64 {
  if (slotBytes === shortSlotBytes) return hashShort(eight0);
  return slotBytes === middleSlotBytes ? hashMiddle(eight1, eight0) : eight0 << 32;
}

/**
 * Moves the keys of the first `slotCount` slots to where they belong in the whole table, whose other slots are free. False
 * if so many keys wrap around the end that the buffer cannot hold them; the table is ruined then.
 *
 * The old slots are first copied to the end of the table. There they are read from front to back, and each is freed when
 * it is read. The new home of a key is at or before the slot that is read, so the key finds a free one no later than there.
 * Only the keys that had wrapped around the old end have homes further back. They are put aside until all old slots are
 * free.
 *
 * Subtle: of keys that want the same slot, the one that was met earliest, which is mostly the most frequent one, comes
 * first and keeps it. The other way round, counting English was a fifth slower.
 */
function spread(table: SlotTable, slotCount: u32): bool {
  const first = table.slots;
  const slotBytes = <usize>table.slotBytes;
  const shift = homeShift(table);
  const end = endOfSlots(table);
  const oldBytes = slotBytes * slotCount;
  memory.copy(end - oldBytes, first, oldBytes);
  memory.fill(first, 0, oldBytes);
  let asideEnd = asideStart;
  for (let slot = end - oldBytes; slot < end; slot += slotBytes) {
    const eight0 = load<u64>(slot);
    if (eight0 === 0) continue;
    // Behind a small slot this reads bytes of the next ones, which are never written.
    const eight1 = load<u64>(slot, 8);
    const eight2 = load<u64>(slot, 16);
    let to = first + <usize>(hashOf(slotBytes, eight0, eight1) >> shift) * slotBytes;
    free(slot, slotBytes);
    if (to <= slot) {
      while (load<u64>(to) !== 0) to += slotBytes;
    } else {
      if (asideEnd + slotBytes > asideStart + asideBytes) return false;
      to = asideEnd;
      asideEnd += slotBytes;
    }
    write(to, slotBytes, eight0, eight1, eight2);
  }
  for (let from = asideStart; from < asideEnd; from += slotBytes) {
    place(table, load<u64>(from), load<u64>(from, 8), load<u64>(from, 16));
  }
  return true;
}

/** Writes a slot to the first free one from its home on. */
function place(table: SlotTable, eight0: u64, eight1: u64, eight2: u64): void {
  const slotBytes = <usize>table.slotBytes;
  const end = endOfSlots(table);
  let slot = table.slots + <usize>(hashOf(slotBytes, eight0, eight1) >> homeShift(table)) * slotBytes;
  while (load<u64>(slot) !== 0) {
    slot += slotBytes;
    if (slot === end) slot = table.slots;
  }
  write(slot, slotBytes, eight0, eight1, eight2);
}

function write(slot: usize, slotBytes: usize, eight0: u64, eight1: u64, eight2: u64): void {
  store<u64>(slot, eight0);
  if (slotBytes > 8) store<u64>(slot, eight1, 8);
  if (slotBytes > 16) store<u64>(slot, eight2, 16);
}

function free(slot: usize, slotBytes: usize): void {
  for (let offset: usize = 0; offset < slotBytes; offset += 8) store<u64>(slot + offset, 0);
}
