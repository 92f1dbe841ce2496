import { nextRecord, recordLength, recordValue } from "../words/word-slots";
import { partCount, positionBytes } from "./merge-regions";
import { startPart, Work, workTogether } from "./merge-threads";
import { addFrequentWord, rareCountEnd, rareTallyOf, startOrderOfRecords } from "./word-layout";

/**
 * The layout of words that stand as records, end to end, in the memory that they were counted in (words/word-records.ts). It is
 * that of word-layout.ts; a word is here the place of its record, in units of 8 bytes. The ids in records are not yet those of
 * the cells: `numbers` says what becomes of each. Start tokens are not counted, JavaScript knows how often they occur.
 *
 * The records are cut into parts of about equal size, and a first walk tallies each part by itself. So each thread then knows
 * where its rare words go.
 */
let nextAddress: u64 = 0;
let endAddress: u64 = 0;
let partStart: u32 = 0;
let partBytes: u64 = 0;
let talliedParts: u32 = 0;

/** Begins a layout of the records in [startUnit, endUnit). */
export function startRecordLayout(startUnit: u32, endUnit: u32): void {
  startOrderOfRecords();
  nextAddress = (<u64>startUnit) << 3;
  endAddress = (<u64>endUnit) << 3;
  partBytes = (endAddress - nextAddress) / partCount + 1;
  partStart = startUnit;
  talliedParts = 0;
}

/** First walk over the next `work` records: which are frequent, and how many cells the rare ones take. False after the last. */
export function tallyRecordsSome(work: u32): bool {
  const shift: u32 = positionBytes === 2 ? 1 : 2;
  for (; work > 0 && nextAddress < endAddress; work--) {
    const record = <usize>nextAddress;
    const length = recordLength(record) >> shift;
    const count = recordValue(record);
    if (length >= 2) {
      if (count >= rareCountEnd) addFrequentWord(<u32>(record >> 3), count);
      else {
        const tally = rareTallyOf(talliedParts, <u32>count);
        store<u32>(tally, load<u32>(tally) + length + 1);
      }
    }
    nextAddress = nextRecord(record);
    if (nextAddress - ((<u64>partStart) << 3) >= partBytes) endPart();
  }
  if (nextAddress < endAddress) return true;
  while (talliedParts < partCount) endPart();
  return false;
}

function endPart(): void {
  const end = <u32>(nextAddress >> 3);
  startPart(talliedParts, partStart, end);
  partStart = end;
  talliedParts++;
}

/** Lays out rare words until about `work` cells are written in each part; false when all are. */
export function layOutRecordsSome(work: u32): bool {
  return workTogether(Work.layOutRecords, partCount, work);
}
