import { hashFourLanes } from "./lanes.ts";
import type { SlotLayout } from "./slots.ts";

/**
 * Middle words, 8 to 15 bytes, each with a value of two lanes. A slot is six lanes:
 *
 *   LANE   MEANING
 *   0-2    bytes 0 to 11 of the word
 *   3      bytes 12 to 14; in the top byte the length, 8 to 15; the lane is 0 in a free slot
 *   4-5    value
 *
 * Eight lanes, which no cache line cuts, are no faster: a third more memory has to be written for the first time.
 */
export const middleSlotLanes = 6;
export const middleLayout: SlotLayout = {
  slotLanes: middleSlotLanes,
  keyLane: 3,
  hashAt: (lanes, pos) => hashFourLanes(lanes[pos]!, lanes[pos + 1]!, lanes[pos + 2]!, lanes[pos + 3]!),
};

/** Reads one lane of every home slot, so that the cache misses overlap. The sum keeps the loads from being dropped. */
export function touchMiddleWords(lanes: Int32Array, homes: Int32Array, middleCount: number): number {
  let sum = 0;
  for (let i = 0; i < middleCount; i++) sum ^= lanes[homes[i]! * middleSlotLanes]!;
  return sum;
}

/** Position of the slot that holds the key, or of the free one where it would stand. */
export function findMiddleWord(
  lanes: Int32Array,
  slotBits: number,
  lane0: number,
  lane1: number,
  lane2: number,
  lane3: number,
): number {
  const laneCount = lanes.length;
  let pos = (hashFourLanes(lane0, lane1, lane2, lane3) >>> (32 - slotBits)) * middleSlotLanes;
  while (
    lanes[pos + 3] !== 0 &&
    ((lanes[pos]! ^ lane0) |
      (lanes[pos + 1]! ^ lane1) |
      (lanes[pos + 2]! ^ lane2) |
      (lanes[pos + 3]! ^ lane3)) !==
      0
  ) {
    pos += middleSlotLanes;
    if (pos === laneCount) pos = 0;
  }
  return pos;
}
