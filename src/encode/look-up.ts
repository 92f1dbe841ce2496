import { hashFourLanes, hashTwoLanes, laneMask, middleBytesMax, shortBytesMax } from "../words/lanes.ts";
import { middleSlotLanes } from "../words/middle-words.ts";
import { standInLength } from "../words/short-words.ts";
import { hashLong, tailMasks, type WordCache } from "./word-cache.ts";

// Looks the pretokens of a block up, a length class a pass: each pass is a small loop whose cache misses overlap. The
// results are copied to `results`, one a pretoken; what is not found is left missing.

const longestLaneLength = middleBytesMax + 1;
const masks0 = Int32Array.from({ length: standInLength + 1 }, (_, length) =>
  length === standInLength ? 0 : laneMask(length),
);
const masks1 = Int32Array.from({ length: standInLength + 1 }, (_, length) =>
  length === standInLength ? 0 : laneMask(length - 4),
);
const masks2 = Int32Array.from({ length: longestLaneLength + 1 }, (_, length) => laneMask(length - 8));
/** The top byte is left to the length. */
const masks3 = Int32Array.from(
  { length: longestLaneLength + 1 },
  (_, length) => laneMask(length - 12) & 0xffffff,
);

export const shortLane0 = (view: DataView, start: number, length: number) =>
  view.getInt32(start, true) & masks0[length]!;
export const shortLane1 = (view: DataView, start: number, length: number) =>
  (view.getInt32(start + 4, true) & masks1[length]!) | (length << 24);
export const middleLane2 = (view: DataView, start: number, length: number) =>
  view.getInt32(start + 8, true) & masks2[length]!;
export const middleLane3 = (view: DataView, start: number, length: number) =>
  (view.getInt32(start + 12, true) & masks3[length]!) | (length << 24);

/** Pretokens of one block, listed by the passes for one another. */
export type BlockLists = {
  /** Indices of the pretokens of 8 bytes and more; then of the middle and the long ones. */
  longer: Int32Array;
  middle: Int32Array;
  long: Int32Array;
  /** Lanes of the middle ones, four each, and their home slots. */
  middleLanes: Int32Array;
  homes: Int32Array;
};

export function allocateLists(wordCount: number): BlockLists {
  return {
    longer: new Int32Array(wordCount + 1),
    middle: new Int32Array(wordCount + 1),
    long: new Int32Array(wordCount + 1),
    middleLanes: new Int32Array(4 * (wordCount + 1)),
    homes: new Int32Array(wordCount + 1),
  };
}

/** Looks up the short ones; lists the others in `longer` and returns how many they are. */
export function lookUpShort(
  view: DataView,
  ends: Int32Array,
  wordCount: number,
  lanes: Int32Array,
  laneResults: Float64Array,
  slotBits: number,
  results: Float64Array,
  longer: Int32Array,
): number {
  const shift = 32 - slotBits;
  const lastLane = lanes.length - 1;
  let longerCount = 0;
  let start = ends[0]!;
  for (let word = 0; word < wordCount; word++) {
    const end = ends[word + 1]!;
    const lengthBytes = end - start;
    // Written always, kept only if the word is longer.
    longer[longerCount] = word;
    longerCount += (shortBytesMax - lengthBytes) >>> 31;
    const length = Math.min(lengthBytes, standInLength);
    const lane0 = view.getInt32(start, true) & masks0[length]!;
    const lane1 = (view.getInt32(start + 4, true) & masks1[length]!) | (length << 24);
    start = end;
    let pos = (hashTwoLanes(lane0, lane1) >>> shift) << 2;
    let found1 = lanes[pos + 1]!;
    while (((lanes[pos]! ^ lane0) | (found1 ^ lane1)) !== 0 && found1 !== 0) {
      pos = (pos + 4) & lastLane;
      found1 = lanes[pos + 1]!;
    }
    results[word] = laneResults[(pos >> 1) + 1]!;
  }
  return longerCount;
}

