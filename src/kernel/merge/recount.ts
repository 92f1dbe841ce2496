import { cells, isWide, weights } from "./merge-regions";
import { lengthOf } from "./merge-tokens";
import { entryAddress } from "./occurrences";
import { findPair, noPair, pairAt } from "./pair-table";
import { stepCount, stepOf } from "./word-layout";

/**
 * Pairs of equal tokens, where their places must not overlap: n equal tokens in a row hold their pair n / 2 times, rounded
 * down, as often as a merge takes it.
 *
 * How many places a merge beside such a row takes away depends on whether n is even. Nobody keeps n. So the count of such a
 * pair stays what it was with overlapping places, an upper bound like every count of the queue (pair-queue.ts), and nothing
 * is taken off. When the pair comes to the top, its list is walked, and it gets its true count.
 */
let areDisjoint: bool = false;

/** The pair that was recounted since the last merge. */
let certainPair: u32 = noPair;

/** How far a recount is: its pair, the next entry of its list, the first position that no place taken has. */
let pairInWork: u32 = noPair;
let nextEntry: u32 = 0;
let freePosition: u32 = 0;
let step: u32 = 0;
let weight: u64 = 0;

/** `disjoint`: places of equal tokens must not overlap. */
export function startEqualPairs(disjoint: bool): void {
  areDisjoint = disjoint;
  certainPair = noPair;
}

/** Whether the count of such a pair is a bound only, from which nothing is taken off. */
export function keepsBound(left: u32, right: u32): bool {
  return areDisjoint && left === right;
}

/** Whether a pair must be recounted before it may be merged. */
export function isUncertain(p: u32): bool {
  return areDisjoint && p !== certainPair && pairAt(p).left === pairAt(p).right;
}

/** Counts or records have changed. */
export function forgetRecount(): void {
  certainPair = noPair;
}

/** Begins to count the places of pair `p`, or of none for `noPair`. */
export function startRecountOf(p: u32): void {
  pairInWork = p;
  nextEntry = 0;
  freePosition = 0;
  step = 0;
  weight = 0;
}

/** In another memory than the first: begins to count the places of a token followed by itself. */
export function followRecount(token: u32): void {
  startRecountOf(findPair(token, token));
}

/** Goes on for `work` entries; false after the last. */
export function recountSome(work: u32): bool {
  if (pairInWork === noPair) return false;
  return isWide ? recount<u32>(work) : recount<u16>(work);
}

function recount<T>(work: u32): bool {
  const pair = pairAt(pairInWork);
  const token = pair.left;
  const length = lengthOf(token);
  const until = nextEntry + min(pair.listLength - nextEntry, work);
  for (; nextEntry < until; nextEntry++) {
    const position = load<u32>(entryAddress(pair.listStart + nextEntry));
    if (position < freePosition) continue;
    const cell = cells + <usize>position * sizeof<T>();
    if (<u32>load<T>(cell) !== token || <u32>load<T>(cell + <usize>length * sizeof<T>()) !== token) continue;
    step = stepOf(stepCount, step, position);
    weight += load<u64>(weights + ((<usize>step) << 3));
    freePosition = position + 2 * length;
  }
  return nextEntry < pair.listLength;
}

/** What was counted, weighted. */
export function recountedWeight(): f64 {
  return <f64>weight;
}

/** Gives the pair its true count, of all memories. */
export function endRecountOf(p: u32, count: f64): void {
  pairAt(p).count = <u64>count;
  certainPair = p;
}
