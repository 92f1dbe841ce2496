import { grown } from "../../bytes/arrays.ts";
import { assert } from "../../errors.ts";
import type { IdMerges } from "./id-merges.ts";

/**
 * Encodes sequences of symbols: the pair of the lowest rank is merged first, from the left.
 *
 * The symbols of a document are a linked list, and the pairs that can be merged are in a heap, by rank and then by position.
 * A merge gives rise to two pairs at most, so a document of n symbols takes n log n.
 *
 *   ARRAY   TYPE           LENGTH         MEANING
 *   tokens  Uint32Array    symbolCount    id of the token that begins at a position, `gone` inside of one
 *   next    Int32Array     symbolCount    where the next token begins; symbolCount behind the last
 *   before  Int32Array     symbolCount    where the token before it begins, -1 before the first
 *   heap    Float64Array   heapCount      rank x symbolCount + position of a pair; the least on top
 */
export class SequenceMerger {
  private readonly ranks = new Map<number, number>();
  private heap = new Float64Array(1 << 12);
  private heapCount = 0;
  private symbolCount = 0;

  constructor(private readonly merges: IdMerges) {
    merges.left.forEach((left, rank) => {
      this.ranks.set(keyOf(left, merges.right[rank]!), rank);
    });
  }

  /** Encodes a document. Yields now and then. */
  *merge(symbols: Uint32Array): Generator<undefined, Uint32Array> {
    const { length } = symbols;
    const { alphabetSize, left, right } = this.merges;
    const tokens = symbols.slice();
    const next = Int32Array.from({ length }, (_, pos) => pos + 1);
    const before = Int32Array.from({ length }, (_, pos) => pos - 1);
    assert(left.length * length < 2 ** 53, "ranks and positions together are exact");
    this.symbolCount = length;
    this.heapCount = 0;
    for (let pos = 0; pos + 1 < length; pos++) {
      this.offer(tokens, pos, pos + 1);
      if (pos % workPerSlice === 0) yield;
    }
    for (let work = 1; this.heapCount > 0; work++) {
      if (work % workPerSlice === 0) yield;
      const top = this.takeTop();
      const rank = Math.floor(top / length);
      const pos = top - rank * length;
      const behind = next[pos]!;
      // The pair may be gone: one of the two has become another token.
      if (tokens[pos] !== left[rank] || behind >= length || tokens[behind] !== right[rank]) continue;
      tokens[pos] = alphabetSize + rank;
      tokens[behind] = gone;
      const after = next[behind]!;
      next[pos] = after;
      if (after < length) {
        before[after] = pos;
        this.offer(tokens, pos, after);
      }
      if (before[pos]! >= 0) this.offer(tokens, before[pos]!, pos);
    }
    return tokens.filter((token) => token !== gone);
  }

  /** Puts the pair of the tokens at two positions into the heap, if it can be merged. */
  private offer(tokens: Uint32Array, pos: number, behind: number): void {
    const rank = this.ranks.get(keyOf(tokens[pos]!, tokens[behind]!));
    if (rank === undefined) return;
    if (this.heapCount === this.heap.length) this.heap = grown(this.heap);
    const { heap } = this;
    const entry = rank * this.symbolCount + pos;
    let index = this.heapCount++;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (heap[parent]! <= entry) break;
      heap[index] = heap[parent]!;
      index = parent;
    }
    heap[index] = entry;
  }

  private takeTop(): number {
    const { heap } = this;
    const top = heap[0]!;
    const entry = heap[--this.heapCount]!;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= this.heapCount) break;
      if (child + 1 < this.heapCount && heap[child + 1]! < heap[child]!) child++;
      if (heap[child]! >= entry) break;
      heap[index] = heap[child]!;
      index = child;
    }
    heap[index] = entry;
    return top;
  }
}

const gone = 0xffffffff;
const workPerSlice = 1 << 14;

/** Ids are below 2^26 (`IdMerges`), so that a pair is a whole number below 2^52. */
const keyOf = (left: number, right: number) => left * 2 ** 26 + right;
