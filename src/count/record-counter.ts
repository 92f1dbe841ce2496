import { type RecordBatch, visitDocuments } from "../corpus/records/record-batch.ts";
import { SpecialTokenFinder } from "../corpus/special-tokens.ts";
import type { Text } from "../corpus/text.ts";
import { type CompiledPattern, createSplitter } from "../pattern/index.ts";
import type { Splitter } from "../pattern/splitter.ts";
import type { WordCounter } from "../words/counter.ts";
import { blockSizeBytes, type RangeFindings } from "./range-counter.ts";

/** Glue: texts of records -> documents -> pretokens -> word counts. */
export class RecordCounter {
  private readonly splitter: Splitter;
  private readonly finder: SpecialTokenFinder;

  constructor(
    pattern: CompiledPattern,
    specialTokens: readonly Uint8Array[],
    private readonly counter: WordCounter,
  ) {
    this.splitter = createSplitter(pattern);
    this.finder = new SpecialTokenFinder(specialTokens);
  }

  /** Counts what `reading` puts into the batch; yields what that yields, and is done when it is. */
  *count(reading: Iterable<number>, batch: RecordBatch): Generator<number, RangeFindings> {
    const { finder } = this;
    let textBytes = 0;
    let documentCount = 0;
    for (const bytesDone of reading) {
      documentCount += visitDocuments(batch, finder, (start, end) =>
        this.countDocument(batch.text, start, end),
      );
      textBytes += batch.byteCount;
      yield bytesDone;
    }
    // Records are valid UTF-8: their readers see to it.
    return { textBytes, documentCount, invalidByteCount: 0, firstInvalidByte: -1 };
  }

  private countDocument(text: Text, start: number, end: number): void {
    const { splitter, counter } = this;
    splitter.start(start);
    for (let isSettled = start === end; !isSettled; ) {
      if (splitter.pos < end) splitter.scan(text, Math.min(splitter.pos + blockSizeBytes, end), end);
      if (splitter.pos >= end) isSettled = splitter.finish(end);
      if (splitter.endCount > 1) counter.count(text, splitter.ends, splitter.endCount);
      splitter.take();
    }
  }
}
