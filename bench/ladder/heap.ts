import { type PairKey, type TokenBytes, winsTie } from "./pairs.ts";

/**
 * Heap: a binary heap of pairs by count, and by the tie rule for equal counts. The best pair is on top. A pair may
 * have several entries.
 *
 *   ARRAY    TYPE           LENGTH     MEANING
 *   counts   Float64Array   capacity   count of entry k when it was pushed
 *   pairs    Float64Array   capacity   key of its pair
 */
export type Heap = { size: number; counts: Float64Array; pairs: Float64Array };

export const createHeap = (): Heap => ({
  size: 0,
  counts: new Float64Array(1024),
  pairs: new Float64Array(1024),
});

export function push(heap: Heap, tokenBytes: TokenBytes, count: number, pair: PairKey): void {
  if (heap.size === heap.counts.length) {
    heap.counts = doubled(heap.counts);
    heap.pairs = doubled(heap.pairs);
  }
  const { counts, pairs } = heap;
  let pos = heap.size++;
  while (pos > 0) {
    const parent = (pos - 1) >> 1;
    if (!isBetter(tokenBytes, count, pair, counts[parent]!, pairs[parent]!)) break;
    counts[pos] = counts[parent]!;
    pairs[pos] = pairs[parent]!;
    pos = parent;
  }
  counts[pos] = count;
  pairs[pos] = pair;
}

/** Removes the top entry. */
export function pop(heap: Heap, tokenBytes: TokenBytes): void {
  const { counts, pairs } = heap;
  const size = --heap.size;
  const count = counts[size]!;
  const pair = pairs[size]!;
  let pos = 0;
  for (;;) {
    let child = 2 * pos + 1;
    if (child >= size) break;
    if (
      child + 1 < size &&
      isBetter(tokenBytes, counts[child + 1]!, pairs[child + 1]!, counts[child]!, pairs[child]!)
    ) {
      child++;
    }
    if (!isBetter(tokenBytes, counts[child]!, pairs[child]!, count, pair)) break;
    counts[pos] = counts[child]!;
    pairs[pos] = pairs[child]!;
    pos = child;
  }
  counts[pos] = count;
  pairs[pos] = pair;
}

function isBetter(
  tokenBytes: TokenBytes,
  count: number,
  pair: PairKey,
  otherCount: number,
  otherPair: PairKey,
): boolean {
  return count > otherCount || (count === otherCount && winsTie(tokenBytes, pair, otherPair));
}

function doubled(array: Float64Array): Float64Array {
  const longer = new Float64Array(2 * array.length);
  longer.set(array);
  return longer;
}
