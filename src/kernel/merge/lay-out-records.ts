import { nextRecord, recordLength, recordValue, recordWord } from "../words/word-slots";
import { Part, positionBytes } from "./merge-regions";
import { rareCountEnd, rareTallyOf, writeNumbers } from "./word-layout";

/**
 * What each thread does while words are laid out that stand as records (record-layout.ts): it writes the rare words of its part
 * of the records. Parts begin and end at records; addresses are in units of 8 bytes.
 */

/** Lays out rare words until about `work` cells are written; true while records are left. */
export function layOutRecords<T>(part: Part, index: u32, work: u32): bool {
  return positionBytes === 2 ? layOut<T, u16>(part, index, work) : layOut<T, u32>(part, index, work);
}

function layOut<T, U>(part: Part, index: u32, work: u32): bool {
  const end = (<u64>part.end) << 3;
  let next = (<u64>part.next) << 3;
  let workLeft = <i32>work;
  while (next < end && workLeft > 0) {
    const record = <usize>next;
    const length = recordLength(record) / sizeof<U>();
    const count = recordValue(record);
    if (length >= 2 && count < rareCountEnd) {
      const cursor = rareTallyOf(index, <u32>count);
      const pos = load<u32>(cursor);
      writeNumbers<T, U>(recordWord(record), length, pos);
      store<u32>(cursor, pos + length + 1);
    }
    workLeft -= <i32>(length + 1);
    next = nextRecord(record);
  }
  part.next = <u32>(next >> 3);
  return next < end;
}
