import {
  batchPretokens,
  endsStart,
  headsStart,
  listedBytes,
  listedCountsStart,
  listedStart,
  listedStartsStart,
  listedWords,
  longSlotsStart,
  middleStart,
  recordsStart,
  shortStart,
  sixteenth,
  textStart,
} from "../regions";
import {
  addLongWord,
  addMiddleWord,
  addSentinel,
  addShortWord,
  addSlotsTo,
  beginRecords,
  beginTable,
  countLongWords,
  countMiddleWords,
  countShortWords,
  cutMiddleWords,
  endOfRecords,
  endOfSlots,
  firstRecord,
  hashLong,
  hasRoomFor,
  isRecordInSlice,
  LongTable,
  longSlotBytes,
  middleBytesMax,
  middleSlotBytes,
  middleTailKey,
  missingKeysOf,
  nextRecord,
  recordHash,
  recordLength,
  recordValue,
  recordWord,
  reserve,
  SlotTable,
  sentinelKey,
  shortBytesMax,
  shortKey,
  shortSlotBytes,
  slotBitsIn,
  slotBitsWith,
  touchHomes,
  writeMiddle,
  writeShort,
} from "./word-slots";

/**
 * Distinct words with exact counts, in three tables by length, because most words are short, and a short word is
 * compared in one instruction.
 *
 * The memory contains the words, their counts and the heads of the tables, so an instance in another thread can take it
 * over. The heads are:
 *
 *   OFFSET   TYPE        MEANING
 *   0        SlotTable   short words
 *   32       SlotTable   middle words
 *   64       LongTable   long words
 *   96       u64         occurrences of all words
 */
export let short: SlotTable = changetype<SlotTable>(0);
export let middle: SlotTable = changetype<SlotTable>(0);
export let long: LongTable = changetype<LongTable>(0);
let pretokenCountAt: usize = 0;

/** Opens the tables in the memory. */
export function openTables(): void {
  short = changetype<SlotTable>(headsStart);
  middle = changetype<SlotTable>(headsStart + 32);
  long = changetype<LongTable>(headsStart + 64);
  pretokenCountAt = headsStart + 96;
}

/** Begins empty tables in zeroed regions. A table of n slot bits has 2^n slots. */
export function beginTables(shortSlotBits: u32, middleSlotBits: u32, longSlotBits: u32): void {
  const shortMax = slotBitsIn(2 * sixteenth, shortSlotBytes);
  const middleMax = slotBitsIn(3 * sixteenth, middleSlotBytes);
  const longMax = slotBitsIn(sixteenth, longSlotBytes);
  beginTable(short, shortStart, shortSlotBytes, shortSlotBits, shortMax);
  beginTable(middle, middleStart, middleSlotBytes, middleSlotBits, middleMax);
  beginTable(long, longSlotsStart, longSlotBytes, longSlotBits, longMax);
  beginRecords(long, recordsStart, 5 * sixteenth);
  addSentinel(short);
  store<u64>(pretokenCountAt, 0);
}

/** Returns the number of occurrences of all words. */
export function pretokenCount(): f64 {
  return <f64>load<u64>(pretokenCountAt);
}

/** Adds to the number of occurrences of all words, which `addSlots` and `addRecords` do not change. */
export function addPretokens(count: f64): void {
  store<u64>(pretokenCountAt, load<u64>(pretokenCountAt) + <u64>count);
}

export function distinctWordCount(): f64 {
  return <f64>(short.usedCount - 1) + <f64>middle.usedCount + <f64>long.usedCount;
}

/**
 * Counts the pretokens whose boundaries are in `ends`. Returns false if a table is full; then only some of the
 * pretokens have been counted.
 */
export function countPretokens(pretokenCount: u32): bool {
  for (let first: u32 = 0; first < pretokenCount; first += batchPretokens) {
    if (!countBatch(first, min(batchPretokens, pretokenCount - first))) return false;
  }
  store<u64>(pretokenCountAt, load<u64>(pretokenCountAt) + pretokenCount);
  return true;
}

