import type { EncodingModel } from "./model.ts";
import { findPair, noRank, type PairTable } from "./pairs.ts";

/**
 * Merges a huge word in place in near-linear time. Where ranks only rise, they can be gone through in ascending order:
 * each has a list of the positions where its pair was seen, and what a merge makes goes to the list of a later rank.
 *
 *   ARRAY     TYPE         LENGTH            MEANING
 *   cells     Int32Array   2 * symbolCount   the word, as in spans.ts: id at 2 p, `covered` for what was swallowed; span at
 *                                            2 p + 1, at the first and the last symbol of a token
 *   entries   Int32Array   2 * entryCount    position of entry e at 2 e; at 2 e + 1 the entry behind it in its list, or in
 *                                            the list of free ones; 0 = none
 *   firsts    Int32Array   mergeCount        first entry of each rank's list; 0 = none
 *
 * An entry is stale where its pair is gone, which shows when the list is gone through. What is read together stands
 * together, because in megabytes every read of its own is a cache miss.
 */
export function mergeListed(
  ids: Int32Array,
  symbolCount: number,
  { mergedIds, pairs }: EncodingModel,
): number {
  const cells = new Int32Array(2 * symbolCount);
  for (let pos = 0; pos < symbolCount; pos++) {
    cells[2 * pos] = ids[pos]!;
    cells[2 * pos + 1] = 1;
  }
  const lists = new RankLists(mergedIds.length, symbolCount);
  // From the right, so that lists are ascending from the start.
  for (let pos = symbolCount - 2; pos >= 0; pos--) {
    const rank = findPair(pairs, ids[pos]!, ids[pos + 1]!);
    if (rank !== noRank) lists.push(rank, pos);
  }
  for (let rank = 0; rank < mergedIds.length; rank++) {
    const listedCount = lists.take(rank);
    if (listedCount === 0) continue;
    const merged = mergedIds[rank]!;
    const doneCount = mergeAll(cells, pairs, lists.positions, listedCount, rank, merged);
    listNeighbours(cells, pairs, lists, doneCount, merged);
  }
  return packIds(cells, ids, symbolCount);
}

const covered = -1;

/** Makes the merges of one rank from the left; the places where one was made move to the front of `positions`. */
function mergeAll(
  cells: Int32Array,
  pairs: PairTable,
  positions: Int32Array,
  listedCount: number,
  rank: number,
  merged: number,
): number {
  let doneCount = 0;
  for (let i = 0; i < listedCount; i++) {
    const pos = positions[i]!;
    const left = cells[2 * pos]!;
    if (left === covered) continue;
    const leftSpan = cells[2 * pos + 1]!;
    const rightCell = 2 * (pos + leftSpan);
    if (rightCell >= cells.length || findPair(pairs, left, cells[rightCell]!) !== rank) continue;
    const span = (leftSpan + cells[rightCell + 1]!) | 0;
    cells[2 * pos] = merged;
    cells[2 * pos + 1] = span;
    cells[rightCell] = covered;
    cells[2 * (pos + span - 1) + 1] = span;
    positions[doneCount++] = pos;
  }
  return doneCount;
}

/** Lists the pairs that the merges of one rank made, by the positions where they were made. */
function listNeighbours(
  cells: Int32Array,
  pairs: PairTable,
  lists: RankLists,
  doneCount: number,
  merged: number,
): void {
  const { positions } = lists;
  let lastPos = -1;
  for (let i = 0; i < doneCount; i++) {
    const pos = positions[i]!;
    if (pos > 0) {
      const leftPos = pos - cells[2 * (pos - 1) + 1]!;
      // In a run of merges the left neighbour of one is the one before: its right side was looked at already.
      if (leftPos !== lastPos) {
        const leftRank = findPair(pairs, cells[2 * leftPos]!, merged);
        if (leftRank !== noRank) lists.push(leftRank, leftPos);
      }
    }
    const nextCell = 2 * (pos + cells[2 * pos + 1]!);
    if (nextCell < cells.length) {
      const nextRank = findPair(pairs, merged, cells[nextCell]!);
      if (nextRank !== noRank) lists.push(nextRank, pos);
    }
    lastPos = pos;
  }
}

function packIds(cells: Int32Array, ids: Int32Array, symbolCount: number): number {
  let count = 0;
  for (let pos = 0; pos < symbolCount; pos += cells[2 * pos + 1]!) ids[count++] = cells[2 * pos]!;
  return count;
}

class RankLists {
  /** The positions taken last, ascending. */
  positions = new Int32Array(1 << 12);
  private readonly firsts: Int32Array;
  private entries: Int32Array;
  private usedCount = 1;
  private firstFree = 0;

  constructor(rankCount: number, entryCount: number) {
    this.firsts = new Int32Array(rankCount);
    this.entries = new Int32Array(2 * (entryCount + 1));
  }

  push(rank: number, pos: number): void {
    let entry = this.firstFree;
    if (entry !== 0) this.firstFree = this.entries[2 * entry + 1]!;
    else {
      entry = this.usedCount++;
      if (2 * entry === this.entries.length) this.entries = lengthened(this.entries);
    }
    this.entries[2 * entry] = pos;
    this.entries[2 * entry + 1] = this.firsts[rank]!;
    this.firsts[rank] = entry;
  }

  /** Moves the list of a rank into `positions`; returns how many they are. */
  take(rank: number): number {
    const { entries } = this;
    let entry = this.firsts[rank]!;
    if (entry === 0) return 0;
    let count = 0;
    let lastPos = -1;
    let riseCount = 0;
    while (entry !== 0) {
      if (count === this.positions.length) this.positions = lengthened(this.positions);
      const pos = entries[2 * entry]!;
      if (pos > lastPos) riseCount++;
      lastPos = pos;
      this.positions[count++] = pos;
      const next = entries[2 * entry + 1]!;
      entries[2 * entry + 1] = this.firstFree;
      this.firstFree = entry;
      entry = next;
    }
    this.firsts[rank] = 0;
    const taken = this.positions.subarray(0, count);
    // What one rank has made comes back from the right, for a list gives last what was pushed first.
    if (riseCount === 1) taken.reverse();
    else if (riseCount < count) taken.sort();
    return count;
  }
}

function lengthened(numbers: Int32Array): Int32Array<ArrayBuffer> {
  const longer = new Int32Array(2 * numbers.length);
  longer.set(numbers);
  return longer;
}
