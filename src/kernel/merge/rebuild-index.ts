import {
  addCursor,
  countAt,
  countEnd,
  countSlotsOf,
  joinCounts,
  joinSketches,
  leftOfKey,
  lookAtPair,
  occurrencesOf,
  rightOfKey,
  startCounts,
  startCursors,
  weightOf,
} from "./index-pairs";
import {
  boundary,
  cellCount,
  cells,
  entries,
  isWide,
  Job,
  job,
  memoryCount,
  Pair,
  partCount,
  sketchBitsMin,
  stagedLefts,
  startCount,
} from "./merge-regions";
import { partAt, startPart, Work, workTogether } from "./merge-threads";
import { madeCount, mayMerge } from "./merge-tokens";
import { startArena, takeEntries } from "./occurrences";
import { gradeCount, gradeOf, lowerThreshold, pushPair, startQueue, threshold } from "./pair-queue";
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

/**
 * Rebuilds the index, that is, the records of pairs and their lists of occurrences, from the current text (the cells of
 * the words: word-layout.ts). First, a sketch of all counts (see `sketchBits`) shows to what the threshold can be
 * lowered. Then the pairs that may reach the threshold are counted, those that do are kept, and their lists are
 * written. Each thread processes a part of the text (index-pairs.ts). The index is rebuilt in three cases:
 *
 *   - The threshold was too high (pair-queue.ts).
 *   - Before the first merge, if there are too many start tokens for dense tables (first-index.ts).
 *   - Parity-aware merges may need too many records (merge-loop.ts).
 *
 * If words are in several memories, each counts its own pairs. The first memory adds up the counts of all memories
 * (memory-exchange.ts), and keeps the pairs that reach the threshold. Each other memory keeps those of its own pairs
 * that the first memory keeps.
 */

enum Stage {
  /** Walking over the parts of the text. */
  walk,
  /** Adding the counts of all parts to the table of the first part. */
  join,
  /** Turning the counts into records, or into cursors. */
  take,
  /** Finished. */
  end,
}

/** The next record of the current walk over the records. */
let nextPair: u32 = 0;
/** The number of records before `keepPairsSome` removes those that are not kept. */
let pairEnd: u32 = 0;
/** The total length of the lists of the pairs that are kept. */
let entryCount: f64 = 0;
/** Whether another memory decides which pairs are kept. */
let keepsGiven: bool = false;
/** The current stage of counting or writing. */
let stage: Stage = Stage.walk;
/** The part whose table of counts is read. */
let partTaken: u32 = 0;
/** The next slot of that table. */
let nextSlot: u32 = 0;
/** Whether the pairs need more records than fit into their region. */
let hasNoRoom: bool = false;
/** Whether the hash table is growing. The walk over the tables of counts continues when it has grown. */
let isGrowing: bool = false;
/** Whether a kept pair has a count of `countEnd` or more. */
let hasCountTooLarge: bool = false;

/** The results of a slice of counting. */
enum Counted {
  all,
  some,
  /** The pairs do not fit into the records, or into the count table of a single part. */
  noRoom,
}

/**
 * Begins a walk over the text, which is cut into parts of about equal size. If some token covers several cells, parts
 * end with a word, so that none begins inside a token.
 */
function startWalk(): void {
  const theJob = changetype<Job>(job);
  const count = theJob.walkCount;
  let start: u32 = 1;
  for (let k: u32 = 0; k < count; k++) {
    let end = 1 + <u32>((<u64>(cellCount - 1) * (k + 1)) / count);
    // The cells within a token are stale, but never a boundary.
    if (theJob.areSingle === 0) while (!isBoundary(end - 1)) end++;
    startPart(k, start, end);
    start = end;
  }
  stage = Stage.walk;
}

function isBoundary(pos: u32): bool {
  return (
    (isWide ? load<u32>(cells + ((<usize>pos) << 2)) : load<u16>(cells + ((<usize>pos) << 1))) === boundary
  );
}

/** Walks over the next `share` cells of each part. Returns true while any are left. */
function walk(kind: u32, share: u32): bool {
  return workTogether(kind, changetype<Job>(job).walkCount, share);
}

