import { laneMask } from "../words/lanes.ts";

/**
 * WordCache: words already encoded, with their results (results.ts), in three open-addressing tables by length, linear
 * probing, home slot = top bits of the hash. Words are cut into lanes as in words/lanes.ts.
 *
 *   TABLE    BYTES     LANES OF A SLOT
 *   short    1 - 7     0 bytes 0-3, 1 bytes 4-6 and length << 24 (0 = free), 2-3 result
 *   middle   8 - 15    0-2 bytes 0-11, 3 bytes 12-14 and length << 24 (0 = free), 4-5 result, 6-7 nothing
 *   long     16 -      0 hash, 1 offset of a record in `records` (0 = free)
 *
 *   a record          0 length in bytes, 1-2 result, 3- the bytes
 *   keptIds           ids of the results that do not fit into two lanes, end to end
 *
 * Memory is bounded: a table that is full at its largest clears all of them. That beats refusing what is new, because
 * the words of a corpus change as it goes on.
 */
export class WordCache {
  short = { lanes: new Int32Array(4 << 14), slotBits: 14, usedCount: 0 };
  middle = { lanes: new Int32Array(8 << 13), slotBits: 13, usedCount: 0 };
  long = { lanes: new Int32Array(2 << 10), slotBits: 10, usedCount: 0 };
  records = new Int32Array(1 << 14);
  recordsEnd = 1;
  keptIds = new Int32Array(1 << 12);
  keptIdsEnd = 0;

  constructor() {
    addStandIn(this.short.lanes, this.short.slotBits);
  }

  /** Makes room for so many words more of each table; returns false if all had to be cleared for it. */
  reserve(wordCount: number, byteCount: number): boolean {
    const { short, middle, long } = this;
    const isFull =
      isFullAt(short.usedCount + wordCount, shortBitsMax) ||
      isFullAt(middle.usedCount + (wordCount >> 1), middleBitsMax) ||
      isFullAt(long.usedCount + (byteCount >> 4), longBitsMax) ||
      this.recordsEnd + byteCount > recordLanesMax ||
      this.keptIdsEnd + byteCount > keptIdsMax;
    if (isFull) this.clear();
    return !isFull;
  }

  growShort(wordCount: number): void {
    const table = this.short;
    let { slotBits } = table;
    while (slotBits < shortBitsMax && isCrowded(table.usedCount + wordCount, slotBits)) slotBits++;
    if (slotBits === table.slotBits) return;
    const lanes = new Int32Array(4 << slotBits);
    for (let from = 0; from < table.lanes.length; from += 4) {
      if (table.lanes[from + 1] === 0) continue;
      const pos = freeShort(lanes, slotBits, table.lanes[from]!, table.lanes[from + 1]!);
      for (let lane = 0; lane < 4; lane++) lanes[pos + lane] = table.lanes[from + lane]!;
    }
    this.short = { lanes, slotBits, usedCount: table.usedCount };
  }

  growMiddle(wordCount: number): void {
    const table = this.middle;
    let { slotBits } = table;
    while (slotBits < middleBitsMax && isCrowded(table.usedCount + wordCount, slotBits)) slotBits++;
    if (slotBits === table.slotBits) return;
    const { lanes: old } = table;
    const lanes = new Int32Array(8 << slotBits);
    for (let from = 0; from < old.length; from += 8) {
      if (old[from + 3] === 0) continue;
      const hash = hashMiddle(old[from]!, old[from + 1]!, old[from + 2]!, old[from + 3]!);
      const pos = freeMiddle(lanes, slotBits, hash);
      for (let lane = 0; lane < 6; lane++) lanes[pos + lane] = old[from + lane]!;
    }
    this.middle = { lanes, slotBits, usedCount: table.usedCount };
  }

  growLong(wordCount: number): void {
    const table = this.long;
    let { slotBits } = table;
    while (slotBits < longBitsMax && isCrowded(table.usedCount + wordCount, slotBits)) slotBits++;
    if (slotBits === table.slotBits) return;
    const lanes = new Int32Array(2 << slotBits);
    for (let from = 0; from < table.lanes.length; from += 2) {
      if (table.lanes[from + 1] === 0) continue;
      const pos = freeLong(lanes, slotBits, table.lanes[from]!);
      lanes[pos] = table.lanes[from]!;
      lanes[pos + 1] = table.lanes[from + 1]!;
    }
    this.long = { lanes, slotBits, usedCount: table.usedCount };
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
    addStandIn(this.short.lanes, this.short.slotBits);
    this.recordsEnd = 1;
    this.keptIdsEnd = 0;
  }
}