function countBatch(first: u32, pretokenCount: u32): bool {
  if (!reserve(short, pretokenCount)) return false;
  const longerCount = countShortWords(short, first, pretokenCount);
  if (longerCount === 0) return true;
  if (!reserve(middle, longerCount)) return false;
  const longCount = cutMiddleWords(middle, endsStart, longerCount);
  countMiddleWords(middle, longerCount - longCount);
  if (longCount === 0) return true;
  return reserve(long, longCount) && countLongWords(long, longCount);
}

/** Adds `count` occurrences of the word of `length` bytes at the text's start. Returns false if its table is full. */
export function addWord(length: u32, count: f64): bool {
  const added = <u64>count;
  store<u64>(pretokenCountAt, load<u64>(pretokenCountAt) + added);
  const at = textStart;
  if (length <= shortBytesMax) {
    if (!reserve(short, 1)) return false;
    addShortWord(short, shortKey(at, length), added);
    return true;
  }
  if (length <= middleBytesMax) {
    if (!reserve(middle, 1)) return false;
    addMiddleWord(middle, load<u64>(at), middleTailKey(at, length), added);
    return true;
  }
  return reserve(long, 1) && addLongWord(long, at, length, hashLong(at, length), added);
}

// Functions for JavaScript. `kind` is the number of a table: 0 is short, 1 middle, 2 long.

function tableOf(kind: u32): SlotTable {
  return kind === 0 ? short : kind === 1 ? middle : long;
}

/** Returns the address of the slots. */
export function slotsAddress(kind: u32): usize {
  return tableOf(kind).slots;
}

/** Returns the size of the slots in bytes. */
export function slotsBytes(kind: u32): f64 {
  const table = tableOf(kind);
  return <f64>table.slotBytes * <f64>((<u64>1) << table.slotBits);
}

/** Returns the size in bytes that the slots will have once `keyCount` more keys were added. */
export function slotsBytesWith(kind: u32, keyCount: f64): f64 {
  const table = tableOf(kind);
  return <f64>table.slotBytes * <f64>((<u64>1) << slotBitsWith(table, keyCount));
}

/** Returns `usedCount` of a table (word-slots.ts). For short words this includes the sentinel. */
export function usedSlots(kind: u32): u32 {
  return tableOf(kind).usedCount;
}

/** Whether the table's region has space for `keyCount` more keys. */
export function hasSlots(kind: u32, keyCount: f64): bool {
  const table = tableOf(kind);
  return slotBitsWith(table, keyCount) <= table.slotBitsMax;
}

/**
 * Grows the table for `keyCount` more keys if necessary. Returns false if its region is full, or if growing failed and
 * left the table unusable.
 */
export function reserveSlots(kind: u32, keyCount: u32): bool {
  return reserve(tableOf(kind), keyCount);
}

/** Returns the address of the records of long words. */
export function recordsAddress(): usize {
  return long.records;
}

/** Returns the size of the records in bytes, including the unused unit 0 (word-slots.ts). */
export function recordsBytes(): f64 {
  return <f64>(endOfRecords(long) - long.records);
}

/** Whether the region of records has space for `byteCount` more bytes. */
export function hasRecords(byteCount: f64): bool {
  return hasRoomFor(long, <u64>byteCount);
}

/**
 * The slots at the text's start are a copy from another table. Adds those of their words that are in the slice
 * (`setSlice` of word-slots.ts); this table must have space for them. With `stops`, stops at the first free slot of the
 * copy. Returns whether it stopped there.
 */
export function addSlots(kind: u32, byteCount: usize, stops: bool): bool {
  return addSlotsTo(tableOf(kind), textStart, textStart + byteCount, stops);
}

/** The slots at the text's start are a copy from another table. Returns how many of their keys this table lacks. */
export function missingKeys(kind: u32, byteCount: usize): u32 {
  return missingKeysOf(tableOf(kind), textStart, textStart + byteCount);
}

/**
 * The records at the text's start are a copy from another table. Adds those of their words that are in the slice
 * (`setSlice`), and leaves out an incomplete record at the end. Returns the size in bytes of the complete records; -1
 * if this table is full.
 */
export function addRecords(byteCount: usize): f64 {
  const end = textStart + byteCount;
  touchHomes(long, textStart, end);
  let record = textStart;
  while (record + 16 <= end && nextRecord(record) <= end) {
    const isAdded =
      !isRecordInSlice(record) ||
      (reserve(long, 1) &&
        addLongWord(long, recordWord(record), recordLength(record), recordHash(record), recordValue(record)));
    if (!isAdded) return -1;
    record = <usize>nextRecord(record);
  }
  return <f64>(record - textStart);
}

