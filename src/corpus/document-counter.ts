import { SpecialTokenFinder } from "../bytes/special-token-finder.ts";
import type { Range } from "./input.ts";
import { type ByteSource, RangeReader } from "./range-reader.ts";
import { type RecordBatch, visitDocuments } from "./records/record-batch.ts";

const windowSizeBytes = 1 << 20;

/** Counts the documents that begin in a range and have at least one byte, as counting words does, but without the words. */
export class DocumentCounter {
  private readonly finder: SpecialTokenFinder;
  private readonly reader: RangeReader;

  constructor(specialTokens: readonly Uint8Array[], windowBytes = windowSizeBytes) {
    this.finder = new SpecialTokenFinder(specialTokens);
    // Half a window must hold more than is kept for the next one, or reading would make no progress.
    this.reader = new RangeReader(Math.max(windowBytes, 4 * this.finder.longestBytes));
  }

  /** Where in a plain text the work is. */
  get offsetByte(): number {
    return this.reader.baseByte;
  }

  /** Counts the documents of records; yields what `reading` yields. */
  *countRecords(reading: Iterable<number>, batch: RecordBatch): Generator<number, number> {
    let documentCount = 0;
    for (const bytesDone of reading) {
      documentCount += visitDocuments(batch, this.finder, () => {});
      yield bytesDone;
    }
    return documentCount;
  }

  /** Yields the bytes done after each window. */
  *count(source: ByteSource, range: Range): Generator<number, number> {
    const { finder, reader } = this;
    let insideDocument = range.startsInside;
    let documentCount = 0;
    reader.open(source, range.startByte, range.endByte);
    for (let pos = 0; ; ) {
      // The end of a stream is known only with its last chunk.
      reader.endByte = range.endByte;
      reader.advance(pos);
      finder.reset(reader.text.bytes.subarray(0, reader.limit));
      // A special token that begins before `sureEnd` is in the window as a whole.
      const sureEnd = reader.atEnd ? reader.limit : reader.limit - Math.max(0, finder.longestBytes - 1);
      pos = 0;
      for (;;) {
        const tokenPos = finder.find(pos, reader.limit);
        if (!insideDocument && Math.min(tokenPos, sureEnd) > pos) {
          insideDocument = true;
          documentCount++;
        }
        if (tokenPos >= sureEnd) break;
        insideDocument = false;
        pos = tokenPos + finder.lengthAt(tokenPos, reader.limit);
      }
      if (reader.atEnd) break;
      // The last token may reach behind `sureEnd`.
      pos = Math.max(pos, sureEnd);
      yield reader.baseByte + pos - range.startByte;
    }
    // A document that begins exactly at the cut is counted here: the next range takes it for one that continues.
    return documentCount + (range.endsInside && !insideDocument ? 1 : 0);
  }
}
