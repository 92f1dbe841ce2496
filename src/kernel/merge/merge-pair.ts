import { boundary, isFirst, Merge, merge, Part, partCount, Sum } from "./merge-regions";
import { partAt, startPart, Work, workTogether } from "./merge-threads";
import { lengthOf, mayMerge } from "./merge-tokens";
import { noSlot, Side, seenOf, sumAt, sumsOf } from "./neighbours";
import { entryAddress, takeEntries } from "./occurrences";
import { pushPair } from "./pair-queue";
import { addPair, findPair, hasRoomForPairs, noPair, pairAt } from "./pair-table";

/**
 * One merge, in steps: walks the list of occurrences once (neighbours.ts); then walks the distinct neighbours once,
 * lowering the counts of existing pairs and creating new ones; then writes the lists of the created pairs. The first
 * and the last step may be done in slices and by several threads.
 */
let pairInWork: u32 = noPair;
/** The number of parts into which the list of `pairInWork` is cut. */
let partsInWork: u32 = 1;

let sharedListLength: u32 = 0;
let blockSize: u32 = 0;

/**
 * Sets how lists are walked: in blocks of `block` entries. A list of at least `sharedLength` entries is cut into parts
 * for several threads.
 */
export function startMerges(block: u32, sharedLength: u32): void {
  blockSize = block;
  sharedListLength = sharedLength;
}

export function currentMerge(): Merge {
  return changetype<Merge>(merge);
}

/** Begins to merge pair `p` into token `id`. */
export function startMerge(p: u32, id: u32): void {
  pairInWork = p;
  const pair = pairAt(p);
  const merge = currentMerge();
  merge.left = pair.left;
  merge.right = pair.right;
  merge.id = id;
  merge.leftLength = lengthOf(pair.left);
  merge.rightLength = lengthOf(pair.right);
  merge.listStart = pair.listStart;
  merge.blockSize = blockSize;
  cutList(pair.listStart, pair.listLength, merge.leftLength + merge.rightLength);
}

/** The maximum number of list entries that are tried as the place of each cut. */
const cutTries: u32 = isSmallScale ? 2 : 64;

/**
 * Cuts a long list into independent parts: between the last occurrence of a part and the first one of the next part,
 * there is at least one cell that neither part writes.
 */
function cutList(listStart: u32, listLength: u32, length: u32): void {
  partsInWork = 1;
  let start: u32 = 0;
  const wanted: u32 =
    listLength < sharedListLength ? 1 : <u32>min<u64>(partCount, (2 * <u64>listLength) / sharedListLength);
  for (let k: u32 = 1; k < wanted; k++) {
    const target = <u32>((<u64>listLength * k) / wanted);
    const last = min(target + cutTries, listLength);
    let cut = max(target, start + 1);
    while (cut < last && gapBefore(listStart + cut) <= length) cut++;
    if (cut >= last) continue;
    startPart(partsInWork - 1, start, cut);
    partsInWork++;
    start = cut;
  }
  startPart(partsInWork - 1, start, listLength);
}

function gapBefore(entry: u32): u32 {
  return load<u32>(entryAddress(entry)) - load<u32>(entryAddress(entry - 1));
}

/** Merges the next `share` entries of each part. Returns true while some are left. */
export function mergeSome(share: u32): bool {
  return workTogether(Work.mergeOccurrences, partsInWork, share);
}

/**
 * Ends the walk over the list, and adds up the sums of the parts. The memory of the list now has the staged positions
 * (neighbours.ts).
 */
export function endWalk(): void {
  const last = partAt(partsInWork - 1);
  pairAt(pairInWork).listLength = last.start + last.stagedCount;
  joinSums();
}

/** A value of `slot`: the neighbour is among those seen in part 0, although part 0 has no occurrence of it. */
const isListed: u32 = 0xffffffff;

/** Adds the weights and distinct neighbours of the other parts to those of part 0. */
function joinSums(): void {
  for (let k: u32 = 1; k < partsInWork; k++) {
    joinSide(k, Side.left);
    joinSide(k, Side.right);
    partAt(0).voidWeight += partAt(k).voidWeight;
  }
}

function joinSide(part: u32, side: u32): void {
  const sums = sumsOf(part, side);
  for (let k: u32 = 0; k < seenCountOf(part, side); k++) {
    const id = seenAt(part, side, k);
    listNeighbour(side, id).weight += sumAt(sums, id).weight;
  }
}

/**
 * Returns the sum in part 0 for a neighbour of any part or memory. Adds the neighbour to those seen in part 0 if it is
 * not among them. Callers make `weight` of this sum the total of all parts. `count` stays that of part 0, because slots
 * in lists are assigned part by part.
 */
export function listNeighbour(side: u32, id: u32): Sum {
  const sum = sumAt(sumsOf(0, side), id);
  if (sum.count === 0 && sum.slot !== isListed) {
    sum.slot = isListed;
    const seenCount = seenCountOf(0, side);
    store<u32>(seenOf(0, side) + ((<usize>seenCount) << 2), id);
    store<u32>(seenCountAddress(0, side), seenCount + 1);
  }
  return sum;
}

