import type { Text } from "../corpus/text.ts";
import { methodsOf, spareThirdTier } from "../runtime/compile-sparingly.ts";
import { middleBytesMax, shortBytesMax } from "../words/lanes.ts";
import { findMiddleWord, touchMiddleWords } from "../words/middle-words.ts";
import { findShortWord } from "../words/short-words.ts";
import { type EmitCursor, emitNarrow, emitWide } from "./emit.ts";
import type { IdBuffer } from "./id-buffer.ts";
import {
  allocateLists,
  findLong,
  lookUpLong,
  lookUpMiddle,
  lookUpShort,
  middleLane2,
  middleLane3,
  prepareMiddle,
  shortLane0,
  shortLane1,
} from "./look-up.ts";
import type { EncodingModel } from "./model.ts";
import { NeverMerged } from "./never-merged.ts";
import { keptFlag, narrowCountShift, narrowIdsMax, wideCountShift, wideIdsMax } from "./results.ts";
import { cachedBytesMax, freeLong, hashLong, tailMasks, WordCache } from "./word-cache.ts";
import { WordMerger } from "./word-merger.ts";

/** Pretokens of a block at most: its lists stay in the second cache. */
const blockWordsMax = 1 << 12;

/**
 * Pretokens to ids, a block at a time: look all of them up, then write the results in order; what is missing is merged
 * and kept on the way.
 */
export class WordEncoder {
  static {
    spareThirdTier(...methodsOf(WordEncoder));
  }

  private readonly cache = new WordCache();
  private readonly merger: WordMerger;
  private readonly lists = allocateLists(blockWordsMax);
  private readonly resultLanes = new Int32Array(2 * blockWordsMax);
  private readonly results = new Float64Array(this.resultLanes.buffer);
  private readonly cursor: EmitCursor = { word: 0, idCount: 0 };
  private readonly neverMerged: NeverMerged | undefined;
  /** Where the loads of `touchMiddleWords` go, so that they are not left out. */
  private touched = 0;

  constructor(
    model: EncodingModel,
    private readonly isNarrow: boolean,
  ) {
    this.merger = new WordMerger(model);
    const { joins, adjacency, wholeTokens } = model;
    if (joins !== null) this.neverMerged = new NeverMerged(joins, adjacency, wholeTokens);
  }

  /** Appends the ids of pretokens [ends[i], ends[i + 1]) for i in 0 .. endCount - 1. */
  encode(text: Text, ends: Int32Array, endCount: number, out: IdBuffer): void {
    if (endCount < 2) return;
    if (this.neverMerged !== undefined) {
      endCount = this.neverMerged.cut(text, ends, endCount);
      ends = this.neverMerged.ends;
    }
    for (let first = 0; first < endCount - 1; first += blockWordsMax) {
      const wordCount = Math.min(blockWordsMax, endCount - 1 - first);
      this.encodeBlock(text, first === 0 ? ends : ends.subarray(first), wordCount, out);
    }
  }

  private encodeBlock(text: Text, ends: Int32Array, wordCount: number, out: IdBuffer): void {
    const { cache, lists, results, resultLanes, cursor } = this;
    const { view } = text;
    const byteCount = ends[wordCount]! - ends[0]!;
    // A block of one huge word is not kept, so it needs no room.
    cache.reserve(wordCount, Math.min(byteCount, wordCount * cachedBytesMax));
    const { short } = cache;
    const longerCount = lookUpShort(
      view,
      ends,
      wordCount,
      short.lanes,
      new Float64Array(short.lanes.buffer),
      short.slotBits,
      results,
      lists.longer,
    );
    if (longerCount > 0) {
      cache.reserveMiddle(longerCount);
      const { middle } = cache;
      const longCount = prepareMiddle(view, ends, longerCount, middle.slotBits, lists);
      const middleCount = longerCount - longCount;
      this.touched ^= touchMiddleWords(middle.lanes, lists.homes, middleCount);
      lookUpMiddle(middleCount, lists, middle.lanes, new Float64Array(middle.lanes.buffer), results);
      if (longCount > 0) {
        cache.reserveLong(longCount);
        lookUpLong(view, ends, longCount, lists.long, cache, resultLanes, cachedBytesMax);
      }
    }
    out.reserve(byteCount);
    cursor.word = 0;
    cursor.idCount = out.count;
    for (;;) {
      if (this.isNarrow) {
        emitNarrow(cursor, wordCount, resultLanes, results, cache.keptIds, out.ids as Uint16Array, out.view);
      } else {
        emitWide(cursor, wordCount, resultLanes, cache.keptIds, out.ids as Uint32Array);
      }
      if (cursor.word === wordCount) break;
      this.resolve(text, ends[cursor.word]!, ends[cursor.word + 1]!, out);
    }
    out.count = cursor.idCount;
  }