export function startReindex(): void {
  hasCountTooLarge = false;
  clearPairs();
  startQueue();
  keepsGiven = false;
  isGrowing = false;
  hasNoRoom = false;
  startCounting();
}

function startCounting(): void {
  startWalk();
  for (let k: u32 = 0; k < changetype<Job>(job).walkCount; k++) {
    if (isWide) startCounts<u32>(partAt(k), k);
    else startCounts<u16>(partAt(k), k);
  }
}

/**
 * Does the next `work` units of counting: cells of each part, slots of the tables, or records of the growing hash
 * table. Returns a value of `Counted`.
 */
export function countPairsSome(work: u32): i32 {
  if (stage === Stage.walk) {
    if (walk(Work.countPairs, work)) return Counted.some;
    startTables(Stage.join);
  } else if (isGrowing) {
    isGrowing = growSome(work);
  } else if (stage === Stage.join) {
    if (isWide ? joinSome<u32>(work) : joinSome<u16>(work)) startTables(Stage.take);
  } else if (isWide ? takeSome<u32>(work) : takeSome<u16>(work)) {
    return Counted.all;
  }
  if (hasNoRoom) return Counted.noRoom;
  if (!isAnyFull()) return Counted.some;
  if (changetype<Job>(job).walkCount === 1) return Counted.noRoom;
  // Counts again from the start, with a single part, whose table may use the memory of all parts. No record exists yet,
  // because records are created only after the counts of all parts were added up.
  changetype<Job>(job).walkCount = 1;
  startCounting();
  return Counted.some;
}

function isAnyFull(): bool {
  const count = changetype<Job>(job).walkCount;
  for (let k: u32 = 0; k < count; k++) if (partAt(k).isFull !== 0) return true;
  return false;
}

function startTables(next: Stage): void {
  stage = next;
  partTaken = next === Stage.join ? 1 : 0;
  nextSlot = 0;
}

/** Returns the number of slots left in the current table, at most `work`. */
function takeSlots(work: u32): u32 {
  return min(work, countSlotsOf(partAt(partTaken)) - nextSlot);
}

/**
 * Adds the counts in the next `work` slots to the table of the first part. Returns true when the tables of all parts
 * are added.
 */
function joinSome<T>(work: u32): bool {
  if (partTaken >= changetype<Job>(job).walkCount) return true;
  const count = takeSlots(work);
  if (!joinCounts<T>(partAt(0), partTaken, nextSlot, count)) return false;
  endSlots(count);
  return false;
}

function endSlots(count: u32): void {
  nextSlot += count;
  if (nextSlot < countSlotsOf(partAt(partTaken))) return;
  partTaken++;
  nextSlot = 0;
}

/**
 * Creates records for the pairs in the next `work` slots. Skips pairs below the threshold, unless there are several
 * memories, whose counts must be added up first. Stops early if a record does not fit (`hasNoRoom`), or if the hash table
 * must grow first (`isGrowing`). Returns true when all are done.
 */
function takeSome<T>(work: u32): bool {
  if (partTaken > 0) return true;
  const least: u64 = memoryCount > 1 ? 0 : threshold;
  const until = nextSlot + takeSlots(work);
  for (; nextSlot < until; nextSlot++) {
    const slot = countAt<T>(0, nextSlot);
    if (occurrencesOf<T>(slot) === 0 || weightOf<T>(slot) < least) continue;
    if (!hasRoomForPairs(1)) {
      hasNoRoom = true;
      return false;
    }
    if (isFull()) {
      startGrowth();
      isGrowing = true;
      return false;
    }
    addPair(leftOfKey<T>(slot), rightOfKey<T>(slot), weightOf<T>(slot), 0, occurrencesOf<T>(slot));
  }
  endSlots(0);
  return false;
}

export function foundCountTooLarge(): bool {
  return hasCountTooLarge;
}

/** Begins to keep the pairs that `keepGivenPair` marked, in a memory that is not the first. */
export function startKeepingGiven(): void {
  keepsGiven = true;
  startKeeping();
}

