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
 * The main loop: settles the top of the queue, makes its token, merges. It runs as long as merges are small; the caller
 * does a large one in slices.
 *
 *   REGION          ELEMENT  ELEMENTS       MEANING
 *   mergeCounts     f64      tokenCapacity  occurrences of the pair that became token id, when it did; of a start token,
 *                                           its own before any merge (word-layout.ts)
 *   replacedCounts  f64      tokenCapacity  those that were replaced by the token: of the two in "aaa" it is one
 */

/** Why the loop pauses. */
export enum Pause {
  finished,
  sliceUsedUp,
  /** The pair on top has more entries than a slice, or the arena must make room. */
  largePairOnTop,
  topBelowThreshold,
  /** There is no room for the pairs that would be created: the engine cannot go on. */
  noRoom,
}

/** What a merge costs beside its occurrences, in entries: the queue, the hash table, the token. */
const mergeWork: i32 = 64;

/** Merges wanted; under the rule of `huggingface` new entries of the vocabulary. */
let mergeCountMax: u32 = 0;
/** Merges that made an entry of the vocabulary: all but those that spell a special token (tie-rules.ts). */
let entryCount: u32 = 0;
let sliceWork: u32 = 0;
let cleanShare: f64 = 0;
/** What is left of the slice. */
let workLeft: i32 = 0;
/** The pair that is merged in slices. */
let largePair: u32 = 0;
let neededEntries: u32 = 0;

/**
 * Begins: tokens, pairs and queue hold nothing but the start tokens. `mergesWanted` are merges, under the rule of
 * `huggingface` new entries of the vocabulary; a merge with more entries than `workOfSlice` is large; lists whose pair
 * lost more than `shareToClean` of its count are cleaned where room is short. `doSmallerWin` is of ties (tie-rules.ts).
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

/** Merges that made an entry of the vocabulary, so far. */
export function mergedEntryCount(): u32 {
  return entryCount;
}

/** What the last call of `mergeUntilPause`, `lookAtTop` or `bestCount` left of the work that it was given. */
export function workLeftOfSlice(): i32 {
  return workLeft;
}

