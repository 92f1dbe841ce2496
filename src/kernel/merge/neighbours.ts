import {
  cells,
  lengths,
  Merge,
  Part,
  Sum,
  seen,
  stagedLefts,
  stagedRights,
  sums,
  tokenCount,
  weightEnds,
  weights,
} from "./merge-regions";
import { entryAddress } from "./occurrences";
import { stepCount, stepOf } from "./word-layout";

/**
 * Neighbours: the weights of the tokens to the left and to the right of the merged token, summed up by id. Each part of
 * the merged pair's list of occurrences (merge-regions.ts) has its own sums. Between merges, all weights and counts are
 * 0.
 *
 *   REGION        ELEMENT     ELEMENTS               MEANING
 *   sums          Sum         2 x tokenCount a part  the sum of each left neighbour, by its id; then the sum of each
 *                                                    right neighbour
 *   seen          u32         2 x tokenCount a part  from index 0, the ids of left neighbours in order of appearance;
 *                                                    from index `tokenCount`, those of right neighbours
 *   stagedLefts   u16 or u32  cellCount              the left neighbour of each merged occurrence; those of a part
 *                                                    begin at index `start` of the part
 *   stagedRights  u16 or u32  cellCount              likewise the right neighbour of each merged occurrence
 *
 * Example: "b c" is merged into Z, and the word "a b c d" has the count 2. The left sum of a has weight 2 and count 1,
 * and so has the right sum of d. So (a, b) and (c, d) lose 2, and (a, Z) and (Z, d) are created with 2.
 */
export const noSlot: u32 = 0;

/** The sides of the merged token. */
export enum Side {
  left,
  right,
}

/** Returns the address of a part's sums on one side. */
export function sumsOf(part: u32, side: u32): usize {
  return sums + <usize>(2 * part + side) * tokenCount * offsetof<Sum>();
}

export function seenOf(part: u32, side: u32): usize {
  return seen + ((<usize>(2 * part + side) * tokenCount) << 2);
}

export function sumAt(someSums: usize, id: u32): Sum {
  return changetype<Sum>(someSums + <usize>id * offsetof<Sum>());
}

/**
 * Merges every live occurrence in the next `work` entries of a part: writes the new token to the cells, sums up the
 * neighbours, and stages the position and both neighbours. Positions are staged in the list itself, from the start of
 * the part. The list is read for the last time, and writing never overtakes reading. Returns true while entries are
 * left.
 */
export function mergeOccurrences<T>(merge: Merge, part: Part, index: u32, work: u32): bool {
  const x = merge.left;
  const y = merge.right;
  const id = merge.id;
  const leftBytes = <usize>merge.leftLength * sizeof<T>();
  const rightBytes = <usize>merge.rightLength * sizeof<T>();
  const leftSums = sumsOf(index, Side.left);
  const rightSums = sumsOf(index, Side.right);
  const leftSeen = seenOf(index, Side.left);
  const rightSeen = seenOf(index, Side.right);
  const lefts = stagedLefts + <usize>part.start * sizeof<T>();
  const rights = stagedRights + <usize>part.start * sizeof<T>();
  const staged = entryAddress(merge.listStart + part.start);
  const steps = stepCount;
  let leftSeenCount = part.leftSeenCount;
  let rightSeenCount = part.rightSeenCount;
  let stagedCount = part.stagedCount;
  let voidWeight = part.voidWeight;
  let step = part.step;
  let weightEnd = load<u32>(weightEnds + ((<usize>step) << 2));
  let weight = load<u64>(weights + ((<usize>step) << 3));
  const from = part.next;
  const until = from + min(part.end - from, work);
  const end = entryAddress(merge.listStart + until);
  const blockBytes = (<usize>merge.blockSize) << 2;
  for (let block = entryAddress(merge.listStart + from); block < end; block += blockBytes) {
    const blockEnd = min(block + blockBytes, end);
    part.touched ^= touch<T>(block, blockEnd, leftBytes + rightBytes);
    for (let entry = block; entry < blockEnd; entry += 4) {
      const pos = load<u32>(entry);
      const cell = cells + <usize>pos * sizeof<T>();
      if (<u32>load<T>(cell) !== x) continue;
      const middle = cell + leftBytes;
      if (<u32>load<T>(middle) !== y) continue;
      if (pos >= weightEnd) {
        step = stepOf(steps, step + 1, pos);
        weightEnd = load<u32>(weightEnds + ((<usize>step) << 2));
        weight = load<u64>(weights + ((<usize>step) << 3));
      }
      const after = middle + rightBytes;
      const left = <u32>load<T>(cell - sizeof<T>());
      const right = <u32>load<T>(after);
      // Subtle: in "xyxy" the second x was summed as the right neighbour of the first occurrence. Now the second
      // occurrence replaces that x, so its weight is void.
      if (left === id) voidWeight += weight;
      leftSeenCount = addNeighbour(leftSums, leftSeen, leftSeenCount, left, weight);
      rightSeenCount = addNeighbour(rightSums, rightSeen, rightSeenCount, right, weight);
      store<u32>(staged + ((<usize>stagedCount) << 2), pos);
      store<T>(lefts + <usize>stagedCount * sizeof<T>(), <T>left);
      store<T>(rights + <usize>stagedCount * sizeof<T>(), <T>right);
      stagedCount++;
      store<T>(middle, <T>id);
      store<T>(cell, <T>id);
      store<T>(after - sizeof<T>(), <T>id);
    }
  }
  part.leftSeenCount = leftSeenCount;
  part.rightSeenCount = rightSeenCount;
  part.stagedCount = stagedCount;
  part.voidWeight = voidWeight;
  part.step = step;
  part.next = until;
  return until < part.end;
}

