import { lowCountSize } from "./lanes.ts";
import { forEachRecord, type LongWords, longWordLane, wordLaneCount } from "./long-words.ts";
import { middleSlotLanes } from "./middle-words.ts";
import { isShortWord, shortSlotLanes, shortWordCount, standInLength } from "./short-words.ts";
import { type Slots, tooManyWords } from "./slots.ts";
import type { WordTable } from "./word-table.ts";

/** Words and their counts as they stand in the tables of a counter: plain data, to be sent from thread to thread. */
export type PackedCounts = {
  pretokenCount: number;
  /** Every low lane of a count is below 2^30 plus this, and this is at most 2^30: no lane wraps. */
  onesSinceCarry: number;
  short: Slots;
  middle: Slots;
  long: LongWords;
};

/** What to list as transferred when packed counts are posted: they move, and nothing is copied. */
export function transferables(packed: PackedCounts): ArrayBuffer[] {
  const { short, middle, long } = packed;
  return [short.lanes, middle.lanes, long.slots.lanes, long.records].map(
    (array) => array.buffer as ArrayBuffer,
  );
}

export function distinctWordCountOf(counts: PackedCounts): number {
  return shortWordCount(counts.short) + counts.middle.usedCount + counts.long.slots.usedCount;
}

/** Copies the words out of the tables: short words first, then middle, then long. */
export function wordTableOfCounts(counts: PackedCounts): WordTable {
  const { short, middle, long } = counts;
  const wordCount = distinctWordCountOf(counts);
  const byteCount =
    slotBytes(short.lanes, shortSlotLanes, 1) -
    standInLength +
    slotBytes(middle.lanes, middleSlotLanes, 3) +
    longBytes(long);
  if (byteCount > wordBytesMax) throw tooManyWords("more than 4 GB of distinct words");
  const buffer = new ArrayBuffer(byteCount + overhangBytes);
  const out: Out = {
    view: new DataView(buffer),
    starts: new Uint32Array(wordCount + 1),
    counts: new Float64Array(wordCount),
    wordCount: 0,
  };
  writeShortWords(out, short.lanes);
  writeMiddleWords(out, middle.lanes);
  writeLongWords(out, long);
  return { wordCount, bytes: new Uint8Array(buffer, 0, byteCount), starts: out.starts, counts: out.counts };
}

/** Words are written in whole lanes, four at most, and the next word is written over what was too much. */
const overhangBytes = 16;
const wordBytesMax = 2 ** 32 - overhangBytes;

/** A word table being filled; starts[wordCount] is where the next word goes. */
type Out = { view: DataView; starts: Uint32Array; counts: Float64Array; wordCount: number };

/** Bytes of all words of a table whose slots keep the length in the top byte of lane `lengthLane`. */
function slotBytes(lanes: Int32Array, slotLanes: number, lengthLane: number): number {
  let byteCount = 0;
  for (let pos = lengthLane; pos < lanes.length; pos += slotLanes) byteCount += lanes[pos]! >>> 24;
  return byteCount;
}

function longBytes(long: LongWords): number {
  let byteCount = 0;
  forEachRecord(long, (record) => {
    byteCount += long.records[record]!;
  });
  return byteCount;
}

function writeShortWords(out: Out, lanes: Int32Array): void {
  const { view, starts, counts } = out;
  let word = out.wordCount;
  let bytePos = starts[word]!;
  for (let pos = 0; pos < lanes.length; pos += shortSlotLanes) {
    const lane1 = lanes[pos + 1]!;
    if (!isShortWord(lane1)) continue;
    view.setInt32(bytePos, lanes[pos]!, true);
    view.setInt32(bytePos + 4, lane1, true);
    bytePos += lane1 >>> 24;
    counts[word] = lanes[pos + 3]! * lowCountSize + lanes[pos + 2]!;
    starts[++word] = bytePos;
  }
  out.wordCount = word;
}

function writeMiddleWords(out: Out, lanes: Int32Array): void {
  const { view, starts, counts } = out;
  let word = out.wordCount;
  let bytePos = starts[word]!;
  for (let pos = 0; pos < lanes.length; pos += middleSlotLanes) {
    const lane3 = lanes[pos + 3]!;
    if (lane3 === 0) continue;
    view.setInt32(bytePos, lanes[pos]!, true);
    view.setInt32(bytePos + 4, lanes[pos + 1]!, true);
    view.setInt32(bytePos + 8, lanes[pos + 2]!, true);
    view.setInt32(bytePos + 12, lane3, true);
    bytePos += lane3 >>> 24;
    counts[word] = lanes[pos + 5]! * lowCountSize + lanes[pos + 4]!;
    starts[++word] = bytePos;
  }
  out.wordCount = word;
}

function writeLongWords(out: Out, long: LongWords): void {
  const { view, starts, counts } = out;
  const { records } = long;
  let word = out.wordCount;
  let bytePos = starts[word]!;
  forEachRecord(long, (record) => {
    const lengthBytes = records[record]!;
    const firstLane = longWordLane(record);
    const laneCount = wordLaneCount(lengthBytes);
    for (let lane = 0; lane < laneCount; lane++)
      view.setInt32(bytePos + lane * 4, records[firstLane + lane]!, true);
    bytePos += lengthBytes;
    counts[word] = records[record + 2]! * lowCountSize + records[record + 1]!;
    starts[++word] = bytePos;
  });
  out.wordCount = word;
}