/** Merges until there is a reason to pause; `work` is how much may be done. */
export function mergeUntilPause(work: i32): i32 {
  workLeft = work;
  while (entryCount < mergeCountMax) {
    if (!settleTop()) return withoutTop();
    const p = topPair();
    const listLength = pairAt(p).listLength;
    // A merge creates at most two entries for each that it takes.
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
 * Merges a pair with a list that a slice has time for. False if there is no room for the pairs that would be created.
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

/** `mergeUntilPause` where every merge is large: for words in several memories. */
export function lookAtTop(work: i32): i32 {
  workLeft = work;
  if (entryCount === mergeCountMax) return Pause.finished;
  if (!settleTop()) return withoutTop();
  return Pause.largePairOnTop;
}

/** Why the loop pauses when `settleTop` found no pair. */
function withoutTop(): Pause {
  if (workLeft <= 0) return Pause.sliceUsedUp;
  return threshold > countMin ? Pause.topBelowThreshold : Pause.finished;
}

/** Brings the top of the queue to its true count. False if no pair at or above the threshold is left, or no time. */
function settleTop(): bool {
  while (findTop()) {
    const count = pairAt(topPair()).count;
    if (count < threshold) dropTop();
    else if (count === topCount()) return true;
    else lowerTop(count);
  }
  return false;
}

/** False if the queue is empty, or the slice used up: a great many pairs may have the highest count. */
function findTop(): bool {
  while (!hasTop()) {
    if (workLeft <= 0) return false;
    const movedCount = fillHeap(workLeft);
    if (movedCount === 0) return false;
    workLeft -= movedCount;
  }
  return true;
}

/** Takes the best pair off the queue, writes the merge down and makes its token, whose id is returned. */
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

/** The same of a pair that somebody names. Apart from `takeTop`, which is inlined where the loop is: together they cost 5 %. */
function writeMerge(left: u32, right: u32, count: u64): u32 {
  const id = addToken(left, right);
  store<f64>(mergeCounts + ((<usize>id) << 3), <f64>count);
  if (giveTieKey(id)) entryCount++;
  return id;
}

/** Settles what stands around the merge in work, and writes down how much it replaced. */
function settleMerge(): void {
  store<f64>(replacedCounts + ((<usize>currentMerge().id) << 3), settleNeighbours(threshold));
}

/** Begins to merge the pair on top, which is large. What follows walks its list, makes room, and writes, in slices. */
export function startLargeMerge(): void {
  largePair = topPair();
  startMerge(largePair, takeTop());
}

/**
 * Begins to merge a pair that somebody names, whatever is on top. The threshold is 1, so a pair without a record has no
 * occurrence. False if there is no room for a record.
 */
export function startNamedMerge(left: u32, right: u32): bool {
  if (!takeNamedPair(left, right)) return false;
  startMerge(largePair, writeMerge(left, right, pairAt(largePair).count));
  return true;
}

/** Finds the record of a pair, or makes one with an empty list. False if there is no room for it. */
function takeNamedPair(left: u32, right: u32): bool {
  largePair = findPair(left, right);
  if (largePair === noPair) {
    if (!hasRoomForPairs(1)) return false;
    largePair = addPair(left, right, 0, 1, 0);
  }
  return true;
}

/** Its halves. */
export function largeLeft(): u32 {
  return pairAt(largePair).left;
}

export function largeRight(): u32 {
  return pairAt(largePair).right;
}

/** In another memory than the first: begins to merge the same pair. False if there is no room for a record. */
export function followMerge(left: u32, right: u32): bool {
  if (!takeNamedPair(left, right)) return false;
  startMerge(largePair, addToken(left, right));
  return true;
}

/**
 * Engines of several languages over one vocabulary (src/merge/parity-merges.ts). Each has a record of every pair in its words,
 * so its threshold stays 1. One of them says its best pair, then all merge that.
 */

/** The most records. When they are used up, the text is indexed anew, which drops those of pairs that are gone. */
let recordsMax: u32 = 0;

/** After the text was indexed. */
export function limitRecords(): void {
  recordsMax = <u32>min<u64>(pairCapacity, 2 * <u64>pairCount + (1 << 16));
}

/** The count of the best pair, whose halves are `largeLeft` and `largeRight`; 0: there is none; -1: `work` was used up before. */
export function bestCount(work: i32): f64 {
  workLeft = work;
  if (!settleTop()) return workLeft <= 0 ? -1 : 0;
  largePair = topPair();
  return <f64>topCount();
}

/** How `mergeChosen` ended. */
export enum Chosen {
  /** The pair does not occur here, so neither does its token. */
  absent,
  merged,
  /** Nothing is done yet: the merge has to be made in slices. */
  large,
  /** Nothing is done yet: there may be too many records. */
  tooManyRecords,
}

/** Merges a pair that an engine has chosen; takes what that costs off `work`. */
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

/** Entries of its list. */
export function largeListLength(): u32 {
  return pairAt(largePair).listLength;
}

/** After the walk has ended: whether room must be made for what will be created. */
export function needsRoom(): bool {
  neededEntries = countBornEntries(threshold);
  return !hasRoomForEntries(neededEntries);
}

export function startMakingRoom(): void {
  startCompaction(neededEntries, largePair, threshold, cleanShare);
}

/** Ends a compaction. False if the arena is at its end: then all lists can be cleaned, once. */
export function endMakingRoom(): bool {
  return endCompaction(neededEntries);
}

const all: f64 = -1;

export function startCleaningAll(): void {
  startCompaction(neededEntries, largePair, threshold, all);
}

/** Before what was merged is written: false if there is no room for the pairs that are created. */
export function settleLargeMerge(): bool {
  if (!hasRoomForNewPairs()) return false;
  settleMerge();
  return true;
}

/** Merges so far. */
export function mergeCount(): u32 {
  return madeCount - startCount;
}