/** Adds an occurrence to the sum of a neighbour. Returns the number of distinct neighbours seen. */
function addNeighbour(someSums: usize, someSeen: usize, seenCount: u32, id: u32, weight: u64): u32 {
  const sum = sumAt(someSums, id);
  const isNew = sum.count === 0;
  if (isNew) store<u32>(someSeen + ((<usize>seenCount) << 2), id);
  sum.weight += weight;
  sum.count++;
  return seenCount + u32(isNew);
}

/**
 * Loads the cells on both sides of each entry of a block, before the walk reads them. The loads are independent, so
 * their cache misses overlap. Returns a value that keeps the loads from being optimized away.
 */
function touch<T>(block: usize, blockEnd: usize, lengthBytes: usize): u32 {
  let sum: u32 = 0;
  for (let entry = block; entry < blockEnd; entry += 4) {
    const cell = cells + <usize>load<u32>(entry) * sizeof<T>();
    sum ^= <u32>load<T>(cell - sizeof<T>()) ^ <u32>load<T>(cell + lengthBytes);
  }
  return sum;
}

/**
 * Writes the next `work` staged occurrences of a part into the lists of the created pairs, at the slots that
 * `settleNeighbours` (merge-pair.ts) has set. Returns true while some are left.
 */
export function writeStaged<T>(merge: Merge, part: Part, index: u32, work: u32): bool {
  const leftSums = sumsOf(index, Side.left);
  const rightSums = sumsOf(index, Side.right);
  const lefts = stagedLefts + <usize>part.start * sizeof<T>();
  const rights = stagedRights + <usize>part.start * sizeof<T>();
  const staged = entryAddress(merge.listStart + part.start);
  const tokenLengths = lengths;
  const until = part.writtenCount + min(part.stagedCount - part.writtenCount, work);
  for (let k = <usize>part.writtenCount; k < <usize>until; k++) {
    const pos = load<u32>(staged + (k << 2));
    const left = <u32>load<T>(lefts + k * sizeof<T>());
    const leftSum = sumAt(leftSums, left);
    const leftSlot = leftSum.slot;
    if (leftSlot !== noSlot) {
      store<u32>(entryAddress(leftSlot), pos - load<u32>(tokenLengths + ((<usize>left) << 2)));
      leftSum.slot = leftSlot + 1;
    }
    const right = <u32>load<T>(rights + k * sizeof<T>());
    const rightSum = sumAt(rightSums, right);
    const rightSlot = rightSum.slot;
    if (rightSlot !== noSlot) {
      store<u32>(entryAddress(rightSlot), pos);
      rightSum.slot = rightSlot + 1;
    }
  }
  part.writtenCount = until;
  return until < part.stagedCount;
}
