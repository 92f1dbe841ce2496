import { hashTwoLanes } from "./lanes.ts";
import { allocateSlots, type SlotLayout, type Slots } from "./slots.ts";

/**
 * Short words, 1 to 7 bytes, each with a value of two lanes. A slot is four lanes:
 *
 *   LANE   MEANING
 *   0      bytes 0 to 3 of the word
 *   1      bytes 4 to 6; in the top byte the length, 1 to 7, or 8 for the stand-in; the lane is 0 in a free slot
 *   2-3    value
 *
 * " the" is [0x65687420, 0x04000000, …].
 *
 * The stand-in is one key that every longer pretoken finds, so that the loop has no branch for them: it is always
 * the same slot, and always there. It is no word.
 */
export const shortSlotLanes = 4;
export const shortLayout: SlotLayout = {
  slotLanes: shortSlotLanes,
  keyLane: 1,
  hashAt: (lanes, pos) => hashTwoLanes(lanes[pos]!, lanes[pos + 1]!),
};
export const standInLength = 8;
const standInLane1 = standInLength << 24;

export function allocateShortWords(slotBits: number): Slots {
  const slots = allocateSlots(slotBits, shortLayout);
  addStandIn(slots);
  return slots;
}

/** Puts the stand-in into an empty table. */
export function addStandIn(slots: Slots): void {
  slots.lanes[((hashTwoLanes(0, standInLane1) >>> (32 - slots.slotBits)) << 2) + 1] = standInLane1;
  slots.usedCount = 1;
}

/** Position of the slot that holds the key, or of the free one where it would stand. */
export function findShortWord(lanes: Int32Array, slotBits: number, lane0: number, lane1: number): number {
  const lastLane = lanes.length - 1;
  let pos = (hashTwoLanes(lane0, lane1) >>> (32 - slotBits)) << 2;
  while (lanes[pos + 1] !== 0 && ((lanes[pos]! ^ lane0) | (lanes[pos + 1]! ^ lane1)) !== 0) {
    pos = (pos + shortSlotLanes) & lastLane;
  }
  return pos;
}
