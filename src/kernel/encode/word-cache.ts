import {
  batchPretokens,
  longerStart,
  longStart,
  middleHomesStart,
  middleKeysStart,
  reserveTable,
  textStart,
} from "../regions";
import {
  addSentinel,
  beginRecords,
  beginTable,
  endOfSlots,
  findLong,
  hashLong,
  hashShort,
  homeShift,
  insertLong,
  LongTable,
  longSlotBytes,
  middleSlotBytes,
  recordOf,
  recordValue,
  reserve,
  SlotTable,
  sentinelKey,
  shortBytesMax,
  shortKey,
  shortSlotBytes,
} from "../words/word-slots";

/**
 * The word cache: words that have been encoded, with their results (their ids: see `missing`), in three tables by
 * length. The tables have the layout of those that count words, with the result in place of the count. The table of
 * short words also has a sentinel with the result `missing`, which `lookUpShort` looks up in place of each longer word.
 *
 * The largest size of each region, in a cache that is neither shrunk nor of small scale:
 *
 *   REGION    SIZE    MEANING
 *   short     8 MB    words of 1 to 7 bytes: words/word-slots.ts
 *   middle    12 MB   8 to 15 bytes: words/word-slots.ts
 *   long      2 MB    16 bytes and more: words/word-slots.ts
 *   records   16 MB   the records of the long words
 *   kept      8 MB    ids of the results that do not fit into 64 bits, end to end, each of 2 or 4 bytes, as in the
 *                     output
 *
 * A table that is full at its largest size is cleared. That is better than refusing new words, because the words of a
 * corpus change from its beginning to its end. Results in all tables may refer to kept ids, so when `kept` is full, all
 * tables are cleared.
 */
const shortBitsMax: u32 = isSmallScale ? 6 : 19;
const middleBitsMax: u32 = isSmallScale ? 6 : 19;
const longBitsMax: u32 = isSmallScale ? 5 : 18;
const recordsBytesMax: usize = isSmallScale ? 1 << 9 : 1 << 24;
const keptBytesMax: usize = isSmallScale ? 1 << 7 : 1 << 23;

/** The maximum size of a cached word in bytes. Longer words hardly ever occur twice. */
export const cachedBytesMax: u32 = isSmallScale ? 40 : 4096;

/**
 * The maximum number of words that are looked up together. It is small enough for their lists to stay in the L1 cache,
 * and for every table to have free slots for them.
 */
export let batchWordsMax: u32 = 0;

/** The number of bytes reserved for the head of each table: enough for the largest head, that of `LongTable`. */
const headBytes: usize = 32;

export let short: SlotTable = changetype<SlotTable>(0);
export let middle: SlotTable = changetype<SlotTable>(0);
export let long: LongTable = changetype<LongTable>(0);
let keptStart: usize = 0;
let keptEnd: usize = 0;
let keptLimit: usize = 0;

/** Lays out the cache, 2^shrinkBits times smaller than usual. Returns false if memory runs out. */
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
  batchWordsMax = min<u32>(batchPretokens, 1 << (long.slotBitsMax - 1));
  addSentinel(short);
  keptEnd = keptStart;
  return true;
}

function begin(table: SlotTable, slots: usize, slotBytes: u32, slotBits: u32, slotBitsMax: u32): void {
  beginTable(table, slots, slotBytes, min(slotBits, slotBitsMax), slotBitsMax);
}

/** Returns the address of the heads of the three tables, for tests. */
export function cacheHeads(): usize {
  return changetype<usize>(short);
}

/** Whether a record did not fit, so that the table of long words must be cleared. */
let areRecordsFull: bool = false;
/** Whether the ids of some word did not fit into `kept`, so that all tables must be cleared. */
let areKeptFull: bool = false;

/** Makes room for `wordCount` more words in every table, if necessary by clearing tables. */
export function reserveWords(wordCount: u32): void {
  if (clearsFor(short, wordCount, areKeptFull)) addSentinel(short);
  clearsFor(middle, wordCount, areKeptFull);
  if (clearsFor(long, wordCount, areKeptFull || areRecordsFull)) {
    beginRecords(long, long.records, (<usize>long.unitLimit) << 3);
    areRecordsFull = false;
  }
  if (areKeptFull) keptEnd = keptStart;
  areKeptFull = false;
}

/**
 * Makes room for `wordCount` more words in a table. Clears the table if it is full, or if `mustClear`, and returns
 * whether it did.
 */
function clearsFor(table: SlotTable, wordCount: u32, mustClear: bool): bool {
  if (!mustClear && reserve(table, wordCount)) return false;
  memory.fill(table.slots, 0, endOfSlots(table) - table.slots);
  table.usedCount = 0;
  if (!reserve(table, wordCount)) unreachable();
  return true;
}

