import { endsStart, keepLoads, longHashesStart, longStart, textStart } from "../regions";
import { endOfSlots, homeShift, longSlotBytes, SlotTable } from "./slot-table";
import { hashLong, tailBytes } from "./word-keys";

/**
 * Long words, 16 bytes and more: slots lead to records of any length. A slot:
 *
 *   OFFSET   TYPE   MEANING
 *   0        u32    hash of the word
 *   4        u32    where its record is, in units of 8 bytes from the region's start; 0 in a free slot
 *
 * A record is of whole units:
 *
 *   OFFSET   TYPE   MEANING
 *   0        u32    length of the word in bytes
 *   4        u32    its hash
 *   8        u64    value: the count
 *   16 ..    bytes  the word, and zeros up to the unit's end
 *
 * Records lie end to end, in the order in which words were found. They begin at unit 1, so that no slot leads to unit 0. A
 * word of 17 bytes takes 5 units.
 *
 * The head of the table goes on behind that of every table, to 32 bytes:
 *
 *   OFFSET   FIELD       MEANING
 *   20       records     address of unit 0
 *   24       endUnit     where the next record goes
 *   28       unitLimit   units that their region has
 */
@unmanaged
export class LongTable extends SlotTable {
  records: usize;
  endUnit: u32;
  unitLimit: u32;
}

const headBytes: usize = 16;
const firstUnit: u32 = 1;

/** No records yet, in a region of so many bytes. */
export function beginRecords(long: LongTable, records: usize, regionBytes: usize): void {
  long.records = records;
  long.endUnit = firstUnit;
  long.unitLimit = <u32>(regionBytes >> 3);
}

/** Address of the first record. */
export function firstRecord(long: LongTable): usize {
  return long.records + ((<usize>firstUnit) << 3);
}

/** Address behind the last record. It may be 2^32. */
export function endOfRecords(long: LongTable): u64 {
  return <u64>long.records + ((<u64>long.endUnit) << 3);
}

/** Address of the next record. */
export function nextRecord(record: usize): u64 {
  return <u64>record + recordBytes(load<u32>(record));
}

/** Bytes of the record of a word of so many bytes. */
function recordBytes(length: u32): u64 {
  return headBytes + ((<u64>length + 7) & ~7);
}

export function recordLength(record: usize): u32 {
  return load<u32>(record);
}

export function recordHash(record: usize): u32 {
  return load<u32>(record, 4);
}

export function recordValue(record: usize): u64 {
  return load<u64>(record, 8);
}

/** Address of the word. */
export function recordWord(record: usize): usize {
  return record + headBytes;
}

/** Counts the `longCount` pretokens in `long`; there are slots for all of them. False if a record has no room. */
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

/** Writes the hashes of the pretokens in `long`, and reads their home slots, so that the cache misses overlap. */
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

/** Reads the head of the record of every home slot, for the same reason. */
function touchRecords(long: LongTable, longCount: u32): void {
  let sum: u64 = 0;
  for (let i: u32 = 0; i < longCount; i++) {
    const home = homeOf(long, load<u32>(longHashesStart + (i << 2)));
    sum ^= load<u64>(long.records + ((<usize>load<u32>(home, 4)) << 3));
  }
  keepLoads(sum);
}

function homeOf(long: LongTable, hash: u32): usize {
  return long.slots + <usize>(((<u64>hash) << 32) >> homeShift(long)) * longSlotBytes;
}

/**
 * Adds `count` occurrences of the word of `length` bytes at `at`, whose hash is known; there is a slot for it. False if its
 * record has no room.
 */
export function addLongWord(long: LongTable, at: usize, length: u32, hash: u32, count: u64): bool {
  const slot = findLong(long, at, length, hash);
  if (load<u64>(slot) === 0) return insertLong(long, slot, at, length, hash, count);
  const record = recordOf(long, slot);
  store<u64>(record, load<u64>(record, 8) + count, 8);
  return true;
}

/** The slot of the word of `length` bytes at `at`, whose hash is known, or the free slot where it belongs. */
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

/** Puts a word and its value into a free slot that `findLong` returned. False if its record has no room. */
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

/** Address of the record that a slot leads to. */
export function recordOf(long: LongTable, slot: usize): usize {
  return long.records + ((<usize>load<u32>(slot, 4)) << 3);
}

/** Whether so many more bytes of records have room. */
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

function appendRecord(long: LongTable, at: usize, length: u32, hash: u32, value: u64): void {
  const record = long.records + ((<usize>long.endUnit) << 3);
  store<u32>(record, length);
  store<u32>(record, hash, 4);
  store<u64>(record, value, 8);
  // Not by `memory.copy`: the word may stand in a window of a file (regions.ts).
  let word = recordWord(record);
  for (const tail = at + (length & ~7); at < tail; at += 8, word += 8) store<u64>(word, load<u64>(at));
  if ((length & 7) !== 0) store<u64>(word, tailBytes(at, length));
  long.endUnit += <u32>(recordBytes(length) >> 3);
}
