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
import {
  cellCount,
  mergeCounts,
  pairCapacity,
  replacedCounts,
  startCount,
  tokenCapacity,
} from "./merge-regions";
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
 * The main loop: brings the top of the queue up to date, makes the token of the pair on top, and merges the pair's
 * occurrences. The loop does small merges; the caller does large ones in slices.
 *
 *   REGION          ELEMENT  ELEMENTS       MEANING
 *   mergeCounts     f64      tokenCapacity  occurrences of each token's pair when it was merged; for a start token, its
 *                                           own occurrences before any merge (word-layout.ts)
 *   replacedCounts  f64      tokenCapacity  how many of these occurrences were replaced: "aaa" has two occurrences of
 *                                           "a a", but only one is replaced
 */

/** The reasons for a pause of the loop. */
export enum Pause {
  finished,
  sliceUsedUp,
  /**
   * The top pair must be merged in slices: its list is longer than a slice, the arena of the lists (occurrences.ts) may
   * lack space for the new ones, or words are in several memories (memory-exchange.ts).
   */
  largePairOnTop,
  topBelowThreshold,
  /**
   * The engine cannot continue: the table of pairs is too small for the pairs that would be created, or there is no
   * room for another token.
   */
  noRoom,
}

/** The work that every merge causes in the queue, the hash table and the tokens, measured in list entries. */
const mergeWork: i32 = 64;

/** The maximum of `entryCount`. */
let mergeCountMax: u32 = 0;
/**
 * The number of merges that made an entry of the vocabulary: all but those that spell an existing token (tie-rules.ts).
 */
let entryCount: u32 = 0;
let sliceWork: u32 = 0;
let cleanShare: f64 = 0;
/** The work left in the current slice, in list entries. */
let workLeft: i32 = 0;
/** The pair that is merged in slices, or that `bestCount` has found. */
let largePair: u32 = 0;
let neededEntries: u32 = 0;

/**
 * Starts the engine, which has only the start tokens at first. `mergesWanted` is the maximum of `entryCount`. A merge
 * is large if its list has more entries than `workOfSlice`. A list may be cleaned once its pair has lost more than
 * `shareToClean` of its count (occurrences.ts). `doSmallerWin`: if bytes decide a tie, the smaller ones win
 * (tie-rules.ts).
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

/** Returns the number of merges so far that made an entry of the vocabulary. */
export function mergedEntryCount(): u32 {
  return entryCount;
}

/**
 * Returns the work left over by the last call of `mergeUntilPause`, `lookAtTop`, `bestCount` or `mergeChosen`, in list
 * entries; 0 or less if the work was used up.
 */
export function workLeftOfSlice(): i32 {
  return workLeft;
}