/** Begins to keep the pairs that reach the threshold. The first memory must have the total counts by then. */
export function startKeeping(): void {
  pairEnd = pairCount;
  nextPair = 0;
  entryCount = 0;
  clearPairs();
  memory.fill(stagedLefts, 0, bitsBytes());
}

/** A value of `listStart` in a memory that is not the first: the first memory keeps the pair. Other pairs have 0. */
const givenStart: u32 = 1;

/**
 * Marks a pair that the first memory keeps, if this memory has the pair. Sets its count to `count`, the count in all
 * memories.
 */
export function keepGivenPair(left: u32, right: u32, count: u64): void {
  const p = findPair(left, right);
  if (p === noPair) return;
  const pair = pairAt(p);
  pair.listStart = givenStart;
  pair.count = count;
}

/**
 * Goes through the next `work` records, keeps the pairs that qualify, and sets the starts of their lists. Returns false
 * after the last.
 */
export function keepPairsSome(work: u32): bool {
  const until = nextPair + min(pairEnd - nextPair, work);
  for (; nextPair < until; nextPair++) {
    // Writing never overtakes reading: no more records are kept than were read.
    const pair = pairAt(nextPair);
    if (!isKept(pair)) continue;
    if (pair.count >= countEnd) hasCountTooLarge = true;
    const listLength = pair.listLength;
    const left = pair.left;
    const right = pair.right;
    addPair(left, right, pair.count, 1 + <u32>entryCount, listLength);
    lookAtPair(left, right);
    entryCount += <f64>listLength;
  }
  return nextPair < pairEnd;
}

function isKept(pair: Pair): bool {
  return keepsGiven
    ? pair.listStart === givenStart
    : pair.count >= threshold && mayMerge(pair.left, pair.right);
}

/** Begins to write the lists. Returns false if the arena is too small for them. */
export function startLists(): bool {
  if (!startArena(entryCount, 1)) return false;
  takeEntries(<u32>entryCount);
  const theJob = changetype<Job>(job);
  if (isWide) startCursors<u32>(pairCount);
  else startCursors<u16>(pairCount);
  startTables(Stage.take);
  partTaken = theJob.walkCount - 1;
  nextPair = 0;
  return true;
}

/**
 * Does the next `work` units of writing: places cursors, writes the occurrences in that many cells of each part, or
 * sets lengths. Returns false when all is done.
 */
export function writePairsSome(work: u32): bool {
  switch (stage) {
    case Stage.take:
      if (isWide ? placeSome<u32>(work) : placeSome<u16>(work)) startWalk();
      return true;
    case Stage.walk:
      if (walk(Work.writePairs, work)) return true;
      stage = Stage.end;
      nextPair = 0;
      return true;
    default:
      return setLengths(work);
  }
}

/**
 * Assigns to each part its section of the lists, for the next `work` slots or records. Parts are processed from last to
 * first. Each part gets the end of what is left of a pair's list, and the number of the part's occurrences is
 * subtracted from `listLength`. The first part gets the rest. Returns true when all are done.
 */
function placeSome<T>(work: u32): bool {
  if (partTaken === 0) {
    const until = nextPair + min(pairCount - nextPair, work);
    for (; nextPair < until; nextPair++) {
      const pair = pairAt(nextPair);
      addCursor<T>(0, pair.left, pair.right, pair.listStart);
    }
    return nextPair === pairCount;
  }
  const until = nextSlot + takeSlots(work);
  for (; nextSlot < until; nextSlot++) {
    const slot = countAt<T>(partTaken, nextSlot);
    const count = occurrencesOf<T>(slot);
    if (count === 0) continue;
    const p = findPair(leftOfKey<T>(slot), rightOfKey<T>(slot));
    if (p === noPair) continue;
    const pair = pairAt(p);
    pair.listLength -= count;
    addCursor<T>(partTaken, pair.left, pair.right, pair.listStart + pair.listLength);
  }
  if (nextSlot === countSlotsOf(partAt(partTaken))) {
    partTaken--;
    nextSlot = 0;
  }
  return false;
}

