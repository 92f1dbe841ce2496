import { threshold } from "./count-threshold";
import { mayMerge } from "./may-merge";
import { Pair } from "./merge-records";
import { boundary, cellCount, cells, isWide, weights } from "./merge-regions";
import { lengthOf } from "./merge-tokens";
import { entryAddress, startArena, takeEntries } from "./occurrences";
import { pushPair, startQueue } from "./pair-queue";
import { mayBeFrequent } from "./pair-sketch";
import {
  addPair,
  clearPairs,
  findPair,
  growSome,
  hasRoomForPairs,
  isFull,
  noPair,
  pairAt,
  pairCount,
  startGrowth,
} from "./pair-table";
import { stepCount, stepOf } from "./word-layout";

/**
 * Indexes the text as it stands: lowers the threshold by a sketch of all counts (pair-sketch.ts), counts the pairs that may
 * have it, keeps those that do, and writes their lists. It is done where the threshold proved too high (count-threshold.ts), and before the first merge
 * where there are too many start tokens for dense tables (first-index.ts). All of this is done a bit at a time.
 *
 * Where words lie in several memories, each counts its own pairs, by the sketch of all. The first memory adds up the counts
 * of all (memory-exchange.ts) and keeps the pairs that have the threshold. The others are told which pairs these are, and keep
 * the same.
 */

/** Whether the walk over the text writes lists; else it counts. */
let isWriting: bool = false;
/** How far a walk over the text is. */
let pos: u32 = 1;
let step: u32 = 0;
/** How far a walk over the records is, and how many there are. */
let nextPair: u32 = 0;
let pairEnd: u32 = 0;
let entryCount: f64 = 0;
/** Whether another memory says which pairs are kept. */
let isTold: bool = false;
/** Whether the hash table is growing: the walk goes on when that is done. */
let isGrowing: bool = false;

/** How a bit of counting ended. */
export enum Counted {
  all,
  some,
  /** There are more pairs than there is room for. */
  noRoom,
}

export function startReindex(): void {
  hasCountTooLarge = false;
  clearPairs();
  startQueue();
  isWriting = false;
  isTold = false;
  isGrowing = false;
  pos = 1;
  step = 0;
}

/**
 * Counts the pairs that begin in the next `work` cells, or lets the hash table grow by so many records. 0: all are counted;
 * 1: some; 2: the memory is too small.
 */
export function countPairsSome(work: u32): i32 {
  if (isGrowing) isGrowing = growSome(work);
  else if (!walkSome(work)) {
    if (!hasRoomForPairs(1)) return Counted.noRoom;
    startGrowth();
    isGrowing = true;
  }
  return pos < cellCount ? Counted.some : Counted.all;
}

/** Visits the pairs that begin in the next `work` cells; false if the table of pairs is full before one of them. */
function walkSome(work: u32): bool {
  return isWide ? walk<u32>(work) : walk<u16>(work);
}

function walk<T>(work: u32): bool {
  const until = pos + min(cellCount - pos, work);
  while (pos < until) {
    const left = tokenAt<T>(pos);
    if (left === boundary) {
      pos++;
      continue;
    }
    const next = pos + lengthOf(left);
    const right = tokenAt<T>(next);
    if (right !== boundary) {
      if (mayBeFrequent(left, right)) {
        const p = findPair(left, right);
        if (isWriting) writePair(p);
        else if (!countPair(left, right, p)) return false;
      }
    }
    pos = next;
  }
  return true;
}

function tokenAt<T>(position: u32): u32 {
  return <u32>load<T>(cells + <usize>position * sizeof<T>());
}

/** From here on counts are not exact: in JavaScript they are Float64. */
const countEnd: u64 = 1 << 53;
/** Whether a pair has such a count. */
let hasCountTooLarge: bool = false;

export function foundCountTooLarge(): bool {
  return hasCountTooLarge;
}

/** Counts the pair at `pos`, which has record `p`, if any; false if the table is full. */
function countPair(left: u32, right: u32, p: u32): bool {
  step = stepOf(stepCount, step, pos);
  const weight = load<u64>(weights + ((<usize>step) << 3));
  if (p !== noPair) {
    const pair = pairAt(p);
    pair.count = min(pair.count + weight, countEnd);
    pair.listLength++;
    return true;
  }
  if (!hasRoomForPairs(1) || isFull()) return false;
  addPair(left, right, weight, 0, 1);
  return true;
}

/** Writes `pos` into the list of a pair, if it was kept. */
function writePair(p: u32): void {
  if (p === noPair) return;
  const pair = pairAt(p);
  store<u32>(entryAddress(pair.listStart + pair.listLength++), pos);
}

/** In another memory than the first, which was told by `keepToldPair` what to keep: begins to keep that. */
export function startKeepingTold(): void {
  isTold = true;
  startKeeping();
}

/** Begins to keep the pairs that have the threshold. The first memory has the counts of all. */
export function startKeeping(): void {
  pairEnd = pairCount;
  nextPair = 0;
  entryCount = 0;
  clearPairs();
}

/** `listStart` of a pair that the first memory keeps, until its list has a place. Others have 0. */
const toldStart: u32 = 1;

/** The first memory keeps a pair, with the count that it has in all memories: so does this one, if it has it. */
export function keepToldPair(left: u32, right: u32, count: u64): void {
  const p = findPair(left, right);
  if (p === noPair) return;
  const pair = pairAt(p);
  pair.listStart = toldStart;
  pair.count = count;
}

/** Keeps the pairs that pass of the next `work` records, and places their lists; false after the last. */
export function keepPairsSome(work: u32): bool {
  const until = nextPair + min(pairEnd - nextPair, work);
  for (; nextPair < until; nextPair++) {
    // A record is read before it is written over: as many are kept as were read at most.
    const pair = pairAt(nextPair);
    if (!isKept(pair)) continue;
    if (pair.count >= countEnd) hasCountTooLarge = true;
    const listLength = pair.listLength;
    addPair(pair.left, pair.right, pair.count, 1 + <u32>entryCount, 0);
    entryCount += <f64>listLength;
  }
  return nextPair < pairEnd;
}

function isKept(pair: Pair): bool {
  return isTold ? pair.listStart === toldStart : pair.count >= threshold && mayMerge(pair.left, pair.right);
}

/** Begins to write the lists; false if the arena has no room for them. */
export function startLists(): bool {
  if (!startArena(entryCount, 1)) return false;
  takeEntries(<u32>entryCount);
  isWriting = true;
  pos = 1;
  return true;
}

/** Writes the occurrences that begin in the next `work` cells; false after the last. */
export function writePairsSome(work: u32): bool {
  walkSome(work);
  return pos < cellCount;
}

/** Begins to put the pairs into the queue. */
export function startPushing(): void {
  nextPair = 0;
}

/** Puts the next `work` pairs into the queue; false after the last. */
export function pushPairsSome(work: u32): bool {
  const until = nextPair + min(pairCount - nextPair, work);
  for (; nextPair < until; nextPair++) pushPair(pairAt(nextPair).count, nextPair);
  return nextPair < pairCount;
}
