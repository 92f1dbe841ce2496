import { Heap } from "#bytes";
import { scaled } from "#runtime";

/** Merges over *symbols*, which are the ids below `alphabetSize`. Merge k produces the id `alphabetSize` + k. */
type SymbolMerges = { readonly alphabetSize: number; readonly left: Int32Array; readonly right: Int32Array };

/**
 * Merges long sequences of symbols in the order of ranks. The symbols are a linked list, and the pairs that
 * can be merged are in a heap, by rank and then by position. A merge creates at most two pairs, so a document
 * of n symbols takes O(n log n).
 *
 * This is not done in the kernel, because a document of ids may exceed its 4 GB of memory, and a kernel call
 * does not yield.
 *
 *   ARRAY   TYPE           LENGTH         MEANING
 *   tokens  Uint32Array    symbolCount    id of the token that starts at a position; `merged` inside a token
 *   next    Int32Array     symbolCount    start of the next token; symbolCount after the last
 *   before  Int32Array     symbolCount    start of the previous token; -1 before the first
 */
export class SequenceMerger {
  private readonly pairs: PairTable;

  constructor(private readonly merges: SymbolMerges) {
    const { left, right } = merges;
    this.pairs = allocatePairs(left.length, left.length);
    left.forEach((id, rank) => {
      addPair(this.pairs, id, right[rank]!, rank);
    });
  }

  /** Encodes a document. Yields between slices of work. */
  *merge(symbols: Uint32Array): Generator<undefined, Uint32Array> {
    const { length } = symbols;
    const { alphabetSize, left, right } = this.merges;
    const tokens = symbols.slice();
    const next = Int32Array.from({ length }, (_, pos) => pos + 1);
    const before = Int32Array.from({ length }, (_, pos) => pos - 1);
    const heap = new Heap();
    const offer = (pos: number, follower: number) => {
      const rank = findPair(this.pairs, tokens[pos]!, tokens[follower]!);
      if (rank !== noRank) heap.push(rank, pos);
    };
    for (let pos = 0; pos + 1 < length; pos++) {
      offer(pos, pos + 1);
      if (pos % workPerSlice === 0) yield;
    }
    for (let work = 1; heap.count > 0; work++) {
      if (work % workPerSlice === 0) yield;
      const rank = heap.topKey | 0;
      const pos = heap.topId;
      heap.pop();
      const follower = next[pos]!;
      // The pair may be stale, if one of its tokens has been merged since.
      if (tokens[pos] !== left[rank] || follower >= length || tokens[follower] !== right[rank]) continue;
      tokens[pos] = alphabetSize + rank;
      tokens[follower] = merged;
      const after = next[follower]!;
      next[pos] = after;
      if (after < length) {
        before[after] = pos;
        offer(pos, after);
      }
      if (before[pos]! >= 0) offer(before[pos]!, pos);
    }
    return tokens.filter((token) => token !== merged);
  }
}

const merged = 0xffffffff;
const workPerSlice = scaled(1 << 14, 16);

/**
 * PairTable: the rank of each pair of ids.
 *
 *   ARRAY    TYPE         LENGTH          MEANING
 *   slots    Int32Array   2^slotBits      open addressing, linear probing, at most half full; 0 in a free slot. The
 *                                         low `rankBits` bits are rank + 1, the bits above them the tag, which is the
 *                                         low bits of the hash
 *   halves   Int32Array   2 * rankLimit   left and right id of each rank, at 2 * rank; compared if the tag matches
 *   filter   Int32Array   2^(slotBits-3)  a bit for each pair: the top bits of its hash select the word, the lowest
 *                                         five the bit. Most lookups are for pairs without a rank, and most of those
 *                                         end here
 *
 * The home slot of a pair is the top `slotBits` bits of its hash.
 */
export type PairTable = {
  readonly slots: Int32Array;
  readonly halves: Int32Array;
  readonly slotBits: number;
  readonly rankBits: number;
  readonly filter: Int32Array;
};

/** The result for two ids that do not merge: higher than every rank. */
export const noRank = 0x7fffffff;

/** Eight slots share a word of 32 bits in the filter. */
const filterShift = 3;

const multiplier0 = 0x9e3779b1 | 0;
const multiplier1 = 0x85ebca77 | 0;

/** Allocates a table for `pairCount` pairs with ranks below `rankLimit`. */
function allocatePairs(pairCount: number, rankLimit: number): PairTable {
  const slotBits = Math.max(4, Math.ceil(Math.log2(2 * pairCount)));
  const rankBits = 32 - Math.clz32(rankLimit);
  return {
    slots: new Int32Array(2 ** slotBits),
    halves: new Int32Array(2 * rankLimit),
    slotBits,
    rankBits,
    filter: new Int32Array(2 ** (slotBits - filterShift)),
  };
}

/** Sets the rank of a pair. Returns whether the pair is new. */
export function addPair(table: PairTable, left: number, right: number, rank: number): boolean {
  const { slots, halves, slotBits, rankBits, filter } = table;
  const hash = hashOf(left, right);
  filter[hash >>> (32 - slotBits + filterShift)]! |= 1 << (hash & 31);
  let pos = hash >>> (32 - slotBits);
  for (let slot = slots[pos]!; slot !== 0; slot = slots[pos]!) {
    const known = (slot & ((1 << rankBits) - 1)) - 1;
    if (halves[2 * known] === left && halves[2 * known + 1] === right) break;
    pos = (pos + 1) & (slots.length - 1);
  }
  const isNew = slots[pos] === 0;
  slots[pos] = (hash << rankBits) | (rank + 1);
  halves[2 * rank] = left;
  halves[2 * rank + 1] = right;
  return isNew;
}

/** Returns the rank of the pair, or `noRank`. */
export function findPair(table: PairTable, left: number, right: number): number {
  const { slots, halves, rankBits, filter } = table;
  const hash = hashOf(left, right);
  if (((filter[hash >>> (32 - table.slotBits + filterShift)]! >>> (hash & 31)) & 1) === 0) return noRank;
  const tag = hash << rankBits;
  let pos = hash >>> (32 - table.slotBits);
  for (;;) {
    const slot = slots[pos]!;
    if (slot === 0) return noRank;
    if ((slot ^ tag) >>> rankBits === 0) {
      const rank = ((slot ^ tag) - 1) | 0;
      if (halves[2 * rank] === left && halves[2 * rank + 1] === right) return rank;
    }
    pos = (pos + 1) & (slots.length - 1);
  }
}

function hashOf(left: number, right: number): number {
  return Math.imul((Math.imul(left, multiplier0) + right) | 0, multiplier1);
}
