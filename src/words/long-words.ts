import type { Text } from "../corpus/text.ts";
import { addCount, hashEnd, hashStart, hashStep, laneMask } from "./lanes.ts";
import {
  allocateSlots,
  arrayLaneCountMax,
  type SlotLayout,
  type Slots,
  stretched,
  tooManyWords,
} from "./slots.ts";

/**
 * Long words, 16 bytes and more, with their counts: slots of two lanes, which lead to records of any length.
 *
 *   SLOT LANE   MEANING
 *   0           hash of the word
 *   1           offset of its record, in lanes; 0 in a free slot
 *
 *   RECORD LANE   MEANING
 *   0             length in bytes
 *   1             count, low 30 bits and carry
 *   2             count, high
 *   3 ..          the word, floor(length / 4) + 1 lanes: the last one holds the 0 to 3 bytes that remain
 *
 * Records stand end to end in the order in which words were met, from lane 1 on; lane 0 is nothing, so that no offset
 * is 0. A record of 16 bytes takes 8 lanes.
 */
export type LongWords = {
  slots: Slots;
  records: Int32Array;
  /** Where the next record goes. */
  recordEnd: number;
};

const longSlotLanes = 2;
export const longLayout: SlotLayout = {
  slotLanes: longSlotLanes,
  keyLane: 1,
  hashAt: (lanes, pos) => lanes[pos]!,
};
const headLanes = 3;
const firstRecord = 1;
const tailMasks = Int32Array.from([0, 1, 2, 3], laneMask);

export function allocateLongWords(slotBits: number, recordLaneCount: number): LongWords {
  return {
    slots: allocateSlots(slotBits, longLayout),
    records: new Int32Array(recordLaneCount),
    recordEnd: firstRecord,
  };
}

/** Lanes that hold the bytes of a word. */
export function wordLaneCount(lengthBytes: number): number {
  return (lengthBytes >> 2) + 1;
}

/** Where a record's word begins, as an index into `records`. */
export function longWordLane(record: number): number {
  return record + headLanes;
}

/** Where the record after this one is. */
function nextRecord(records: Int32Array, record: number): number {
  return record + headLanes + wordLaneCount(records[record]!);
}

/** Calls back with the offset of each record, in the order they stand. */
export function forEachRecord(words: LongWords, visit: (record: number) => void): void {
  const { records, recordEnd } = words;
  for (let record = firstRecord; record < recordEnd; record = nextRecord(records, record)) visit(record);
}

function hashLongWord(view: DataView, start: number, length: number): number {
  const tailStart = start + (length & ~3);
  let hash = hashStart(length);
  for (let pos = start; pos < tailStart; pos += 4) hash = hashStep(hash, view.getInt32(pos, true));
  return hashEnd(hashStep(hash, view.getInt32(tailStart, true) & tailMasks[length & 3]!));
}

/** Writes the hashes of the pretokens listed, and touches their slots, so that the cache misses overlap. */
export function hashLongWords(
  view: DataView,
  ends: Int32Array,
  long: Int32Array,
  longCount: number,
  hashes: Int32Array,
  slots: Slots,
): number {
  const { lanes } = slots;
  const shift = 32 - slots.slotBits;
  let sum = 0;
  for (let i = 0; i < longCount; i++) {
    const pretoken = long[i]!;
    const start = ends[pretoken]!;
    const length = ends[pretoken + 1]! - start;
    const hash = hashLongWord(view, start, length);
    hashes[i] = hash;
    sum ^= lanes[(hash >>> shift) << 1]!;
  }
  return sum;
}

/** Reads the head of the first record of every hash, so that the cache misses overlap. */
export function touchLongWords(words: LongWords, hashes: Int32Array, longCount: number): number {
  const { records } = words;
  const { lanes, slotBits } = words.slots;
  const shift = 32 - slotBits;
  let sum = 0;
  for (let i = 0; i < longCount; i++) sum ^= records[lanes[((hashes[i]! >>> shift) << 1) + 1]!]!;
  return sum;
}

/** Offset of the word's record, a new one with count 0 if there is none; there is a free slot for it. */
function findLongWord(words: LongWords, view: DataView, start: number, length: number, hash: number): number {
  const { lanes, slotBits } = words.slots;
  const { records } = words;
  const lastLane = lanes.length - 1;
  let pos = (hash >>> (32 - slotBits)) << 1;
  for (; lanes[pos + 1] !== 0; pos = (pos + longSlotLanes) & lastLane) {
    const record = lanes[pos + 1]!;
    if (
      lanes[pos] === hash &&
      records[record] === length &&
      recordEquals(records, record, view, start, length)
    ) {
      return record;
    }
  }
  const record = appendRecord(words, view, start, length);
  lanes[pos] = hash;
  lanes[pos + 1] = record;
  words.slots.usedCount++;
  return record;
}

