import { boundary, isFirst, Merge, merge, Part, partCount, Sum } from "./merge-regions";
import { partAt, startPart, Work, workTogether } from "./merge-threads";
import { lengthOf, mayMerge } from "./merge-tokens";
import { noSlot, Side, seenOf, sumAt, sumsOf } from "./neighbours";
import { entryAddress, takeEntries } from "./occurrences";
import { pushPair } from "./pair-queue";
import { addPair, findPair, hasRoomForPairs, noPair, pairAt } from "./pair-table";

/**
 * One merge, in steps: the list of occurrences is walked once (neighbours.ts), the distinct neighbours once (which
 * pairs lose, which are created), and the lists of those created are written. Walking and writing may be done a bit at a
 * time, and by several threads; the merge in work stands in the region `merge`.
 */
let pairInWork: u32 = noPair;
/** Parts that its list is cut into. */
let partsInWork: u32 = 1;

let sharedListLength: u32 = 0;
let blockSize: u32 = 0;

/** Lists of at least `sharedLength` entries are walked by all threads, in blocks of `block` entries. */
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

/** A cut is looked for among so many entries. */
const cutTries: u32 = isSmallScale ? 2 : 64;

/**
 * Cuts a long list into parts. Between two of them there is a cell that neither writes: two entries so far apart that
 * a token stands between them have nothing to do with each other.
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

/** Merges at the next `share` entries of each part; true while some are left. */
export function mergeSome(share: u32): bool {
  return workTogether(Work.mergeOccurrences, partsInWork, share);
}

/** Ends the walk over the list. The pair's list is now only scratch memory, as long as what is staged in it. */
export function endWalk(): void {
  const last = partAt(partsInWork - 1);
  pairAt(pairInWork).listLength = last.start + last.stagedCount;
  joinSums();
}

/** A slot that says: this neighbour is in the list of part 0 already, although part 0 has no occurrence of it. */
const isListed: u32 = 0xffffffff;

/** Gives part 0 the weights of all parts, and all distinct neighbours. */
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

/** The sum of part 0 for a neighbour of any part or memory. Its count stays that of part 0 alone: from the counts come the slots. */
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

/** How many distinct neighbours a part has on a side. */
export function seenCountOf(part: u32, side: u32): u32 {
  return load<u32>(seenCountAddress(part, side));
}

function seenCountAddress(part: u32, side: u32): usize {
  return changetype<usize>(partAt(part)) + offsetof<Part>("leftSeenCount") + ((<usize>side) << 2);
}

/** One of these. */
export function seenAt(part: u32, side: u32, index: u32): u32 {
  return load<u32>(seenOf(part, side) + ((<usize>index) << 2));
}

/** Entries of the lists that `settleNeighbours` will make, or a few more. */
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

/** Occurrences of a neighbour in all parts. */
function countInAllParts(side: u32, id: u32): u32 {
  let count: u32 = 0;
  for (let k: u32 = 0; k < partsInWork; k++) count += sumAt(sumsOf(k, side), id).count;
  return count;
}

/** Whether there are records for all pairs that may be created. */
export function hasRoomForNewPairs(): bool {
  return hasRoomForPairs(seenCountOf(0, Side.left) + seenCountOf(0, Side.right));
}

/**
 * Goes through the distinct neighbours: pairs of before lose what the merge took, pairs with the new token are created if
 * they have `threshold` or more, and the sums are 0 again. How much weight was replaced. The arena has room.
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
    // A left neighbour `id` is itself a merge just made; the (y, x) between the two went as its right neighbour.
    if (t !== boundary && t !== id) loseCount(t, x, weight);
    const isBorn = t !== boundary && weight >= threshold && mayMerge(t, id);
    const listStart = isBorn ? createPair(t, id, weight, countInAllParts(Side.left, t)) : noSlot;
    giveSlots(Side.left, t, listStart);
  }
  for (let k: u32 = 0; k < part.rightSeenCount; k++) {
    const t = seenAt(0, Side.right, k);
    let weight = sumAt(sumsOf(0, Side.right), t).weight;
    if (t !== boundary) loseCount(y, t, weight);
    // In "xyxy" the first merge noted x as its right neighbour and the second took it away: nothing is created there.
    if (t === x) weight -= part.voidWeight;
    const isBorn = t !== boundary && weight >= threshold && mayMerge(id, t);
    const listStart = isBorn ? createPair(id, t, weight, countInAllParts(Side.right, t)) : noSlot;
    giveSlots(Side.right, t, listStart);
  }
  pairAt(pairInWork).count = 0;
  return replaced;
}

/** Only the first memory has the counts of all pairs (memory-exchange.ts). */
function loseCount(left: u32, right: u32, weight: u64): void {
  if (!isFirst) return;
  const p = findPair(left, right);
  if (p === noPair) return;
  const pair = pairAt(p);
  // Of a pair whose list was dropped, below the threshold, the count is 0 already.
  pair.count -= min(weight, pair.count);
}

/** Makes a record for a pair that is created, and puts it into the queue; where its list begins is returned. */
function createPair(left: u32, right: u32, count: u64, entryCount: u32): u32 {
  const listStart = takeEntries(entryCount);
  pushPair(count, addPair(left, right, count, listStart, entryCount));
  return listStart;
}

/** Gives each part its slots in the new list, one behind the other, if the list is written. Sets the sums to 0. */
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

/** Writes the next `share` of the positions that each part staged to the lists of the new pairs; true while some are left. */
export function writeSome(share: u32): bool {
  currentMerge().listStart = pairAt(pairInWork).listStart; // making room may have moved it
  return workTogether(Work.writeStaged, partsInWork, share);
}

/** The merge is done; its list is no longer needed. */
export function endMerge(): void {
  pairAt(pairInWork).listLength = 0;
}
