import { createHeap, type Heap, pop, push } from "../heap.ts";
import type { TokenBytes } from "../pairs.ts";
import type { PairCounts, Selection } from "../step-by-step.ts";

/**
 * Keeps pairs in a heap, and pushes every changed count, unless it is 0, as a new entry. Entries whose count is no
 * longer current are dropped when they reach the top.
 */
export function lazyHeap(counts: PairCounts, tokenBytes: TokenBytes): Selection {
  const heap = createHeap();
  return {
    changed: (pairs) => pushCounts(heap, counts, tokenBytes, pairs),
    best: () => topOf(heap, counts, tokenBytes),
  };
}

/** Like `lazyHeap`, but rebuilds the heap from the counts when at least three of four entries are stale. */
export function compactedHeap(counts: PairCounts, tokenBytes: TokenBytes): Selection {
  const heap = createHeap();
  return {
    changed(pairs) {
      pushCounts(heap, counts, tokenBytes, pairs);
      if (heap.size < smallHeapSize || heap.size < 4 * counts.size) return;
      heap.size = 0;
      pushCounts(heap, counts, tokenBytes, counts.keys());
    },
    best: () => topOf(heap, counts, tokenBytes),
  };
}

/** Smaller heaps are not rebuilt, because that saves no time. */
const smallHeapSize = 1024;

function pushCounts(heap: Heap, counts: PairCounts, tokenBytes: TokenBytes, pairs: Iterable<number>): void {
  for (const pair of pairs) {
    const count = counts.get(pair);
    if (count !== undefined) push(heap, tokenBytes, count, pair);
  }
}

function topOf(heap: Heap, counts: PairCounts, tokenBytes: TokenBytes): number | undefined {
  while (heap.size > 0) {
    const pair = heap.pairs[0]!;
    if (counts.get(pair) === heap.counts[0]) return pair;
    pop(heap, tokenBytes);
  }
  return undefined;
}
