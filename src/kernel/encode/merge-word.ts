import { reserveTable, reserveTo } from "./encoding-memory";
import { heapedRoomBytes, mergeHeaped } from "./merge-heaped";
import { listedRoomBytes, mergeListed } from "./merge-listed";
import { droppedByte, EncodingModel } from "./model-layout";
import { findPair, noRank } from "./pair-ranks";
import { findWholeToken, wholeTokenCount } from "./whole-tokens";

/**
 * Merges one word into ids: always the two neighbours of the lowest rank, the leftmost ones first. Three algorithms for three
 * sizes of words give the same ids.
 */

/** Words of so many bytes or fewer are merged in memory that is reserved for them. */
const scannedBytesMax: u32 = 64;
/** Up to so many symbols all ranks are compared for each merge; from about here on a heap is faster. */
let scannedSymbolsMax: u32 = scannedBytesMax;
/** From so many symbols on each rank has a list of positions, which is linear; below, clearing the lists costs more. */
let listedSymbolsMin: u32 = 8192;

/** Other limits, for tests; the first one is at most 64. */
export function limitMerging(scannedMax: u32, listedMin: u32): void {
  scannedSymbolsMax = scannedMax;
  listedSymbolsMin = listedMin;
}

/** `mergeWord` returns it if the memory has no room for merging the word. */
export const noRoom: u32 = u32.MAX_VALUE;

let model: EncodingModel = changetype<EncodingModel>(0);
/** Ids and ranks of a word of up to `scannedBytesMax` bytes. */
let scannedIds: usize = 0;
let scannedRanks: usize = 0;

export function useMerging(given: EncodingModel): bool {
  model = given;
  scannedIds = reserveTable(4 * (scannedBytesMax + 1));
  scannedRanks = reserveTable(4 * (scannedBytesMax + 1));
  return scannedRanks !== 0;
}

/** The address of the ids of the word merged last, 32 bits each. */
export let wordIds: usize = 0;

/**
 * Merges the `length` bytes at `start`, a pretoken or a part of one; returns the number of ids at `wordIds`, or `noRoom`. The
 * memory from `room` on is free.
 */
export function mergeWord(start: usize, length: u32, room: usize): u32 {
  if (wholeTokenCount() > 0) {
    const id = findWholeToken(start, length);
    if (id >= 0) {
      wordIds = scannedIds;
      store<i32>(wordIds, id);
      return 1;
    }
  }
  wordIds = reserveSymbols(length, room);
  if (wordIds === 0) return noRoom;
  const symbolCount = fillSymbols(wordIds, start, length);
  if (symbolCount === length && symbolCount <= scannedSymbolsMax) {
    fillByteRanks(start, length);
    return mergeScanned(wordIds, symbolCount, scannedRanks, model.mergedIds);
  }
  return mergeSymbols(wordIds, symbolCount);
}

/** Where so many ids of 32 bits may stand while they are merged; 0 without room. The memory from `room` on is free. */
export function reserveSymbols(count: u32, room: usize): usize {
  if (count <= scannedBytesMax) return scannedIds;
  const symbols = (room + 7) & ~7;
  return reserveTo(<u64>symbols + 4 * <u64>count + 8) ? symbols : 0;
}

/** Merges the ids at `ids` in place, where `reserveSymbols` has room for them; returns how many are left, or `noRoom`. */
export function mergeSymbols(ids: usize, symbolCount: u32): u32 {
  if (symbolCount <= scannedSymbolsMax) {
    fillRanks(ids, symbolCount);
    return mergeScanned(ids, symbolCount, scannedRanks, model.mergedIds);
  }
  const behind = (ids + 4 * <usize>symbolCount + 7) & ~7;
  if (symbolCount >= listedSymbolsMin && model.isMonotone) {
    if (!reserveTo(<u64>behind + listedRoomBytes(symbolCount, model.mergeCount))) return noRoom;
    return mergeListed(ids, symbolCount, behind, model.mergedIds, model.mergeCount);
  }
  if (!reserveTo(<u64>behind + heapedRoomBytes(symbolCount))) return noRoom;
  return mergeHeaped(ids, symbolCount, behind, model.mergedIds);
}

/**
 * Writes the ids that merging begins with: those of bytes, and of characters that are merged in any context. Leaves out bytes that
 * the vocabulary lacks. Returns the number of ids.
 */
function fillSymbols(ids: usize, start: usize, length: u32): u32 {
  const byteIds = model.byteIds;
  const characters = model.characters;
  const end = start + length;
  let symbol = ids;
  for (let at = start; at < end; ) {
    const byte = <u32>load<u8>(at);
    if (byte >> 4 === 0xe && characters !== 0 && at + 2 < end) {
      const second = <u32>load<u8>(at, 1);
      const third = <u32>load<u8>(at, 2);
      if ((second & 0xc0) === 0x80 && (third & 0xc0) === 0x80) {
        const codePoint = ((byte & 15) << 12) | ((second & 63) << 6) | (third & 63);
        const idAndOne = load<i32>(characters + (codePoint << 2));
        if (idAndOne !== 0) {
          store<i32>(symbol, idAndOne - 1);
          symbol += 4;
          at += 3;
          continue;
        }
      }
    }
    const id = load<i32>(byteIds + (byte << 2));
    store<i32>(symbol, id);
    symbol += id === droppedByte ? 0 : 4;
    at++;
  }
  return <u32>((symbol - ids) >> 2);
}

/** Writes the ranks of neighbours if every symbol is a byte: no hashing. */
function fillByteRanks(start: usize, length: u32): void {
  const byteRanks = model.byteRanks;
  for (let i: u32 = 0; i + 1 < length; i++) {
    const pair = ((<u32>load<u8>(start + i)) << 8) | load<u8>(start + i, 1);
    store<i32>(scannedRanks + (i << 2), load<i32>(byteRanks + (pair << 2)));
  }
}

function fillRanks(ids: usize, symbolCount: u32): void {
  for (let i: u32 = 0; i + 1 < symbolCount; i++) {
    const id = ids + (i << 2);
    store<i32>(scannedRanks + (i << 2), findPair(load<i32>(id), load<i32>(id, 4)));
  }
}

/**
 * Merges a short word in place. At `ids` are `symbolCount` ids of 32 bits, at `ranks` the rank of each id with the next one.
 * Quadratic, and the fastest way for words of few bytes. Returns the number of ids left.
 */
export function mergeScanned(ids: usize, symbolCount: u32, ranks: usize, mergedIds: usize): u32 {
  let count = symbolCount;
  while (true) {
    let best = noRank;
    let bestPos: u32 = 0;
    for (let i: u32 = 0; i + 1 < count; i++) {
      const rank = load<i32>(ranks + (i << 2));
      if (rank < best) {
        best = rank;
        bestPos = i;
      }
    }
    if (best === noRank) return count;
    const merged = load<i32>(mergedIds + (best << 2));
    const id = ids + (bestPos << 2);
    const rank = ranks + (bestPos << 2);
    store<i32>(id, merged);
    count--;
    for (let i = bestPos + 1, to: usize = 4; i < count; i++, to += 4) {
      store<i32>(id + to, load<i32>(id + to, 4));
      store<i32>(rank + to, load<i32>(rank + to, 4));
    }
    if (bestPos > 0) store<i32>(rank - 4, findPair(load<i32>(id - 4), merged));
    if (bestPos + 1 < count) store<i32>(rank, findPair(merged, load<i32>(id, 4)));
  }
}
