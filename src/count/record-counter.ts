import type { RecordBatch } from "../corpus/records/record-batch.ts";
import type { Pretokens } from "../text/pretokens.ts";
import type { RangeStatistics } from "./range-counter.ts";

/** Counts the words of records: hands the texts of each batch to `pretokens`. */
export class RecordCounter {
  constructor(private readonly pretokens: Pretokens) {}

  /** Counts the texts that `reading` puts into the batch; yields what `reading` yields. */
  *count(reading: Iterable<number>, batch: RecordBatch): Generator<number, RangeStatistics> {
    const { pretokens } = this;
    const documentsBefore = pretokens.documentCount;
    let textBytes = 0;
    let bytesDoneBefore = 0;
    // One object for all: small records made garbage faster than it was collected, 300 MB of it.
    const part = { end: 0, sureEnd: 0, stop: 0, limit: 0, endsText: true };
    for (const bytesDone of reading) {
      pretokens.searchText(batch.byteCount);
      let start = 0;
      for (let r = 0; r < batch.count; r++) {
        const end = batch.ends[r]!;
        pretokens.start(start, false);
        part.end = part.sureEnd = part.stop = part.limit = end;
        while (!pretokens.take(part)) yield bytesDoneBefore;
        start = end;
      }
      textBytes += batch.byteCount;
      yield bytesDone;
      bytesDoneBefore = bytesDone;
    }
    const documentCount = pretokens.documentCount - documentsBefore;
    // The readers of records let only valid UTF-8 through.
    return { textBytes, documentCount, invalidByteCount: 0, firstInvalidByte: -1 };
  }
}
