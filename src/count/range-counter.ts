import type { ByteSource } from "../corpus/byte-sources.ts";
import { RangeReader } from "../corpus/range-reader.ts";
import type { Range } from "../corpus/ranges.ts";
import { SpecialTokenFinder } from "../corpus/special-tokens.ts";
import { type CompiledPattern, createSplitter } from "../pattern/index.ts";
import type { Splitter } from "../pattern/splitter.ts";
import { methodsOf, spareThirdTier } from "../runtime/compile-sparingly.ts";
import type { WordCounter } from "../words/counter.ts";

/** What was met in a range besides words. */
export type RangeFindings = {
  /** Bytes that were read of the range, as they are when nothing packs them. */
  textBytes: number;
  /** Documents that begin in the range and hold at least one byte. */
  documentCount: number;
  invalidByteCount: number;
  /** Offset in the text of the first invalid byte, or -1. */
  firstInvalidByte: number;
};

/** Bytes handed from the splitter to the counter at a time: their pretokens and tables stay in the first caches. */
export const blockSizeBytes = 1 << 14;
const windowSizeBytes = 1 << 20;
/** `Splitter.scan` wants to see the whole last character and a byte more. */
const lookaheadBytes = 4;

/** Glue: bytes of a range -> documents -> pretokens -> word counts. */
export class RangeCounter {
  static {
    spareThirdTier(...methodsOf(RangeCounter));
  }

  private readonly splitter: Splitter;
  private readonly finder: SpecialTokenFinder;
  private readonly reader: RangeReader;
  private firstInvalidByte = -1;

  constructor(
    pattern: CompiledPattern,
    specialTokens: readonly Uint8Array[],
    private readonly counter: WordCounter,
    windowBytes = windowSizeBytes,
  ) {
    this.splitter = createSplitter(pattern);
    this.finder = new SpecialTokenFinder(specialTokens);
    // Half a window must hold more than is held back at its end, or reading would stand still.
    const capacityBytes = Math.max(windowBytes, 4 * (this.finder.longestBytes + lookaheadBytes));
    this.reader = new RangeReader(capacityBytes, (bytes) => counter.text(bytes));
  }

  /** Where in the text the work stands: the place of an error. */
  get offsetByte(): number {
    const { ends, endCount } = this.splitter;
    return this.reader.baseByte + ends[endCount - 1]!;
  }

  /**
   * Counts the words of a range; yields the bytes done after each window. Where its bytes are still coming it yields
   * when it has done with them, and `range` may say where it ends before it goes on.
   */
  *count(source: ByteSource, range: Range): Generator<number, RangeFindings> {
    const { splitter, finder, reader } = this;
    const tokenTailBytes = Math.max(0, finder.longestBytes - 1);
    const invalidBefore = splitter.invalidByteCount;
    let documentCount = 0;
    let insideDocument = range.startsInside;
    this.firstInvalidByte = -1;

    reader.open(source, range.startByte, range.endByte);
    splitter.start(0);
    for (let keepPos = 0; ; keepPos = splitter.ends[0]!) {
      reader.endByte = range.endsInside
        ? Math.min(range.endByte + lookaheadBytes, source.sizeBytes)
        : range.endByte;
      reader.advance(keepPos);
      splitter.shift(keepPos);
      finder.reset(reader.text.bytes.subarray(0, reader.limit));
      // Offsets in a file need 53 bits, positions in a text 31: `| 0` keeps them small integers.
      const end = reader.atEnd ? (range.endByte - reader.baseByte) | 0 : reader.limit;
      // A special token that begins before `sureEnd` is in the window as a whole.
      const sureEnd = reader.atEnd ? end : end - tokenTailBytes;
      for (;;) {
        const tokenPos = finder.find(splitter.pos, end);
        const tokenFound = tokenPos < sureEnd;
        const documentEnds = tokenFound || (reader.atEnd && !range.endsInside);
        const stop = tokenFound ? tokenPos : reader.atEnd ? end : sureEnd - lookaheadBytes;
        if (stop > splitter.pos && !insideDocument) {
          insideDocument = true;
          documentCount++;
        }
        const limit = documentEnds ? stop : reader.atEnd ? reader.limit : sureEnd;
        while (!this.countTo(stop, limit)) yield this.bytesDone(range);
        while (documentEnds && !this.finishAt(stop)) yield this.bytesDone(range);
        if (!tokenFound) break;
        insideDocument = false;
        splitter.start(tokenPos + finder.lengthAt(tokenPos, end));
      }
      if (reader.atEnd) {
        const invalidByteCount = splitter.invalidByteCount - invalidBefore;
        if (range.endsInside) {
          this.countLookahead(end);
          // A document that begins right at the cut: the next range takes it for one that goes on.
          if (!insideDocument) documentCount++;
        }
        return {
          textBytes: range.endByte - range.startByte,
          documentCount,
          invalidByteCount,
          firstInvalidByte: this.firstInvalidByte,
        };
      }
      yield this.bytesDone(range);
    }
  }

  private bytesDone(range: Range): number {
    return Math.min(range.endByte, this.reader.baseByte + this.splitter.ends[0]!) - range.startByte;
  }

  /** Scans and counts up to `stop`, a block at a time; false if there is more to it than is done at a time. */
  private countTo(stop: number, limit: number): boolean {
    const { splitter } = this;
    while (splitter.pos < stop) {
      const blockStop = Math.min(splitter.pos + blockSizeBytes, stop);
      splitter.scan(this.reader.text, blockStop, limit);
      if (splitter.firstInvalidPos >= 0 && this.firstInvalidByte < 0) {
        this.firstInvalidByte = this.reader.baseByte + splitter.firstInvalidPos;
      }
      this.take();
      if (splitter.pos < blockStop) return false;
    }
    return true;
  }

  /** The document ends at `stop`; false as above. */
  private finishAt(stop: number): boolean {
    const isSettled = this.splitter.finish(stop);
    this.take();
    return isSettled;
  }

  /** At a safe cut the next character settles the last pretoken; it belongs to the range that follows. */
  private countLookahead(rangeEnd: number): void {
    if (this.splitter.pos === rangeEnd) {
      this.splitter.scan(this.reader.text, rangeEnd + 1, this.reader.limit);
      this.take();
    }
  }

  private take(): void {
    const { splitter, counter } = this;
    if (splitter.endCount > 1) counter.count(splitter.ends, splitter.endCount);
    splitter.take();
  }
}
