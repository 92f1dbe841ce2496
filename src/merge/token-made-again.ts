import { applyLosses, rewriteOccurrences } from "./merge-pair.ts";
import {
  type Neighbours,
  noSlot,
  startNeighbours,
  sumNeighboursOf,
  writeOccurrencesOf,
} from "./neighbours.ts";
import { makeRoom } from "./occurrences.ts";
import { type MergeProgress, spend } from "./pace.ts";
import { addPair, forgetPair, noPair } from "./pairs.ts";
import { push } from "./queue.ts";
import { mayMerge, type Rooms } from "./rooms.ts";

/**
 * Merges pair `p` into token `id` that exists already: another derivation of the same bytes. It is the one case in
 * which a pair gains occurrences after its birth, and it is rare (repetitive text), so it is done plainly: every pair
 * that holds `id` is forgotten, one walk over the text finds all of them anew, and they are born a second time.
 * All other pairs can only have lost, as always.
 *
 * Under `huggingface` a pair that was merged before keeps its last count, as HF never takes it back, and when new
 * occurrences come they are added to it. Those are `staleCounts`.
 */
export function* mergeIntoKnownToken(rooms: Rooms, p: number, id: number): Generator<MergeProgress, void> {
  const { pairs, neighbours, pace, layout, tokens, occurrences, tuning } = rooms;
  yield* rewriteOccurrences(rooms, p, id);
  const touched = rooms.rule.keepsStaleCounts ? noteTouched(neighbours) : undefined;
  applyLosses(rooms, p, id);
  pairs.listLengths[p] = 0;
  clearSums(neighbours);
  for (let q = 0; q < pairs.count; q++) {
    if (pairs.lefts[q] === id || pairs.rights[q] === id) forgetPair(pairs, q);
  }
  if (spend(pace, pairs.count >> 2)) yield pace.progress;

  startNeighbours(neighbours, 0);
  for (let pos = 1; pos < layout.cellCount; ) {
    const from = pos;
    pos = sumNeighboursOf(
      layout,
      neighbours,
      id,
      tokens.lengths,
      pos,
      Math.min(pos + pace.sliceWork, layout.cellCount),
    );
    if (spend(pace, pos - from)) yield pace.progress;
  }
  const stale = rooms.rule.keepsStaleCounts ? staleCountsOf(rooms, id) : noStaleCounts;
  yield* makeRoom(
    occurrences,
    countEntries(neighbours),
    noPair,
    rooms.gate,
    layout,
    tokens,
    pairs,
    tuning.cleanShare,
    pace,
  );
  addBirthsAgain(rooms, id, stale, touched);
  neighbours.step = 0;
  for (let pos = 1; pos < layout.cellCount; ) {
    const from = pos;
    const until = Math.min(pos + pace.sliceWork, layout.cellCount);
    pos = writeOccurrencesOf(layout, neighbours, occurrences.entries, id, tokens.lengths, pos, until);
    if (spend(pace, pos - from)) yield pace.progress;
  }
}

/** Counts by the other half of the pair: at the left of `id`, at the right of it. */
type CountsBesides = {
  readonly lefts: ReadonlyMap<number, number>;
  readonly rights: ReadonlyMap<number, number>;
};
const noStaleCounts: CountsBesides = { lefts: new Map(), rights: new Map() };

/** The neighbours that this merge gave `id`, those that it took away again ("xyxy") included. */
type Touched = { readonly lefts: Int32Array; readonly rights: Int32Array };

function noteTouched(neighbours: Neighbours): Touched {
  return {
    lefts: neighbours.leftSeen.slice(0, neighbours.leftSeenCount),
    rights: neighbours.rightSeen.slice(0, neighbours.rightSeenCount),
  };
}

function clearSums(neighbours: Neighbours): void {
  const { leftSums, rightSums, leftSeen, rightSeen, leftSeenCount, rightSeenCount } = neighbours;
  for (let k = 0; k < leftSeenCount; k++) leftSums.fill(0, 2 * leftSeen[k]!, 2 * leftSeen[k]! + 2);
  for (let k = 0; k < rightSeenCount; k++) rightSums.fill(0, 2 * rightSeen[k]!, 2 * rightSeen[k]! + 2);
}

function countEntries(neighbours: Neighbours): number {
  const { leftSums, rightSums, leftSeen, rightSeen, leftSeenCount, rightSeenCount } = neighbours;
  let entryCount = 0;
  for (let k = 0; k < leftSeenCount; k++) entryCount += leftSums[2 * leftSeen[k]! + 1]!;
  for (let k = 0; k < rightSeenCount; k++) entryCount += rightSums[2 * rightSeen[k]! + 1]!;
  return entryCount;
}

/** What HF still counts for the pairs with `id` that were merged before: their count then, less what "xxx" took. */
function staleCountsOf(rooms: Rooms, id: number): CountsBesides {
  const { learned, tokens } = rooms;
  const { left, right, counts, ownLosses } = learned;
  const outsideId = tokens.madeBy[id]!;
  const lefts = new Map<number, number>();
  const rights = new Map<number, number>();
  for (let k = 0; k < learned.mergeCount; k++) {
    if (left[k] !== outsideId && right[k] !== outsideId) continue;
    const count = counts[k]! - (ownLosses.get(k) ?? 0);
    if (right[k] === outsideId) lefts.set(left[k]!, count);
    else rights.set(right[k]!, count);
  }
  return { lefts, rights };
}

function addBirthsAgain(rooms: Rooms, id: number, stale: CountsBesides, touched: Touched | undefined): void {
  const { neighbours, occurrences, tokens, layout } = rooms;
  const { leftSums, rightSums, leftSeen, rightSeen, leftSlots, rightSlots } = neighbours;
  if (touched !== undefined) {
    for (const t of touched.lefts) if (leftSums[2 * t + 1] === 0) leftSeen[neighbours.leftSeenCount++] = t;
    for (const t of touched.rights) {
      if (t !== id && rightSums[2 * t + 1] === 0) rightSeen[neighbours.rightSeenCount++] = t;
    }
  }
  for (let k = 0; k < neighbours.leftSeenCount; k++) {
    const t = leftSeen[k]!;
    const length = leftSums[2 * t + 1]!;
    leftSlots[t] = noSlot;
    const count = leftSums[2 * t]! + (stale.lefts.get(tokens.madeBy[t]!) ?? 0);
    if (t !== layout.boundary && beginList(rooms, t, id, count, length))
      leftSlots[t] = occurrences.used - length;
  }
  for (let k = 0; k < neighbours.rightSeenCount; k++) {
    const t = rightSeen[k]!;
    const length = rightSums[2 * t + 1]!;
    rightSlots[t] = noSlot;
    const count = rightSums[2 * t]! + (stale.rights.get(tokens.madeBy[t]!) ?? 0);
    if (t !== layout.boundary && beginList(rooms, id, t, count, length))
      rightSlots[t] = occurrences.used - length;
  }
  clearSums(neighbours);
}

/** A record, a list with nothing written yet and a place in the queue, if the pair passes the gate. */
function beginList(rooms: Rooms, left: number, right: number, count: number, length: number): boolean {
  const { pairs, occurrences, queue, tokens, identity } = rooms;
  if (count < rooms.gate || !mayMerge(rooms, left, right)) return false;
  const p = addPair(pairs, left, right, count, occurrences.used, length);
  occurrences.used += length;
  push(queue, pairs, tokens, identity, count, p);
  return true;
}
