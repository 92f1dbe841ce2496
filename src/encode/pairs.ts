/**
 * PairTable: the rank of each pair of ids, in an open-addressing table with linear probing, at most half full. A slot is
 * four lanes:
 *
 *   LANE   MEANING
 *   0      id of the left half
 *   1      id of the right half
 *   2      rank + 1; 0 in a free slot
 *   3      nothing: slots of 16 bytes never lie across two cache lines
 *
 * The home slot of a pair is the top `slotBits` bits of its hash.
 */
export type PairTable = { readonly lanes: Int32Array; readonly slotBits: number };

/** The rank of two ids that do not merge: behind every rank. */
export const noRank = 0x7fffffff;

const multiplier0 = 0x9e3779b1 | 0;
const multiplier1 = 0x85ebca77 | 0;

export function allocatePairs(pairCount: number): PairTable {
  let slotBits = 4;
  while (2 ** slotBits < 2 * pairCount) slotBits++;
  return { lanes: new Int32Array(4 * 2 ** slotBits), slotBits };
}

/** Gives the pair its rank, whatever it had before. */
export function addPair({ lanes, slotBits }: PairTable, left: number, right: number, rank: number): void {
  const lastLane = lanes.length - 1;
  let pos = homeOf(left, right, slotBits);
  while (lanes[pos + 2] !== 0 && (lanes[pos] !== left || lanes[pos + 1] !== right))
    pos = (pos + 4) & lastLane;
  lanes[pos] = left;
  lanes[pos + 1] = right;
  lanes[pos + 2] = rank + 1;
}

/** The rank of the pair, or `noRank`. */
export function findPair(lanes: Int32Array, slotBits: number, left: number, right: number): number {
  const lastLane = lanes.length - 1;
  let pos = homeOf(left, right, slotBits);
  for (;;) {
    const rankAndOne = lanes[pos + 2]!;
    if (rankAndOne === 0) return noRank;
    if (lanes[pos] === left && lanes[pos + 1] === right) return rankAndOne - 1;
    pos = (pos + 4) & lastLane;
  }
}

function homeOf(left: number, right: number, slotBits: number): number {
  const hash = Math.imul((Math.imul(left, multiplier0) + right) | 0, multiplier1);
  return (hash >>> (32 - slotBits)) << 2;
}
