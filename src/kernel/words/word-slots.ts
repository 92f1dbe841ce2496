import {
  asideBytes,
  asideStart,
  endsStart,
  keepLoads,
  longerStart,
  longHashesStart,
  longStart,
  middleHomesStart,
  middleKeysStart,
  textStart,
} from "../regions";

/**
 * SlotTable: a hash table with open addressing and linear probing. The first 8 bytes of a slot are 0 if and only if the
 * slot is free. The rest depends on the kind of the table, which its slot size identifies: 8 bytes for long words, 16
 * for short ones, 24 for middle ones.
 *
 * The top `slotBits` bits of a key's hash are its home slot. So keys are nearly in the order of their hashes, whatever
 * the number of slots. This lets a table grow in place, and lets two tables be added up by walking both from front to
 * back.
 *
 * A *slice* is a range of hashes, so in any table it is a run of slots. Each thread can add up one slice of all tables
 * (`setSlice`). A table that has only the keys of one slice spreads them over all of its slots: a key's home slot then
 * depends on the position of its hash within the slice (`homeSlot`).
 *
 * The head of a table; `LongTable` (below) has more fields, and 32 bytes:
 *
 *   OFFSET   FIELD         MEANING
 *   0        slots         address of slot 0
 *   4        slotBytes     size of a slot
 *   8        slotBits      the table has 2^slotBits slots
 *   12       slotBitsMax   the maximum for its region
 *   16       usedCount     slots that are not free; in a LongTable, records, even if without a slot (`addRecordHead`)
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

/** Begins an empty table of 2^slotBits slots in a zeroed region. */
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

/** Returns the log2 of the largest number of slots, a power of two, that fits into a region. */
export function slotBitsIn(regionBytes: usize, slotBytes: u32): u32 {
  return 31 - clz(<u32>(regionBytes / slotBytes));
}

/** Returns the address after the last slot. */
export function endOfSlots(table: SlotTable): usize {
  return table.slots + ((<usize>table.slotBytes) << table.slotBits);
}

/** Returns the number of bits by which a hash is shifted right to give its home slot. */
export function homeShift(table: SlotTable): u64 {
  return 64 - <u64>table.slotBits;
}

let slice: u64 = 0;
let sliceCount: u64 = 1;

/**
 * Chooses the slice that this instance adds up: number `index` of `count` equal slices. Must be called before
 * `beginTables`, because home slots depend on it. `countPretokens` works only with a single slice.
 */
export function setSlice(index: u32, count: u32): void {
  slice = index;
  sliceCount = count;
}

/**
 * Returns two numbers: in the upper 32 bits, the slice that contains a hash; in the lower 32 bits, the hash's position
 * in that slice.
 */
function placeOf(hash: u64): u64 {
  return (hash >> 32) * sliceCount;
}

function isInSlice(hash: u64): bool {
  return placeOf(hash) >> 32 === slice;
}

/**
 * Returns the home slot: the top bits of the hash's position in its slice. With one slice, these are the top bits of
 * the hash.
 */
function homeSlot(hash: u64, shift: u64): usize {
  return <usize>((placeOf(hash) << 32) >> shift);
}

/** Returns the log2 of the number of slots that a table needs for `keyCount` more keys. */
export function slotBitsWith(table: SlotTable, keyCount: f64): u32 {
  const usedCount = <f64>table.usedCount + keyCount;
  let slotBits = table.slotBits;
  // At most three quarters of the slots are used, so that finding that a key is missing takes at most 8.5 probes on
  // average.
  while (slotBits < 63 && usedCount * 4 > 3 * <f64>((<u64>1) << slotBits)) slotBits++;
  return slotBits;
}

/**
 * Grows the table for `keyCount` more keys if necessary. Returns false if its region is full, or if `spread` fails,
 * which leaves the table unusable.
 */
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

/** The smallest page size of any system. */
const pageBytes: usize = 4096;

/**
 * Writes to each page of fresh memory. Otherwise the table would read a page before writing it, which costs two page
 * faults.
 */
function touch(start: usize, end: usize): void {
  for (let at = start; at < end; at += pageBytes) store<u8>(at, 0);
}

/** Returns the hash of a slot's key. `eight0` and `eight1` are the slot's first 16 bytes. */
function hashOf(slotBytes: usize, eight0: u64, eight1: u64): u64 {
  if (slotBytes === shortSlotBytes) return hashShort(eight0);
  return slotBytes === middleSlotBytes ? hashMiddle(eight1, eight0) : eight0 << 32;
}

