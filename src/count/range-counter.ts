import type { TextMaker } from "../bytes/text.ts";
import type { Range } from "../corpus/input.ts";
import { type ByteSource, type Mapping, RangeReader, TextMemory } from "../corpus/range-reader.ts";
import { lookaheadBytes, type Pretokens, partBefore, partTo, type TextPart } from "../text/pretokens.ts";

/** Statistics of a range, besides its words. */
export type RangeStatistics = {
  /** Bytes of the range, unpacked. */
  textBytes: number;
  /** Documents that begin in the range and have at least one byte. */
  documentCount: number;
  invalidByteCount: number;
  /** Offset in the text of the first invalid byte, or -1. */
  firstInvalidByte: number;
};

const windowSizeBytes = 1 << 20;
/** A window that grows holds one word, which is also in the word table and where words are sorted. */
const memoryPerWindowByte = 3;

/** Counts the words of a range: reads it in windows, and hands them to `pretokens`. */
export class RangeCounter {
  private readonly reader: RangeReader;
  /** Capacity of the window, as long as no word is too long for it. */
  private readonly capacityBytes: number;
  private readonly longestTokenBytes: number;
  private firstInvalidByte = -1;

  /**
   * @param makeText makes the text that `pretokens` cuts
   * @param mapping how files are mapped there; only if nobody but the kernel looks at the text
   */
  constructor(
    private readonly pretokens: Pretokens,
    specialTokens: readonly Uint8Array[],
    makeText: TextMaker,
    windowBytes = windowSizeBytes,
    private readonly room = new TextMemory(),
    mapping?: Mapping,
  ) {
    this.longestTokenBytes = Math.max(0, ...specialTokens.map((token) => token.length));
    // Half a window must hold more than is kept for the next one, or reading would make no progress.
    this.capacityBytes = Math.max(windowBytes, 4 * (this.longestTokenBytes + lookaheadBytes));
    this.reader = new RangeReader(this.capacityBytes, makeText, undefined, mapping);
  }

  /** Where in the text the work is: the place of an error. */
  get offsetByte(): number {
    return this.reader.baseByte + this.pretokens.keepPos;
  }

  /**
   * Counts the words of a range; yields the bytes done after each window. If the rest of the range has yet to come, it
   * yields too, and `range` may get its end before the generator goes on.
   */
  *count(source: ByteSource, range: Range): Generator<number, RangeStatistics> {
    const { pretokens, reader } = this;
    const invalidBefore = pretokens.invalidByteCount;
    const documentsBefore = pretokens.documentCount;
    this.firstInvalidByte = -1;

    reader.open(source, range.startByte, range.endByte);
    try {
      pretokens.start(0, range.startsInside);
      for (let keepPos = 0; ; keepPos = pretokens.keepPos) {
        reader.endByte = range.endsInside
          ? Math.min(range.endByte + lookaheadBytes, source.sizeBytes)
          : range.endByte;
        if (this.claimWindow(source.path, keepPos)) yield this.bytesDone(range);
        pretokens.shift(reader.advance(keepPos));
        pretokens.searchText(reader.limit);
        const part = this.partOf(range);
        while (!this.countPart(part)) yield this.bytesDone(range);
        if (reader.atEnd) {
          const invalidByteCount = pretokens.invalidByteCount - invalidBefore;
          let documentCount = pretokens.documentCount - documentsBefore;
          if (range.endsInside) {
            pretokens.lookAhead(part.end, reader.limit);
            // A document that begins exactly at the cut is counted here: the next range takes it for one that continues.
            if (!pretokens.isInside) documentCount++;
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
    } catch (error) {
      throw reader.explained(error);
    } finally {
      reader.close();
    }
  }

  /** Claims memory for a window that grows or has grown; true if words should make room for it. */
  private claimWindow(path: string, keepPos: number): boolean {
    const { reader } = this;
    const windowBytes = reader.bytesAfter(keepPos);
    const neededBytes = windowBytes > this.capacityBytes ? memoryPerWindowByte * windowBytes : 0;
    const startByte = reader.baseByte + keepPos;
    return this.room.claim(
      neededBytes,
      () => `"${path}": what stands from byte ${startByte} on without an end of a word`,
    );
  }

  /** The part of the window that can be counted now. */
  private partOf(range: Range): TextPart {
    const { reader } = this;
    if (!reader.atEnd) return partBefore(reader.limit, this.longestTokenBytes);
    // Offsets in a file need 53 bits, positions in a text 31. `| 0` makes them small integers.
    const end = (range.endByte - reader.baseByte) | 0;
    return partTo(end, !range.endsInside, range.endsInside ? reader.limit : end);
  }

  private countPart(part: TextPart): boolean {
    const isDone = this.pretokens.take(part);
    const { firstInvalidPos } = this.pretokens;
    if (firstInvalidPos >= 0 && this.firstInvalidByte < 0) {
      this.firstInvalidByte = this.reader.baseByte + firstInvalidPos;
    }
    return isDone;
  }

  private bytesDone(range: Range): number {
    return Math.min(range.endByte, this.reader.baseByte + this.pretokens.keepPos) - range.startByte;
  }
}
