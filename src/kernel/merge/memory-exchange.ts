import { listNeighbour, seenAt, seenCountOf } from "./merge-pair";
import { ExchangeCell, exchange, tokenCount } from "./merge-regions";
import { partAt } from "./merge-threads";
import { sumAt, sumsOf } from "./neighbours";
import { addPair, findPair, hasRoomForPairs, noPair, pairAt, pairCount } from "./pair-table";
import { keepGivenPair } from "./rebuild-index";

/**
 * Exchange: how words that do not fit into one memory are merged. They lie in several, a slice of the words in each,
 * and each memory has an engine. Every engine has all tokens, and the cells and the lists of its own words. The first
 * one leads: it alone has the counts of all pairs and the queue. It says which pair is merged; all of them walk over
 * their lists of it, and are then told what the neighbours weigh in all memories. So they know which pairs are created, and
 * the first one knows what the others lost.
 *
 *   REGION    ELEMENT       ELEMENTS    MEANING
 *   exchange  ExchangeCell  tokenCount  what JavaScript carries from one memory to another (src/merge/merge-engine.ts)
 *
 * `give...` writes what this memory has; `take...` reads what all have together.
 */
function exchangeAt(index: u32): ExchangeCell {
  return changetype<ExchangeCell>(exchange + <usize>index * offsetof<ExchangeCell>());
}

function tell(index: u32, token: u32, right: u32, weight: u64): void {
  const cell = exchangeAt(index);
  cell.weight = <f64>weight;
  cell.token = token;
  cell.right = right;
}

/** After a walk: writes the neighbours on one side (neighbours.ts) and their weights. How many they are. */
export function giveNeighbours(side: u32): u32 {
  const count = seenCountOf(0, side);
  for (let k: u32 = 0; k < count; k++) {
    const id = seenAt(0, side, k);
    tell(k, id, 0, sumAt(sumsOf(0, side), id).weight);
  }
  return count;
}

/** Reads neighbours on one side with their weights in all memories: its own, and in the first memory those of all. */
export function takeNeighbours(side: u32, count: u32): void {
  for (let k: u32 = 0; k < count; k++) {
    const cell = exchangeAt(k);
    listNeighbour(side, cell.token).weight = <u64>cell.weight;
  }
}

/** Weight of the right neighbours that a merge took away (merge-regions.ts). */
export function giveVoidWeight(): f64 {
  return <f64>partAt(0).voidWeight;
}

export function takeVoidWeight(weight: f64): void {
  partAt(0).voidWeight = <u64>weight;
}

/**
 * While the text is indexed anew (rebuild-index.ts): the pairs from record `from` on, `most` at most, with their counts in
 * this memory. How many they are.
 */
export function givePairs(from: u32, most: u32): u32 {
  const count = min(min(pairCount - from, most), tokenCount);
  for (let k: u32 = 0; k < count; k++) {
    const pair = pairAt(from + k);
    tell(k, pair.left, pair.right, pair.count);
  }
  return count;
}

/** Adds the counts that another memory has; a pair that has no record gets one. False: there is no room for it. */
export function addPairs(count: u32): bool {
  for (let k: u32 = 0; k < count; k++) {
    const cell = exchangeAt(k);
    const p = findPair(cell.token, cell.right);
    if (p === noPair && !hasRoomForPairs(1)) return false;
    if (p === noPair) addPair(cell.token, cell.right, <u64>cell.weight, 0, 0);
    else pairAt(p).count += <u64>cell.weight;
  }
  return true;
}

/** The first memory keeps these pairs, with these counts. */
export function keepGivenPairs(count: u32): void {
  for (let k: u32 = 0; k < count; k++) {
    const cell = exchangeAt(k);
    keepGivenPair(cell.token, cell.right, <u64>cell.weight);
  }
}

/** In the first memory: says the counts of pairs that another one gave; 0 of those that are gone. */
export function answerCounts(count: u32): void {
  for (let k: u32 = 0; k < count; k++) {
    const cell = exchangeAt(k);
    const p = findPair(cell.token, cell.right);
    cell.weight = p === noPair ? 0 : <f64>pairAt(p).count;
  }
}

/** In another memory: takes the answer for the pairs from record `from` on. */
export function takeCounts(from: u32, count: u32): void {
  for (let k: u32 = 0; k < count; k++) pairAt(from + k).count = <u64>exchangeAt(k).weight;
}
