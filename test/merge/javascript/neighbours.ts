import { type Cells, type Layout, stepOf } from "./layout.ts";

/**
 * Neighbours: what stands to the left and to the right of the token in work, summed up by token id. One room of
 * memory used by every merge in turn; between two merges all sums are 0.
 *
 *   ARRAY          TYPE           LENGTH                MEANING
 *   leftSums       Float64Array   2 x (boundary + 1)    [2t] weight and [2t + 1] number of occurrences with t at the left
 *   rightSums      Float64Array   2 x (boundary + 1)    the same at the right
 *   leftSeen       Int32Array     boundary + 1          the ids with a sum, in the order they came, leftSeenCount of them
 *   rightSeen      Int32Array     boundary + 1          the same at the right
 *   leftSlots      Int32Array     boundary + 1          where the next occurrence of (t, token) goes in the arena, or noSlot
 *   rightSlots     Int32Array     boundary + 1          the same for (token, t)
 *   stagedLefts    Cells          longest list so far   left neighbour of each occurrence merged
 *   stagedRights   Cells          longest list so far   its right neighbour
 *
 * Merging "b c" into Z in "a b c d", counted twice: leftSums[2a] = 2, leftSums[2a + 1] = 1, and so for d at the right:
 * (a, b) and (c, d) lose 2, (a, Z) and (Z, d) are born with 2.
 */
export type Neighbours = {
  readonly leftSums: Float64Array;
  readonly rightSums: Float64Array;
  readonly leftSeen: Int32Array;
  readonly rightSeen: Int32Array;
  leftSeenCount: number;
  rightSeenCount: number;
  readonly leftSlots: Int32Array;
  readonly rightSlots: Int32Array;
  stagedLefts: Cells;
  stagedRights: Cells;
  stagedCount: number;
  /** Weight of the right neighbours that were themselves merged a moment later: "xyxy". */
  voidWeight: number;
  /** The weight step that the walk has come to. */
  step: number;
  /** Keeps the loads of `touch` from being optimised away. */
  touched: number;
};

export const noSlot = -1;
const firstStagedCapacity = 1 << 10;

export function createNeighbours(layout: Layout): Neighbours {
  const size = layout.boundary + 1;
  return {
    leftSums: new Float64Array(2 * size),
    rightSums: new Float64Array(2 * size),
    leftSeen: new Int32Array(size),
    rightSeen: new Int32Array(size),
    leftSeenCount: 0,
    rightSeenCount: 0,
    leftSlots: new Int32Array(size),
    rightSlots: new Int32Array(size),
    stagedLefts: cellsLike(layout.cells, firstStagedCapacity),
    stagedRights: cellsLike(layout.cells, firstStagedCapacity),
    stagedCount: 0,
    voidWeight: 0,
    step: 0,
    touched: 0,
  };
}

/** Ready for a token with at most `occurrenceCount` occurrences. */
export function startNeighbours(neighbours: Neighbours, occurrenceCount: number): void {
  neighbours.leftSeenCount = 0;
  neighbours.rightSeenCount = 0;
  neighbours.stagedCount = 0;
  neighbours.voidWeight = 0;
  neighbours.step = 0;
  if (occurrenceCount > neighbours.stagedLefts.length) {
    const capacity = Math.ceil(occurrenceCount * 1.25);
    neighbours.stagedLefts = cellsLike(neighbours.stagedLefts, capacity);
    neighbours.stagedRights = cellsLike(neighbours.stagedRights, capacity);
  }
}

function cellsLike(cells: Cells, length: number): Cells {
  return cells instanceof Uint16Array ? new Uint16Array(length) : new Int32Array(length);
}

/**
 * Merges (x, y) into `id` at every living occurrence of entries[from .. to): writes the tags, sums up the neighbours,
 * and stages position, left and right of each. The positions are staged in the list itself, from `stagedFrom` on: it
 * is read for the last time, and what is staged never outruns what is read.
 */
export function mergeOccurrences(
  layout: Layout,
  neighbours: Neighbours,
  entries: Int32Array,
  stagedFrom: number,
  from: number,
  to: number,
  x: number,
  y: number,
  id: number,
  lengthX: number,
  lengthY: number,
  blockSize: number,
): void {
  const { cells, weightEnds, weights, stepCount } = layout;
  const { leftSums, rightSums, leftSeen, rightSeen, stagedLefts, stagedRights } = neighbours;
  let { leftSeenCount, rightSeenCount, stagedCount, voidWeight, step, touched } = neighbours;
  let weightEnd = weightEnds[step]!;
  let weight = weights[step]!;
  const length = lengthX + lengthY;
  for (let block = from; block < to; block += blockSize) {
    const blockEnd = Math.min(block + blockSize, to);
    touched ^= touch(cells, entries, block, blockEnd, length);
    for (let k = block; k < blockEnd; k++) {
      const pos = entries[k]!;
      if (cells[pos] !== x) continue;
      const middle = pos + lengthX;
      if (cells[middle] !== y) continue;
      if (pos >= weightEnd) {
        step = stepOf(weightEnds, stepCount, step + 1, pos);
        weightEnd = weightEnds[step]!;
        weight = weights[step]!;
      }
      const end = middle + lengthY;
      const left = cells[pos - 1]!;
      const right = cells[end]!;
      // Subtle: in "xyxy" the merge just to the left noted x as its right neighbour, which is now gone.
      if (left === id) voidWeight += weight;
      if (leftSums[2 * left + 1] === 0) leftSeen[leftSeenCount++] = left;
      leftSums[2 * left]! += weight;
      leftSums[2 * left + 1]!++;
      if (rightSums[2 * right + 1] === 0) rightSeen[rightSeenCount++] = right;
      rightSums[2 * right]! += weight;
      rightSums[2 * right + 1]!++;
      entries[stagedFrom + stagedCount] = pos;
      stagedLefts[stagedCount] = left;
      stagedRights[stagedCount++] = right;
      cells[middle] = id;
      cells[pos] = id;
      cells[end - 1] = id;
    }
  }
  neighbours.leftSeenCount = leftSeenCount;
  neighbours.rightSeenCount = rightSeenCount;
  neighbours.stagedCount = stagedCount;
  neighbours.voidWeight = voidWeight;
  neighbours.step = step;
  neighbours.touched = touched;
}

/** Loads what the walk over entries[from .. to) will need: independent loads, so that their cache misses overlap. */
function touch(cells: Cells, entries: Int32Array, from: number, to: number, length: number): number {
  let sum = 0;
  for (let k = from; k < to; k++) {
    const pos = entries[k]!;
    sum ^= cells[pos - 1]! ^ cells[pos + length]!;
  }
  return sum;
}

/** Writes the staged occurrences [from, to) into the lists of the pairs that were born; slots as `settleNeighbours` left them. */
export function writeStaged(
  neighbours: Neighbours,
  entries: Int32Array,
  stagedFrom: number,
  from: number,
  to: number,
  tokenLengths: Int32Array,
): void {
  const { leftSlots, rightSlots, stagedLefts, stagedRights } = neighbours;
  for (let k = from; k < to; k++) {
    const pos = entries[stagedFrom + k]!;
    const left = stagedLefts[k]!;
    const right = stagedRights[k]!;
    const leftSlot = leftSlots[left]!;
    if (leftSlot !== noSlot) {
      entries[leftSlot] = pos - tokenLengths[left]!;
      leftSlots[left] = leftSlot + 1;
    }
    const rightSlot = rightSlots[right]!;
    if (rightSlot !== noSlot) {
      entries[rightSlot] = pos;
      rightSlots[right] = rightSlot + 1;
    }
  }
}
