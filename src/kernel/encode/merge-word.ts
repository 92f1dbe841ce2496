import { pollAtStep } from "../env";
import { reserveTable, reserveTo } from "../regions";
import { characterIn, hasCharacters, spacedCharacterIn, useCharacters } from "./characters";
import { beginsWithCharacters, fillCharacters, useFirstCharacters } from "./first-characters";
import { droppedByte, EncodingModel } from "./model-layout";
import { findPair, guessPair, guessPairs, isRankOf, mergedBy, mergeOf, noRank } from "./pair-ranks";
import { findWholeToken, wholeTokenCount } from "./whole-tokens";

/**
 * Merges one word into ids. Each step merges the adjacent pair with the lowest rank, and the leftmost if there are
 * several. Short and long words have different algorithms, which give the same ids.
 */

/** Words of at most this many bytes are merged in memory that is reserved once; longer ones in memory of their size. */
const scannedBytesMax: u32 = isSmallScale ? 5 : 64;
/**
 * Up to this many symbols (the ids with which merging a word begins), all ranks are compared for each merge. With more
 * symbols, a heap is faster.
 */
let scannedSymbolsMax: u32 = scannedBytesMax;

/** Sets `scannedSymbolsMax`, for tests. `scannedMax` must be at most `scannedBytesMax`. */
export function limitMerging(scannedMax: u32): void {
  scannedSymbolsMax = scannedMax;
}

/** Functions that merge, such as `mergeWord`, return this if memory runs out. */
export const noRoom: u32 = u32.MAX_VALUE;

let model: EncodingModel = changetype<EncodingModel>(0);
/** The address of the ids of a word of at most `scannedBytesMax` bytes, or of the id of a whole token. */
let scannedIds: usize = 0;
/** The address of the ranks of the pairs among at most `scannedSymbolsMax` symbols. */
let scannedRanks: usize = 0;

export function useMerging(given: EncodingModel): bool {
  model = given;
  if (!useFirstCharacters(given) || !useCharacters(given)) return false;
  scannedIds = reserveTable(4 * (scannedBytesMax + 1));
  scannedRanks = reserveTable(4 * (scannedBytesMax + 1));
  return scannedRanks !== 0;
}

/** The address of the ids of the word merged last, 32 bits each. */
export let wordIds: usize = 0;

/**
 * Merges the `length` bytes at `start`, which are a pretoken or a part of one. Returns the number of ids at `wordIds`,
 * or `noRoom` if memory runs out. The memory from `room` on is free.
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
  const symbolCount = beginsWithCharacters(model)
    ? fillCharacters(wordIds, start, length)
    : fillSymbols(wordIds, start, length);
  if (symbolCount === length && symbolCount <= scannedSymbolsMax) {
    fillByteRanks(start, length);
    return mergeScanned(wordIds, symbolCount, scannedRanks);
  }
  return mergeSymbols(wordIds, symbolCount);
}

/**
 * Reserves memory for merging `count` ids of 32 bits. Returns its address, or 0 if memory runs out. The memory from
 * `room` on is free.
 */
export function reserveSymbols(count: u32, room: usize): usize {
  if (count <= scannedBytesMax) return scannedIds;
  const symbols = (room + 7) & ~7;
  return reserveTo(<u64>symbols + 4 * <u64>count + 8) ? symbols : 0;
}

/**
 * Merges the `symbolCount` ids at `ids`, an address that `reserveSymbols` returned, in place. Returns the number of ids
 * left, or `noRoom` if memory runs out.
 */
export function mergeSymbols(ids: usize, symbolCount: u32): u32 {
  if (canScan(symbolCount)) {
    guessPairs(ids, symbolCount, scannedRanks);
    return mergeScanned(ids, symbolCount, scannedRanks);
  }
  const scratch = (ids + 4 * <usize>symbolCount + 7) & ~7;
  if (!reserveTo(<u64>scratch + heapedRoomBytes(symbolCount))) return noRoom;
  return mergeHeaped(ids, symbolCount, scratch, 0);
}

/** Whether `mergeScanned` merges this many symbols. */
export function canScan(symbolCount: u32): bool {
  return symbolCount <= scannedSymbolsMax;
}

const space: u64 = 0x20;

/**
 * Writes the ids with which merging a word begins: those of whole characters where characters.ts knows them, otherwise
 * those of bytes. Drops bytes that have no id. Returns the number of ids.
 */
