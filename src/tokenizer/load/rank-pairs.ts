/**
 * PairTable: the rank of each pair of ids, for loading a file of ranks. The kernel has its own (src/kernel/encode/pair-ranks.ts).
 *
 *   ARRAY    TYPE         LENGTH          MEANING
 *   slots    Int32Array   2^slotBits      open addressing, linear probing, at most half full: in the low `rankBits` bits
 *                                         rank + 1, above them the tag, the low bits of the hash; 0 in a free slot
 *   halves   Int32Array   2 * rankLimit   left and right id of each rank, at 2 rank; looked at where the tag is right
 *   filter   Int32Array   2^(slotBits-3)  a bit for each pair: word by the top bits of the hash, bit by its lowest five. Most
 *                                         pairs that are asked for are none, and most of those end here
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

/** The rank of two ids that do not merge: behind every rank. */
export const noRank = 0x7fffffff;

/** Eight slots share the 32 bits of a word. */
const filterShift = 3;

const multiplier0 = 0x9e3779b1 | 0;
const multiplier1 = 0x85ebca77 | 0;

/** A table for so many pairs, of ranks below `rankLimit`. */
export function allocatePairs(pairCount: number, rankLimit: number): PairTable {
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

/** Gives the pair its rank, whatever it had before; returns whether it is new. */
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

/** The rank of the pair, or `noRank`. */
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
