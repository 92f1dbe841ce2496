import { asideBytes, asideStart, listedBytes, listedStart } from "../regions";
import {
  addRecordHead,
  addSentinel,
  endOfRecords,
  endOfSlots,
  firstRecord,
  nextRecord,
  recordLength,
  recordWord,
  sentinelKey,
  writeMiddle,
  writeShort,
} from "./word-slots";
import { long, middle, short } from "./word-tables";

/**
 * Converts all words to contiguous records, because the merge engine lays them out in this memory
 * (merge/word-layout.ts). The records of short and middle words follow those of long words.
 */
let movedKind: u32 = 0;
let movedAt: usize = 0;

export function startMovingToRecords(): void {
  movedKind = 0;
  movedAt = short.slots;
}

/**
 * Moves the words of the next `work` slots; the records must have space for them. Returns false after the last slot.
 */
export function moveToRecordsSome(work: u32): bool {
  const table = movedKind === 0 ? short : middle;
  const slotBytes = <usize>table.slotBytes;
  const end = min(movedAt + <usize>work * slotBytes, endOfSlots(table));
  for (; movedAt < end; movedAt += slotBytes) {
    const key = load<u64>(movedAt);
    // Only the table of short words has the sentinel (word-slots.ts). A middle word may have the same key.
    if (key === 0 || (movedKind === 0 && key === sentinelKey)) continue;
    const word = addRecordHead(long, <u32>(key & 255), load<u64>(movedAt + slotBytes - 8));
    if (movedKind === 0) writeShort(word, key);
    else writeMiddle(word, load<u64>(movedAt, 8), key);
  }
  if (movedAt < endOfSlots(table)) return true;
  if (movedKind === 1) return false;
  movedKind = 1;
  movedAt = middle.slots;
  return true;
}

/** Ends the move, after all words were moved and the slots were zeroed. */
export function endMovingToRecords(): void {
  addSentinel(short);
  middle.usedCount = 0;
}

/**
 * An inspection of the words, which are sequences of ids: their ids are counted, and the adjacent pairs of ids that the
 * flags select are listed.
 *
 *   ARRAY    TYPE   LENGTH        MEANING
 *   flags    u8     ids           for each id, bit 0: it may be on the left of a selected pair; bit 1: on the right
 *   listed   u32    2 a pair      the pairs found in one call: left id, right id
 *   aside    u64    2^knownBits   a cache of listed pairs by hash, so that few are listed twice
 */
let flags: usize = 0;
let lookedRecord: u64 = 0;
let lookedCount: u32 = 0;
let idTotal: u64 = 0;

const knownBits: u64 = isSmallScale ? 4 : 15;
if ((<usize>8) << (<usize>knownBits) > asideBytes) ERROR("the pairs that are known fit into `aside`");

/** Begins an inspection, with the flags at an address. */
export function beginLook(flagsAddress: usize): void {
  flags = flagsAddress;
  lookedRecord = firstRecord(long);
  lookedCount = 0;
  idTotal = 0;
  memory.fill(asideStart, 0, asideBytes);
}

/**
 * Inspects further words, about `work` ids in all, each of `idBytes` bytes. Stops early if `listed` is full. Returns
 * the number of pairs listed.
 */
export function lookSome(work: u32, idBytes: u32): u32 {
  return idBytes === 2 ? look<u16>(work) : look<u32>(work);
}

/** Returns the address of the listed pairs: the left id, then the right id of each. */
export function lookedPairsAddress(): usize {
  return listedStart;
}

/** Whether all words were inspected. */
export function hasLooked(): bool {
  return lookedRecord === endOfRecords(long);
}

/** Returns the number of ids in the words that were inspected. */
export function lookedIds(): f64 {
  return <f64>idTotal;
}

function look<T>(work: u32): u32 {
  let pairsEnd = listedStart;
  let workLeft = <i32>work;
  const recordsEnd = endOfRecords(long);
  while (lookedRecord < recordsEnd && workLeft > 0) {
    const record = <usize>lookedRecord;
    const count = recordLength(record) / sizeof<T>();
    let id = recordWord(record) + <usize>lookedCount * sizeof<T>();
    const end = recordWord(record) + <usize>count * sizeof<T>();
    let left = <u32>load<T>(id);
    let leftFlag = load<u8>(flags + left);
    for (id += sizeof<T>(); id < end; id += sizeof<T>()) {
      const right = <u32>load<T>(id);
      const rightFlag = load<u8>(flags + right);
      if ((leftFlag & (rightFlag >> 1) & 1) !== 0) {
        pairsEnd = listPair(pairsEnd, left, right);
        // The next call continues in this word.
        if (pairsEnd === listedStart + listedBytes) break;
      }
      left = right;
      leftFlag = rightFlag;
    }
    workLeft -= <i32>count;
    lookedCount = <u32>((min(id, end) - recordWord(record)) / sizeof<T>());
    if (lookedCount < count) break;
    lookedCount = 0;
    idTotal += count;
    lookedRecord = nextRecord(record);
  }
  return <u32>((pairsEnd - listedStart) >> 3);
}

function listPair(at: usize, left: u32, right: u32): usize {
  const key = ((<u64>left) << 32) | right;
  const known = asideStart + ((<usize>((key * 0x9e3779b97f4a7c15) >> (64 - knownBits))) << 3);
  // Keys are stored plus 1, because 0 is a free entry.
  if (load<u64>(known) === key + 1) return at;
  store<u64>(known, key + 1);
  store<u32>(at, left);
  store<u32>(at, right, 4);
  return at + 8;
}