/**
 * Caches a long word in a free slot, if there is room for its record. If not, the table of long words is cleared before
 * the next batch.
 */
export function keepLong(slot: usize, hash: u32, start: usize, length: u32, result: u64): void {
  if (!insertLong(long, slot, start, length, hash, result)) areRecordsFull = true;
}

/**
 * Keeps `count` ids of 32 bits that `packedResult` cannot pack, because there are too many or none. Returns the result
 * that refers to them, or `missing` if there is no room for them.
 */
export function keepIds(ids: usize, count: u32, isNarrow: bool): u64 {
  const bytes: usize = isNarrow ? 2 * count : 4 * count;
  if (bytes > keptLimit - keptEnd) {
    areKeptFull = true;
    return 0;
  }
  if (isNarrow)
    for (let i: u32 = 0; i < count; i++) store<u16>(keptEnd + (i << 1), load<u16>(ids + (i << 2)));
  else memory.copy(keptEnd, ids, bytes);
  const offset = <u32>((keptEnd - keptStart) >> 1);
  keptEnd += bytes;
  return keptResult(offset, count);
}

/**
 * A result: the ids of a word in 64 bits, copied by one load and one store; or where they are kept.
 *
 *   RESULT    BITS                                  MEANING
 *   missing   0
 *   narrow    id0 | id1 << 16 | id2 << 32           up to three ids of 16 bits
 *             | count << 48                         count = 1 .. 3
 *   wide      id0 | id1 << 32 | count << 59         up to two ids of 27 bits; count = 1, 2
 *   kept      offset | count << 32 | 1 << 63        `count` ids, 2 * `offset` bytes after the first kept id
 *
 * A vocabulary is narrow if every id fits 16 bits, else wide. `kept`, as a signed number, is negative.
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

function keptOffset(result: u64): u32 {
  return <u32>result;
}

function keptCount(result: u64): u32 {
  return <u32>((result & ~keptFlag) >> 32);
}

/** Returns the result that contains the `count` ids of 32 bits at `ids`, or `missing` if there are none or too many. */
export function packedResult(ids: usize, count: u32, isNarrow: bool): u64 {
  if (count === 0 || count > (isNarrow ? narrowIdsMax : wideIdsMax)) return missing;
  let result: u64 = 0;
  const idBits: u64 = isNarrow ? 16 : 32;
  for (let i: u32 = 0; i < count; i++) result |= (<u64>load<u32>(ids + (i << 2))) << (idBits * i);
  return result | ((<u64>count) << (isNarrow ? narrowCountShift : wideCountShift));
}

/**
 * The address of the next id. Memory is reserved there for one id for each byte that is left to encode, and at least 8
 * bytes more.
 */
export let idsEnd: usize = 0;

export function beginIds(start: usize): void {
  idsEnd = start;
}

/**
 * Writes the 16-bit ids of the words from `word` on, until a word is missing or all are written. Returns the index of
 * the missing word, or `wordCount`. All 64 bits of a result are stored; the next result overwrites those that are not
 * ids.
 */
export function emitNarrow(word: u32, wordCount: u32): u32 {
  let ids = idsEnd;
  let at = results + (word << 3);
  const end = results + (wordCount << 3);
  for (; at < end; at += 8) {
    const result = load<u64>(at);
    if (<i64>result > 0) {
      store<u64>(ids, result);
      ids += (<usize>(result >> narrowCountShift)) << 1;
      continue;
    }
    if (result === missing) break;
    ids = emitKept(result, ids, 1);
  }
  idsEnd = ids;
  return <u32>((at - results) >> 3);
}

/** Does the same as `emitNarrow` for ids of 32 bits. */
export function emitWide(word: u32, wordCount: u32): u32 {
  let ids = idsEnd;
  let at = results + (word << 3);
  const end = results + (wordCount << 3);
  for (; at < end; at += 8) {
    const result = load<u64>(at);
    if (<i64>result > 0) {
      store<u64>(ids, result & wideIdsMask);
      ids += (<usize>(result >> wideCountShift)) << 2;
      continue;
    }
    if (result === missing) break;
    ids = emitKept(result, ids, 2);
  }
  idsEnd = ids;
  return <u32>((at - results) >> 3);
}

/**
 * Writes the kept ids of a result to `ids`. Returns the address after them. Up to 6 bytes from that address on are
 * overwritten.
 */
function emitKept(result: u64, ids: usize, idShift: usize): usize {
  let kept = keptStart + ((<usize>keptOffset(result)) << 1);
  const end = ids + ((<usize>keptCount(result)) << idShift);
  for (let to = ids; to < end; to += 8, kept += 8) store<u64>(to, load<u64>(kept));
  return end;
}