/** Cuts the middle ones among `longer` into lanes and lists the long ones; returns how many of those there are. */
export function prepareMiddle(
  view: DataView,
  ends: Int32Array,
  longerCount: number,
  slotBits: number,
  lists: BlockLists,
): number {
  const { longer, middle, long, middleLanes, homes } = lists;
  const shift = 32 - slotBits;
  let middleCount = 0;
  let longCount = 0;
  for (let i = 0; i < longerCount; i++) {
    const word = longer[i]!;
    const start = ends[word]!;
    const lengthBytes = ends[word + 1]! - start;
    const length = Math.min(lengthBytes, longestLaneLength);
    const lane0 = view.getInt32(start, true);
    const lane1 = view.getInt32(start + 4, true);
    const lane2 = view.getInt32(start + 8, true) & masks2[length]!;
    const lane3 = (view.getInt32(start + 12, true) & masks3[length]!) | (length << 24);
    homes[middleCount] = hashFourLanes(lane0, lane1, lane2, lane3) >>> shift;
    middle[middleCount] = word;
    const pos = middleCount << 2;
    middleLanes[pos] = lane0;
    middleLanes[pos + 1] = lane1;
    middleLanes[pos + 2] = lane2;
    middleLanes[pos + 3] = lane3;
    // Both are written always; the one that is wrong is written over.
    long[longCount] = word;
    const isLong = (middleBytesMax - lengthBytes) >>> 31;
    longCount += isLong;
    middleCount += 1 - isLong;
  }
  return longCount;
}

export function lookUpMiddle(
  middleCount: number,
  { homes, middle, middleLanes }: BlockLists,
  lanes: Int32Array,
  laneResults: Float64Array,
  results: Float64Array,
): void {
  const laneCount = lanes.length;
  for (let i = 0; i < middleCount; i++) {
    const from = i << 2;
    const lane0 = middleLanes[from]!;
    const lane1 = middleLanes[from + 1]!;
    const lane2 = middleLanes[from + 2]!;
    const lane3 = middleLanes[from + 3]!;
    let pos = homes[i]! * middleSlotLanes;
    let found3 = lanes[pos + 3]!;
    while (
      ((lanes[pos]! ^ lane0) | (lanes[pos + 1]! ^ lane1) | (lanes[pos + 2]! ^ lane2) | (found3 ^ lane3)) !==
        0 &&
      found3 !== 0
    ) {
      pos = (pos + middleSlotLanes) | 0;
      if (pos === laneCount) pos = 0;
      found3 = lanes[pos + 3]!;
    }
    results[middle[i]!] = laneResults[(pos >> 1) + 2]!;
  }
}

export function lookUpLong(
  view: DataView,
  ends: Int32Array,
  longCount: number,
  long: Int32Array,
  cache: WordCache,
  resultLanes: Int32Array,
  cachedBytesMax: number,
): void {
  const { records } = cache;
  const { lanes, slotBits } = cache.long;
  for (let i = 0; i < longCount; i++) {
    const word = long[i]!;
    const start = ends[word]!;
    const lengthBytes = ends[word + 1]! - start;
    if (lengthBytes > cachedBytesMax) continue;
    const hash = hashLong(view, start, lengthBytes);
    const record = findLong(lanes, slotBits, records, view, start, lengthBytes, hash);
    if (record === 0) continue;
    resultLanes[2 * word] = records[record + 1]!;
    resultLanes[2 * word + 1] = records[record + 2]!;
  }
}

/** Offset of the word's record, or 0. */
export function findLong(
  lanes: Int32Array,
  slotBits: number,
  records: Int32Array,
  view: DataView,
  start: number,
  lengthBytes: number,
  hash: number,
): number {
  const lastLane = lanes.length - 1;
  let pos = (hash >>> (32 - slotBits)) << 1;
  for (;;) {
    const record = lanes[pos + 1]!;
    if (record === 0) return 0;
    if (lanes[pos] === hash && equalsRecord(records, record, view, start, lengthBytes)) return record;
    pos = (pos + 2) & lastLane;
  }
}

function equalsRecord(
  records: Int32Array,
  record: number,
  view: DataView,
  start: number,
  lengthBytes: number,
): boolean {
  if (records[record] !== lengthBytes) return false;
  const wholeLanes = lengthBytes >> 2;
  const from = record + 3;
  for (let lane = 0; lane < wholeLanes; lane++) {
    if (records[from + lane] !== view.getInt32(start + 4 * lane, true)) return false;
  }
  const tail = view.getInt32(start + 4 * wholeLanes, true) & tailMasks[lengthBytes & 3]!;
  return records[from + wholeLanes] === tail;
}