/** Returns the total length in bytes of all words. */
export function wordBytes(): f64 {
  let byteCount = lengthsInSlots(short) - sentinelKey + lengthsInSlots(middle);
  for (let record = <u64>firstRecord(long), end = endOfRecords(long); record < end; ) {
    byteCount += recordLength(<usize>record);
    record = nextRecord(<usize>record);
  }
  return <f64>byteCount;
}

/** Returns the total length in bytes of the words in the slots; the sentinel counts as 8 bytes (`sentinelKey`). */
function lengthsInSlots(table: SlotTable): u64 {
  let sum: u64 = 0;
  for (let slot = table.slots; slot < endOfSlots(table); slot += table.slotBytes)
    // The lowest byte of a key is its word's length.
    sum += load<u64>(slot) & 255;
  return sum;
}

// The state of a list of all words: short ones come first, then middle, then long ones.
let listedKind: u32 = 0;
let listedAt: u64 = 0;
/**
 * The address of the bytes of the words listed last: `listed`, or, for a single word that does not fit there, its
 * record.
 */
let listedBytesAt: usize = 0;
let listedByteCount: usize = 0;

/** Begins a list from the first word. */
export function beginList(): void {
  listedKind = 0;
  listedAt = short.slots;
}

/**
 * Lists the next words: their bytes, their starts (the first is `firstStart`) and their counts. Returns their number, 0
 * at the end.
 */
export function listWords(firstStart: u32): u32 {
  listedBytesAt = listedStart;
  listedByteCount = 0;
  for (; listedKind < 2; listedKind++) {
    const wordCount = listSlots(tableOf(listedKind), firstStart);
    if (wordCount > 0) return wordCount;
    listedAt = listedKind === 0 ? middle.slots : firstRecord(long);
  }
  return listLong(firstStart);
}

export function listedBytesAddress(): usize {
  return listedBytesAt;
}

export function listedBytesCount(): f64 {
  return <f64>listedByteCount;
}

export function listedStartsAddress(): usize {
  return listedStartsStart;
}

export function listedCountsAddress(): usize {
  return listedCountsStart;
}

function list(word: u32, start: u32, count: u64): void {
  store<u32>(listedStartsStart + (word << 2), start);
  store<f64>(listedCountsStart + (word << 3), <f64>count);
}

function listSlots(table: SlotTable, firstStart: u32): u32 {
  const slotBytes = table.slotBytes;
  const areShort = slotBytes === shortSlotBytes;
  let wordCount: u32 = 0;
  let at = listedStart;
  let slot = <usize>listedAt;
  for (const end = endOfSlots(table); slot < end && wordCount < listedWords; slot += slotBytes) {
    const key = load<u64>(slot);
    // Only the table of short words has the sentinel. A middle word may have the same key.
    if (key === 0 || (areShort && key === sentinelKey)) continue;
    list(wordCount++, firstStart + <u32>(at - listedStart), load<u64>(slot + slotBytes - 8));
    if (areShort) writeShort(at, key);
    else writeMiddle(at, load<u64>(slot, 8), key);
    at += <usize>(key & 255);
  }
  listedAt = slot;
  listedByteCount = at - listedStart;
  return wordCount;
}

function listLong(firstStart: u32): u32 {
  let wordCount: u32 = 0;
  let at = listedStart;
  for (const end = endOfRecords(long); listedAt < end && wordCount < listedWords; ) {
    const record = <usize>listedAt;
    const length = recordLength(record);
    const hasRoom = <usize>length <= listedStart + listedBytes - at;
    if (!hasRoom && wordCount > 0) break;
    list(wordCount++, firstStart + <u32>(at - listedStart), recordValue(record));
    listedAt = nextRecord(record);
    if (!hasRoom) {
      listedBytesAt = recordWord(record);
      listedByteCount = length;
      return wordCount;
    }
    memory.copy(at, recordWord(record), length);
    at += length;
  }
  listedByteCount = at - listedStart;
  return wordCount;
}
