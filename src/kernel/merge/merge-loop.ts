import {
  countBornEntries,
  currentMerge,
  endMerge,
  endWalk,
  hasRoomForNewPairs,
  mergeSome,
  settleNeighbours,
  startMerge,
  writeSome,
} from "./merge-pair";
import { cellCount, mergeCounts, pairCapacity, replacedCounts, startCount } from "./merge-regions";
import { addToken, madeCount, startTokens } from "./merge-tokens";
import { endCompaction, hasRoomForEntries, startCompaction } from "./occurrences";
import {
  countMin,
  dropTop,
  fillHeap,
  hasTop,
  lowerTop,
  raiseThreshold,
  startQueue,
  threshold,
  topCount,
  topPair,
} from "./pair-queue";
import { addPair, findPair, hasRoomForPairs, noPair, pairAt, pairCount, startPairs } from "./pair-table";
import { giveTieKey, startLongTokens, startTieKeys } from "./tie-rules";

/**
 * The main loop: brings the top of the queue up to date, makes its token, and merges. It runs while merges are small; the caller
 * does a large one in slices.
 *
 *   REGION          ELEMENT  ELEMENTS       MEANING
 *   mergeCounts     f64      tokenCapacity  occurrences of the pair of each token when it was merged; for a start token, its
 *                                           own before any merge (word-layout.ts)
 *   replacedCounts  f64      tokenCapacity  the occurrences that were replaced: of the two in "aaa", one
 */

/** The reasons for a pause of the loop. */
export enum Pause {
  finished,
  sliceUsedUp,
  /** The pair on top has more entries than a slice, or the arena must make room. */
  largePairOnTop,
  topBelowThreshold,
  /** There is no room for the pairs that would be created, so the engine cannot continue. */
  noRoom,
}

/** The fixed work of a merge, in entries: the queue, the hash table, the token. */
const mergeWork: i32 = 64;

/** The maximum number of merges; under the rule of `huggingface`, of new entries of the vocabulary. */
let mergeCountMax: u32 = 0;
/** The merges that made an entry of the vocabulary: all but those that spell a special token (tie-rules.ts). */
let entryCount: u32 = 0;
let sliceWork: u32 = 0;
let cleanShare: f64 = 0;
/** The work that is left in the slice. */
let workLeft: i32 = 0;
/** The pair that is merged in slices. */
let largePair: u32 = 0;
let neededEntries: u32 = 0;

/**
 * Starts the engine with only the start tokens. `mergesWanted` is the number of merges; under the rule of `huggingface`, of new
 * entries of the vocabulary. A merge with more entries than `workOfSlice` is large. Lists whose pair lost more than
 * `shareToClean` of its count are cleaned when room is short. `doSmallerWin` decides ties (tie-rules.ts).
 */
export function startEngine(
  mergesWanted: u32,
  workOfSlice: u32,
  shareToClean: f64,
  doSmallerWin: bool,
): void {
  mergeCountMax = mergesWanted;
  sliceWork = workOfSlice;
  cleanShare = shareToClean;
  entryCount = 0;
  startTokens();
  startLongTokens();
  startTieKeys(doSmallerWin);
  startPairs(<u32>min(4 * <u64>mergesWanted, <u64>cellCount / 8));
  startQueue();
}

/** The number of merges so far that made an entry of the vocabulary. */
export function mergedEntryCount(): u32 {
  return entryCount;
}

/** The unused work of the last call of `mergeUntilPause`, `lookAtTop` or `bestCount`. */
export function workLeftOfSlice(): i32 {
  return workLeft;
}

/** Merges until there is a reason to pause; `work` limits the work. */
export function mergeUntilPause(work: i32): i32 {
  workLeft = work;
  while (entryCount < mergeCountMax) {
    if (!settleTop()) return withoutTop();
    const p = topPair();
    const listLength = pairAt(p).listLength;
    // A merge creates at most two entries for each one that it consumes.
    if (listLength > sliceWork || !hasRoomForEntries(2 * listLength)) return Pause.largePairOnTop;
    startMerge(p, takeTop());
    mergeSome(listLength);
    endWalk();
    if (!hasRoomForNewPairs()) return Pause.noRoom;
    settleMerge();
    writeSome(listLength);
    endMerge();
    workLeft -= mergeWork + listLength;
    if (workLeft <= 0) return Pause.sliceUsedUp;
  }
  return Pause.finished;
}

/**
 * Merges a pair whose list fits into a slice. Returns false if there is no room for the pairs that would be created.
 * `mergeUntilPause` has these steps in its loop: a call for each merge costs some 3 %.
 */
function mergeAtOnce(p: u32, id: u32, listLength: u32): bool {
  startMerge(p, id);
  mergeSome(listLength);
  endWalk();
  if (!hasRoomForNewPairs()) return false;
  settleMerge();
  writeSome(listLength);
  endMerge();
  return true;
}

/** Like `mergeUntilPause`, but treats every merge as large: for words in several memories. */
export function lookAtTop(work: i32): i32 {
  workLeft = work;
  if (entryCount === mergeCountMax) return Pause.finished;
  if (!settleTop()) return withoutTop();
  return Pause.largePairOnTop;
}

/** The reason for a pause after `settleTop` found no pair. */
function withoutTop(): Pause {
  if (workLeft <= 0) return Pause.sliceUsedUp;
  return threshold > countMin ? Pause.topBelowThreshold : Pause.finished;
}

/**
 * Brings the top of the queue to its true count. Returns false if no pair reaches the threshold, or the slice is used
 * up.
 */
function settleTop(): bool {
  while (findTop()) {
    const count = pairAt(topPair()).count;
    if (count < threshold) dropTop();
    else if (count === topCount()) return true;
    else lowerTop(count);
  }
  return false;
}

