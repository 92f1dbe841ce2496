import { endsStart, longerStart, textStart } from "../regions";
import { endOfSlots, homeShift, SlotTable, shortSlotBytes } from "./slot-table";
import { hashShort, shortBytesMax, shortKey } from "./word-keys";

/**
 * Short words, 1 to 7 bytes. A slot:
 *
 *   OFFSET   TYPE   MEANING
 *   0        u64    key (word-keys.ts); 0 in a free slot
 *   8        u64    value: the count
 *
 * " the", counted twice, is [0x6568742000000004, 2].
 *
 * The sentinel is a key that is no word. Every longer pretoken counts it up, so that the loop needs no branch for them:
 * its slot is always the same, and always used.
 */
export const sentinelKey: u64 = 8;

/** Puts the sentinel into an empty table. */
export function addSentinel(table: SlotTable): void {
  store<u64>(findShort(table, sentinelKey), sentinelKey);
  table.usedCount = 1;
}

/** The slot of the key, or the free slot where it belongs. */
export function findShort(table: SlotTable, key: u64): usize {
  const end = endOfSlots(table);
  let slot = table.slots + <usize>(hashShort(key) >> homeShift(table)) * shortSlotBytes;
  let found = load<u64>(slot);
  while (found !== key && found !== 0) {
    slot += shortSlotBytes;
    if (slot === end) slot = table.slots;
    found = load<u64>(slot);
  }
  return slot;
}

/**
 * Counts the short words among `pretokenCount` pretokens from `first` on, and lists the indices of the others in
 * `longer`. There is room for all of them. Returns how many the others are.
 */
export function countShortWords(table: SlotTable, first: u32, pretokenCount: u32): u32 {
  const shift = homeShift(table);
  const slots = table.slots;
  const lastSlot = endOfSlots(table) - shortSlotBytes;
  const text = textStart;
  const longer = longerStart;
  let longerEnd = longer;
  let insertedCount: u32 = 0;
  let endAt = endsStart + (first << 2);
  let start = load<u32>(endAt);
  for (let i = first, stop = first + pretokenCount; i < stop; i++) {
    endAt += 4;
    const end = load<u32>(endAt);
    const length = end - start;
    // Written always, kept only if the word is longer: a branch here would be mispredicted once in eight.
    store<u32>(longerEnd, i);
    longerEnd += usize(length > shortBytesMax) << 2;
    const key = select<u64>(sentinelKey, shortKey(text + start, length), length > shortBytesMax);
    start = end;
    let slot = slots + ((<usize>(hashShort(key) >> shift)) << 4);
    for (;;) {
      const found = load<u64>(slot);
      if (found === key) {
        store<u64>(slot, load<u64>(slot, 8) + 1, 8);
        break;
      }
      if (found === 0) {
        store<u64>(slot, key);
        store<u64>(slot, 1, 8);
        insertedCount++;
        break;
      }
      slot = slot === lastSlot ? slots : slot + shortSlotBytes;
    }
  }
  table.usedCount += insertedCount;
  return <u32>((longerEnd - longer) >> 2);
}

/** Adds `count` to the count of one word; there is room for it. */
export function addShortWord(table: SlotTable, key: u64, count: u64): void {
  const slot = findShort(table, key);
  if (load<u64>(slot) === 0) table.usedCount++;
  store<u64>(slot, key);
  store<u64>(slot, load<u64>(slot, 8) + count, 8);
}

/** Adds the words of the slots in [from, end), the sentinel too; there is room for them. */
export function addShortSlots(table: SlotTable, from: usize, end: usize): void {
  for (; from < end; from += shortSlotBytes) {
    const key = load<u64>(from);
    if (key !== 0) addShortWord(table, key, load<u64>(from, 8));
  }
}

/** How many keys of the slots in [from, end) the table does not have. */
export function missingShort(table: SlotTable, from: usize, end: usize): u32 {
  let missingCount: u32 = 0;
  for (; from < end; from += shortSlotBytes) {
    const key = load<u64>(from);
    if (key !== 0 && load<u64>(findShort(table, key)) === 0) missingCount++;
  }
  return missingCount;
}