/** Merges until there is a reason to pause, and returns that reason. `work` limits the work, in list entries. */
export function mergeUntilPause(work: i32): i32 {
  workLeft = work;
  while (entryCount < mergeCountMax) {
    if (!settleTop()) return withoutTop();
    if (madeCount === tokenCapacity) return Pause.noRoom;
    const p = topPair();
    const listLength = pairAt(p).listLength;
    // A merge creates at most two entries for each entry that it consumes.
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
 * Merges a pair whose list fits into a slice. Returns false if the table of pairs is too small for the pairs that would
 * be created. `mergeUntilPause` repeats these steps in its loop, because a call for each merge costs some 3 %.
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

/**
 * Finds the pair to merge next, and returns the reason for the pause, as `mergeUntilPause` does. Unlike
 * `mergeUntilPause`, merges nothing. It is called if words are in several memories, where every merge is treated as
 * large.
 */
export function lookAtTop(work: i32): i32 {
  workLeft = work;
  if (entryCount === mergeCountMax) return Pause.finished;
  if (!settleTop()) return withoutTop();
  return madeCount === tokenCapacity ? Pause.noRoom : Pause.largePairOnTop;
}

/** Returns the reason for a pause after `settleTop` found no pair. */
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
 * Fills the heap until its top is known. Returns false if the queue is empty, or if the slice is used up before the top
 * is known. That happens if many pairs have about the highest count.
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

/**
 * Removes the best pair from the queue, records its count, and makes its token. Raises the threshold if the count of
 * the last merge is now estimated to be higher (`raiseThreshold`, pair-queue.ts). Returns the token's id.
 */
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

/**
 * Records the count of a pair that was not taken from the queue, and makes its token. Returns the token's id.
 * `takeTop`, which is inlined in the loop, has these steps as well, because sharing code costs 5 %.
 */
function writeMerge(left: u32, right: u32, count: u64): u32 {
  const id = addToken(left, right);
  store<f64>(mergeCounts + ((<usize>id) << 3), <f64>count);
  if (giveTieKey(id)) entryCount++;
  return id;
}

/**
 * Calls `settleNeighbours` (merge-pair.ts) for the current merge, and records how many occurrences the merge replaced.
 */
function settleMerge(): void {
  store<f64>(replacedCounts + ((<usize>currentMerge().id) << 3), settleNeighbours(threshold));
}

/**
 * Begins to merge the large pair on top. The caller then walks the pair's list, frees space in the arena, and writes
 * the new lists, in slices.
 */
export function startLargeMerge(): void {
  largePair = topPair();
  startMerge(largePair, takeTop());
}

/**
 * Begins to merge a chosen pair, whatever is on top of the queue. The threshold must be 1, so that a pair without a
 * record has no occurrences. Returns false if there is no room for the pair's record, or for another token.
 */
export function startNamedMerge(left: u32, right: u32): bool {
  if (madeCount === tokenCapacity || !takeNamedPair(left, right)) return false;
  startMerge(largePair, writeMerge(left, right, pairAt(largePair).count));
  return true;
}

/**
 * Sets `largePair` to the record of a pair, and creates one with an empty list if there is none. Returns false if there
 * is none and the table of pairs is full.
 */
function takeNamedPair(left: u32, right: u32): bool {
  largePair = findPair(left, right);
  if (largePair === noPair) {
    if (!hasRoomForPairs(1)) return false;
    largePair = addPair(left, right, 0, 1, 0);
  }
  return true;
}

/** Returns the left half of the large pair. */
export function largeLeft(): u32 {
  return pairAt(largePair).left;
}

export function largeRight(): u32 {
  return pairAt(largePair).right;
}

/**
 * Begins to merge a pair that the first of several memories has chosen (memory-exchange.ts). Returns false if there is
 * no room for the pair's record.
 */
export function followMerge(left: u32, right: u32): bool {
  if (!takeNamedPair(left, right)) return false;
  startMerge(largePair, addToken(left, right));
  return true;
}

/**
 * Parity-aware merges: one engine for each language, over one vocabulary (src/merge/parity-merges.ts). Each engine has
 * a record of every pair in its words that may be merged, because its threshold is always 1. One of the engines chooses
 * its best pair, and then all engines merge that pair.
 */

/**
 * The maximum number of records. When a merge might need more, the index is rebuilt without the pairs that no longer
 * occur.
 */
let recordsMax: u32 = 0;

/** Sets `recordsMax` from the number of records after indexing. */
export function limitRecords(): void {
  recordsMax = <u32>min<u64>(pairCapacity, 2 * <u64>pairCount + (1 << 16));
}

/**
 * Returns the count of the best pair, whose halves are `largeLeft` and `largeRight`; 0 if there is none; -1 if `work`,
 * in list entries, was used up before the pair was found.
 */
export function bestCount(work: i32): f64 {
  workLeft = work;
  if (!settleTop()) return workLeft <= 0 ? -1 : 0;
  largePair = topPair();
  return <f64>topCount();
}

/** The results of `mergeChosen`. */
export enum Chosen {
  /** The pair does not occur in this engine's words, so its token will not either. */
  absent,
  merged,
  /** The pair was not merged, because its merge must be done in slices. */
  large,
  /** The pair was not merged, because the pairs that it creates may need too many records. */
  tooManyRecords,
}

/**
 * Merges a pair that one of the engines has chosen, and returns a value of `Chosen`. `work` is what is left of the
 * slice, in list entries; the merge may take more.
 */
export function mergeChosen(left: u32, right: u32, work: i32): i32 {
  const p = findPair(left, right);
  workLeft = work - mergeWork;
  if (p === noPair || pairAt(p).count === 0) return Chosen.absent;
  const listLength = pairAt(p).listLength;
  workLeft -= listLength;
  // On each side, a merge creates at most one pair for each distinct neighbour. There are at most as many of these as
  // entries of the list, or as tokens.
  if (<u64>pairCount + 2 * <u64>min(listLength, madeCount) > recordsMax) return Chosen.tooManyRecords;
  if (listLength > sliceWork || !hasRoomForEntries(2 * listLength)) return Chosen.large;
  mergeAtOnce(p, writeMerge(left, right, pairAt(p).count), listLength);
  return Chosen.merged;
}

/** Returns the number of entries of the large pair's list. */
export function largeListLength(): u32 {
  return pairAt(largePair).listLength;
}

/**
 * Whether the arena must be compacted before the lists of new pairs fit. Must be called after the walk over the merged
 * pair's list.
 */
export function needsRoom(): bool {
  neededEntries = countBornEntries(threshold);
  return !hasRoomForEntries(neededEntries);
}

export function startMakingRoom(): void {
  startCompaction(neededEntries, largePair, threshold, cleanShare);
}

/**
 * Ends a compaction. Returns false if space is still missing although the arena has its maximum size. Then
 * `startCleaningAll` may help.
 */
export function endMakingRoom(): bool {
  return endCompaction(neededEntries);
}

const all: f64 = -1;

export function startCleaningAll(): void {
  startCompaction(neededEntries, largePair, threshold, all);
}

/**
 * Calls `settleMerge` for a large merge, before its lists are written. Returns false if the table of pairs is too small
 * for the pairs that are created.
 */
export function settleLargeMerge(): bool {
  if (!hasRoomForNewPairs()) return false;
  settleMerge();
  return true;
}

/** Returns the number of merges so far. */
export function mergeCount(): u32 {
  return madeCount - startCount;
}
