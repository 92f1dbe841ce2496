import {
  bucketCount,
  buckets,
  isFirst,
  nextInBucket,
  pairCapacity,
  QueueEntry,
  queue,
  queueEntryBytes,
} from "./merge-regions";
import { pairAt } from "./pair-table";
import { pairWins } from "./tie-rules";

/**
 * The count threshold: every pair that may be merged (`mayMerge` of merge-tokens.ts) and has a count of at least
 * `threshold` has a record. A pair that is created with a lower count gets no record, no list, and no entry in the
 * queue.
 *
 * Why the merges are the same as with records for all pairs: counts only fall, and the threshold only rises until the
 * index is rebuilt. While the best pair of the queue has a count of at least `threshold`, pairs without a record have
 * lower counts, so none of them can beat or tie it. Once its count is below `threshold`, the index is rebuilt with a
 * lower threshold (rebuild-index.ts).
 *
 * After merge k of K, the threshold is raised to a guess of the count of merge K: `share` of the current top count,
 * times (k / K) ^ exponent. If the guess is too high, the index is rebuilt later, which costs a few walks over the
 * text.
 */
export let threshold: u64 = 1;
/** The minimum count of a pair that is merged, at least 1. Training ends when the best pair has a lower count. */
export let countMin: u64 = 1;

/**
 * The first merge at which the threshold may rise. Counts of earlier merges say little about the count of the last
 * merge.
 */
let fromMerge: u32 = 0;
let share: f64 = 0;
let exponent: f64 = 0;

/**
 * Sets the initial threshold, `countMin`, and how the threshold rises. If `shareOfTop` is 0, the threshold never rises.
 */
export function startThreshold(
  first: f64,
  least: f64,
  fromMergeNumber: u32,
  shareOfTop: f64,
  power: f64,
): void {
  threshold = <u64>first;
  countMin = <u64>least;
  fromMerge = fromMergeNumber;
  share = shareOfTop;
  exponent = power;
}

/**
 * Raises the threshold to the guess after merge `mergeNumber` (from 1) of `mergeCountMax`, if the guess is higher.
 * Before merge `fromMerge`, or if `share` is 0, the threshold stays.
 */
export function raiseThreshold(topCount: u64, mergeNumber: u32, mergeCountMax: u32): void {
  if (share === 0 || mergeNumber < fromMerge) return;
  const guess = <f64>topCount * share * NativeMath.pow(<f64>mergeNumber / <f64>mergeCountMax, exponent);
  threshold = max(threshold, <u64>guess);
}

/**
 * Sets the threshold in a memory that is not the first. If words are in several memories (memory-exchange.ts), all use
 * the threshold of the first memory.
 */
export function adoptThreshold(count: f64): void {
  threshold = <u64>count;
}

/** Returns the threshold. Other memories adopt the threshold of the first memory. */
export function thresholdNow(): f64 {
  return <f64>threshold;
}

/**
 * Grades are ranges of counts, by which pairs are tallied when a new threshold is chosen (`lowerThreshold`). Up to 15,
 * each count has a grade of its own. Above, there are eight grades from each power of two to the next. This is the
 * number of grades for counts of 32 bits.
 */
export const gradeCount: u32 = 240;

/** Returns the grade of a count of 1 or more. Grades rise with counts. */
export function gradeOf(count: u32): u32 {
  const shift = max<u32>(31 - clz(count), 3) - 3;
  return (shift << 3) + (count >> shift);
}

/** Returns the least count of a grade. */
function leastOf(grade: u32): u64 {
  return grade < 16 ? grade : (<u64>(8 + (grade & 7))) << ((grade >> 3) - 1);
}

/**
 * Lowers the threshold so that about `pairsWanted` pairs reach it. Adds up the tally from the highest grade down, until
 * the sum reaches `pairsWanted`. The new threshold is the least count of the last grade added, or 1 if there are too
 * few pairs. But it is at most a quarter of the old threshold, so that few rebuilds suffice, and at least `countMin`.
 * `tally` is u32[gradeCount]: the number of pairs of each grade.
 */
export function lowerThreshold(tally: usize, pairsWanted: u32): void {
  let grade = gradeCount - 1;
  let pairCount: u32 = 0;
  for (; grade > 1; grade--) {
    pairCount += load<u32>(tally + ((<usize>grade) << 2));
    if (pairCount >= pairsWanted) break;
  }
  threshold = max(countMin, min(leastOf(grade), threshold / 4));
}

/**
 * Queue: a lazy priority queue of pairs, ordered by count and the tie rule. The queue is not updated when a count
 * falls. So the count of an entry is an upper bound. If the top has a lower true count, it is put back with that count
 * (`lowerTop`).
 *
 * Pairs are in buckets of about equal counts. A bucket is an unordered list, so adding a pair takes two stores. Only
 * the pairs of the highest non-empty bucket are ordered, in a binary heap. Towards the end of training, thousands of
 * pairs have the same count. A heap of all pairs would spend half of the time on ordering ties that are never merged.
 *
 *   REGION        ELEMENT     ELEMENTS         MEANING
 *   queue         QueueEntry  pairCapacity     the heap: entry k has its children at 2k + 1 and 2k + 2
 *   buckets       u32         bucketCount + 1  the first pair of a bucket, plus 1; 0: it is empty
 *   nextInBucket  u32         pairCapacity     the pair after pair p in p's bucket, plus 1; 0: p is the last
 *
 * Counts 8, 5 and 5 of pairs 0, 1 and 2 give buckets[8] = 1, buckets[5] = 3, nextInBucket = [0, 0, 2]. Once the heap is
 * filled it has pair 0, heapBucket is 8 and buckets[8] is 0.
 */
