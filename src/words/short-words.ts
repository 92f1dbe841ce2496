import type { Text } from "../corpus/text.ts";
import { addCount, hashTwoLanes, laneMask, shortBytesMax } from "./lanes.ts";
import { allocateSlots, type SlotLayout, type Slots } from "./slots.ts";

/**
 * Short words, 1 to 7 bytes, with their counts. A slot is four lanes:
 *
 *   LANE   MEANING
 *   0      bytes 0 to 3 of the word
 *   1      bytes 4 to 6; in the top byte the length, 1 to 7, or 8 for the stand-in; the lane is 0 in a free slot
 *   2      count, low 30 bits and carry
 *   3      count, high
 *
 * " the", counted twice, is [0x65687420, 0x04000000, 2, 0].
 *
 * The stand-in is one key that every longer pretoken counts up, so that the loop has no branch for them: it is always
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

const mask0 = new Int32Array(standInLength + 1);
const mask1 = new Int32Array(standInLength + 1);
for (let length = 0; length <= shortBytesMax; length++) {
  mask0[length] = laneMask(length);
  mask1[length] = laneMask(length - 4);
}

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

/** Distinct short words: the stand-in is none. */
export function shortWordCount(slots: Slots): number {
  return slots.usedCount - 1;
}

/** Whether a slot holds a word: neither free nor the stand-in. */
export function isShortWord(lane1: number): boolean {
  return lane1 !== 0 && lane1 !== standInLane1;
}

/**
 * Counts the short words among `pretokenCount` pretokens from `first` on, and lists the others: their indices go to
 * `longer`, which has room for one more than all of them. Returns how many they are; `inserted[0]` is the number of
 * keys that were new.
 */
export function countShortWords(
  view: DataView,
  ends: Int32Array,
  first: number,
  pretokenCount: number,
  longer: Int32Array,
  lanes: Int32Array,
  slotBits: number,
  inserted: Int32Array,
): number {
  const shift = 32 - slotBits;
  const lastLane = lanes.length - 1;
  let longerCount = 0;
  let insertedCount = 0;
  let start = ends[first]!;
  for (let i = first, stop = first + pretokenCount; i < stop; i++) {
    const end = ends[i + 1]!;
    const length = end - start;
    // Written always, kept only if the word is longer: a branch here would be mispredicted once in eight.
    longer[longerCount] = i;
    longerCount += (shortBytesMax - length) >>> 31;
    const keyLength = Math.min(length, standInLength);
    const lane0 = view.getInt32(start, true) & mask0[keyLength]!;
    const lane1 = (view.getInt32(start + 4, true) & mask1[keyLength]!) | (keyLength << 24);
    start = end;
    let pos = (hashTwoLanes(lane0, lane1) >>> shift) << 2;
    for (;;) {
      const found1 = lanes[pos + 1]!;
      if (((lanes[pos]! ^ lane0) | (found1 ^ lane1)) === 0) {
        lanes[pos + 2]!++;
        break;
      }
      if (found1 === 0) {
        lanes[pos] = lane0;
        lanes[pos + 1] = lane1;
        lanes[pos + 2] = 1;
        insertedCount++;
        break;
      }
      pos = (pos + 4) & lastLane;
    }
  }
  inserted[0] = insertedCount;
  return longerCount;
}

/** Adds the keys in lanes [start, end) of `fromLanes`, the stand-in too; there is room. Returns how many were new. */
export function addShortWords(
  lanes: Int32Array,
  slotBits: number,
  fromLanes: Int32Array,
  start: number,
  end: number,
): number {
  let insertedCount = 0;
  for (let fromPos = start; fromPos < end; fromPos += shortSlotLanes) {
    const lane1 = fromLanes[fromPos + 1]!;
    if (lane1 === 0) continue;
    const lane0 = fromLanes[fromPos]!;
    const pos = findShortWord(lanes, slotBits, lane0, lane1);
    if (lanes[pos + 1] === 0) insertedCount++;
    lanes[pos] = lane0;
    lanes[pos + 1] = lane1;
    addCount(lanes, pos + 2, fromLanes[fromPos + 2]!, fromLanes[fromPos + 3]!);
  }
  return insertedCount;
}

/** Adds `high * 2^30 + low` to the count of one word; there is room for it. */
export function addShortWord(
  slots: Slots,
  text: Text,
  start: number,
  end: number,
  low: number,
  high: number,
): void {
  const { lanes, slotBits } = slots;
  const length = end - start;
  const lane0 = text.view.getInt32(start, true) & mask0[length]!;
  const lane1 = (text.view.getInt32(start + 4, true) & mask1[length]!) | (length << 24);
  const pos = findShortWord(lanes, slotBits, lane0, lane1);
  if (lanes[pos + 1] === 0) slots.usedCount++;
  lanes[pos] = lane0;
  lanes[pos + 1] = lane1;
  addCount(lanes, pos + 2, low, high);
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

/** Moves what stands above the low bits of each count to its high lane. */
export function carryShortCounts(lanes: Int32Array): void {
  for (let pos = 0; pos < lanes.length; pos += shortSlotLanes) {
    addCount(lanes, pos + 2, 0, 0);
  }
}
