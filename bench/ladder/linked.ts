import type { WordTable } from "../../src/words/word-table.ts";
import { createHeap, type Heap, pop, push } from "./heap.ts";
import { byteTokens, leftOf, type PairKey, pairKey, rightOf, type TokenBytes } from "./pairs.ts";
import { wordsBetweenYields } from "./step-by-step.ts";
import type { Learned, Strategy } from "./strategy.ts";

/**
 * All words, end to end, with a position for each byte. A token is stored at the position of its first byte; the
 * positions of its other bytes are dead.
 *
 *   ARRAY     TYPE           LENGTH          MEANING
 *   tokens    Int32Array     positionCount   token id, or -1 where dead
 *   prev      Int32Array     positionCount   position of the token before in the same word, or -1
 *   next      Int32Array     positionCount   position of the next token in the same word, or -1
 *   weights   Float64Array   positionCount   count of the word
 *
 * "ab" and "cde": tokens = [a b c d e], prev = [-1 0 -1 2 3], next = [1 -1 3 4 -1]. After merging "c d" into 256:
 * tokens = [a b 256 -1 e], and between 2 and 4: next[2] = 4, prev[4] = 2.
 */
type Chain = { tokens: Int32Array; prev: Int32Array; next: Int32Array; weights: Float64Array };

/**
 * `positions`: all positions at which the pair has ever occurred, ascending. A pair gains occurrences only while the
 * words are read, or in the merge that makes the newer of its two tokens. Both visit positions in ascending order.
 */
type Occurrences = { count: number; positions: number[] };
type OccurrenceIndex = Map<PairKey, Occurrences>;

/**
 * Learns merges on linked positions. The count of an entry in the heap is an upper bound, which is corrected when the
 * entry reaches the top.
 */
export const linked: Strategy = {
  name: "linked",
  update: "neighbours of an occurrence, found by links",
  selection: "heap, its top corrected lazily",
  isIncremental: true,
  train,
};

function* train(words: WordTable, mergeCount: number, learned: Learned): Generator<void, void> {
  const chain = createChain(words);
  const index: OccurrenceIndex = new Map();
  const tokenBytes = byteTokens();
  yield* linkWords(words, chain, index);
  const heap = createHeap();
  for (const [pair, { count }] of index) push(heap, tokenBytes, count, pair);
  while (learned.left.length < mergeCount) {
    const pair = takeBest(heap, index, tokenBytes);
    if (pair === undefined) return;
    const left = leftOf(pair);
    const right = rightOf(pair);
    const { count, positions } = index.get(pair)!;
    learned.left.push(left);
    learned.right.push(right);
    learned.counts.push(count);
    const id = tokenBytes.push(tokenBytes[left]! + tokenBytes[right]!) - 1;
    index.delete(pair);
    const created = new Set<PairKey>();
    mergePositions(chain, index, positions, left, right, id, created);
    for (const newPair of created) {
      const newCount = index.get(newPair)!.count;
      if (newCount > 0) push(heap, tokenBytes, newCount, newPair);
      else index.delete(newPair); // in "xyxy", (xy, x) was created and lost again
    }
    yield;
  }
}

function createChain({ wordCount, starts }: WordTable): Chain {
  const positionCount = starts[wordCount]!;
  return {
    tokens: new Int32Array(positionCount),
    prev: new Int32Array(positionCount),
    next: new Int32Array(positionCount),
    weights: new Float64Array(positionCount),
  };
}

function* linkWords(words: WordTable, chain: Chain, index: OccurrenceIndex): Generator<void, void> {
  for (let w = 0; w < words.wordCount; w++) {
    if (w % wordsBetweenYields === 0) yield;
    linkWord(words, w, chain, index);
  }
}

function linkWord(words: WordTable, w: number, chain: Chain, index: OccurrenceIndex): void {
  const { bytes, starts, counts } = words;
  const start = starts[w]!;
  const end = starts[w + 1]!;
  for (let pos = start; pos < end; pos++) {
    chain.tokens[pos] = bytes[pos]!;
    chain.prev[pos] = pos > start ? pos - 1 : -1;
    chain.next[pos] = pos + 1 < end ? pos + 1 : -1;
    chain.weights[pos] = counts[w]!;
    if (pos + 1 < end) addOccurrence(index, pairKey(bytes[pos]!, bytes[pos + 1]!), counts[w]!, pos);
  }
}

function addOccurrence(index: OccurrenceIndex, pair: PairKey, weight: number, pos: number): void {
  const occurrences = index.get(pair);
  if (occurrences === undefined) index.set(pair, { count: weight, positions: [pos] });
  else {
    occurrences.count += weight;
    occurrences.positions.push(pos);
  }
}

/** Returns the best pair: the first top of the heap with a current count. Pairs without occurrences are dropped. */
function takeBest(heap: Heap, index: OccurrenceIndex, tokenBytes: TokenBytes): PairKey | undefined {
  while (heap.size > 0) {
    const pair = heap.pairs[0]!;
    const bound = heap.counts[0]!;
    pop(heap, tokenBytes);
    const count = index.get(pair)?.count ?? 0;
    if (count === bound) return pair;
    if (count > 0) push(heap, tokenBytes, count, pair);
    else index.delete(pair);
  }
  return undefined;
}

/** Merges the pair at every position where it still occurs. Collects the pairs of the new token in `created`. */
function mergePositions(
  chain: Chain,
  index: OccurrenceIndex,
  positions: readonly number[],
  left: number,
  right: number,
  id: number,
  created: Set<PairKey>,
): void {
  const { tokens, prev, next, weights } = chain;
  for (const pos of positions) {
    const second = next[pos]!;
    if (tokens[pos] !== left || second < 0 || tokens[second] !== right) continue;
    const weight = weights[pos]!;
    const before = prev[pos]!;
    const following = next[second]!;
    if (before >= 0) {
      lose(index, pairKey(tokens[before]!, left), weight);
      const pair = pairKey(tokens[before]!, id);
      addOccurrence(index, pair, weight, before);
      created.add(pair);
    }
    if (following >= 0) {
      lose(index, pairKey(right, tokens[following]!), weight);
      const pair = pairKey(id, tokens[following]!);
      addOccurrence(index, pair, weight, pos);
      created.add(pair);
      prev[following] = pos;
    }
    tokens[pos] = id;
    tokens[second] = -1;
    next[pos] = following;
  }
}

/**
 * Subtracts the weight of an occurrence from the count of its pair. Does nothing for the pair being merged, which is no
 * longer in the index.
 */
function lose(index: OccurrenceIndex, pair: PairKey, weight: number): void {
  const occurrences = index.get(pair);
  if (occurrences !== undefined) occurrences.count -= weight;
}
