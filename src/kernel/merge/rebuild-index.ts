import { boundary, cellCount, cells, entries, isWide, Pair, stagedLefts, weights } from "./merge-regions";
import { lengthOf, mayMerge } from "./merge-tokens";
import { entryAddress, startArena, takeEntries } from "./occurrences";
import { lowerThreshold, pushPair, startQueue, threshold } from "./pair-queue";
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
import { stepCount, stepOf, weightEndAt } from "./word-layout";

/**
 * Indexes the text as it stands: lowers the threshold by a sketch of all counts (rebuild-index.ts), counts the pairs that may
 * have it, keeps those that do, and writes their lists. It is done where the threshold proved too high (pair-queue.ts), and before the first merge
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
let keepsGiven: bool = false;
/** Whether the hash table is growing: the walk goes on when that is done. */
let isGrowing: bool = false;

/** How a bit of counting ended. */
enum Counted {
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
  keepsGiven = false;
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

/** In another memory than the first, which was told by `keepGivenPair` what to keep: begins to keep that. */
export function startKeepingGiven(): void {
  keepsGiven = true;
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
const givenStart: u32 = 1;

/** Keeps a pair that the first memory keeps, with its count in all memories, if this memory has the pair. */
export function keepGivenPair(left: u32, right: u32, count: u64): void {
  const p = findPair(left, right);
  if (p === noPair) return;
  const pair = pairAt(p);
  pair.listStart = givenStart;
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
  return keepsGiven
    ? pair.listStart === givenStart
    : pair.count >= threshold && mayMerge(pair.left, pair.right);
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

/**
 * Sketch: upper bounds of the counts of all pairs of a text, in little memory. Most pairs are rare, so a record for each would
 * be mostly for nothing, and each look at one a cache miss. A pair adds its weight to the cell of its hash; if a cell has less
 * than the threshold, so has every pair in it.
 *
 *   REGION        ELEMENT   ELEMENTS         MEANING
 *   entries       u32       2^sketchBits     the weight of all pairs of a cell, 2^32 - 1 for more
 *   stagedLefts   u16       2^sketchBits/16  a bit for each cell that has the threshold or more
 *
 * Both regions are free while the text is counted. Lists are then written into the first; the second stays until the next
 * merge.
 */
let sketchBits: u32 = 0;
/** 4 MB: so many cells are read from a near cache, and hold few rare pairs each where texts have millions. */
const sketchBitsMax: u32 = 20;
const sketchBitsMin: u32 = 4;
/** Cells of the text for each cell of the sketch. */
const textCellsPerCell: u32 = 16;
const cellMax: u64 = 0xffffffff;

/** How far the walk is. */
let sketchPos: u32 = 1;
let sketchStep: u32 = 0;

/** The size of the sketch for this memory's text, as a power of two. */
export function wantedSketchBits(): u32 {
  let bits = sketchBitsMin;
  while (bits < sketchBitsMax && textCellsPerCell << (bits + 1) <= cellCount) bits++;
  return bits;
}

/** Begins a sketch of 2^bits cells, at most as many as are wished for. */
export function startSketch(bits: u32): void {
  sketchBits = bits;
  sketchPos = 1;
  sketchStep = 0;
  memory.fill(entries, 0, (<usize>4) << sketchBits);
}

/** Adds up the pairs that begin in the next `work` cells of the text; false after the last. */
export function sketchSome(work: u32): bool {
  if (isWide) sketchPairs<u32>(work);
  else sketchPairs<u16>(work);
  return sketchPos < cellCount;
}

function sketchPairs<T>(work: u32): void {
  const until = sketchPos + min(cellCount - sketchPos, work);
  const text = cells;
  const sketch = entries;
  const shift = 32 - sketchBits;
  const wordEnd = boundary;
  let at = sketchPos;
  let weightEnd: u32 = 0;
  let weight: u64 = 0;
  while (at < until) {
    const left = <u32>load<T>(text + <usize>at * sizeof<T>());
    if (left === wordEnd) {
      at++;
      continue;
    }
    const next = at + lengthOf(left);
    const right = <u32>load<T>(text + <usize>next * sizeof<T>());
    if (right !== wordEnd) {
      if (at >= weightEnd) {
        sketchStep = stepOf(stepCount, sketchStep, at);
        weightEnd = weightEndAt(sketchStep);
        weight = load<u64>(weights + ((<usize>sketchStep) << 3));
      }
      const cell = sketch + ((<usize>(hashOf(left, right) >> shift)) << 2);
      store<u32>(cell, <u32>min<u64>(<u64>load<u32>(cell) + weight, cellMax));
    }
    at = next;
  }
  sketchPos = at;
}

function hashOf(left: u32, right: u32): u32 {
  return (left * 0x9e3779b1 + right) * 0x85ebca77;
}

/** Address of the cells, and how many there are: JavaScript adds up those of several memories. */
export function sketchAddress(): usize {
  return entries;
}

export function sketchCellCount(): u32 {
  return 1 << sketchBits;
}

const tally = memory.data(64 * 4);

/** Lowers the threshold to what about so many cells have. */
export function lowerToSketch(pairsWanted: u32): void {
  memory.fill(tally, 0, 64 * sizeof<u32>());
  for (let cell: usize = 0; cell < (<usize>1) << sketchBits; cell++) {
    const sum = load<u32>(entries + (cell << 2));
    if (sum === 0) continue;
    const bits = tally + ((31 - <usize>clz(sum)) << 2);
    store<u32>(bits, load<u32>(bits) + 1);
  }
  lowerThreshold(tally, pairsWanted);
}

/** From now on the sketch tells which pairs may have the threshold. */
export function endSketch(): void {
  const least = <u32>min<u64>(threshold, cellMax);
  for (let word: usize = 0; word < (<usize>1) << (sketchBits - 4); word++) {
    let bits: u32 = 0;
    for (let bit: usize = 0; bit < 16; bit++) {
      bits |= u32(load<u32>(entries + ((word << 6) | (bit << 2))) >= least) << (<u32>bit);
    }
    store<u16>(stagedLefts + (word << 1), <u16>bits);
  }
}

/** Whether the pair may have the threshold. */
function mayBeFrequent(left: u32, right: u32): bool {
  const cell = hashOf(left, right) >> (32 - sketchBits);
  return ((<u32>load<u16>(stagedLefts + ((<usize>(cell >> 4)) << 1)) >> (cell & 15)) & 1) !== 0;
}