function fillSymbols(ids: usize, start: usize, length: u32): u32 {
  const end = start + length;
  let symbol = ids;
  let at = start;
  const beginning = load<u64>(start);
  const second = <u32>(beginning >> 8) & 0xff;
  if (length > 2 && (beginning & 0xff) === space && second >= 0xc0 && hasCharacters()) {
    const id = spacedCharacterIn(beginning, length - 1);
    if (id >= 0) {
      store<i32>(symbol, id);
      symbol += 4;
      at += second >= 0xe0 ? 4 : 3;
    }
  }
  for (; at < end; at++) {
    // Loads the previous byte, the current one, and the next six.
    const around = load<u64>(at - 1);
    const byte = <u32>(around >> 8) & 0xff;
    if (byte >= 0xc0 && hasCharacters()) {
      const id = characterIn(around, at > start, <u32>(end - at));
      if (id >= 0) {
        store<i32>(symbol, id);
        symbol += 4;
        at += byte >= 0xe0 ? 2 : 1;
        continue;
      }
    }
    const id = load<i32>(model.byteIds + (byte << 2));
    store<i32>(symbol, id);
    symbol += id === droppedByte ? 0 : 4;
  }
  return <u32>((symbol - ids) >> 2);
}

/** Writes the ids of the `length` bytes at `start`, and drops bytes that have no id. Returns the number of ids. */
export function fillBytes(ids: usize, start: usize, length: u32): u32 {
  let symbol = ids;
  for (let i: usize = 0; i < length; i++) {
    const id = load<i32>(model.byteIds + ((<usize>load<u8>(start + i)) << 2));
    store<i32>(symbol, id);
    symbol += id === droppedByte ? 0 : 4;
  }
  return <u32>((symbol - ids) >> 2);
}

/**
 * Writes the ids with which merging begins, those of characters or of bytes, as the model requires. Returns their
 * number.
 */
export function fillBeginning(ids: usize, start: usize, length: u32): u32 {
  return beginsWithCharacters(model) ? fillCharacters(ids, start, length) : fillBytes(ids, start, length);
}

/**
 * Writes the rank of each pair of neighbours in a word whose symbols are all bytes. The model has a table of these
 * ranks, so nothing is hashed.
 */
function fillByteRanks(start: usize, length: u32): void {
  const byteRanks = model.byteRanks;
  for (let i: u32 = 0; i + 1 < length; i++) {
    const pair = ((<u32>load<u8>(start + i)) << 8) | load<u8>(start + i, 1);
    store<i32>(scannedRanks + (i << 2), load<i32>(byteRanks + (pair << 2)));
  }
}

/**
 * Merges a short word of `symbolCount` ids in place. `ranks` has a guess of the rank of each pair of neighbours
 * (pair-ranks.ts). The time is quadratic, but for short words this is the fastest algorithm. Returns the number of ids
 * left.
 */
export function mergeScanned(ids: usize, symbolCount: u32, ranks: usize): u32 {
  let count = symbolCount;
  while (true) {
    let best = noRank;
    let bestPos: u32 = 0;
    for (let i: u32 = 0; i + 1 < count; i++) {
      const rank = load<i32>(ranks + (i << 2));
      const isLower = rank < best;
      best = select(rank, best, isLower);
      bestPos = select(i, bestPos, isLower);
    }
    if (best === noRank) return count;
    const id = ids + (bestPos << 2);
    const rank = ranks + (bestPos << 2);
    if (!isRankOf(best, load<i32>(id), load<i32>(id, 4))) {
      store<i32>(rank, findPair(load<i32>(id), load<i32>(id, 4)));
      continue;
    }
    const merged = mergedBy(mergeOf(best, load<i32>(id), load<i32>(id, 4)));
    store<i32>(id, merged);
    count--;
    for (let i = bestPos + 1, to: usize = 4; i < count; i++, to += 4) {
      store<i32>(id + to, load<i32>(id + to, 4));
      store<i32>(rank + to, load<i32>(rank + to, 4));
    }
    if (bestPos > 0) store<i32>(rank - 4, guessPair(load<i32>(id - 4), merged));
    if (bestPos + 1 < count) store<i32>(rank, guessPair(merged, load<i32>(id, 4)));
  }
}

const covered: i32 = -1;

/**
 * Merges a word in place, with a heap of the pairs that can merge. The time is O(n log n).
 *
 *   ARRAY    TYPE   LENGTH            MEANING
 *   ids      i32    symbolCount       id of the token that begins at a symbol, `covered` where a token continues
 *   spans    u32    symbolCount       q - p at p and again at q - 1, for a token of the symbols [p, q): its left
 *                                     neighbour begins at p - spans[p - 1], the right one at p + spans[p]
 *   heap     u64    3 * symbolCount   rank << 32 | position, the lowest first: the leftmost of the lowest rank
 *
 * "a b c" with "ab" merged: ids = [ab, covered, c], spans = [2, 2, 1]. An entry of the heap is stale if its pair no
 * longer exists; this is detected when the entry is popped. There are at most three entries for each symbol: one at the
 * start and two for each merge.
 */

