import type { RecordBatch } from "../corpus/records/record-batch.ts";
import type { Documents } from "./documents.ts";
import type { RangeStatistics } from "./range-counter.ts";

/** Glue: texts of records -> documents -> word counts. */
export class RecordCounter {
  constructor(private readonly documents: Documents) {}

  /** Counts what `reading` puts into the batch; yields what that yields, and is done when it is. */
  *count(reading: Iterable<number>, batch: RecordBatch): Generator<number, RangeStatistics> {
    const { documents } = this;
    const documentsBefore = documents.documentCount;
    let textBytes = 0;
    let bytesDoneBefore = 0;
    for (const bytesDone of reading) {
      documents.searchText(batch.byteCount);
      let start = 0;
      for (let r = 0; r < batch.count; r++) {
        const end = batch.ends[r]!;
        documents.start(start, false);
        const part = { end, sureEnd: end, stop: end, limit: end, endsDocument: true };
        while (!documents.count(part)) yield bytesDoneBefore;
        start = end;
      }
      textBytes += batch.byteCount;
      yield bytesDone;
      bytesDoneBefore = bytesDone;
    }
    const documentCount = documents.documentCount - documentsBefore;
    // Records are valid UTF-8: their readers see to it.
    return { textBytes, documentCount, invalidByteCount: 0, firstInvalidByte: -1 };
  }
}
