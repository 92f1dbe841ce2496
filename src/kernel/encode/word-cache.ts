import { beginRecords, insertLong, LongTable } from "../words/long-words";
import { addSentinel } from "../words/short-words";
import {
  beginTable,
  endOfSlots,
  longSlotBytes,
  middleSlotBytes,
  reserve,
  SlotTable,
  shortSlotBytes,
} from "../words/slot-table";
import { reserveTable } from "./encoding-memory";
import { keptResult } from "./word-results";

/**
 * WordCache: words already encoded, with their results (word-results.ts), in three tables by length. The tables are those of
 * counting, with the result in the place of the count. The result of the sentinel of short words is `missing`.
 *
 *   REGION    SIZE   MEANING
 *   short     8 MB   words of 1 to 7 bytes: words/short-words.ts
 *   middle    6 MB   8 to 15 bytes: words/middle-words.ts
 *   long      1 MB   16 bytes and more: words/long-words.ts
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
