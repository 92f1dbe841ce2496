import { reserveTable, reserveTo } from "../regions";
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

/**
 * Merges a huge word in place in near-linear time, for models whose ranks only rise. It goes through the ranks in ascending
 * order. Each rank has a list of the positions of its pair; a pair that a merge makes goes to the list of a later rank.
 *
 *   ARRAY       TYPE    LENGTH              MEANING
 *   cells       i32,i32 symbolCount         the word: id of the token that begins at a symbol, `covered` inside a token; the
 *                                           number of its symbols, at its first and its last one
 *   firsts      u32     mergeCount          first entry of each rank's list; 0 = none
 *   positions   u32     symbolCount         the list of the rank at work, ascending; as much again for sorting it
 *   entries     u32,u32 2 * symbolCount + 1 position; the entry behind it in its list, or in the list of free ones; 0 = none
 *
 * An entry is stale when its pair is gone, which is noticed when its list is read. Fields that are read together are stored
 * together, because in a word of megabytes each read is a cache miss. There are at most two entries for each symbol: one at
 * the start, and each merge frees its own entry and adds two. A list has a position once.
 */
const covered: i32 = -1;

let cells: usize = 0;
let firsts: usize = 0;
let positions: usize = 0;
let entries: usize = 0;
let symbolCount: u32 = 0;
/** Number of entries that were ever used, and the first one that is free again. */
let usedCount: u32 = 0;
let firstFree: u32 = 0;

/** Bytes that `mergeListed` needs at `room`. */
function listedRoomBytes(symbolCount: u32, mergeCount: u32): u64 {
  return (
    8 * <u64>symbolCount + alignedFirstsBytes(mergeCount) + 8 * <u64>symbolCount + 16 * <u64>symbolCount + 8
  );
}

function alignedFirstsBytes(mergeCount: u32): usize {
  return (4 * <usize>mergeCount + 7) & ~7;
}

/** Merges the ids at `ids`; returns the number of ids left. `room` is a multiple of 8. */
function mergeListed(ids: usize, count: u32, room: usize, mergedIds: usize, mergeCount: u32): u32 {
  symbolCount = count;
  cells = room;
  firsts = cells + 8 * <usize>count;
  positions = firsts + alignedFirstsBytes(mergeCount);
  entries = positions + 8 * <usize>count;
  usedCount = 1;
  firstFree = 0;
  memory.fill(firsts, 0, 4 * <usize>mergeCount);
  for (let pos: u32 = 0; pos < count; pos++) {
    store<i32>(cellAt(pos), load<i32>(ids + (pos << 2)));
    store<u32>(cellAt(pos), 1, 4);
  }
  // From the right, so that lists are ascending from the start.
  for (let pos = <i32>count - 2; pos >= 0; pos--) {
    const rank = findPair(load<i32>(ids + (pos << 2)), load<i32>(ids + (pos << 2), 4));
    if (rank !== noRank) push(rank, <u32>pos);
  }
  for (let rank: u32 = 0; rank < mergeCount; rank++) {
    const listedCount = take(rank);
    if (listedCount === 0) continue;
    const merged = load<i32>(mergedIds + (rank << 2));
    listNeighbours(mergeAll(listedCount, <i32>rank, merged), merged);
  }
  return packIds(ids);
}

function cellAt(pos: u32): usize {
  return cells + ((<usize>pos) << 3);
}

function positionAt(i: u32): u32 {
  return load<u32>(positions + (i << 2));
}

/** Makes the merges of one rank from the left; the positions where one was made move to the front of `positions`. */
function mergeAll(listedCount: u32, rank: i32, merged: i32): u32 {
  let doneCount: u32 = 0;
  for (let i: u32 = 0; i < listedCount; i++) {
    const pos = positionAt(i);
    const cell = cellAt(pos);
    const left = load<i32>(cell);
    if (left === covered) continue;
    const leftSpan = load<u32>(cell, 4);
    if (pos + leftSpan >= symbolCount) continue;
    const rightCell = cellAt(pos + leftSpan);
    if (findPair(left, load<i32>(rightCell)) !== rank) continue;
    const span = leftSpan + load<u32>(rightCell, 4);
    store<i32>(cell, merged);
    store<u32>(cell, span, 4);
    store<i32>(rightCell, covered);
    store<u32>(cellAt(pos + span - 1), span, 4);
    store<u32>(positions + (doneCount++ << 2), pos);
  }
  return doneCount;
}

/** Adds the pairs that the merges of one rank made to the lists of their ranks. */
function listNeighbours(doneCount: u32, merged: i32): void {
  let lastPos: u32 = u32.MAX_VALUE;
  for (let i: u32 = 0; i < doneCount; i++) {
    const pos = positionAt(i);
    if (pos > 0) {
      const leftPos = pos - load<u32>(cellAt(pos - 1), 4);
      // If the left neighbour is of the same rank's merges, too, the pair was added with it, as its right side.
      if (leftPos !== lastPos) {
        const leftRank = findPair(load<i32>(cellAt(leftPos)), merged);
        if (leftRank !== noRank) push(leftRank, leftPos);
      }
    }
    const nextPos = pos + load<u32>(cellAt(pos), 4);
    if (nextPos < symbolCount) {
      const nextRank = findPair(merged, load<i32>(cellAt(nextPos)));
      if (nextRank !== noRank) push(nextRank, pos);
    }
    lastPos = pos;
  }
}

