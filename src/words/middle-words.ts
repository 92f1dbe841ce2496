import type { Text } from "../corpus/text.ts";
import { addCount, hashFourLanes, laneMask, middleBytesMax } from "./lanes.ts";
import { allocateSlots, type SlotLayout, type Slots } from "./slots.ts";

/**
 * Middle words, 8 to 15 bytes, with their counts. A slot is six lanes:
 *
 *   LANE   MEANING
 *   0-2    bytes 0 to 11 of the word
 *   3      bytes 12 to 14; in the top byte the length, 8 to 15; the lane is 0 in a free slot
 *   4      count, low 30 bits and carry
 *   5      count, high
 *
 * Eight lanes, which no cache line cuts, are no faster: a third more memory has to be written for the first time.
 */
export const middleSlotLanes = 6;
export const middleLayout: SlotLayout = {
  slotLanes: middleSlotLanes,
  keyLane: 3,
  hashAt: (lanes, pos) => hashFourLanes(lanes[pos]!, lanes[pos + 1]!, lanes[pos + 2]!, lanes[pos + 3]!),
};

const laneMaskCount = middleBytesMax + 2;
const mask2 = new Int32Array(laneMaskCount);
const mask3 = new Int32Array(laneMaskCount);
for (let length = 8; length <= middleBytesMax; length++) {
  mask2[length] = laneMask(length - 8);
  mask3[length] = laneMask(length - 12);
}

export function allocateMiddleWords(slotBits: number): Slots {
  return allocateSlots(slotBits, middleLayout);
}

/**
 * Cuts the middle words among the pretokens listed in `longer` into lanes: four a word into `keys`, and its home slot
 * into `homes`; both have room for one word more than are listed. The others go to `long`, as indices. Returns how
 * many those are.
 */
export function cutMiddleWords(
  view: DataView,
  ends: Int32Array,
  longer: Int32Array,
  longerCount: number,
  keys: Int32Array,
  homes: Int32Array,
  slotBits: number,
  long: Int32Array,
): number {
  const shift = 32 - slotBits;
  let middleCount = 0;
  let longCount = 0;
  for (let i = 0; i < longerCount; i++) {
    const pretoken = longer[i]!;
    const start = ends[pretoken]!;
    const length = ends[pretoken + 1]! - start;
    const keyLength = Math.min(length, middleBytesMax + 1);
    const lane0 = view.getInt32(start, true);
    const lane1 = view.getInt32(start + 4, true);
    const lane2 = view.getInt32(start + 8, true) & mask2[keyLength]!;
    const lane3 = (view.getInt32(start + 12, true) & mask3[keyLength]!) | (keyLength << 24);
    // Written always to both lists, kept in one of them.
    const keyPos = middleCount << 2;
    keys[keyPos] = lane0;
    keys[keyPos + 1] = lane1;
    keys[keyPos + 2] = lane2;
    keys[keyPos + 3] = lane3;
    homes[middleCount] = hashFourLanes(lane0, lane1, lane2, lane3) >>> shift;
    long[longCount] = pretoken;
    const isLong = (middleBytesMax - length) >>> 31;
    longCount += isLong;
    middleCount += 1 - isLong;
  }
  return longCount;
}

/** Reads one lane of every home slot, so that the cache misses overlap. The sum keeps the loads from being dropped. */
export function touchMiddleWords(lanes: Int32Array, homes: Int32Array, middleCount: number): number {
  let sum = 0;
  for (let i = 0; i < middleCount; i++) sum ^= lanes[homes[i]! * middleSlotLanes]!;
  return sum;
}

/** Counts the words that were cut. Returns the number of keys that were new. */
export function countMiddleWords(
  lanes: Int32Array,
  keys: Int32Array,
  homes: Int32Array,
  middleCount: number,
): number {
  const laneCount = lanes.length;
  let insertedCount = 0;
  for (let i = 0; i < middleCount; i++) {
    const keyPos = i << 2;
    const lane0 = keys[keyPos]!;
    const lane1 = keys[keyPos + 1]!;
    const lane2 = keys[keyPos + 2]!;
    const lane3 = keys[keyPos + 3]!;
    let pos = homes[i]! * middleSlotLanes;
    for (;;) {
      const found3 = lanes[pos + 3]!;
      if (
        ((lanes[pos]! ^ lane0) | (lanes[pos + 1]! ^ lane1) | (lanes[pos + 2]! ^ lane2) | (found3 ^ lane3)) ===
        0
      ) {
        lanes[pos + 4]!++;
        break;
      }
      if (found3 === 0) {
        lanes[pos] = lane0;
        lanes[pos + 1] = lane1;
        lanes[pos + 2] = lane2;
        lanes[pos + 3] = lane3;
        lanes[pos + 4] = 1;
        insertedCount++;
        break;
      }
      pos += middleSlotLanes;
      if (pos === laneCount) pos = 0;
    }
  }
  return insertedCount;
}

/** Adds the keys in lanes [start, end) of `fromLanes`; there is room. Returns how many were new. */
export function addMiddleWords(
  lanes: Int32Array,
  slotBits: number,
  fromLanes: Int32Array,
  start: number,
  end: number,
): number {
  let insertedCount = 0;
  for (let fromPos = start; fromPos < end; fromPos += middleSlotLanes) {
    const lane3 = fromLanes[fromPos + 3]!;
    if (lane3 === 0) continue;
    const lane0 = fromLanes[fromPos]!;
    const lane1 = fromLanes[fromPos + 1]!;
    const lane2 = fromLanes[fromPos + 2]!;
    const pos = findMiddleWord(lanes, slotBits, lane0, lane1, lane2, lane3);
    if (lanes[pos + 3] === 0) insertedCount++;
    lanes[pos] = lane0;
    lanes[pos + 1] = lane1;
    lanes[pos + 2] = lane2;
    lanes[pos + 3] = lane3;
    addCount(lanes, pos + 4, fromLanes[fromPos + 4]!, fromLanes[fromPos + 5]!);
  }
  return insertedCount;
}

/** Adds `high * 2^30 + low` to the count of one word; there is room for it. */
export function addMiddleWord(
  slots: Slots,
  text: Text,
  start: number,
  end: number,
  low: number,
  high: number,
): void {
  const { lanes, slotBits } = slots;
  const { view } = text;
  const length = end - start;
  const lane0 = view.getInt32(start, true);
  const lane1 = view.getInt32(start + 4, true);
  const lane2 = view.getInt32(start + 8, true) & mask2[length]!;
  const lane3 = (view.getInt32(start + 12, true) & mask3[length]!) | (length << 24);
  const pos = findMiddleWord(lanes, slotBits, lane0, lane1, lane2, lane3);
  if (lanes[pos + 3] === 0) slots.usedCount++;
  lanes[pos] = lane0;
  lanes[pos + 1] = lane1;
  lanes[pos + 2] = lane2;
  lanes[pos + 3] = lane3;
  addCount(lanes, pos + 4, low, high);
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

/** Moves what stands above the low bits of each count to its high lane. */
export function carryMiddleCounts(lanes: Int32Array): void {
  for (let pos = 0; pos < lanes.length; pos += middleSlotLanes) {
    addCount(lanes, pos + 4, 0, 0);
  }
}