let heapSize: u32 = 0;
/**
 * The bucket from which the heap is filled. Pairs of lower buckets are added to the lists of those buckets, all others
 * to the heap.
 */
let heapBucket: u32 = bucketCount;

export function startQueue(): void {
  heapSize = 0;
  heapBucket = bucketCount;
  memory.fill(buckets, 0, headOf(bucketCount + 1) - buckets);
}

/**
 * The number of bits after a count's highest bit that select its bucket. Up to 127, each count has a bucket of its own.
 */
const bucketBits: u64 = 6;

/** Returns the bucket of a count. Buckets rise with counts; counts of 64 bits have buckets up to 3,775. */
function bucketOf(count: u64): u32 {
  if (count < 2 << bucketBits) return <u32>count;
  const shift = 63 - clz(count) - bucketBits;
  return <u32>((shift << bucketBits) + (count >> shift));
}

/**
 * Returns the address of a bucket's element of `buckets`. The last bucket is always empty, because every count has a
 * lower bucket.
 */
function headOf(bucket: u32): usize {
  return buckets + ((<usize>bucket) << 2);
}

/** Whether the top pair is known: the heap is not empty, and has all pairs of bucket `heapBucket`. */
export function hasTop(): bool {
  return heapSize > 0 && load<u32>(headOf(heapBucket)) === 0;
}

/**
 * Moves at most `pairsMax` (at least 1) pairs of the highest non-empty bucket into the heap. Must be called only if
 * `hasTop` is false. Pairs whose count has fallen move to a lower bucket, or out of the queue if they are below the
 * threshold. Returns the number of pairs moved; 0 if the queue is empty.
 */
export function fillHeap(pairsMax: u32): u32 {
  while (load<u32>(headOf(heapBucket)) === 0) {
    if (heapBucket === 0) return 0;
    heapBucket--;
  }
  const head = headOf(heapBucket);
  let next = load<u32>(head);
  let movedCount: u32 = 0;
  for (; next !== 0 && movedCount < pairsMax; movedCount++) {
    const pair = next - 1;
    next = load<u32>(nextInBucket + ((<usize>pair) << 2));
    const count = pairAt(pair).count;
    if (count >= threshold) pushPair(count, pair);
  }
  store<u32>(head, next);
  return movedCount;
}

function entryAt(index: u32): QueueEntry {
  return changetype<QueueEntry>(queue + <usize>index * queueEntryBytes);
}

function setEntry(index: u32, count: u64, pair: u32): void {
  const entry = entryAt(index);
  entry.count = count;
  entry.pair = pair;
}

/** Returns the pair on top. */
export function topPair(): u32 {
  return entryAt(0).pair;
}

export function topCount(): u64 {
  return entryAt(0).count;
}

/** Adds a pair to the queue. Only the first memory has a queue (memory-exchange.ts). */
export function pushPair(count: u64, pair: u32): void {
  if (!isFirst) return;
  const bucket = bucketOf(count);
  if (bucket < heapBucket) {
    store<u32>(nextInBucket + ((<usize>pair) << 2), load<u32>(headOf(bucket)));
    store<u32>(headOf(bucket), pair + 1);
    return;
  }
  assert(heapSize < pairCapacity, "a pair is in the queue once");
  let index = heapSize++;
  while (index > 0) {
    const parentIndex = (index - 1) >> 1;
    const parent = entryAt(parentIndex);
    if (!precedes(count, pair, parent.count, parent.pair)) break;
    setEntry(index, parent.count, parent.pair);
    index = parentIndex;
  }
  setEntry(index, count, pair);
}

/** Removes the top pair from the queue. */
export function dropTop(): void {
  const last = entryAt(--heapSize);
  if (heapSize > 0) siftDown(last.count, last.pair);
}

/** Lowers the count of the top pair, which then moves down in the heap, or from the heap into a bucket. */
export function lowerTop(count: u64): void {
  const pair = topPair();
  if (bucketOf(count) >= heapBucket) {
    siftDown(count, pair);
  } else {
    dropTop();
    pushPair(count, pair);
  }
}

function siftDown(count: u64, pair: u32): void {
  let index: u32 = 0;
  for (;;) {
    let childIndex: u32 = 2 * index + 1;
    if (childIndex >= heapSize) break;
    let child = entryAt(childIndex);
    if (childIndex + 1 < heapSize) {
      const other = entryAt(childIndex + 1);
      if (precedes(other.count, other.pair, child.count, child.pair)) {
        child = other;
        childIndex++;
      }
    }
    if (!precedes(child.count, child.pair, count, pair)) break;
    setEntry(index, child.count, child.pair);
    index = childIndex;
  }
  setEntry(index, count, pair);
}

/** Whether pair `p` with `countP` is merged before pair `q` with `countQ`. */
function precedes(countP: u64, p: u32, countQ: u64, q: u32): bool {
  if (countP !== countQ) return countP > countQ;
  return pairWins(p, q);
}
