import { mergeOccurrences, type Neighbours, noSlot, startNeighbours, writeStaged } from "./neighbours.ts";
import { makeRoom } from "./occurrences.ts";
import { type MergeProgress, spend } from "./pace.ts";
import { addPair, findPair, noPair } from "./pairs.ts";
import { push } from "./queue.ts";
import { mayMerge, type Rooms } from "./rooms.ts";

/**
 * Merges pair `p` into the new token `id` everywhere. Three loops: the list of occurrences, once (neighbours.ts);
 * the distinct neighbours, once (which pairs lose, which are born); and the lists of those born.
 */
export function* mergeIntoNewToken(rooms: Rooms, p: number, id: number): Generator<MergeProgress, void> {
  const { pairs, neighbours, occurrences, tokens, pace, tuning } = rooms;
  yield* rewriteOccurrences(rooms, p, id);
  applyLosses(rooms, p, id);
  voidRights(neighbours, pairs.lefts[p]!);
  const need = countBornEntries(rooms, id);
  if (need > 0) {
    const stagedCount = neighbours.stagedCount;
    pairs.listLengths[p] = stagedCount;
    yield* makeRoom(occurrences, need, p, rooms.gate, rooms.layout, tokens, pairs, tuning.cleanShare, pace);
  }
  addBirths(rooms, id);
  if (need > 0) {
    const stagedFrom = pairs.listStarts[p]!;
    for (let from = 0; from < neighbours.stagedCount; from += pace.sliceWork) {
      const to = Math.min(from + pace.sliceWork, neighbours.stagedCount);
      writeStaged(neighbours, occurrences.entries, stagedFrom, from, to, tokens.lengths);
      if (spend(pace, to - from)) yield pace.progress;
    }
  }
  pairs.listLengths[p] = 0;
}

/** The first loop: `id` stands wherever the pair stood, and the sums over its neighbours are there. */
function* rewriteOccurrences(rooms: Rooms, p: number, id: number): Generator<MergeProgress, void> {
  const { pairs, neighbours, occurrences, layout, tokens, pace, tuning } = rooms;
  const x = pairs.lefts[p]!;
  const y = pairs.rights[p]!;
  const listStart = pairs.listStarts[p]!;
  const listEnd = listStart + pairs.listLengths[p]!;
  const lengthX = tokens.lengths[x]!;
  const lengthY = tokens.lengths[y]!;
  startNeighbours(neighbours, listEnd - listStart);
  for (let from = listStart; from < listEnd; from += pace.sliceWork) {
    const to = Math.min(from + pace.sliceWork, listEnd);
    mergeOccurrences(
      layout,
      neighbours,
      occurrences.entries,
      listStart,
      from,
      to,
      x,
      y,
      id,
      lengthX,
      lengthY,
      tuning.blockSize,
    );
    if (spend(pace, to - from)) yield pace.progress;
  }
}

/**
 * The pairs that the merge of (x, y) took occurrences from: (t, x) at the left, (y, t) at the right. A left neighbour
 * `id` is itself a merge just made ("xyxy"): the (y, x) between the two was taken off as its right neighbour.
 * (x, y) itself ends with count 0.
 */
function applyLosses(rooms: Rooms, p: number, id: number): void {
  const { pairs, neighbours } = rooms;
  const { leftSums, rightSums, leftSeen, rightSeen, leftSeenCount, rightSeenCount } = neighbours;
  const x = pairs.lefts[p]!;
  const y = pairs.rights[p]!;
  for (let k = 0; k < leftSeenCount; k++) {
    const t = leftSeen[k]!;
    if (t === id) continue;
    const loser = findPair(pairs, t, x);
    if (loser !== noPair) pairs.counts[loser]! -= leftSums[2 * t]!;
  }
  for (let k = 0; k < rightSeenCount; k++) {
    const t = rightSeen[k]!;
    const loser = findPair(pairs, y, t);
    if (loser !== noPair) pairs.counts[loser]! -= rightSums[2 * t]!;
  }
  pairs.counts[p] = 0;
}

/** In "xyxy" the first merge noted x as its right neighbour, and the second took it away: no (id, x) is born there. */
function voidRights(neighbours: Neighbours, x: number): void {
  if (neighbours.voidWeight > 0) neighbours.rightSums[2 * x]! -= neighbours.voidWeight;
}

/** How many entries the lists of the pairs born with `id` will have. */
function countBornEntries(rooms: Rooms, id: number): number {
  const { neighbours, gate, layout } = rooms;
  const { leftSums, rightSums, leftSeen, rightSeen, leftSeenCount, rightSeenCount } = neighbours;
  let entryCount = 0;
  for (let k = 0; k < leftSeenCount; k++) {
    const t = leftSeen[k]!;
    if (leftSums[2 * t]! >= gate && t !== layout.boundary && mayMerge(rooms, t, id))
      entryCount += leftSums[2 * t + 1]!;
  }
  for (let k = 0; k < rightSeenCount; k++) {
    const t = rightSeen[k]!;
    if (rightSums[2 * t]! >= gate && t !== layout.boundary && mayMerge(rooms, id, t))
      entryCount += rightSums[2 * t + 1]!;
  }
  return entryCount;
}

/** Gives the pairs born with `id` a record, an empty list and a place in the queue; leaves the sums at 0. */
function addBirths(rooms: Rooms, id: number): void {
  const { neighbours, pairs, occurrences, queue, tokens, longTokens, gate, layout } = rooms;
  const { leftSums, rightSums, leftSeen, rightSeen, leftSlots, rightSlots } = neighbours;
  let entryEnd = occurrences.used;
  for (let k = 0; k < neighbours.leftSeenCount; k++) {
    const t = leftSeen[k]!;
    const count = leftSums[2 * t]!;
    const length = leftSums[2 * t + 1]!;
    leftSums[2 * t] = 0;
    leftSums[2 * t + 1] = 0;
    leftSlots[t] = noSlot;
    if (count < gate || t === layout.boundary || !mayMerge(rooms, t, id)) continue;
    leftSlots[t] = entryEnd;
    push(queue, pairs, tokens, longTokens, count, addPair(pairs, t, id, count, entryEnd, length));
    entryEnd += length;
  }
  for (let k = 0; k < neighbours.rightSeenCount; k++) {
    const t = rightSeen[k]!;
    const count = rightSums[2 * t]!;
    const length = rightSums[2 * t + 1]!;
    rightSums[2 * t] = 0;
    rightSums[2 * t + 1] = 0;
    rightSlots[t] = noSlot;
    if (count < gate || t === layout.boundary || !mayMerge(rooms, id, t)) continue;
    rightSlots[t] = entryEnd;
    push(queue, pairs, tokens, longTokens, count, addPair(pairs, id, t, count, entryEnd, length));
    entryEnd += length;
  }
  occurrences.used = entryEnd;
}
