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
    let bytesDoneBefore = 0;
    const bounds: number[] = [];
    for (const bytesDone of reading) {
      bounds.length = 0;
      documentCount += visitDocuments(batch, finder, (start, end) => bounds.push(start, end));
      for (let i = 0; i < bounds.length; i += 2) {
        this.splitter.start(bounds[i]!);
        while (!this.countTo(batch.text, bounds[i + 1]!)) yield bytesDoneBefore;
      }
      textBytes += batch.byteCount;
      yield bytesDone;
      bytesDoneBefore = bytesDone;
    }
    // Records are valid UTF-8: their readers see to it.
    return { textBytes, documentCount, invalidByteCount: 0, firstInvalidByte: -1 };
  }

  /** The document ends at `end`; false if there is more to it than is done at a time. */
  private countTo(text: Text, end: number): boolean {
    const { splitter, counter } = this;
    for (;;) {
      const stop = Math.min(splitter.pos + blockSizeBytes, end);
      if (splitter.pos < stop) splitter.scan(text, stop, end);
      const isSettled = splitter.pos >= end && splitter.finish(end);
      if (splitter.endCount > 1) counter.count(splitter.ends, splitter.endCount);
      const isPaused = splitter.pos < stop || (splitter.pos >= end && !isSettled);
      splitter.take();
      if (isSettled || isPaused) return isSettled;
    }
  }
}
