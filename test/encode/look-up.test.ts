import { expect, test } from "bun:test";
import { allocateLists, findLong, lookUpMiddle, lookUpShort } from "../../src/encode/look-up.ts";
import { hashLong, tailMasks, WordCache } from "../../src/encode/word-cache.ts";
import { hashTwoLanes } from "../../src/words/lanes.ts";
import { middleSlotLanes } from "../../src/words/middle-words.ts";

test("a long word is found by all of its bytes, also among words of its hash", () => {
  for (let lengthBytes = 16; lengthBytes <= 40; lengthBytes++) {
    const bytes = Uint8Array.from({ length: lengthBytes + 8 }, (_, i) => i + 1);
    const view = new DataView(bytes.buffer);
    const hash = hashLong(view, 0, lengthBytes);
    const { long, records } = new WordCache();
    const record = 100;
    const wholeLanes = lengthBytes >> 2;
    records[record] = lengthBytes;
    for (let lane = 0; lane < wholeLanes; lane++) records[record + 3 + lane] = view.getInt32(4 * lane, true);
    records[record + 3 + wholeLanes] = view.getInt32(4 * wholeLanes, true) & tailMasks[lengthBytes & 3]!;
    const home = (hash >>> (32 - long.slotBits)) << 1;
    long.lanes[home] = hash;
    long.lanes[home + 1] = record;
    const find = (length: number) => findLong(long.lanes, long.slotBits, records, view, 0, length, hash);

    expect(find(lengthBytes)).toBe(record);
    expect(find(lengthBytes - 1)).toBe(0);
    // What comes behind the word is not the word's.
    bytes[lengthBytes]! ^= 1;
    expect(find(lengthBytes)).toBe(record);
    for (let pos = 0; pos < lengthBytes; pos++) {
      bytes[pos]! ^= 1;
      expect({ lengthBytes, pos, found: find(lengthBytes) }).toEqual({ lengthBytes, pos, found: 0 });
      bytes[pos]! ^= 1;
    }
  }
});

test("a middle word is found by all of its lanes, behind one that differs in a single lane", () => {
  // All lanes are the same, so none can be taken for another.
  const lane = (12 << 24) | 5;
  for (let other = 0; other < 4; other++) {
    const lanes = new Int32Array(2 * middleSlotLanes).fill(lane);
    lanes[other] = lane + 1;
    lanes.set([1, 1], 4);
    lanes.set([2, 2], middleSlotLanes + 4);
    const lists = allocateLists(1);
    lists.middleLanes.fill(lane, 0, 4);
    const results = new Float64Array(1);
    lookUpMiddle(1, lists, lanes, new Float64Array(lanes.buffer), results);
    expect([other, ...new Int32Array(results.buffer)]).toEqual([other, 2, 2]);
  }
});

test("a short word is found by both of its lanes, behind one that differs in a single lane", () => {
  // Seven bytes, whose two lanes are the same.
  const view = new DataView(Uint8Array.from([1, 1, 1, 7, 1, 1, 1, 9, 9, 9, 9]).buffer);
  const lane = (7 << 24) | 0x010101;
  const home = (hashTwoLanes(lane, lane) >>> 31) << 2;
  for (let other = 0; other < 2; other++) {
    const lanes = new Int32Array(8).fill(lane);
    lanes[home + other] = lane + 1;
    lanes.set([1, 1], home + 2);
    lanes.set([2, 2], (home ^ 4) + 2);
    const results = new Float64Array(1);
    const laneResults = new Float64Array(lanes.buffer);
    lookUpShort(view, Int32Array.of(0, 7), 1, lanes, laneResults, 1, results, new Int32Array(2));
    expect([other, ...new Int32Array(results.buffer)]).toEqual([other, 2, 2]);
  }
});