/** Returns the number of distinct neighbours of a part on a side. */
export function seenCountOf(part: u32, side: u32): u32 {
  return load<u32>(seenCountAddress(part, side));
}

function seenCountAddress(part: u32, side: u32): usize {
  return changetype<usize>(partAt(part)) + offsetof<Part>("leftSeenCount") + ((<usize>side) << 2);
}

/** Returns the id of a part's distinct neighbour, by its index. */
export function seenAt(part: u32, side: u32, index: u32): u32 {
  return load<u32>(seenOf(part, side) + ((<usize>index) << 2));
}

/** Returns the number of entries of the lists that `settleNeighbours` will create, or a higher number. */
export function countBornEntries(threshold: u64): u32 {
  return countBornAt(Side.left, threshold) + countBornAt(Side.right, threshold);
}

function countBornAt(side: u32, threshold: u64): u32 {
  const sums = sumsOf(0, side);
  let count: u32 = 0;
  for (let k: u32 = 0; k < seenCountOf(0, side); k++) {
    const id = seenAt(0, side, k);
    if (id !== boundary && sumAt(sums, id).weight >= threshold) count += countInAllParts(side, id);
  }
  return count;
}

/** Returns the number of occurrences of a neighbour in all parts. */
function countInAllParts(side: u32, id: u32): u32 {
  let count: u32 = 0;
  for (let k: u32 = 0; k < partsInWork; k++) count += sumAt(sumsOf(k, side), id).count;
  return count;
}

export function hasRoomForNewPairs(): bool {
  return hasRoomForPairs(seenCountOf(0, Side.left) + seenCountOf(0, Side.right));
}

/**
 * Processes the distinct neighbours: lowers the counts of their old pairs, creates pairs with the new token if they
 * reach `threshold`, and resets the sums to 0. There must be space for the new lists. Returns the total weight of the
 * merged occurrences.
 */
export function settleNeighbours(threshold: u64): f64 {
  const merge = currentMerge();
  const x = merge.left;
  const y = merge.right;
  const id = merge.id;
  const part = partAt(0);
  let replaced: f64 = 0;
  for (let k: u32 = 0; k < part.leftSeenCount; k++) {
    const t = seenAt(0, Side.left, k);
    const weight = sumAt(sumsOf(0, Side.left), t).weight;
    replaced += <f64>weight;
    // If the left neighbour is `id`, this merge made that neighbour, too. The old pair (y, x) between the two
    // occurrences loses its count when the right neighbours are processed.
    if (t !== boundary && t !== id) loseCount(t, x, weight);
    const isBorn = t !== boundary && weight >= threshold && mayMerge(t, id);
    const listStart = isBorn ? createPair(t, id, weight, countInAllParts(Side.left, t)) : noSlot;
    giveSlots(Side.left, t, listStart);
  }
  for (let k: u32 = 0; k < part.rightSeenCount; k++) {
    const t = seenAt(0, Side.right, k);
    let weight = sumAt(sumsOf(0, Side.right), t).weight;
    if (t !== boundary) loseCount(y, t, weight);
    // In "xyxy" the first occurrence has the right neighbour x, but the second occurrence replaces that x. `voidWeight`
    // is the weight of such neighbours, which does not count for the pair (id, x).
    if (t === x) weight -= part.voidWeight;
    const isBorn = t !== boundary && weight >= threshold && mayMerge(id, t);
    const listStart = isBorn ? createPair(id, t, weight, countInAllParts(Side.right, t)) : noSlot;
    giveSlots(Side.right, t, listStart);
  }
  pairAt(pairInWork).count = 0;
  return replaced;
}

/**
 * Lowers the count of a pair by `weight`, in the first memory. Other memories do not have the total counts
 * (memory-exchange.ts).
 */
function loseCount(left: u32, right: u32, weight: u64): void {
  if (!isFirst) return;
  const p = findPair(left, right);
  if (p === noPair) return;
  const pair = pairAt(p);
  // If the pair's list was dropped because the pair was below the threshold, the count is 0 already.
  pair.count -= min(weight, pair.count);
}

/** Creates a record for a new pair, and adds it to the queue. Returns the start of its list. */
function createPair(left: u32, right: u32, count: u64, entryCount: u32): u32 {
  const listStart = takeEntries(entryCount);
  pushPair(count, addPair(left, right, count, listStart, entryCount));
  return listStart;
}

/** If a new pair was created, assigns to each part its consecutive slots in the pair's list. Resets the sums to 0. */
function giveSlots(side: u32, id: u32, listStart: u32): void {
  let slot = listStart;
  for (let k: u32 = 0; k < partsInWork; k++) {
    const sum = sumAt(sumsOf(k, side), id);
    const count = sum.count;
    sum.slot = slot;
    sum.weight = 0;
    sum.count = 0;
    if (slot !== noSlot) slot += count;
  }
}

/**
 * Writes the next `share` staged positions of each part to the lists of the new pairs. Returns true while some are
 * left.
 */
export function writeSome(share: u32): bool {
  currentMerge().listStart = pairAt(pairInWork).listStart; // making room may have moved the list
  return workTogether(Work.writeStaged, partsInWork, share);
}

/** Ends the merge, and frees its list. */
export function endMerge(): void {
  pairAt(pairInWork).listLength = 0;
}
