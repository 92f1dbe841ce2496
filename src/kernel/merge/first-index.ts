import { bytePairAt, isHalf } from "./byte-pairs";
import { cellCount, indexedKeys, partCount, rightHalves } from "./merge-regions";
import { startPart, Work, workTogether } from "./merge-threads";
import { mayMerge } from "./merge-tokens";
import { startArena, takeEntries } from "./occurrences";
import { pushPair, threshold } from "./pair-queue";
import { addPair } from "./pair-table";

/**
 * Builds the first index for at most 256 start tokens, such as the bytes. Counts all pairs of the text (the cells of
 * the words: word-layout.ts) in dense tables (byte-pairs.ts). Then writes the lists of the pairs that get a record. For
 * more start tokens, rebuild-index.ts builds the index.
 *
 *   REGION       ELEMENT  ELEMENTS  MEANING
 *   rightHalves  u8       256       the right halves that pairs may have (`isHalf`), ascending
 *   indexedKeys  u16      65,536    the pairs that get a record: 256 l + r for the pair (l, r), ascending
 */

/** 2^53: a Float64 counts exactly only up to here. */
const countMax: f64 = 9007199254740992;

/** Begins a walk over the text, which is cut into parts of about equal size. A part may begin and end inside a word. */
export function startText(): void {
  for (let k: u32 = 0; k < partCount; k++) startPart(k, cutAt(k), cutAt(k + 1));
}

function cutAt(part: u32): u32 {
  return 1 + <u32>((<u64>(cellCount - 1) * part) / partCount);
}

/** Counts the pairs in the next `work` cells of each part. Returns true while cells are left. */
export function countBytePairsSome(work: u32): bool {
  return workTogether(Work.countBytePairs, partCount, work);
}

/** Writes the occurrences in the next `work` cells of each part to their lists. Returns true while cells are left. */
export function writeBytePairsSome(work: u32): bool {
  return workTogether(Work.writeBytePairs, partCount, work);
}

/** The result of `addBytePairs`. */
export enum Added {
  all,
  /** A pair occurs too often to be counted exactly. */
  countTooLarge,
  /** The arena (occurrences.ts) is too small for the lists. */
  noRoom,
}

/**
 * Creates a record for each pair that may merge and reaches the threshold, and assigns to each part of the text its
 * section of the pair's list. The arena may use `slack` times the size of the lists. There are always enough records,
 * because there are at most 65,536 pairs. Returns a value of `Added`.
 */
export function addBytePairs(slack: f64): i32 {
  const rightCount = listRightHalves();
  let entryCount: f64 = 0;
  let indexedCount: usize = 0;
  for (let left: u32 = 0; left < 256; left++) {
    if (!isHalf(left)) continue;
    for (let i: u32 = 0; i < rightCount; i++) {
      const key = (left << 8) | load<u8>(rightHalves + i);
      const weight = weightInAllParts(key);
      if (weight >= countMax) return Added.countTooLarge;
      if (!isIndexed(key, weight)) continue;
      entryCount += <f64>countInAllParts(key);
      store<u16>(indexedKeys + (indexedCount++ << 1), <u16>key);
    }
  }
  if (!startArena(entryCount, slack)) return Added.noRoom;
  for (let i: usize = 0; i < indexedCount; i++) {
    const key = <u32>load<u16>(indexedKeys + (i << 1));
    const weight = <u64>weightInAllParts(key);
    const count = countInAllParts(key);
    const listStart = takeEntries(count);
    pushPair(weight, addPair(key >> 8, key & 255, weight, listStart, count));
    giveStarts(key, listStart);
  }
  return Added.all;
}

/** Lists the right halves of pairs, ascending. Returns their number. */
function listRightHalves(): u32 {
  let count: u32 = 0;
  for (let right: u32 = 0; right < 256; right++) {
    if (isHalf(256 + right)) store<u8>(rightHalves + count++, <u8>right);
  }
  return count;
}

function isIndexed(key: u32, weight: f64): bool {
  return weight >= <f64>threshold && mayMerge(key >> 8, key & 255);
}

function weightInAllParts(key: u32): f64 {
  let weight: f64 = 0;
  for (let k: u32 = 0; k < partCount; k++) weight += bytePairAt(k, key).weight;
  return weight;
}

function countInAllParts(key: u32): u32 {
  let count: u32 = 0;
  for (let k: u32 = 0; k < partCount; k++) count += bytePairAt(k, key).count;
  return count;
}

function giveStarts(key: u32, listStart: u32): void {
  let start = listStart;
  for (let k: u32 = 0; k < partCount; k++) {
    const pair = bytePairAt(k, key);
    pair.start = start;
    start += pair.count;
  }
}
