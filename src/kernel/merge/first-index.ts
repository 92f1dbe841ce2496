import { bytePairAt } from "./byte-pairs";
import { bytePairCount, cellCount, partCount } from "./merge-regions";
import { startPart, Work, workTogether } from "./merge-threads";
import { mayMerge } from "./merge-tokens";
import { startArena, takeEntries } from "./occurrences";
import { pushPair, threshold } from "./pair-queue";
import { addPair } from "./pair-table";

/**
 * Builds the first index for at most 256 start tokens, such as the bytes: counts their pairs in dense tables
 * (byte-pairs.ts), then writes their lists of occurrences. Each thread walks a part of the text. For more start tokens,
 * rebuild-index.ts does this.
 */

/** 2^53: from here on a Float64 cannot count in steps of one. */
const countMax: f64 = 9007199254740992;

/** Begins a walk over the text. The threads get parts of equal size, which may begin and end inside words. */
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
  /** The arena is too small for the lists. */
  noRoom,
}

/**
 * Creates a record for each pair that may merge and reaches the threshold, and assigns to each part of the text its
 * section of the pair's list. The arena may use `slack` times the size of the lists. There are always enough records,
 * because there are at most 65,536 pairs. Returns a value of `Added`.
 */
export function addBytePairs(slack: f64): i32 {
  let entryCount: f64 = 0;
  for (let key: u32 = 0; key < bytePairCount; key++) {
    const weight = weightInAllParts(key);
    if (weight >= countMax) return Added.countTooLarge;
    if (isIndexed(key, weight)) entryCount += <f64>countInAllParts(key);
  }
  if (!startArena(entryCount, slack)) return Added.noRoom;
  for (let key: u32 = 0; key < bytePairCount; key++) {
    const weight = weightInAllParts(key);
    if (!isIndexed(key, weight)) continue;
    const count = countInAllParts(key);
    const listStart = takeEntries(count);
    pushPair(<u64>weight, addPair(key >> 8, key & 255, <u64>weight, listStart, count));
    giveStarts(key, listStart);
  }
  return Added.all;
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
