import { expect, test } from "bun:test";
import { findLong } from "../../src/encode/look-up.ts";
import { hashLong, tailMasks, WordCache } from "../../src/encode/word-cache.ts";

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
