import type { EncodingModel } from "./model.ts";
import { findPair, noRank } from "./pairs.ts";
import { joinSpans, packTokens, startSpans } from "./spans.ts";

/**
 * Merges a huge word in place in near-linear time. Where ranks only rise, they can be gone through in ascending order:
 * each has a list of the positions where its pair was seen, and what a merge makes goes to the list of a later rank.
 *
 *   ARRAY      TYPE         LENGTH         MEANING
 *   firsts     Int32Array   mergeCount     first entry of each rank's list; 0 = none
 *   places     Int32Array   entry count    position of entry e
 *   nexts      Int32Array   entry count    the entry behind it in its list, or in the list of free ones; 0 = none
 *
 * An entry is stale where its pair is gone, which shows when the list is gone through.
 */
export function mergeListed(
  ids: Int32Array,
  symbolCount: number,
  spans: Int32Array,
  { mergedIds, pairs }: EncodingModel,
): number {
  const { lanes, slotBits } = pairs;
  const lists = new RankLists(mergedIds.length, symbolCount);
  startSpans(spans, symbolCount);
  // From the right, so that lists are ascending from the start.
  for (let pos = symbolCount - 2; pos >= 0; pos--) {
    const rank = findPair(lanes, slotBits, ids[pos]!, ids[pos + 1]!);
    if (rank !== noRank) lists.push(rank, pos);
  }
  for (let rank = 0; rank < mergedIds.length; rank++) {
    const listed = lists.take(rank);
    if (listed === 0) continue;
    const { positions } = lists;
    const merged = mergedIds[rank]!;
    const doneCount = mergeAll(ids, symbolCount, spans, lanes, slotBits, positions, listed, rank, merged);
    let lastLeftPos = -1;
    for (let i = 0; i < doneCount; i++) {
      const pos = positions[i]!;
      // In a run of merges the left neighbour of one is the one before: its right side was looked at already.
      if (pos > 0) {
        const leftPos = pos - spans[pos - 1]!;
        if (leftPos !== lastLeftPos) {
          const leftRank = findPair(lanes, slotBits, ids[leftPos]!, merged);
          if (leftRank !== noRank) lists.push(leftRank, leftPos);
        }
      }
      const nextPos = pos + spans[pos]!;
      if (nextPos < symbolCount) {
        const nextRank = findPair(lanes, slotBits, merged, ids[nextPos]!);
        if (nextRank !== noRank) lists.push(nextRank, pos);
      }
      lastLeftPos = pos;
    }
  }
  return packTokens(ids, spans, symbolCount);
}

/** Makes the merges of one rank from the left; the places where one was made move to the front of `positions`. */
function mergeAll(
  ids: Int32Array,
  symbolCount: number,
  spans: Int32Array,
  lanes: Int32Array,
  slotBits: number,
  positions: Int32Array,
  listedCount: number,
  rank: number,
  merged: number,
): number {
  let doneCount = 0;
  for (let i = 0; i < listedCount; i++) {
    const pos = positions[i]!;
    if (ids[pos]! < 0) continue;
    const rightPos = pos + spans[pos]!;
    if (rightPos >= symbolCount || findPair(lanes, slotBits, ids[pos]!, ids[rightPos]!) !== rank) continue;
    joinSpans(ids, spans, pos, rightPos, merged);
    positions[doneCount++] = pos;
  }
  return doneCount;
}

class RankLists {
  /** The positions taken last, ascending. */
  positions = new Int32Array(1 << 12);
  private readonly firsts: Int32Array;
  private places: Int32Array;
  private nexts: Int32Array;
  private usedCount = 1;
  private firstFree = 0;

  constructor(rankCount: number, entryCount: number) {
    this.firsts = new Int32Array(rankCount);
    this.places = new Int32Array(entryCount + 1);
    this.nexts = new Int32Array(entryCount + 1);
  }

  push(rank: number, pos: number): void {
    let entry = this.firstFree;
    if (entry !== 0) this.firstFree = this.nexts[entry]!;
    else {
      entry = this.usedCount++;
      if (entry === this.places.length) this.grow();
    }
    this.places[entry] = pos;
    this.nexts[entry] = this.firsts[rank]!;
    this.firsts[rank] = entry;
  }

  /** Moves the list of a rank into `positions`; returns how many they are. */
  take(rank: number): number {
    let entry = this.firsts[rank]!;
    let count = 0;
    let lastPos = -1;
    let isAscending = true;
    while (entry !== 0) {
      if (count === this.positions.length) this.positions = lengthened(this.positions);
      const pos = this.places[entry]!;
      isAscending &&= pos > lastPos;
      lastPos = pos;
      this.positions[count++] = pos;
      const next = this.nexts[entry]!;
      this.nexts[entry] = this.firstFree;
      this.firstFree = entry;
      entry = next;
    }
    this.firsts[rank] = 0;
    if (!isAscending) this.positions.subarray(0, count).sort();
    return count;
  }

  private grow(): void {
    this.places = lengthened(this.places);
    this.nexts = lengthened(this.nexts);
  }
}

function lengthened(numbers: Int32Array): Int32Array<ArrayBuffer> {
  const longer = new Int32Array(2 * numbers.length);
  longer.set(numbers);
  return longer;
}
