import { keepLoads, longerStart, longStart, middleHomesStart, middleKeysStart, textStart } from "../regions";
import { endOfSlots, homeShift, middleSlotBytes, SlotTable } from "./slot-table";
import { hashMiddle, middleBytesMax, middleTailKey } from "./word-keys";

/**
 * Middle words, 8 to 15 bytes. A slot:
 *
 *   OFFSET   TYPE   MEANING
 *   0        u64    key of the bytes behind the eighth (word-keys.ts); 0 in a free slot
 *   8        u64    the first eight bytes
 *   16       u64    value: the count
 *
 * Slots of 32 bytes, which no cache line cuts, are no faster: a third more memory has to be written first.
 */

/** The slot of the word, or the free slot where it belongs. */
export function findMiddle(table: SlotTable, head: u64, tailKey: u64): usize {
  const end = endOfSlots(table);
  let slot = table.slots + <usize>(hashMiddle(head, tailKey) >> homeShift(table)) * middleSlotBytes;
  let found = load<u64>(slot);
  while (((found ^ tailKey) | (load<u64>(slot, 8) ^ head)) !== 0 && found !== 0) {
    slot += middleSlotBytes;
    if (slot === end) slot = table.slots;
    found = load<u64>(slot);
  }
  return slot;
}

/**
 * Cuts the middle words among the `longerCount` pretokens in `longer`, with these ends, into keys, in `middleKeys`, and
 * lists their home slots in `middleHomes`; the indices of the others go to `long`. Returns how many these are.
 */
export function cutMiddleWords(table: SlotTable, ends: usize, longerCount: u32): u32 {
  const shift = homeShift(table);
  const slots = table.slots;
  const text = textStart;
  const longer = longerStart;
  let keys = middleKeysStart;
  let homes = middleHomesStart;
  let long = longStart;
  let sum: u64 = 0;
  for (let i: u32 = 0; i < longerCount; i++) {
    const pretoken = load<u32>(longer + (i << 2));
    const endAt = ends + (pretoken << 2);
    const start = load<u32>(endAt);
    const length = load<u32>(endAt, 4) - start;
    const head = load<u64>(text + start);
    const tailKey = middleTailKey(text + start, length);
    const home = slots + <usize>(hashMiddle(head, tailKey) >> shift) * middleSlotBytes;
    // Written to both lists always, kept in one of them: no branch.
    store<u64>(keys, tailKey);
    store<u64>(keys, head, 8);
    store<u32>(homes, <u32>home);
    store<u32>(long, pretoken);
    // Home slots are read here, so that their cache misses overlap.
    sum ^= load<u64>(home);
    const isLong = usize(length > middleBytesMax);
    keys += (1 - isLong) << 4;
    homes += (1 - isLong) << 2;
    long += isLong << 2;
  }
  keepLoads(sum);
  return <u32>((long - longStart) >> 2);
}

/** Counts the words that were cut; there is room for them. */
export function countMiddleWords(table: SlotTable, middleCount: u32): void {
  const end = endOfSlots(table);
  const slots = table.slots;
  let insertedCount: u32 = 0;
  let keys = middleKeysStart;
  for (let i: u32 = 0; i < middleCount; i++, keys += 16) {
    const tailKey = load<u64>(keys);
    const head = load<u64>(keys, 8);
    let slot = <usize>load<u32>(middleHomesStart + (i << 2));
    for (;;) {
      const found = load<u64>(slot);
      if (((found ^ tailKey) | (load<u64>(slot, 8) ^ head)) === 0) {
        store<u64>(slot, load<u64>(slot, 16) + 1, 16);
        break;
      }
      if (found === 0) {
        store<u64>(slot, tailKey);
        store<u64>(slot, head, 8);
        store<u64>(slot, 1, 16);
        insertedCount++;
        break;
      }
      slot += middleSlotBytes;
      if (slot === end) slot = slots;
    }
  }
  table.usedCount += insertedCount;
}

/** Adds `count` to the count of one word; there is room for it. */
export function addMiddleWord(table: SlotTable, head: u64, tailKey: u64, count: u64): void {
  const slot = findMiddle(table, head, tailKey);
  if (load<u64>(slot) === 0) table.usedCount++;
  store<u64>(slot, tailKey);
  store<u64>(slot, head, 8);
  store<u64>(slot, load<u64>(slot, 16) + count, 16);
}

/** Adds the words of the slots in [from, end); there is room for them. */
export function addMiddleSlots(table: SlotTable, from: usize, end: usize): void {
  for (; from < end; from += middleSlotBytes) {
    const tailKey = load<u64>(from);
    if (tailKey !== 0) addMiddleWord(table, load<u64>(from, 8), tailKey, load<u64>(from, 16));
  }
}

/** How many words of the slots in [from, end) the table does not have. */
export function missingMiddle(table: SlotTable, from: usize, end: usize): u32 {
  let missingCount: u32 = 0;
  for (; from < end; from += middleSlotBytes) {
    const tailKey = load<u64>(from);
    if (tailKey !== 0 && load<u64>(findMiddle(table, load<u64>(from, 8), tailKey)) === 0) missingCount++;
  }
  return missingCount;
}