/** Returns how many bytes at `room` are enough for `mergeHeaped` with `symbolCount` symbols. */
export function heapedRoomBytes(symbolCount: u32): u64 {
  return 32 * <u64>symbolCount;
}

/**
 * Merges the `symbolCount` ids at `ids` in place, as described above, and returns the number of ids left. `room`, a
 * multiple of 8, is the address of `heapedRoomBytes` free bytes. Writes the merges to `trace` (trace.ts), unless it is
 * 0.
 */
export function mergeHeaped(ids: usize, symbolCount: u32, room: usize, trace: usize): u32 {
  const heap = room;
  const spans = room + 24 * <usize>symbolCount;
  for (let pos: u32 = 0; pos < symbolCount; pos++) store<u32>(spans + (pos << 2), 1);
  let size: u32 = 0;
  for (let pos: u32 = 0; pos + 1 < symbolCount; pos++) {
    const rank = findPair(load<i32>(ids + (pos << 2)), load<i32>(ids + (pos << 2), 4));
    if (rank !== noRank) setEntry(heap, size++, entryOf(rank, pos));
    pollAtStep(pos);
  }
  for (let i = <i32>(size >> 1) - 1; i >= 0; i--) {
    sink(heap, <u32>i, size);
    pollAtStep(<u32>i);
  }
  for (let step: u32 = 0; size > 0; step++) {
    pollAtStep(step);
    const top = entryAt(heap, 0);
    size--;
    if (size > 0) {
      setEntry(heap, 0, entryAt(heap, size));
      sink(heap, 0, size);
    }
    const rank = <i32>(top >> 32);
    const pos = <u32>top;
    const id = ids + (pos << 2);
    const span = load<u32>(spans + (pos << 2));
    const rightPos = pos + span;
    if (load<i32>(id) === covered || rightPos >= symbolCount) continue;
    const rightId = ids + (rightPos << 2);
    if (findPair(load<i32>(id), load<i32>(rightId)) !== rank) continue;

    const merge = mergeOf(rank, load<i32>(id), load<i32>(rightId));
    if (trace !== 0) {
      store<u32>(trace, rightPos);
      store<i32>(trace, merge, 4);
      trace += 8;
    }
    const merged = mergedBy(merge);
    const nextPos = rightPos + load<u32>(spans + (rightPos << 2));
    store<i32>(id, merged);
    store<i32>(rightId, covered);
    store<u32>(spans + (pos << 2), nextPos - pos);
    store<u32>(spans + ((nextPos - 1) << 2), nextPos - pos);
    if (pos > 0) {
      const leftPos = pos - load<u32>(spans + ((pos - 1) << 2));
      const leftRank = findPair(load<i32>(ids + (leftPos << 2)), merged);
      if (leftRank !== noRank) rise(heap, size++, entryOf(leftRank, leftPos));
    }
    if (nextPos < symbolCount) {
      const nextRank = findPair(merged, load<i32>(ids + (nextPos << 2)));
      if (nextRank !== noRank) rise(heap, size++, entryOf(nextRank, pos));
    }
  }
  return packTokens(ids, spans, symbolCount);
}

/** Moves the ids of the tokens to the front. Returns their number. */
function packTokens(ids: usize, spans: usize, symbolCount: u32): u32 {
  let count: u32 = 0;
  for (let pos: u32 = 0; pos < symbolCount; pos += load<u32>(spans + (pos << 2))) {
    store<i32>(ids + (count++ << 2), load<i32>(ids + (pos << 2)));
  }
  return count;
}

function entryOf(rank: i32, pos: u32): u64 {
  return ((<u64>rank) << 32) | pos;
}

function entryAt(heap: usize, i: u32): u64 {
  return load<u64>(heap + ((<usize>i) << 3));
}

function setEntry(heap: usize, i: u32, entry: u64): void {
  store<u64>(heap + ((<usize>i) << 3), entry);
}

function sink(heap: usize, i: u32, size: u32): void {
  const entry = entryAt(heap, i);
  for (let child: u32 = 2 * i + 1; child < size; child = 2 * i + 1) {
    if (child + 1 < size && entryAt(heap, child + 1) < entryAt(heap, child)) child++;
    if (entryAt(heap, child) >= entry) break;
    setEntry(heap, i, entryAt(heap, child));
    i = child;
  }
  setEntry(heap, i, entry);
}

function rise(heap: usize, i: u32, entry: u64): void {
  while (i > 0) {
    const parent = (i - 1) >> 1;
    if (entryAt(heap, parent) <= entry) break;
    setEntry(heap, i, entryAt(heap, parent));
    i = parent;
  }
  setEntry(heap, i, entry);
}
