import { gate, lowerGate } from "./count-threshold";
import { mayMerge } from "./merge-pair";
import { boundary, cellCount, cells, isWide, weights } from "./merge-regions";
import { lengthOf } from "./merge-tokens";
import { entryAddress, startArena, takeEntries } from "./occurrences";
import { pushPair, startQueue } from "./pair-queue";
import { addPair, clearPairs, findPair, hasRoomForPairs, noPair, pairAt, pairCount } from "./pair-table";
import { stepCount, stepOf } from "./word-layout";

/**
 * The index anew, for the text as it stands, with a lower gate: needed when the gate proved too high (gate.ts). Counts
 * every pair, keeps those that pass the new gate, and writes their lists; all of it a bit at a time.
 */

/** How far a walk over the text is. */
let pos: u32 = 1;
let step: u32 = 0;
/** How far a walk over the records is, and how many there are. */
let nextPair: u32 = 0;
let pairEnd: u32 = 0;
let entryCount: f64 = 0;

/** How a bit of counting ended. */
export enum Counted {
  all,
  some,
  /** There are more pairs than there is room for. */
  noRoom,
}

export function startReindex(): void {
  clearPairs();
  startQueue();
  pos = 1;
  step = 0;
}

/** Counts the pairs that begin in the next `work` cells. */
export function countPairsSome(work: u32): i32 {
  return isWide ? countPairs<u32>(work) : countPairs<u16>(work);
}

function countPairs<T>(work: u32): i32 {
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
      step = stepOf(stepCount, step, pos);
      const weight = load<u64>(weights + ((<usize>step) << 3));
      const p = findPair(left, right);
      if (p !== noPair) {
        const pair = pairAt(p);
        pair.count += weight;
        pair.listLength++;
      } else {
        if (!hasRoomForPairs(1)) return Counted.noRoom;
        addPair(left, right, weight, 0, 1);
      }
    }
    pos = next;
  }
  return pos < cellCount ? Counted.some : Counted.all;
}

function tokenAt<T>(position: u32): u32 {
  return <u32>load<T>(cells + <usize>position * sizeof<T>());
}

const bitCount: u32 = 64;
const tally = memory.data(64 * 4);

/** Lowers the gate, so that about four times as many pairs pass as merges are wanted; then records can be kept. */
export function startKeeping(mergesWanted: u32): void {
  memory.fill(tally, 0, bitCount * sizeof<u32>());
  for (let p: u32 = 0; p < pairCount; p++) {
    const count = pairAt(p).count;
    if (count === 0) continue;
    const bits = tally + ((63 - <usize>clz(count)) << 2);
    store<u32>(bits, load<u32>(bits) + 1);
  }
  lowerGate(tally, 4 * mergesWanted + 64);
  pairEnd = pairCount;
  nextPair = 0;
  entryCount = 0;
  clearPairs();
}

/** Keeps those of the next `work` records that pass the gate, and says where their lists go; false after the last. */
export function keepPairsSome(work: u32): bool {
  const until = nextPair + min(pairEnd - nextPair, work);
  for (; nextPair < until; nextPair++) {
    // A record is read before it is written over: as many are kept as were read at most.
    const pair = pairAt(nextPair);
    if (pair.count < gate || !mayMerge(pair.left, pair.right)) continue;
    const listLength = pair.listLength;
    addPair(pair.left, pair.right, pair.count, 1 + <u32>entryCount, 0);
    entryCount += <f64>listLength;
  }
  return nextPair < pairEnd;
}

/** Begins to write the lists; false if the arena has no room for them. */
export function startLists(): bool {
  if (!startArena(entryCount, 1)) return false;
  takeEntries(<u32>entryCount);
  pos = 1;
  return true;
}

/** Writes the occurrences that begin in the next `work` cells; false after the last. */
export function writePairsSome(work: u32): bool {
  if (isWide) writePairs<u32>(work);
  else writePairs<u16>(work);
  return pos < cellCount;
}

function writePairs<T>(work: u32): void {
  const until = pos + min(cellCount - pos, work);
  while (pos < until) {
    const left = tokenAt<T>(pos);
    if (left === boundary) {
      pos++;
      continue;
    }
    const next = pos + lengthOf(left);
    const right = tokenAt<T>(next);
    const p = right === boundary ? noPair : findPair(left, right);
    if (p !== noPair) {
      const pair = pairAt(p);
      store<u32>(entryAddress(pair.listStart + pair.listLength++), pos);
    }
    pos = next;
  }
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
