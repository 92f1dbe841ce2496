import { grow } from "./grow.ts";
import type { LongTokens } from "./long-tokens.ts";
import type { Pairs } from "./pairs.ts";
import { pairWins } from "./tie-rules.ts";
import type { Tokens } from "./tokens.ts";

/**
 * Queue: a binary heap of (count, pair), the best pair on top. Counts only fall and nothing is told to the queue when
 * they do: an entry's count is an upper bound, and the loop that takes the top puts it back with its true count if the
 * two differ. Ties are ordered by the rule, so the top is the one pair to merge.
 *
 *   ARRAY    TYPE           LENGTH     MEANING
 *   counts   Float64Array   capacity   count of entry k when it was pushed
 *   pairs    Int32Array     capacity   its pair's record
 */
export type Queue = { size: number; counts: Float64Array; pairs: Int32Array };

const firstCapacity = 1 << 12;

export function createQueue(): Queue {
  return { size: 0, counts: new Float64Array(firstCapacity), pairs: new Int32Array(firstCapacity) };
}

export function push(
  queue: Queue,
  pairs: Pairs,
  tokens: Tokens,
  longTokens: LongTokens,
  count: number,
  p: number,
): void {
  if (queue.size === queue.pairs.length) {
    queue.counts = grow(queue.counts, queue.size * 2);
    queue.pairs = grow(queue.pairs, queue.size * 2);
  }
  const entryCounts = queue.counts;
  const entryPairs = queue.pairs;
  let pos = queue.size++;
  while (pos > 0) {
    const parent = (pos - 1) >> 1;
    const difference = count - entryCounts[parent]!;
    if (difference < 0) break;
    if (difference === 0 && !pairWins(pairs, tokens, longTokens, p, entryPairs[parent]!)) break;
    entryCounts[pos] = entryCounts[parent]!;
    entryPairs[pos] = entryPairs[parent]!;
    pos = parent;
  }
  entryCounts[pos] = count;
  entryPairs[pos] = p;
}

/** Takes the top off. */
export function dropTop(queue: Queue, pairs: Pairs, tokens: Tokens, longTokens: LongTokens): void {
  const size = --queue.size;
  if (size > 0) {
    siftDown(queue, pairs, tokens, longTokens, size, queue.counts[size]!, queue.pairs[size]!);
  }
}

/** Gives the top a lower count: cheaper than taking it off and pushing it. */
export function lowerTop(
  queue: Queue,
  pairs: Pairs,
  tokens: Tokens,
  longTokens: LongTokens,
  count: number,
): void {
  siftDown(queue, pairs, tokens, longTokens, queue.size, count, queue.pairs[0]!);
}

function siftDown(
  queue: Queue,
  pairs: Pairs,
  tokens: Tokens,
  longTokens: LongTokens,
  size: number,
  count: number,
  p: number,
): void {
  const entryCounts = queue.counts;
  const entryPairs = queue.pairs;
  let pos = 0;
  for (;;) {
    let child = 2 * pos + 1;
    if (child >= size) break;
    if (child + 1 < size) {
      const difference = entryCounts[child + 1]! - entryCounts[child]!;
      if (
        difference > 0 ||
        (difference === 0 && pairWins(pairs, tokens, longTokens, entryPairs[child + 1]!, entryPairs[child]!))
      ) {
        child++;
      }
    }
    const difference = entryCounts[child]! - count;
    if (difference < 0) break;
    if (difference === 0 && !pairWins(pairs, tokens, longTokens, entryPairs[child]!, p)) break;
    entryCounts[pos] = entryCounts[child]!;
    entryPairs[pos] = entryPairs[child]!;
    pos = child;
  }
  entryCounts[pos] = count;
  entryPairs[pos] = p;
}
