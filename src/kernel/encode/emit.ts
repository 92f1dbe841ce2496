import { longerStart, longStart, middleHomesStart, middleKeysStart, textStart } from "../regions";
import {
  endOfSlots,
  findLong,
  hashLong,
  hashShort,
  homeShift,
  middleSlotBytes,
  recordOf,
  recordValue,
  SlotTable,
  sentinelKey,
  shortBytesMax,
  shortKey,
  shortSlotBytes,
} from "../words/word-slots";
import { reserveTable } from "./encoding-memory";
import {
  batchWordsMax,
  cachedBytesMax,
  keptAddress,
  keptCount,
  keptOffset,
  long,
  missing,
  narrowCountShift,
  wideCountShift,
  wideIdsMask,
} from "./word-cache";

/** Address of the next id. There is room for one id for each byte of the text that is left, and 8 bytes more. */
export let idsEnd: usize = 0;

export function beginIds(start: usize): void {
  idsEnd = start;
}

/**
 * Writes the ids of the words from `word` on, until a word is missing or all are written; returns the index of that word, or
 * `wordCount`. All 64 bits of a result are stored; the next one overwrites those that are no ids.
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
    const kept = keptAddress() + ((<usize>keptOffset(result)) << 2);
    const count = keptCount(result);
    for (let i: u32 = 0; i < count; i++, ids += 2) store<u16>(ids, load<u16>(kept + (i << 2)));
  }
  idsEnd = ids;
  return <u32>((at - results) >> 3);
}

/** The same for ids of 32 bits. */
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
    const kept = keptAddress() + ((<usize>keptOffset(result)) << 2);
    const bytes = (<usize>keptCount(result)) << 2;
    memory.copy(ids, kept, bytes);
    ids += bytes;
  }
  idsEnd = ids;
  return <u32>((at - results) >> 3);
}

/** Writes one id. */
export function emitId(id: i32, isNarrow: bool): void {
  if (isNarrow) store<u16>(idsEnd, <u16>id);
  else store<i32>(idsEnd, id);
  idsEnd += isNarrow ? 2 : 4;
}

/** Writes the `count` ids of 32 bits at `ids`. */
export function emitIds(ids: usize, count: u32, isNarrow: bool): void {
  if (isNarrow) {
    for (let i: u32 = 0; i < count; i++, idsEnd += 2) store<u16>(idsEnd, load<u16>(ids + (i << 2)));
  } else {
    memory.copy(idsEnd, ids, (<usize>count) << 2);
    idsEnd += (<usize>count) << 2;
  }
}

/**
 * Looks up the words of a batch in three passes, by length: each pass is a small loop whose cache misses overlap. The result of
 * each word is copied; that of a word that is not found is `missing`.
 *
 *   ARRAY     TYPE   LENGTH             MEANING
 *   results   u64    batchWordsMax      word-cache.ts, of each word of the batch
 */
export let results: usize = 0;

export function useLookUp(): bool {
  results = reserveTable(8 * batchWordsMax);
  return results !== 0;
}

/** Looks up the short words; lists the others in `longer` (regions.ts) and returns their number. */
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
    // Always written; kept only if the word is longer.
    store<u32>(longerEnd, word);
    longerEnd += usize(length > shortBytesMax) << 2;
    const key = select<u64>(sentinelKey, shortKey(text + start, length), length > shortBytesMax);
    start = end;
    let slot = slots + ((<usize>(hashShort(key) >> shift)) << 4);
    let found = load<u64>(slot);
    // Most words are in their home slot, and need this one comparison only.
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

/** Looks up the middle words: those of the `longerCount` words in `longer` that are not among the `longCount` in `long`. */
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
