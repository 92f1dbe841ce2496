import { findPair, noRank } from "./pair-ranks";
import { sortAscending } from "./sort-numbers";

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
export function listedRoomBytes(symbolCount: u32, mergeCount: u32): u64 {
  return (
    8 * <u64>symbolCount + alignedFirstsBytes(mergeCount) + 8 * <u64>symbolCount + 16 * <u64>symbolCount + 8
  );
}

function alignedFirstsBytes(mergeCount: u32): usize {
  return (4 * <usize>mergeCount + 7) & ~7;
}

/** Merges the ids at `ids`; returns the number of ids left. `room` is a multiple of 8. */
export function mergeListed(ids: usize, count: u32, room: usize, mergedIds: usize, mergeCount: u32): u32 {
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