  /**
   * The word at the cursor is missing: merges it and keeps it, or finds what was kept since the block was looked up. A
   * word too long to keep is written at once.
   */
  private resolve(text: Text, start: number, end: number, out: IdBuffer): void {
    const lengthBytes = end - start;
    if (lengthBytes <= shortBytesMax) this.resolveShort(text, start, lengthBytes);
    else if (lengthBytes <= middleBytesMax) this.resolveMiddle(text, start, lengthBytes);
    else if (lengthBytes <= cachedBytesMax) this.resolveLong(text, start, lengthBytes);
    else {
      const idCount = this.merger.merge(text.bytes, start, end);
      const { cursor, merger } = this;
      for (let i = 0; i < idCount; i++) out.ids[cursor.idCount + i] = merger.ids[i]!;
      cursor.idCount += idCount;
      cursor.word++;
    }
  }

  private resolveShort({ view, bytes }: Text, start: number, lengthBytes: number): void {
    const { resultLanes, cursor } = this;
    const { short } = this.cache;
    const { lanes, slotBits } = short;
    const lane0 = shortLane0(view, start, lengthBytes);
    const lane1 = shortLane1(view, start, lengthBytes);
    const pos = findShortWord(lanes, slotBits, lane0, lane1);
    const at = 2 * cursor.word;
    if (lanes[pos + 1] === 0) {
      this.mergeInto(bytes, start, start + lengthBytes, resultLanes, at);
      lanes[pos] = lane0;
      lanes[pos + 1] = lane1;
      lanes[pos + 2] = resultLanes[at]!;
      lanes[pos + 3] = resultLanes[at + 1]!;
      short.usedCount++;
    }
    resultLanes[at] = lanes[pos + 2]!;
    resultLanes[at + 1] = lanes[pos + 3]!;
  }

  private resolveMiddle({ view, bytes }: Text, start: number, lengthBytes: number): void {
    const { resultLanes, cursor } = this;
    const { middle } = this.cache;
    const { lanes, slotBits } = middle;
    const lane0 = view.getInt32(start, true);
    const lane1 = view.getInt32(start + 4, true);
    const lane2 = middleLane2(view, start, lengthBytes);
    const lane3 = middleLane3(view, start, lengthBytes);
    const pos = findMiddleWord(lanes, slotBits, lane0, lane1, lane2, lane3);
    const at = 2 * cursor.word;
    if (lanes[pos + 3] === 0) {
      this.mergeInto(bytes, start, start + lengthBytes, resultLanes, at);
      lanes[pos] = lane0;
      lanes[pos + 1] = lane1;
      lanes[pos + 2] = lane2;
      lanes[pos + 3] = lane3;
      lanes[pos + 4] = resultLanes[at]!;
      lanes[pos + 5] = resultLanes[at + 1]!;
      middle.usedCount++;
    }
    resultLanes[at] = lanes[pos + 4]!;
    resultLanes[at + 1] = lanes[pos + 5]!;
  }

  private resolveLong({ view, bytes }: Text, start: number, lengthBytes: number): void {
    const { cache, resultLanes, cursor } = this;
    const { lanes, slotBits } = cache.long;
    const hash = hashLong(view, start, lengthBytes);
    const at = 2 * cursor.word;
    const known = findLong(lanes, slotBits, cache.records, view, start, lengthBytes, hash);
    if (known !== 0) {
      resultLanes[at] = cache.records[known + 1]!;
      resultLanes[at + 1] = cache.records[known + 2]!;
      return;
    }
    this.mergeInto(bytes, start, start + lengthBytes, resultLanes, at);
    const wholeLanes = lengthBytes >> 2;
    const record = cache.addRecord(wholeLanes + 4);
    const { records } = cache;
    records[record] = lengthBytes;
    records[record + 1] = resultLanes[at]!;
    records[record + 2] = resultLanes[at + 1]!;
    for (let lane = 0; lane < wholeLanes; lane++) {
      records[record + 3 + lane] = view.getInt32(start + 4 * lane, true);
    }
    records[record + 3 + wholeLanes] =
      view.getInt32(start + 4 * wholeLanes, true) & tailMasks[lengthBytes & 3]!;
    const pos = freeLong(lanes, slotBits, hash);
    lanes[pos] = hash;
    lanes[pos + 1] = record;
    cache.long.usedCount++;
  }

  /** Merges the word and puts its result into lanes[at], lanes[at + 1]. */
  private mergeInto(bytes: Uint8Array, start: number, end: number, lanes: Int32Array, at: number): void {
    const { merger, cache } = this;
    const idCount = merger.merge(bytes, start, end);
    const { ids } = merger;
    if (this.isNarrow && idCount > 0 && idCount <= narrowIdsMax) {
      lanes[at] = ids[0]! | (idCount > 1 ? ids[1]! << 16 : 0);
      lanes[at + 1] = (idCount > 2 ? ids[2]! : 0) | (idCount << narrowCountShift);
    } else if (!this.isNarrow && idCount > 0 && idCount <= wideIdsMax) {
      lanes[at] = ids[0]!;
      lanes[at + 1] = (idCount > 1 ? ids[1]! : 0) | (idCount << wideCountShift);
    } else {
      lanes[at] = cache.keepIds(ids, idCount);
      lanes[at + 1] = keptFlag | idCount;
    }
  }
}
