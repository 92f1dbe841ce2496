import {
  addSentinel,
  beginRecords,
  beginTable,
  endOfSlots,
  insertLong,
  LongTable,
  longSlotBytes,
  middleSlotBytes,
  reserve,
  SlotTable,
  shortSlotBytes,
} from "../words/word-slots";
import { reserveTable } from "./encoding-memory";

/**
 * WordCache: words already encoded, with their results (word-cache.ts), in three tables by length. The tables are those of
 * counting, with the result in the place of the count. The result of the sentinel of short words is `missing`.
 *
 *   REGION    SIZE   MEANING
 *   short     8 MB   words of 1 to 7 bytes: words/word-slots.ts
 *   middle    6 MB   8 to 15 bytes: words/word-slots.ts
 *   long      1 MB   16 bytes and more: words/word-slots.ts
 *   records   8 MB   their records
 *   kept      8 MB   u32: ids of the results that do not fit into 64 bits, end to end
 *
 * Memory is bounded: when a table is full at its largest size, all are cleared. That is better than to keep no new words, because
 * the words of a corpus change from its beginning to its end.
 */
const shortBitsMax: u32 = 19;
const middleBitsMax: u32 = 18;
const longBitsMax: u32 = 17;
const recordsBytesMax: usize = 1 << 23;
const keptBytesMax: usize = 1 << 23;

/** Longer words hardly ever occur twice. */
export const cachedBytesMax: u32 = 4096;

/** Words looked up together: so few that their lists stay in the first cache, and that every table has room for them. */
export let batchWordsMax: u32 = 0;

/** Of a table: that of long words is the largest. */
const headBytes: usize = 32;

export let short: SlotTable = changetype<SlotTable>(0);
export let middle: SlotTable = changetype<SlotTable>(0);
export let long: LongTable = changetype<LongTable>(0);
let keptStart: usize = 0;
let keptEnd: usize = 0;
let keptLimit: usize = 0;

/** Lays out the cache, 2^shrinkBits times smaller than usual; false without room. */
export function useCache(shrinkBits: u32): bool {
  const heads = reserveTable(3 * headBytes);
  const shortSlots = reserveTable((<usize>shortSlotBytes) << (shortBitsMax - shrinkBits));
  const middleSlots = reserveTable((<usize>middleSlotBytes) << (middleBitsMax - shrinkBits));
  const longSlots = reserveTable((<usize>longSlotBytes) << (longBitsMax - shrinkBits));
  const recordsStart = reserveTable(recordsBytesMax >> shrinkBits);
  keptStart = reserveTable(keptBytesMax >> shrinkBits);
  if (keptStart === 0) return false;
  keptLimit = keptStart + (keptBytesMax >> shrinkBits);
  short = changetype<SlotTable>(heads);
  middle = changetype<SlotTable>(heads + headBytes);
  long = changetype<LongTable>(heads + 2 * headBytes);
  begin(short, shortSlots, shortSlotBytes, 14, shortBitsMax - shrinkBits);
  begin(middle, middleSlots, middleSlotBytes, 13, middleBitsMax - shrinkBits);
  beginRecords(long, recordsStart, recordsBytesMax >> shrinkBits);
  begin(long, longSlots, longSlotBytes, 11, longBitsMax - shrinkBits);
  batchWordsMax = min<u32>(1024, 1 << (long.slotBitsMax - 1));
  beginEmpty();
  return true;
}

function begin(table: SlotTable, slots: usize, slotBytes: u32, slotBits: u32, slotBitsMax: u32): void {
  beginTable(table, slots, slotBytes, min(slotBits, slotBitsMax), slotBitsMax);
}

function beginEmpty(): void {
  addSentinel(short);
  keptEnd = keptStart;
  isFull = false;
}

/** A record or kept ids did not fit. */
let isFull: bool = false;

/** Makes room for so many words more, of whatever length. */
export function reserveWords(wordCount: u32): void {
  if (isFull || !reserveSlots(wordCount)) {
    clear();
    if (!reserveSlots(wordCount)) unreachable();
  }
}

function reserveSlots(wordCount: u32): bool {
  return reserve(short, wordCount) && reserve(middle, wordCount) && reserve(long, wordCount);
}

function clear(): void {
  clearTable(short);
  clearTable(middle);
  clearTable(long);
  beginRecords(long, long.records, (<usize>long.unitLimit) << 3);
  beginEmpty();
}

function clearTable(table: SlotTable): void {
  memory.fill(table.slots, 0, endOfSlots(table) - table.slots);
  table.usedCount = 0;
}

/** Keeps a long word in a free slot, where there is room for its record. */
export function keepLong(slot: usize, hash: u32, start: usize, length: u32, result: u64): void {
  if (!insertLong(long, slot, start, length, hash, result)) isFull = true;
}

/** The result for `count` ids of 32 bits that do not fit into 64; missing where there is no room to keep them. */
export function keepIds(ids: usize, count: u32): u64 {
  const bytes: usize = 4 * count;
  if (bytes > keptLimit - keptEnd) {
    isFull = true;
    return 0;
  }
  memory.copy(keptEnd, ids, bytes);
  const offset = <u32>((keptEnd - keptStart) >> 2);
  keptEnd += bytes;
  return keptResult(offset, count);
}

/** Where kept ids begin. */
export function keptAddress(): usize {
  return keptStart;
}

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
const narrowIdsMax: u32 = 3;

export const wideCountShift: u64 = 59;
export const wideIdsMask: u64 = (1 << wideCountShift) - 1;
const wideIdsMax: u32 = 2;

const keptFlag: u64 = 1 << 63;

function keptResult(offset: u32, count: u32): u64 {
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