/**
 * Restores `listLength` of the next `work` pairs. Their lists are contiguous, so a list ends where the next one starts.
 * Returns false after the last pair.
 */
function setLengths(work: u32): bool {
  const until = nextPair + min(pairCount - nextPair, work);
  for (; nextPair < until; nextPair++) {
    const end = nextPair + 1 < pairCount ? pairAt(nextPair + 1).listStart : 1 + <u32>entryCount;
    const pair = pairAt(nextPair);
    pair.listLength = end - pair.listStart;
  }
  return nextPair < pairCount;
}

/** Begins to add the pairs to the queue. */
export function startPushing(): void {
  nextPair = 0;
}

/** Adds the next `work` pairs to the queue. Returns false after the last pair. */
export function pushPairsSome(work: u32): bool {
  const until = nextPair + min(pairCount - nextPair, work);
  for (; nextPair < until; nextPair++) pushPair(pairAt(nextPair).count, nextPair);
  return nextPair < pairCount;
}

/**
 * Sketch: upper bounds of the counts of all pairs of a text in little memory (a count-min sketch with one row). Each
 * occurrence of a pair adds its weight to the cell that the pair's hash selects. If a cell is below the threshold, and
 * not at its maximum, all pairs that select it are below the threshold, too, and need no record. That excludes most
 * pairs, because most are rare.
 *
 * The sketch and the tables of the parts use regions that are free while pairs are counted, because the queue and the
 * lists are written there later. index-pairs.ts has their layout.
 */
let sketchBits: u32 = 0;
/** The log2 of the largest number of cells. 2^19 cells are 2 MB, which fits into the L2 or L3 cache. */
const sketchBitsMax: u32 = isSmallScale ? 5 : 19;
/** A sketch that is larger than the smallest has at least this many cells of the text for each of its own cells. */
const textCellsPerCell: u32 = 16;
const cellMax: u64 = 0xffffffff;

/** Returns the log2 of the number of cells of the sketch that suits this memory's text. */
export function wantedSketchBits(): u32 {
  let bits = sketchBitsMin;
  while (bits < sketchBitsMax && textCellsPerCell << (bits + 1) <= cellCount) bits++;
  return bits;
}

function bitsBytes(): usize {
  return (<usize>1) << (sketchBits - 3);
}

/** Begins a sketch of 2^bits cells; `bits` is at most `wantedSketchBits`. */
export function startSketch(bits: u32): void {
  sketchBits = bits;
  const theJob = changetype<Job>(job);
  theJob.sketchBits = bits;
  theJob.areSingle = u32(madeCount === startCount);
  theJob.walkCount = partCount;
  memory.fill(entries, 0, (<usize>(4 * partCount)) << bits);
  startWalk();
}

/**
 * Adds to the sketch the pairs that begin in the next `work` cells of each part of the text. Returns false when the
 * sketch has all pairs.
 */
export function sketchSome(work: u32): bool {
  if (walk(Work.sketchPairs, work)) return true;
  joinSketches(partCount, sketchBits);
  return false;
}

/** Returns the address of the sketch's cells. JavaScript adds them up over several memories. */
export function sketchAddress(): usize {
  return entries;
}

export function sketchCellCount(): u32 {
  return 1 << sketchBits;
}

const tally = memory.data(gradeCount * 4);

/** Lowers the threshold as `lowerThreshold` does, with each non-empty cell of the sketch counted as one pair. */
export function lowerToSketch(pairsWanted: u32): void {
  memory.fill(tally, 0, gradeCount * sizeof<u32>());
  for (let cell: usize = 0; cell < (<usize>1) << sketchBits; cell++) {
    const sum = load<u32>(entries + (cell << 2));
    if (sum === 0) continue;
    const grade = tally + ((<usize>gradeOf(sum)) << 2);
    store<u32>(grade, load<u32>(grade) + 1);
  }
  lowerThreshold(tally, pairsWanted);
}

/** Marks the cells of the sketch that reach the threshold: the pairs that select these cells are counted next. */
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