/**
 * Moves the keys of the first `slotCount` slots to their slots in the grown table, whose other slots are free. Returns
 * false if more keys wrap around the end than the buffer `aside` can hold; the table is then unusable.
 *
 * The old slots are first copied to the end of the table. There they are read from front to back, and each is freed
 * when it is read. The new home of a key is at or before the slot that is read, so the key finds a free slot at or
 * before that one. Only keys that had wrapped around the old end have later homes. They wait in `aside` until all old
 * slots are free.
 *
 * Subtle: keys with the same home slot stay in the order in which they were first counted. So the first of them,
 * usually the most frequent, keeps the home slot. With the opposite order, counting English was a fifth slower.
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
    // If slots are smaller than 24 bytes, these loads also read the next slots. `write` ignores the excess.
    const eight1 = load<u64>(slot, 8);
    const eight2 = load<u64>(slot, 16);
    let to = first + homeSlot(hashOf(slotBytes, eight0, eight1), shift) * slotBytes;
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

/** Writes a slot's contents to the first free slot from their home on. */
function place(table: SlotTable, eight0: u64, eight1: u64, eight2: u64): void {
  const slotBytes = <usize>table.slotBytes;
  const end = endOfSlots(table);
  let slot = table.slots + homeSlot(hashOf(slotBytes, eight0, eight1), homeShift(table)) * slotBytes;
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

/**
 * Words as keys of 64 bits, little-endian, and their hashes. A key has up to seven bytes of a word in its upper bytes,
 * and the word's length in its lowest byte, so it is never 0. Up to 8 bytes of text after a word may be read.
 */

/** Words of up to 7 bytes are short: a key contains the whole word. */
export const shortBytesMax: u32 = 7;
/** Words of 8 to 15 bytes are middle words. They are stored as their first 8 bytes and a key of the other bytes. */
export const middleBytesMax: u32 = 15;

// `multiplier0` is derived from the golden ratio, and spreads neighbouring keys evenly. `multiplier1` is a prime of
// xxHash64.
const multiplier0: u64 = 0x9e3779b97f4a7c15;
const multiplier1: u64 = 0xc2b2ae3d27d4eb4f;

/** Returns the key of a short word. */
export function shortKey(at: usize, length: u32): u64 {
  return (load<u64>(at) << (64 - 8 * length)) | length;
}

/** Returns the key of a middle word's bytes after the eighth. */
export function middleTailKey(at: usize, length: u32): u64 {
  // Shifts twice, because a shift by 64 bits does nothing.
  return ((load<u64>(at, 8) << (8 * (middleBytesMax - length))) << 8) | length;
}

/** Writes the bytes of a short word, and up to 7 more bytes. */
export function writeShort(at: usize, key: u64): void {
  store<u64>(at, key >> (64 - 8 * (key & 255)));
}

/** Writes the bytes of a middle word, and up to 8 more bytes. */
export function writeMiddle(at: usize, head: u64, tailKey: u64): void {
  store<u64>(at, head);
  store<u64>(at, (tailKey >> 8) >> (8 * (middleBytesMax - (tailKey & 255))), 8);
}

/** Returns the hash of a short word: a plain product, because further mixing spreads regular words less evenly. */
export function hashShort(key: u64): u64 {
  return key * multiplier0;
}

/** Returns the hash of a middle word. */
function hashMiddle(head: u64, tailKey: u64): u64 {
  let hash = head * multiplier1;
  // Without this, words that differ only in bytes 7 and 14 would have only 256 different hashes.
  hash ^= hash >> 32;
  return (hash + tailKey) * multiplier0;
}

/** Returns the hash of a long word, made in a chain of steps of eight bytes each; the last step takes the rest. */
export function hashLong(at: usize, length: u32): u32 {
  let hash = <u64>length * multiplier1;
  const tail = at + (length & ~7);
  for (; at < tail; at += 8) hash = mixed(hash ^ load<u64>(at));
  return <u32>((mixed(hash ^ tailBytes(tail, length)) * multiplier1) >> 32);
}

function mixed(bits: u64): u64 {
  bits *= multiplier0;
  return bits ^ (bits >> 29);
}

/** Returns the last `length & 7` bytes of a word, which begin at `at`, as a number. */
function tailBytes(at: usize, length: u32): u64 {
  return load<u64>(at) & (((<u64>1) << (8 * (length & 7))) - 1);
}

/**
 * Short words, 1 to 7 bytes. A slot:
 *
 *   OFFSET   TYPE   MEANING
 *   0        u64    key (`shortKey`); 0 in a free slot
 *   8        u64    value: the count
 *
 * " the", counted twice, is [0x6568742000000004, 2].
 *
 * The *sentinel* is a key that no short word has. Every longer pretoken increments the sentinel's count, so that the
 * loop needs no branch for longer pretokens. The sentinel's slot is always in use.
 */
export const sentinelKey: u64 = 8;

/** Adds the sentinel to an empty table. */
export function addSentinel(table: SlotTable): void {
  store<u64>(findShort(table, sentinelKey), sentinelKey);
  table.usedCount = 1;
}

/** Returns the slot of a short word, or the free slot where it belongs. */
export function findShort(table: SlotTable, key: u64): usize {
  const end = endOfSlots(table);
  let slot = table.slots + homeSlot(hashShort(key), homeShift(table)) * shortSlotBytes;
  let found = load<u64>(slot);
  while (found !== key && found !== 0) {
    slot += shortSlotBytes;
    if (slot === end) slot = table.slots;
    found = load<u64>(slot);
  }
  return slot;
}

/**
 * Counts the short words among `pretokenCount` pretokens from index `first` on, and lists the indices of the longer
 * ones in `longer` (regions.ts). The table must have a free slot for each pretoken. Returns the number of longer ones.
 */
export function countShortWords(table: SlotTable, first: u32, pretokenCount: u32): u32 {
  const shift = homeShift(table);
  const slots = table.slots;
  const lastSlot = endOfSlots(table) - shortSlotBytes;
  const text = textStart;
  const longer = longerStart;
  let longerEnd = longer;
  let insertedCount: u32 = 0;
  let endAt = endsStart + (first << 2);
  let start = load<u32>(endAt);
  for (let i = first, stop = first + pretokenCount; i < stop; i++) {
    endAt += 4;
    const end = load<u32>(endAt);
    const length = end - start;
    // The index is always stored. Unless the pretoken is longer than a short word, the next store overwrites it. A
    // branch would be mispredicted for one pretoken in eight.
    store<u32>(longerEnd, i);
    longerEnd += usize(length > shortBytesMax) << 2;
    const key = select<u64>(sentinelKey, shortKey(text + start, length), length > shortBytesMax);
    start = end;
    let slot = slots + ((<usize>(hashShort(key) >> shift)) << 4);
    // Most words are in their home slot. Without this check, the loop below would run for every word. The JavaScript
    // engine would then soon compile it at its highest tier, which does not pay off in a short run.
    if (load<u64>(slot) === key) {
      store<u64>(slot, load<u64>(slot, 8) + 1, 8);
      continue;
    }
    for (;;) {
      const found = load<u64>(slot);
      if (found === key) {
        store<u64>(slot, load<u64>(slot, 8) + 1, 8);
        break;
      }
      if (found === 0) {
        store<u64>(slot, key);
        store<u64>(slot, 1, 8);
        insertedCount++;
        break;
      }
      slot = slot === lastSlot ? slots : slot + shortSlotBytes;
    }
  }
  table.usedCount += insertedCount;
  return <u32>((longerEnd - longer) >> 2);
}

/** Adds `count` to the count of a word. If the word is new, the table must have a free slot. */
export function addShortWord(table: SlotTable, key: u64, count: u64): void {
  const slot = findShort(table, key);
  if (load<u64>(slot) === 0) table.usedCount++;
  store<u64>(slot, key);
  store<u64>(slot, load<u64>(slot, 8) + count, 8);
}

/**
 * Middle words, 8 to 15 bytes. A slot:
 *
 *   OFFSET   TYPE   MEANING
 *   0        u64    key of the bytes after the eighth; 0 in a free slot
 *   8        u64    the first eight bytes
 *   16       u64    value: the count
 *
 * Slots of 32 bytes would never cross a cache line, but are no faster, because a third more memory has to be touched.
 */

/** Returns the slot of a middle word, or the free slot where it belongs. */
export function findMiddle(table: SlotTable, head: u64, tailKey: u64): usize {
  const end = endOfSlots(table);
  let slot = table.slots + homeSlot(hashMiddle(head, tailKey), homeShift(table)) * middleSlotBytes;
  let found = load<u64>(slot);
  while (((found ^ tailKey) | (load<u64>(slot, 8) ^ head)) !== 0 && found !== 0) {
    slot += middleSlotBytes;
    if (slot === end) slot = table.slots;
    found = load<u64>(slot);
  }
  return slot;
}

/**
 * Splits the `longerCount` pretokens in `longer` into middle and long words. Writes the keys and the home slots of
 * middle words to `middleKeys` and `middleHomes`, and the indices of long words to `long` (regions.ts). Returns the
 * number of long words.
 */
export function cutMiddleWords(table: SlotTable, ends: usize, longerCount: u32): u32 {
  const shift = homeShift(table);
  const slots = table.slots;
  const text = textStart;
  const longer = longerStart;
  let keys = middleKeysStart;
  let homes = middleHomesStart;
  let long = longStart;
  let sum: u64 = 0;
  for (let i: u32 = 0; i < longerCount; i++) {
    const pretoken = load<u32>(longer + (i << 2));
    const endAt = ends + (pretoken << 2);
    const start = load<u32>(endAt);
    const length = load<u32>(endAt, 4) - start;
    const head = load<u64>(text + start);
    const tailKey = middleTailKey(text + start, length);
    const home = slots + <usize>(hashMiddle(head, tailKey) >> shift) * middleSlotBytes;
    // Writes the word as a middle one and as a long one, and keeps only one of these, which avoids a branch.
    store<u64>(keys, tailKey);
    store<u64>(keys, head, 8);
    store<u32>(homes, <u32>home);
    store<u32>(long, pretoken);
    // Prefetches the home slot, so that the cache misses of the batch overlap.
    sum ^= load<u64>(home);
    const isLong = usize(length > middleBytesMax);
    keys += (1 - isLong) << 4;
    homes += (1 - isLong) << 2;
    long += isLong << 2;
  }
  keepLoads(sum);
  return <u32>((long - longStart) >> 2);
}

/** Counts the middle words that `cutMiddleWords` listed. The table must have free slots for them. */
export function countMiddleWords(table: SlotTable, middleCount: u32): void {
  const end = endOfSlots(table);
  const slots = table.slots;
  let insertedCount: u32 = 0;
  let keys = middleKeysStart;
  for (let i: u32 = 0; i < middleCount; i++, keys += 16) {
    const tailKey = load<u64>(keys);
    const head = load<u64>(keys, 8);
    let slot = <usize>load<u32>(middleHomesStart + (i << 2));
    for (;;) {
      const found = load<u64>(slot);
      if (((found ^ tailKey) | (load<u64>(slot, 8) ^ head)) === 0) {
        store<u64>(slot, load<u64>(slot, 16) + 1, 16);
        break;
      }
      if (found === 0) {
        store<u64>(slot, tailKey);
        store<u64>(slot, head, 8);
        store<u64>(slot, 1, 16);
        insertedCount++;
        break;
      }
      slot += middleSlotBytes;
      if (slot === end) slot = slots;
    }
  }
  table.usedCount += insertedCount;
}

/** Adds `count` to the count of a word. If the word is new, the table must have a free slot. */
export function addMiddleWord(table: SlotTable, head: u64, tailKey: u64, count: u64): void {
  const slot = findMiddle(table, head, tailKey);
  if (load<u64>(slot) === 0) table.usedCount++;
  store<u64>(slot, tailKey);
  store<u64>(slot, head, 8);
  store<u64>(slot, load<u64>(slot, 16) + count, 16);
}

/**
 * Adds, from the slots [from, end) of another table, the words that are in the slice (`setSlice`). This table must have
 * space for them. With `stops`, stops at the first free slot of the other table. Returns whether it stopped there.
 */
export function addSlotsTo(table: SlotTable, from: usize, end: usize, stops: bool): bool {
  const slotBytes = table.slotBytes;
  for (; from < end; from += slotBytes) {
    const key = load<u64>(from);
    if (key === 0) {
      if (stops) return true;
      continue;
    }
    const eight1 = load<u64>(from, 8);
    if (!isInSlice(hashOf(slotBytes, key, eight1))) continue;
    if (slotBytes === shortSlotBytes) addShortWord(table, key, eight1);
    else addMiddleWord(table, eight1, key, load<u64>(from, 16));
  }
  return false;
}

/** Returns the number of keys in the slots [from, end) of another table that this table lacks. */
export function missingKeysOf(table: SlotTable, from: usize, end: usize): u32 {
  let missingCount: u32 = 0;
  for (; from < end; from += table.slotBytes) {
    const key = load<u64>(from);
    if (key === 0) continue;
    const slot =
      table.slotBytes === shortSlotBytes ? findShort(table, key) : findMiddle(table, load<u64>(from, 8), key);
    if (load<u64>(slot) === 0) missingCount++;
  }
  return missingCount;
}

/**
 * Long words, 16 bytes or more: slots refer to records of variable length. A slot:
 *
 *   OFFSET   TYPE   MEANING
 *   0        u32    hash of the word
 *   4        u32    position of its record, in units of 8 bytes from the region's start; 0 in a free slot
 *
 * A record takes whole units:
 *
 *   OFFSET   TYPE   MEANING
 *   0        u32    length of the word in bytes
 *   4        u32    its hash; 0 if the record has no slot (`addRecordHead`)
 *   8        u64    value: the count
 *   16 ..    bytes  the word, and zeros up to the unit's end
 *
 * Records are contiguous, in the order in which they were added. They begin at unit 1, so that no slot refers to unit
 * 0. A word of 17 bytes takes 5 units.
 *
 * The head of this table has these fields in addition, up to 32 bytes:
 *
 *   OFFSET   FIELD       MEANING
 *   20       records     address of unit 0
 *   24       endUnit     position of the next record
 *   28       unitLimit   number of units in their region
 */
@unmanaged
export class LongTable extends SlotTable {
  records: usize;
  endUnit: u32;
  unitLimit: u32;
}

const headBytes: usize = 16;
const firstUnit: u32 = 1;

/** Begins an empty region of records with `regionBytes` bytes. */
export function beginRecords(long: LongTable, records: usize, regionBytes: usize): void {
  long.records = records;
  long.endUnit = firstUnit;
  long.unitLimit = <u32>(regionBytes >> 3);
}

/** Returns the address of the first record. */
export function firstRecord(long: LongTable): usize {
  return long.records + ((<usize>firstUnit) << 3);
}

/** Returns the address after the last record, which may be 2^32. */
export function endOfRecords(long: LongTable): u64 {
  return <u64>long.records + ((<u64>long.endUnit) << 3);
}

/** Returns the address of the next record. */
export function nextRecord(record: usize): u64 {
  return <u64>record + recordBytes(load<u32>(record));
}

/** Returns the record size in bytes for a word of `length` bytes. */
function recordBytes(length: u32): u64 {
  return headBytes + ((<u64>length + 7) & ~7);
}

export function recordLength(record: usize): u32 {
  return load<u32>(record);
}

export function recordHash(record: usize): u32 {
  return load<u32>(record, 4);
}

/** Whether a record's word is in the slice. */
export function isRecordInSlice(record: usize): bool {
  return isInSlice((<u64>recordHash(record)) << 32);
}

export function recordValue(record: usize): u64 {
  return load<u64>(record, 8);
}

/** Returns the address of a record's word. */
export function recordWord(record: usize): usize {
  return record + headBytes;
}

/**
 * Counts the `longCount` pretokens whose indices are at `longStart` (regions.ts). The table must have free slots for
 * them. Returns false if a record does not fit.
 */
export function countLongWords(long: LongTable, longCount: u32): bool {
  hashLongWords(long, longCount);
  touchRecords(long, longCount);
  for (let i: u32 = 0; i < longCount; i++) {
    const endAt = endsStart + (load<u32>(longStart + (i << 2)) << 2);
    const start = load<u32>(endAt);
    const length = load<u32>(endAt, 4) - start;
    if (!addLongWord(long, textStart + start, length, load<u32>(longHashesStart + (i << 2)), 1)) return false;
  }
  return true;
}

/**
 * Writes the hashes of the pretokens whose indices are at `longStart`, and prefetches their home slots, so that the
 * cache misses overlap.
 */
function hashLongWords(long: LongTable, longCount: u32): void {
  let sum: u64 = 0;
  for (let i: u32 = 0; i < longCount; i++) {
    const endAt = endsStart + (load<u32>(longStart + (i << 2)) << 2);
    const start = load<u32>(endAt);
    const hash = hashLong(textStart + start, load<u32>(endAt, 4) - start);
    store<u32>(longHashesStart + (i << 2), hash);
    sum ^= load<u64>(homeOf(long, hash));
  }
  keepLoads(sum);
}

/** Prefetches the head of the record to which each home slot refers. */
function touchRecords(long: LongTable, longCount: u32): void {
  let sum: u64 = 0;
  for (let i: u32 = 0; i < longCount; i++) {
    const home = homeOf(long, load<u32>(longHashesStart + (i << 2)));
    sum ^= load<u64>(long.records + ((<usize>load<u32>(home, 4)) << 3));
  }
  keepLoads(sum);
}

/** Prefetches the home slots of the words of the records in [record, end). */
export function touchHomes(long: LongTable, record: usize, end: usize): void {
  let sum: u64 = 0;
  for (let next = <u64>record; next + headBytes <= end; next = nextRecord(<usize>next)) {
    sum ^= load<u64>(homeOf(long, recordHash(<usize>next)));
  }
  keepLoads(sum);
}

function homeOf(long: LongTable, hash: u32): usize {
  return long.slots + homeSlot((<u64>hash) << 32, homeShift(long)) * longSlotBytes;
}

/**
 * Adds `count` occurrences of the word of `length` bytes at `at`. The table must have a free slot. Returns false if the
 * word's record does not fit.
 */
export function addLongWord(long: LongTable, at: usize, length: u32, hash: u32, count: u64): bool {
  const slot = findLong(long, at, length, hash);
  if (load<u64>(slot) === 0) return insertLong(long, slot, at, length, hash, count);
  const record = recordOf(long, slot);
  store<u64>(record, load<u64>(record, 8) + count, 8);
  return true;
}

/** Returns the slot of the word of `length` bytes at `at`, given its hash, or the free slot where it belongs. */
export function findLong(long: LongTable, at: usize, length: u32, hash: u32): usize {
  const end = endOfSlots(long);
  let slot = homeOf(long, hash);
  while (load<u64>(slot) !== 0) {
    if (load<u32>(slot) === hash && recordEquals(recordOf(long, slot), at, length)) break;
    slot += longSlotBytes;
    if (slot === end) slot = long.slots;
  }
  return slot;
}

/** Writes a new word into a free slot from `findLong`. Returns false if its record does not fit. */
export function insertLong(
  long: LongTable,
  slot: usize,
  at: usize,
  length: u32,
  hash: u32,
  value: u64,
): bool {
  if (!hasRoomFor(long, recordBytes(length))) return false;
  store<u32>(slot, hash);
  store<u32>(slot, long.endUnit, 4);
  long.usedCount++;
  appendRecord(long, at, length, hash, value);
  return true;
}

/** Returns the address of a slot's record. */
export function recordOf(long: LongTable, slot: usize): usize {
  return long.records + ((<usize>load<u32>(slot, 4)) << 3);
}

/** Whether the region of records has space for `byteCount` more bytes. */
export function hasRoomFor(long: LongTable, byteCount: u64): bool {
  return ((<u64>long.endUnit) << 3) + byteCount <= (<u64>long.unitLimit) << 3;
}

function recordEquals(record: usize, at: usize, length: u32): bool {
  if (load<u32>(record) !== length) return false;
  let word = recordWord(record);
  const tail = at + (length & ~7);
  for (; at < tail; at += 8, word += 8) if (load<u64>(word) !== load<u64>(at)) return false;
  return (length & 7) === 0 || load<u64>(word) === tailBytes(tail, length);
}

/**
 * Appends the head of a record without a slot; the region must have space for the record. Returns the address for its
 * word.
 */
export function addRecordHead(long: LongTable, length: u32, value: u64): usize {
  const record = <usize>endOfRecords(long);
  writeRecordHead(record, length, 0, value);
  long.usedCount++;
  long.endUnit += <u32>(recordBytes(length) >> 3);
  return recordWord(record);
}

function writeRecordHead(record: usize, length: u32, hash: u32, value: u64): void {
  store<u32>(record, length);
  store<u32>(record, hash, 4);
  store<u64>(record, value, 8);
}

function appendRecord(long: LongTable, at: usize, length: u32, hash: u32, value: u64): void {
  const record = long.records + ((<usize>long.endUnit) << 3);
  writeRecordHead(record, length, hash, value);
  // Does not use `memory.copy`: the word may be in a mapped file, which the kernel reads by its own loads (regions.ts).
  let word = recordWord(record);
  for (const tail = at + (length & ~7); at < tail; at += 8, word += 8) store<u64>(word, load<u64>(at));
  if ((length & 7) !== 0) store<u64>(word, tailBytes(at, length));
  long.endUnit += <u32>(recordBytes(length) >> 3);
}