function packIds(ids: usize): u32 {
  let count: u32 = 0;
  for (let pos: u32 = 0; pos < symbolCount; pos += load<u32>(cellAt(pos), 4)) {
    store<i32>(ids + (count++ << 2), load<i32>(cellAt(pos)));
  }
  return count;
}

function push(rank: i32, pos: u32): void {
  let entry = firstFree;
  if (entry !== 0) firstFree = load<u32>(entries + ((<usize>entry) << 3), 4);
  else entry = usedCount++;
  const first = firsts + (rank << 2);
  store<u32>(entries + ((<usize>entry) << 3), pos);
  store<u32>(entries + ((<usize>entry) << 3), load<u32>(first), 4);
  store<u32>(first, entry);
}

/** Moves the list of a rank into `positions`; returns their number. */
function take(rank: u32): u32 {
  const first = firsts + (rank << 2);
  let entry = load<u32>(first);
  let count: u32 = 0;
  while (entry !== 0) {
    const at = entries + ((<usize>entry) << 3);
    store<u32>(positions + (count++ << 2), load<u32>(at));
    const next = load<u32>(at, 4);
    store<u32>(at, firstFree, 4);
    firstFree = entry;
    entry = next;
  }
  assert(count <= symbolCount, "a list has a position once");
  store<u32>(first, 0);
  // The pairs of one rank come back in descending order, because a list returns its last entry first.
  if (count > 1) sortAscending(positions, count, positions + ((<usize>symbolCount) << 2));
  return count;
}

/**
 * Sorts the `count` different numbers of 32 bits at `numbers`: reverses falling stretches, then merges neighbouring ascending
 * stretches until there is one. A few stretches take linear time. `room` has room for as many numbers.
 */
function sortAscending(numbers: usize, count: u32, room: usize): void {
  const end = numbers + ((<usize>count) << 2);
  reverseFallingStretches(numbers, end);
  for (;;) {
    let left = numbers;
    let middle = endOfStretch(left, end);
    if (middle === end) return;
    while (middle < end) {
      const right = endOfStretch(middle, end);
      mergeStretches(left, middle, right, room);
      left = right;
      middle = left < end ? endOfStretch(left, end) : end;
    }
  }
}

function reverseFallingStretches(numbers: usize, end: usize): void {
  for (let start = numbers; start < end; ) {
    let at = start + 4;
    while (at < end && load<u32>(at) < load<u32>(at - 4)) at += 4;
    for (let low = start, high = at - 4; low < high; low += 4, high -= 4) {
      const number = load<u32>(low);
      store<u32>(low, load<u32>(high));
      store<u32>(high, number);
    }
    start = at;
  }
}

/** Address behind the ascending stretch that begins at `start`. */
function endOfStretch(start: usize, end: usize): usize {
  let at = start + 4;
  while (at < end && load<u32>(at) > load<u32>(at - 4)) at += 4;
  return at;
}

/** Merges the ascending stretches [left, middle) and [middle, right). */
function mergeStretches(left: usize, middle: usize, right: usize, room: usize): void {
  memory.copy(room, left, middle - left);
  const roomEnd = room + (middle - left);
  let to = left;
  while (room < roomEnd) {
    const number = load<u32>(room);
    if (middle < right && load<u32>(middle) < number) {
      store<u32>(to, load<u32>(middle));
      middle += 4;
    } else {
      store<u32>(to, number);
      room += 4;
    }
    to += 4;
  }
}

/**
 * Merges a word in place by a heap of the pairs that can merge; n log n.
 *
 *   ARRAY    TYPE   LENGTH            MEANING
 *   ids      i32    symbolCount       id of the token that begins at a symbol, `covered` where a token goes on
 *   spans    u32    symbolCount       q - p at p and again at q - 1, for a token of the symbols [p, q): its left neighbour
 *                                     begins at p - spans[p - 1], the right one at p + spans[p]
 *   heap     u64    3 * symbolCount   rank << 32 | position, the lowest first: the leftmost of the lowest rank
 *
 * "a b c" with "ab" merged: ids = [ab, covered, c], spans = [2, 2, 1]. An entry of the heap is stale when its pair is gone, which
 * is noticed when it is popped. There are at most three entries for each symbol: one at the start and two for each merge.
 */

/** Bytes that `mergeHeaped` needs at `room` for so many symbols. */
function heapedRoomBytes(symbolCount: u32): u64 {
  return 32 * <u64>symbolCount;
}

/** Merges the `symbolCount` ids at `ids`; returns the number of ids left. `room` is a multiple of 8. */
function mergeHeaped(ids: usize, symbolCount: u32, room: usize, mergedIds: usize): u32 {
  const heap = room;
  const spans = room + 24 * <usize>symbolCount;
  for (let pos: u32 = 0; pos < symbolCount; pos++) store<u32>(spans + (pos << 2), 1);
  let size: u32 = 0;
  for (let pos: u32 = 0; pos + 1 < symbolCount; pos++) {
    const rank = findPair(load<i32>(ids + (pos << 2)), load<i32>(ids + (pos << 2), 4));
    if (rank !== noRank) setEntry(heap, size++, entryOf(rank, pos));
  }
  for (let i = <i32>(size >> 1) - 1; i >= 0; i--) sink(heap, <u32>i, size);
  while (size > 0) {
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

    const merged = load<i32>(mergedIds + (rank << 2));
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

/** Moves the ids of the tokens to the front; returns their number. */
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
