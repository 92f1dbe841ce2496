import { findPair, noRank } from "./pair-ranks";

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
const covered: i32 = -1;

/** Bytes that `mergeHeaped` needs at `room` for so many symbols. */
export function heapedRoomBytes(symbolCount: u32): u64 {
  return 32 * <u64>symbolCount;
}

/** Merges the `symbolCount` ids at `ids`; returns the number of ids left. `room` is a multiple of 8. */
export function mergeHeaped(ids: usize, symbolCount: u32, room: usize, mergedIds: usize): u32 {
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