/** Counts the pretokens listed, whose hashes are known; there are free slots for all of them. */
export function countLongWords(
  words: LongWords,
  view: DataView,
  ends: Int32Array,
  long: Int32Array,
  longCount: number,
  hashes: Int32Array,
): void {
  for (let i = 0; i < longCount; i++) {
    const pretoken = long[i]!;
    const start = ends[pretoken]!;
    const record = findLongWord(words, view, start, ends[pretoken + 1]! - start, hashes[i]!);
    words.records[record + 1]!++;
  }
}

/** Adds `high * 2^30 + low` to the count of one word; there is a free slot for it. */
export function addLongWord(
  words: LongWords,
  text: Text,
  start: number,
  end: number,
  low: number,
  high: number,
): void {
  const record = findLongWord(
    words,
    text.view,
    start,
    end - start,
    hashLongWord(text.view, start, end - start),
  );
  addCount(words.records, record + 1, low, high);
}

function recordEquals(
  records: Int32Array,
  record: number,
  view: DataView,
  start: number,
  length: number,
): boolean {
  const tailStart = start + (length & ~3);
  let lane = record + headLanes;
  for (let pos = start; pos < tailStart; pos += 4, lane++) {
    if (records[lane] !== view.getInt32(pos, true)) return false;
  }
  return records[lane] === (view.getInt32(tailStart, true) & tailMasks[length & 3]!);
}

/** Appends a word with count 0. */
function appendRecord(words: LongWords, view: DataView, start: number, length: number): number {
  reserveRecords(words, headLanes + wordLaneCount(length));
  const { records, recordEnd } = words;
  records[recordEnd] = length;
  records[recordEnd + 1] = 0;
  records[recordEnd + 2] = 0;
  const tailStart = start + (length & ~3);
  let lane = recordEnd + headLanes;
  for (let pos = start; pos < tailStart; pos += 4) records[lane++] = view.getInt32(pos, true);
  records[lane] = view.getInt32(tailStart, true) & tailMasks[length & 3]!;
  words.recordEnd = lane + 1;
  return recordEnd;
}

/** Makes room for as many lanes more. */
function reserveRecords(words: LongWords, laneCount: number): void {
  const neededLanes = words.recordEnd + laneCount;
  if (neededLanes <= words.records.length) return;
  if (neededLanes > arrayLaneCountMax)
    throw tooManyWords("more than 4 GB of distinct words of 16 bytes and more");
  const laneCountWished = Math.max(neededLanes, words.records.length * 2);
  words.records = stretched(words.records, Math.min(arrayLaneCountMax, laneCountWished));
}

/** Adds every word of `from`; there are free slots for all of them. */
export function addLongWords(words: LongWords, from: LongWords): void {
  const fromLanes = from.slots.lanes;
  for (let fromPos = 0; fromPos < fromLanes.length; fromPos += longSlotLanes) {
    const record = fromLanes[fromPos + 1]!;
    if (record !== 0) addRecord(words, fromLanes[fromPos]!, from.records, record);
  }
}

/** Adds one record of another table. */
function addRecord(words: LongWords, hash: number, fromRecords: Int32Array, fromRecord: number): void {
  const { lanes, slotBits } = words.slots;
  const { records } = words;
  const lastLane = lanes.length - 1;
  const fromEnd = nextRecord(fromRecords, fromRecord);
  let pos = (hash >>> (32 - slotBits)) << 1;
  for (; lanes[pos + 1] !== 0; pos = (pos + 2) & lastLane) {
    const record = lanes[pos + 1]!;
    if (lanes[pos] === hash && recordsEqual(records, record, fromRecords, fromRecord, fromEnd)) {
      addCount(records, record + 1, fromRecords[fromRecord + 1]!, fromRecords[fromRecord + 2]!);
      return;
    }
  }
  reserveRecords(words, fromEnd - fromRecord);
  const record = words.recordEnd;
  for (let lane = fromRecord; lane < fromEnd; lane++)
    words.records[record + lane - fromRecord] = fromRecords[lane]!;
  words.recordEnd += fromEnd - fromRecord;
  lanes[pos] = hash;
  lanes[pos + 1] = record;
  words.slots.usedCount++;
}

function recordsEqual(
  records: Int32Array,
  record: number,
  fromRecords: Int32Array,
  fromRecord: number,
  fromEnd: number,
): boolean {
  if (records[record] !== fromRecords[fromRecord]) return false;
  const delta = record - fromRecord;
  for (let lane = fromRecord + headLanes; lane < fromEnd; lane++) {
    if (records[lane + delta] !== fromRecords[lane]) return false;
  }
  return true;
}

/** Moves what stands above the low bits of each count to its high lane. */
export function carryLongCounts(words: LongWords): void {
  forEachRecord(words, (record) => addCount(words.records, record + 1, 0, 0));
}