/**
 * Fills the heap. Returns false if the queue is empty, or the slice is used up: many pairs may have the highest count.
 */
function findTop(): bool {
  while (!hasTop()) {
    if (workLeft <= 0) return false;
    const movedCount = fillHeap(workLeft);
    if (movedCount === 0) return false;
    workLeft -= movedCount;
  }
  return true;
}

/** Removes the best pair from the queue, records the merge and makes its token; returns the token's id. */
function takeTop(): u32 {
  const pair = pairAt(topPair());
  const count = topCount();
  dropTop();
  raiseThreshold(count, entryCount + 1, mergeCountMax);
  const id = addToken(pair.left, pair.right);
  store<f64>(mergeCounts + ((<usize>id) << 3), <f64>count);
  if (giveTieKey(id)) entryCount++;
  return id;
}

/** Does the same for a chosen pair. Separate from `takeTop`, which is inlined in the loop: sharing code costs 5 %. */
function writeMerge(left: u32, right: u32, count: u64): u32 {
  const id = addToken(left, right);
  store<f64>(mergeCounts + ((<usize>id) << 3), <f64>count);
  if (giveTieKey(id)) entryCount++;
  return id;
}

/** Settles the neighbours of the current merge, and records how much it replaced. */
function settleMerge(): void {
  store<f64>(replacedCounts + ((<usize>currentMerge().id) << 3), settleNeighbours(threshold));
}

/** Begins to merge the large pair on top. The caller then walks its list, makes room, and writes, in slices. */
export function startLargeMerge(): void {
  largePair = topPair();
  startMerge(largePair, takeTop());
}

/**
 * Begins to merge a chosen pair, whatever is on top. The threshold is 1, so a pair without a record has no occurrence. Returns
 * false if there is no room for a record.
 */
export function startNamedMerge(left: u32, right: u32): bool {
  if (!takeNamedPair(left, right)) return false;
  startMerge(largePair, writeMerge(left, right, pairAt(largePair).count));
  return true;
}

/** Finds the record of a pair, or makes one with an empty list. Returns false if there is no room for it. */
function takeNamedPair(left: u32, right: u32): bool {
  largePair = findPair(left, right);
  if (largePair === noPair) {
    if (!hasRoomForPairs(1)) return false;
    largePair = addPair(left, right, 0, 1, 0);
  }
  return true;
}

/** The halves of the large pair. */
export function largeLeft(): u32 {
  return pairAt(largePair).left;
}

export function largeRight(): u32 {
  return pairAt(largePair).right;
}

/** In another memory than the first: begins to merge the same pair. Returns false if there is no room for a record. */
export function followMerge(left: u32, right: u32): bool {
  if (!takeNamedPair(left, right)) return false;
  startMerge(largePair, addToken(left, right));
  return true;
}

/**
 * Engines of several languages over one vocabulary (src/merge/parity-merges.ts). Each has a record of every pair in its words, so
 * its threshold is always 1. One of them chooses its best pair, then all merge it.
 */

/**
 * The maximum number of records. When they are used up, rebuilding the index drops those of pairs that no longer occur.
 */
let recordsMax: u32 = 0;

/** Sets the limit of records after indexing. */
export function limitRecords(): void {
  recordsMax = <u32>min<u64>(pairCapacity, 2 * <u64>pairCount + (1 << 16));
}

/**
 * The count of the best pair, whose halves are `largeLeft` and `largeRight`; 0 if there is none; -1 if `work` was used
 * up.
 */
export function bestCount(work: i32): f64 {
  workLeft = work;
  if (!settleTop()) return workLeft <= 0 ? -1 : 0;
  largePair = topPair();
  return <f64>topCount();
}

/** The results of `mergeChosen`. */
export enum Chosen {
  /** The pair does not occur here, so neither does its token. */
  absent,
  merged,
  /** Nothing was done: the merge must be made in slices. */
  large,
  /** Nothing was done: there may be too many records. */
  tooManyRecords,
}

/** Merges a pair that an engine has chosen; `work` limits the work. */
export function mergeChosen(left: u32, right: u32, work: i32): i32 {
  const p = findPair(left, right);
  workLeft = work - mergeWork;
  if (p === noPair || pairAt(p).count === 0) return Chosen.absent;
  const listLength = pairAt(p).listLength;
  workLeft -= listLength;
  // Two pairs are created for each distinct neighbour at most.
  if (<u64>pairCount + 2 * <u64>min(listLength, madeCount) > recordsMax) return Chosen.tooManyRecords;
  if (listLength > sliceWork || !hasRoomForEntries(2 * listLength)) return Chosen.large;
  mergeAtOnce(p, writeMerge(left, right, pairAt(p).count), listLength);
  return Chosen.merged;
}

/** The number of entries of the large pair's list. */
export function largeListLength(): u32 {
  return pairAt(largePair).listLength;
}

/** After the walk: whether room must be made for the entries that will be created. */
export function needsRoom(): bool {
  neededEntries = countBornEntries(threshold);
  return !hasRoomForEntries(neededEntries);
}

export function startMakingRoom(): void {
  startCompaction(neededEntries, largePair, threshold, cleanShare);
}

/** Ends a compaction. Returns false if the arena has its maximum size; then all lists can be cleaned, once. */
export function endMakingRoom(): bool {
  return endCompaction(neededEntries);
}

const all: f64 = -1;

export function startCleaningAll(): void {
  startCompaction(neededEntries, largePair, threshold, all);
}

/**
 * Settles a large merge before its lists are written. Returns false if there is no room for the pairs that are created.
 */
export function settleLargeMerge(): bool {
  if (!hasRoomForNewPairs()) return false;
  settleMerge();
  return true;
}

/** The number of merges so far. */
export function mergeCount(): u32 {
  return madeCount - startCount;
}
