import { isFirst, pairCapacity, QueueEntry, queue, queueEntryBytes } from "./merge-regions";
import { pairWins } from "./tie-rules";

/**
 * Queue: a binary heap of (count, pair), the best pair on top. Counts only fall and nothing is told to the queue when
 * they do: an entry's count is an upper bound, and the loop that takes the top puts it back with its true count if the
 * two differ. Ties are ordered by the rule, so the top is the one pair to merge.
 *
 *   REGION  ELEMENT     ELEMENTS      MEANING
 *   queue   QueueEntry  pairCapacity  entry k has its children at 2k + 1 and 2k + 2
 */
export let queueSize: u32 = 0;

export function startQueue(): void {
  queueSize = 0;
}

function entryAt(index: u32): QueueEntry {
  return changetype<QueueEntry>(queue + <usize>index * queueEntryBytes);
}

function setEntry(index: u32, count: u64, pair: u32): void {
  const entry = entryAt(index);
  entry.count = count;
  entry.pair = pair;
}

/** The pair on top, and the count that it was put there with. */
export function topPair(): u32 {
  return entryAt(0).pair;
}

export function topCount(): u64 {
  return entryAt(0).count;
}

/** Puts a pair into the queue. Only the first memory has one (memory-exchange.ts). */
export function pushPair(count: u64, pair: u32): void {
  if (!isFirst) return;
  assert(queueSize < pairCapacity, "a pair stands in the queue once");
  let index = queueSize++;
  while (index > 0) {
    const parentIndex = (index - 1) >> 1;
    const parent = entryAt(parentIndex);
    if (!precedes(count, pair, parent.count, parent.pair)) break;
    setEntry(index, parent.count, parent.pair);
    index = parentIndex;
  }
  setEntry(index, count, pair);
}

/** Takes the top off. */
export function dropTop(): void {
  const last = entryAt(--queueSize);
  if (queueSize > 0) siftDown(last.count, last.pair);
}

/** Gives the top a lower count: cheaper than taking it off and pushing it. */
export function lowerTop(count: u64): void {
  siftDown(count, topPair());
}

function siftDown(count: u64, pair: u32): void {
  let index: u32 = 0;
  for (;;) {
    let childIndex: u32 = 2 * index + 1;
    if (childIndex >= queueSize) break;
    let child = entryAt(childIndex);
    if (childIndex + 1 < queueSize) {
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
