import { methodsOf, spareThirdTier } from "../runtime/compile-sparingly.ts";
import { hashEnd, hashStart, hashStep, laneMask } from "../words/lanes.ts";
import { middleLayout } from "../words/middle-words.ts";
import { addStandIn, allocateShortWords, shortLayout } from "../words/short-words.ts";
import {
  allocateSlots,
  place,
  reserveSlots,
  type SlotLayout,
  type Slots,
  slotBitsWith,
  spread,
} from "../words/slots.ts";

/**
 * WordCache: words already encoded, with their results (results.ts), in three open-addressing tables by length. Short
 * and middle words stand in slots as they do where words are counted, with the result in the lanes of the count.
 *
 *   TABLE    BYTES     LANES OF A SLOT
 *   short    1 - 7     words/short-words.ts, with its stand-in, whose result is missing; 2-3 result
 *   middle   8 - 15    words/middle-words.ts; 4-5 result
 *   long     16 -      0 hash, 1 offset of a record in `records` (0 = free)
 *
 *   a record          0 length in bytes, 1-2 result, 3- the bytes
 *   keptIds           ids of the results that do not fit into two lanes, end to end
 *
 * Memory is bounded: a table that is full at its largest clears all of them. That beats refusing what is new, because
 * the words of a corpus change as it goes on.
 */
export class WordCache {
  static {
    spareThirdTier(...methodsOf(WordCache));
  }

  readonly short = allocateShortWords(14);
  readonly middle = allocateSlots(13, middleLayout);
  readonly long = allocateSlots(10, longLayout);
  records = new Int32Array(1 << 14);
  recordsEnd = 1;
  keptIds = new Int32Array(1 << 12);
  keptIdsEnd = 0;

  constructor() {
    // Here and not where they stand: what grows for a corpus of millions of words is worth the third tier, this is not.
    spareThirdTier(
      reserveSlots,
      slotBitsWith,
      spread,
      place,
      shortLayout.hashAt,
      middleLayout.hashAt,
      longLayout.hashAt,
    );
  }

  /** Makes room for so many words more in the table of short ones, and for what else they may need. */
  reserve(wordCount: number, byteCount: number): void {
    const isFull =
      isFullAt(this.short, wordCount, shortBitsMax) ||
      isFullAt(this.middle, wordCount, middleBitsMax) ||
      isFullAt(this.long, byteCount >> 4, longBitsMax) ||
      this.recordsEnd + byteCount > recordLanesMax ||
      this.keptIdsEnd + byteCount > keptIdsMax;
    if (isFull) this.clear();
    reserveSlots(this.short, shortLayout, wordCount);
  }

  reserveMiddle(wordCount: number): void {
    reserveSlots(this.middle, middleLayout, wordCount);
  }

  reserveLong(wordCount: number): void {
    reserveSlots(this.long, longLayout, wordCount);
  }

  /** Room for `laneCount` lanes in `records`; returns where. */
  addRecord(laneCount: number): number {
    const offset = this.recordsEnd;
    this.recordsEnd += laneCount;
    while (this.records.length < this.recordsEnd) this.records = doubled(this.records);
    return offset;
  }

  /** Keeps ids[0 .. count); returns their offset. */
  keepIds(ids: Int32Array, count: number): number {
    const offset = this.keptIdsEnd;
    this.keptIdsEnd += count;
    while (this.keptIds.length < this.keptIdsEnd) this.keptIds = doubled(this.keptIds);
    for (let i = 0; i < count; i++) this.keptIds[offset + i] = ids[i]!;
    return offset;
  }

  private clear(): void {
    for (const table of [this.short, this.middle, this.long]) {
      table.lanes.fill(0);
      table.usedCount = 0;
    }
    addStandIn(this.short);
    this.recordsEnd = 1;
    this.keptIdsEnd = 0;
  }
}

export const longSlotLanes = 2;
const longLayout: SlotLayout = {
  slotLanes: longSlotLanes,
  keyLane: 1,
  hashAt: (lanes, pos) => lanes[pos]!,
};

/** 8 MB each for short words, records and kept ids, 6 MB for middle words, 1 MB for long ones. */
const shortBitsMax = 19;
const middleBitsMax = 18;
const longBitsMax = 17;
const recordLanesMax = 2 ** 21;
const keptIdsMax = 2 ** 21;
/** Longer words are hardly ever met again. */
export const cachedBytesMax = 4096;

/** Whether the table has to grow beyond its largest size for so many words more. */
const isFullAt = (slots: Slots, wordCount: number, slotBitsMax: number) =>
  slotBitsWith(slots, wordCount) > slotBitsMax;

function doubled(numbers: Int32Array): Int32Array<ArrayBuffer> {
  const longer = new Int32Array(2 * numbers.length);
  longer.set(numbers);
  return longer;
}

export function hashLong(view: DataView, start: number, lengthBytes: number): number {
  let hash = hashStart(lengthBytes);
  const tailStart = start + (lengthBytes & ~3);
  for (let pos = start; pos < tailStart; pos += 4) hash = hashStep(hash, view.getInt32(pos, true));
  return hashEnd(hash ^ (view.getInt32(tailStart, true) & tailMasks[lengthBytes & 3]!));
}

/** The bits of a word's last lane, by how many of its bytes are the word's. */
export const tailMasks = Int32Array.of(0, laneMask(1), laneMask(2), laneMask(3));

export function freeLong(lanes: Int32Array, slotBits: number, hash: number): number {
  let pos = (hash >>> (32 - slotBits)) << 1;
  while (lanes[pos + 1] !== 0) pos = (pos + 2) & (lanes.length - 1);
  return pos;
}