/** Writes one id: in 2 bytes if `isNarrow`, else in 4. */
export function emitId(id: i32, isNarrow: bool): void {
  if (isNarrow) store<u16>(idsEnd, <u16>id);
  else store<i32>(idsEnd, id);
  idsEnd += isNarrow ? 2 : 4;
}

/** Writes the `count` 32-bit ids at `ids`: each in 2 bytes if `isNarrow`, else in 4. */
export function emitIds(ids: usize, count: u32, isNarrow: bool): void {
  if (isNarrow) {
    for (let i: u32 = 0; i < count; i++, idsEnd += 2) store<u16>(idsEnd, load<u16>(ids + (i << 2)));
  } else {
    memory.copy(idsEnd, ids, (<usize>count) << 2);
    idsEnd += (<usize>count) << 2;
  }
}

/**
 * The results of a batch. Its words are looked up in three passes, by length. Each pass is a small loop, so that cache
 * misses overlap. A word that is not found has the result `missing`.
 *
 *   ARRAY     TYPE   LENGTH             MEANING
 *   results   u64    batchWordsMax      the result of each word of the batch
 */
export let results: usize = 0;

export function useLookUp(): bool {
  results = reserveTable(8 * batchWordsMax);
  return results !== 0;
}

/** Looks up the short words. Lists the others in `longer` (regions.ts), and returns their number. */
export function lookUpShort(table: SlotTable, ends: usize, wordCount: u32): u32 {
  const shift = homeShift(table);
  const slots = table.slots;
  const lastSlot = endOfSlots(table) - shortSlotBytes;
  const text = textStart;
  let longerEnd = longerStart;
  let result = results;
  let start = load<u32>(ends);
  for (let word: u32 = 0; word < wordCount; word++) {
    ends += 4;
    const end = load<u32>(ends);
    const length = end - start;
    // The index is always stored. Unless the word is longer than a short word, the next store overwrites it.
    store<u32>(longerEnd, word);
    longerEnd += usize(length > shortBytesMax) << 2;
    const key = select<u64>(sentinelKey, shortKey(text + start, length), length > shortBytesMax);
    start = end;
    let slot = slots + ((<usize>(hashShort(key) >> shift)) << 4);
    let found = load<u64>(slot);
    // Most words are in their home slot, and need only this one comparison.
    if (found !== key) {
      while (found !== 0) {
        slot = slot === lastSlot ? slots : slot + shortSlotBytes;
        found = load<u64>(slot);
        if (found === key) break;
      }
    }
    store<u64>(result, load<u64>(slot, 8));
    result += 8;
  }
  return <u32>((longerEnd - longerStart) >> 2);
}

/**
 * Looks up the middle words: those in the list `longer`, of `longerCount` words, that are not in the list `long`, of
 * `longCount` words (regions.ts).
 */
export function lookUpMiddle(table: SlotTable, longerCount: u32, longCount: u32): void {
  const end = endOfSlots(table);
  const slots = table.slots;
  let keys = middleKeysStart;
  let homes = middleHomesStart;
  let nextLong = longStart;
  store<u32>(longStart + (longCount << 2), u32.MAX_VALUE);
  for (let i: u32 = 0; i < longerCount; i++) {
    const word = load<u32>(longerStart + (i << 2));
    if (word === load<u32>(nextLong)) {
      nextLong += 4;
      continue;
    }
    const tailKey = load<u64>(keys);
    const head = load<u64>(keys, 8);
    let slot = <usize>load<u32>(homes);
    keys += 16;
    homes += 4;
    for (;;) {
      const found = load<u64>(slot);
      if (((found ^ tailKey) | (load<u64>(slot, 8) ^ head)) === 0 || found === 0) break;
      slot += middleSlotBytes;
      if (slot === end) slot = slots;
    }
    store<u64>(results + (word << 3), load<u64>(slot, 16));
  }
}

/** Looks up the long words listed in `long` (regions.ts). */
export function lookUpLong(ends: usize, longCount: u32): void {
  for (let i: u32 = 0; i < longCount; i++) {
    const word = load<u32>(longStart + (i << 2));
    const start = load<u32>(ends + (word << 2));
    const length = load<u32>(ends + (word << 2), 4) - start;
    if (length > cachedBytesMax) continue;
    const at = textStart + start;
    const slot = findLong(long, at, length, hashLong(at, length));
    if (load<u64>(slot) !== 0) store<u64>(results + (word << 3), recordValue(recordOf(long, slot)));
  }
}
