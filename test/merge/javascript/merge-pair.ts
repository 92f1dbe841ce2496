import { type MergeProgress, spend } from "../../../src/merge/work-budget.ts";
import { type EngineState, mayMerge } from "./engine-state.ts";
import { mergeOccurrences, noSlot, startNeighbours, writeStaged } from "./neighbours.ts";
import { makeRoom } from "./occurrences.ts";
import { addPair, findPair, noPair, type Pairs } from "./pairs.ts";
import { push } from "./queue.ts";

/**
 * Merges pair `p` into the new token `id` everywhere, at once: the list of occurrences is walked once (neighbours.ts),
 * the distinct neighbours once (which pairs lose, which are born), and the lists of those born are written. The arena
 * has room for two entries for each of the list.
 */
export function mergeIntoNewToken(state: EngineState, p: number, id: number): void {
  const { pairs, neighbours, occurrences, tokens } = state;
  const listStart = pairs.listStarts[p]!;
  const listLength = pairs.listLengths[p]!;
  startNeighbours(neighbours, listLength);
  mergeRun(state, p, id, listStart, listStart + listLength);
  const entriesBefore = occurrences.used;
  settleNeighbours(state, p, id);
  if (occurrences.used > entriesBefore) {
    writeStaged(neighbours, occurrences.entries, listStart, 0, neighbours.stagedCount, tokens.lengths);
  }
  pairs.listLengths[p] = 0;
}

/** The same for a long list or a full arena: in slices, and making room first. */
export function* mergeIntoNewTokenInSlices(
  state: EngineState,
  p: number,
  id: number,
): Generator<MergeProgress, void> {
  const { pairs, neighbours, occurrences, tokens, budget } = state;
  const listEnd = pairs.listStarts[p]! + pairs.listLengths[p]!;
  startNeighbours(neighbours, pairs.listLengths[p]!);
  for (let from = pairs.listStarts[p]!; from < listEnd; from += budget.sliceWork) {
    const to = Math.min(from + budget.sliceWork, listEnd);
    mergeRun(state, p, id, from, to);
    if (spend(budget, to - from)) yield budget.progress;
  }
  pairs.listLengths[p] = neighbours.stagedCount;
  yield* makeRoom(state, countBornEntries(state), p);
  settleNeighbours(state, p, id);
  const stagedFrom = pairs.listStarts[p]!; // making room may have moved it
  for (let from = 0; from < neighbours.stagedCount; from += budget.sliceWork) {
    const to = Math.min(from + budget.sliceWork, neighbours.stagedCount);
    writeStaged(neighbours, occurrences.entries, stagedFrom, from, to, tokens.lengths);
    if (spend(budget, to - from)) yield budget.progress;
  }
  pairs.listLengths[p] = 0;
}

function mergeRun(state: EngineState, p: number, id: number, from: number, to: number): void {
  const { pairs, layout, neighbours, occurrences, tokens, tuning } = state;
  const x = pairs.lefts[p]!;
  const y = pairs.rights[p]!;
  mergeOccurrences(
    layout,
    neighbours,
    occurrences.entries,
    pairs.listStarts[p]!,
    from,
    to,
    x,
    y,
    id,
    tokens.lengths[x]!,
    tokens.lengths[y]!,
    tuning.blockSize,
  );
}

/**
 * How many entries the lists of the pairs born with `id` will have, at most: for the arena. ("xyxy" may take some.)
 */
function countBornEntries(state: EngineState): number {
  const { neighbours, threshold } = state;
  const { leftSums, rightSums, leftSeen, rightSeen, leftSeenCount, rightSeenCount } = neighbours;
  let entryCount = 0;
  for (let k = 0; k < leftSeenCount; k++) {
    const t = leftSeen[k]!;
    if (leftSums[2 * t]! >= threshold) entryCount += leftSums[2 * t + 1]!;
  }
  for (let k = 0; k < rightSeenCount; k++) {
    const t = rightSeen[k]!;
    if (rightSums[2 * t]! >= threshold) entryCount += rightSums[2 * t + 1]!;
  }
  return entryCount;
}

/**
 * Visits each distinct neighbour t of the merged (x, y) once. The pair that stood there, (t, x) or (y, t), loses the
 * sum; the pair that stands there now, (t, id) or (id, t), is born with it: if it passes the threshold, it gets a record,
 * room for its list and a place in the queue. (x, y) itself ends with count 0. Leaves the sums at 0.
 */
function settleNeighbours(state: EngineState, p: number, id: number): void {
  const { neighbours, pairs, occurrences, threshold } = state;
  const { leftSums, rightSums, leftSeen, rightSeen, leftSlots, rightSlots, voidWeight } = neighbours;
  const { leftSeenCount, rightSeenCount } = neighbours;
  const boundary = state.layout.boundary;
  const x = pairs.lefts[p]!;
  const y = pairs.rights[p]!;
  let replacedCount = 0;
  for (let k = 0; k < leftSeenCount; k++) {
    const t = leftSeen[k]!;
    const count = leftSums[2 * t]!;
    const length = leftSums[2 * t + 1]!;
    leftSums[2 * t] = 0;
    leftSums[2 * t + 1] = 0;
    leftSlots[t] = noSlot;
    replacedCount += count;
    if (t === boundary) continue;
    // A left neighbour `id` is itself a merge just made; the (y, x) between the two went as its right neighbour.
    if (t !== id) loseCount(pairs, t, x, count);
    if (count >= threshold && mayMerge(state, t, id)) {
      leftSlots[t] = occurrences.used;
      bear(state, t, id, count, length);
    }
  }
  for (let k = 0; k < rightSeenCount; k++) {
    const t = rightSeen[k]!;
    let count = rightSums[2 * t]!;
    const length = rightSums[2 * t + 1]!;
    rightSums[2 * t] = 0;
    rightSums[2 * t + 1] = 0;
    rightSlots[t] = noSlot;
    if (t === boundary) continue;
    loseCount(pairs, y, t, count);
    // In "xyxy" the first merge noted x as its right neighbour and the second took it away: nothing is born there.
    if (t === x) count -= voidWeight;
    if (count >= threshold && mayMerge(state, id, t)) {
      rightSlots[t] = occurrences.used;
      bear(state, id, t, count, length);
    }
  }
  pairs.counts[p] = 0;
  state.learned.replacedCounts[id - 256] = replacedCount;
}

function loseCount(pairs: Pairs, left: number, right: number, count: number): void {
  const loser = findPair(pairs, left, right);
  if (loser !== noPair) pairs.counts[loser]! -= count;
}

function bear(state: EngineState, left: number, right: number, count: number, listLength: number): void {
  const { pairs, occurrences, queue, tokens, longTokens } = state;
  const p = addPair(pairs, left, right, count, occurrences.used, listLength);
  occurrences.used += listLength;
  push(queue, pairs, tokens, longTokens, count, p);
}