/** 8 MB each, for tables, records and kept ids. */
const shortBitsMax = 19;
const middleBitsMax = 18;
const longBitsMax = 17;
const recordLanesMax = 2 ** 21;
const keptIdsMax = 2 ** 21;
/** Longer words are hardly ever met again. */
export const cachedBytesMax = 4096;

const isCrowded = (usedCount: number, slotBits: number) => usedCount * 1.6 > 2 ** slotBits;
const isFullAt = (usedCount: number, slotBits: number) => usedCount * 1.25 > 2 ** slotBits;

function doubled(numbers: Int32Array): Int32Array<ArrayBuffer> {
  const longer = new Int32Array(2 * numbers.length);
  longer.set(numbers);
  return longer;
}

const multiplier0 = 0x9e3779b1 | 0;
const multiplier1 = 0x85ebca77 | 0;
const multiplier2 = 0xc2b2ae3d | 0;
const multiplier3 = 0x27d4eb2f | 0;
const finalMultiplier = 0x2c1b3c6d;

/** Two bare products reach the top bits from every byte, and the tables take their slots from the top. */
export function hashShort(lane0: number, lane1: number): number {
  return (Math.imul(lane0, multiplier0) + Math.imul(lane1, multiplier1)) | 0;
}

export function hashMiddle(lane0: number, lane1: number, lane2: number, lane3: number): number {
  let hash = (Math.imul(lane0, multiplier0) + Math.imul(lane1, multiplier1)) | 0;
  hash ^= hash >>> 15;
  hash = (Math.imul(hash, multiplier1) + Math.imul(lane2, multiplier2) + Math.imul(lane3, multiplier3)) | 0;
  hash ^= hash >>> 15;
  return Math.imul(hash, finalMultiplier);
}

export function hashLong(view: DataView, start: number, lengthBytes: number): number {
  let hash = Math.imul(lengthBytes, multiplier2);
  const tailStart = start + (lengthBytes & ~3);
  for (let pos = start; pos < tailStart; pos += 4) {
    hash = Math.imul(hash ^ view.getInt32(pos, true), multiplier0);
    hash ^= hash >>> 15;
  }
  hash = Math.imul(hash ^ (view.getInt32(tailStart, true) & tailMasks[lengthBytes & 3]!), multiplier1);
  hash ^= hash >>> 13;
  return Math.imul(hash, finalMultiplier);
}

/** The bits of a word's last lane, by how many of its bytes are the word's. */
export const tailMasks = Int32Array.of(0, laneMask(1), laneMask(2), laneMask(3));

/** Stands in for all longer words, so that the loop over short ones has no branch for them. Its result is missing. */
export const standInLength = 8;
const standInLane1 = standInLength << 24;

function addStandIn(lanes: Int32Array, slotBits: number): void {
  lanes[freeShort(lanes, slotBits, 0, standInLane1) + 1] = standInLane1;
}

/** First free slot for a key that is not in the table. */
export function freeShort(lanes: Int32Array, slotBits: number, lane0: number, lane1: number): number {
  let pos = (hashShort(lane0, lane1) >>> (32 - slotBits)) << 2;
  while (lanes[pos + 1] !== 0) pos = (pos + 4) & (lanes.length - 1);
  return pos;
}

export function freeMiddle(lanes: Int32Array, slotBits: number, hash: number): number {
  let pos = (hash >>> (32 - slotBits)) << 3;
  while (lanes[pos + 3] !== 0) pos = (pos + 8) & (lanes.length - 1);
  return pos;
}

export function freeLong(lanes: Int32Array, slotBits: number, hash: number): number {
  let pos = (hash >>> (32 - slotBits)) << 1;
  while (lanes[pos + 1] !== 0) pos = (pos + 2) & (lanes.length - 1);
  return pos;
}
