import { listNeighbour, seenAt, seenCountOf } from "./merge-pair";
import { ExchangeCell, exchange, tokenCount } from "./merge-regions";
import { partAt } from "./merge-threads";
import { sumAt, sumsOf } from "./neighbours";
import { addPair, findPair, hasRoomForPairs, noPair, pairAt, pairCount } from "./pair-table";
import { keepGivenPair } from "./rebuild-index";

/**
 * Exchange: how words that do not fit into one memory are merged. Several memories each have a share of the words and
 * an engine. Every engine has all tokens, and the cells (word-layout.ts) and lists (occurrences.ts) of its own words.
 * Only the first engine has the queue (pair-queue.ts) and keeps the total counts of pairs up to date, so it chooses the
 * pair to merge. The others get copies of these counts when the index is rebuilt, and before their lists are compacted.
 * All engines walk over their own lists of the chosen pair, and then receive the total weights of its neighbours in all
 * memories.
 *
 *   REGION    ELEMENT       ELEMENTS    MEANING
 *   exchange  ExchangeCell  tokenCount  data that JavaScript copies between memories (src/merge/merge-engine.ts)
 *
 * `give...` writes the values of this memory; `take...` reads the sums over all memories.
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

/**
 * Writes, after a walk, the neighbours on one side (neighbours.ts) and their weights in this memory. Returns their
 * number.
 */
export function giveNeighbours(side: u32): u32 {
  const count = seenCountOf(0, side);
  for (let k: u32 = 0; k < count; k++) {
    const id = seenAt(0, side, k);
    tell(k, id, 0, sumAt(sumsOf(0, side), id).weight);
  }
  return count;
}

/**
 * Reads neighbours on one side with their total weights. The first memory receives all neighbours, the others only
 * their own.
 */
export function takeNeighbours(side: u32, count: u32): void {
  for (let k: u32 = 0; k < count; k++) {
    const cell = exchangeAt(k);
    listNeighbour(side, cell.token).weight = <u64>cell.weight;
  }
}

/**
 * Returns `voidWeight` of this memory: the weight of right neighbours that the next occurrence replaces
 * (merge-pair.ts).
 */
export function giveVoidWeight(): f64 {
  return <f64>partAt(0).voidWeight;
}

export function takeVoidWeight(weight: f64): void {
  partAt(0).voidWeight = <u64>weight;
}

/**
 * Writes at most `most` pairs from record `from` on, with the counts in their records. Returns their number. Called
 * while the index is rebuilt (rebuild-index.ts), and to ask for total counts (`answerCounts`).
 */
export function givePairs(from: u32, most: u32): u32 {
  const count = min(min(pairCount - from, most), tokenCount);
  for (let k: u32 = 0; k < count; k++) {
    const pair = pairAt(from + k);
    tell(k, pair.left, pair.right, pair.count);
  }
  return count;
}

/**
 * Adds, in the first memory, the counts that another memory gave. A pair without a record gets one. Returns false if
 * the table of pairs is full.
 */
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

/**
 * Called in every memory but the first: marks those of its pairs that the first memory keeps, and sets their counts to
 * those of the first memory.
 */
export function keepGivenPairs(count: u32): void {
  for (let k: u32 = 0; k < count; k++) {
    const cell = exchangeAt(k);
    keepGivenPair(cell.token, cell.right, <u64>cell.weight);
  }
}

/** Writes, in the first memory, the counts of the pairs that another memory gave; 0 for pairs without a record. */
export function answerCounts(count: u32): void {
  for (let k: u32 = 0; k < count; k++) {
    const cell = exchangeAt(k);
    const p = findPair(cell.token, cell.right);
    cell.weight = p === noPair ? 0 : <f64>pairAt(p).count;
  }
}

/**
 * Reads, in a memory that is not the first, the counts that the first memory gave for the pairs from record `from` on.
 */
export function takeCounts(from: u32, count: u32): void {
  for (let k: u32 = 0; k < count; k++) pairAt(from + k).count = <u64>exchangeAt(k).weight;
}
