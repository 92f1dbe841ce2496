import type { EncodingModel } from "./model.ts";
import { findPair, noRank } from "./pairs.ts";
import { joinSpans, packTokens, startSpans } from "./spans.ts";

/** An entry of the heap is rank * 2^32 + position: the lowest is the leftmost of the lowest rank. */
const rankUnit = 2 ** 32;

/**
 * Merges a word in place by a heap of the pairs that can merge; n log n. An entry is stale when its pair is gone, which
 * shows when it is popped. `heap` has room for three entries a symbol: one at the start and two a merge.
 */
export function mergeHeaped(
  ids: Int32Array,
  symbolCount: number,
  spans: Int32Array,
  heap: Float64Array,
  { mergedIds, pairs }: EncodingModel,
): number {
  startSpans(spans, symbolCount);
  let size = 0;
  for (let pos = 0; pos + 1 < symbolCount; pos++) {
    const rank = findPair(pairs, ids[pos]!, ids[pos + 1]!);
    if (rank !== noRank) heap[size++] = rank * rankUnit + pos;
  }
  for (let i = (size >> 1) - 1; i >= 0; i--) sink(heap, i, size);
  while (size > 0) {
    const top = heap[0]!;
    size--;
    if (size > 0) {
      heap[0] = heap[size]!;
      sink(heap, 0, size);
    }
    const rank = Math.floor(top / rankUnit);
    const pos = top - rank * rankUnit;
    const rightPos = pos + spans[pos]!;
    if (ids[pos]! < 0 || rightPos >= symbolCount) continue;
    if (findPair(pairs, ids[pos]!, ids[rightPos]!) !== rank) continue;
    const merged = mergedIds[rank]!;
    joinSpans(ids, spans, pos, rightPos, merged);
    if (pos > 0) {
      const leftPos = pos - spans[pos - 1]!;
      const leftRank = findPair(pairs, ids[leftPos]!, merged);
      if (leftRank !== noRank) rise(heap, size++, leftRank * rankUnit + leftPos);
    }
    const nextPos = pos + spans[pos]!;
    if (nextPos < symbolCount) {
      const nextRank = findPair(pairs, merged, ids[nextPos]!);
      if (nextRank !== noRank) rise(heap, size++, nextRank * rankUnit + pos);
    }
  }
  return packTokens(ids, spans, symbolCount);
}

function sink(heap: Float64Array, i: number, size: number): void {
  const value = heap[i]!;
  for (;;) {
    let child = 2 * i + 1;
    if (child >= size) break;
    if (child + 1 < size && heap[child + 1]! < heap[child]!) child++;
    if (heap[child]! >= value) break;
    heap[i] = heap[child]!;
    i = child;
  }
  heap[i] = value;
}

function rise(heap: Float64Array, i: number, value: number): void {
  while (i > 0) {
    const parent = (i - 1) >> 1;
    if (heap[parent]! <= value) break;
    heap[i] = heap[parent]!;
    i = parent;
  }
  heap[i] = value;
}
