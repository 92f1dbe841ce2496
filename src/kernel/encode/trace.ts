import { reserveTo, textStart, workAddress } from "../regions";
import { fillBeginning, heapedRoomBytes, mergeHeaped } from "./merge-word";
import { limitRanks, noRank } from "./pair-ranks";

/**
 * A trace lists the merges of one pretoken in the order that BPE defines: the lowest rank first, the leftmost of equal
 * ranks.
 *
 *   ARRAY   TYPE      LENGTH       MEANING
 *   merges  u32,u32   mergeCount   the symbol at which the right half begins, and the index of the merge. Symbols are
 *                                  counted from 0. They are the ids with which merging begins: those of the bytes that
 *                                  have an id, or those of first-characters.ts
 */
let merges: usize = 0;

/**
 * Traces the first `length` bytes of the text. Returns the number of merges at `traceAddress`, or -1 if memory runs
 * out.
 */
export function traceText(length: u32): i32 {
  merges = (workAddress() + 7) & ~7;
  const ids = merges + 8 * <usize>length;
  const room = (ids + 4 * <usize>length + 7) & ~7;
  if (!reserveTo(<u64>room + heapedRoomBytes(length))) return -1;
  const limit = limitRanks(noRank);
  const symbolCount = fillBeginning(ids, textStart, length);
  const idCount = mergeHeaped(ids, symbolCount, room, merges);
  limitRanks(limit);
  return <i32>(symbolCount - idCount);
}

export function traceAddress(): usize {
  return merges;
}
