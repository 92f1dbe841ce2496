/**
 * PairTable: the rank of each pair of ids. Small, because it is asked seldom and everywhere: what counts is how many
 * cache lines it has.
 *
 *   ARRAY    TYPE         LENGTH          MEANING
 *   slots    Int32Array   2^slotBits      open addressing, linear probing, at most half full: in the low `rankBits` bits
 *                                         rank + 1, above them the tag, the low bits of the hash; 0 in a free slot
 *   halves   Int32Array   2 * rankLimit   left and right id of each rank, at 2 rank; looked at where the tag is right
 *
 * The home slot of a pair is the top `slotBits` bits of its hash.
 */
export type PairTable = {
  readonly slots: Int32Array;
  readonly halves: Int32Array;
  readonly slotBits: number;
  readonly rankBits: number;
};

/** The rank of two ids that do not merge: behind every rank. */
export const noRank = 0x7fffffff;

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
  };
}

/** Gives the pair its rank, whatever it had before. */
export function addPair(table: PairTable, left: number, right: number, rank: number): void {
  const { slots, halves, slotBits, rankBits } = table;
  const hash = hashOf(left, right);
  let pos = hash >>> (32 - slotBits);
  for (let slot = slots[pos]!; slot !== 0; slot = slots[pos]!) {
    const known = (slot & ((1 << rankBits) - 1)) - 1;
    if (halves[2 * known] === left && halves[2 * known + 1] === right) break;
    pos = (pos + 1) & (slots.length - 1);
  }
  slots[pos] = (hash << rankBits) | (rank + 1);
  halves[2 * rank] = left;
  halves[2 * rank + 1] = right;
}

/** The rank of the pair, or `noRank`. */
export function findPair(table: PairTable, left: number, right: number): number {
  const { slots, halves, rankBits } = table;
  const hash = hashOf(left, right);
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
