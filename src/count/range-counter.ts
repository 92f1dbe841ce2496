import type { TextMaker } from "../bytes/text.ts";
import type { ByteSource } from "../corpus/byte-sources.ts";
import type { Range } from "../corpus/range.ts";
import { type Mapping, RangeReader } from "../corpus/range-reader.ts";
import { TextMemory } from "../corpus/text-memory.ts";
import type { DocumentPart, Documents } from "./documents.ts";

/** What was met in a range besides words. */
export type RangeStatistics = {
  /** Bytes that were read of the range, as they are when nothing packs them. */
  textBytes: number;
  /** Documents that begin in the range and hold at least one byte. */
  documentCount: number;
  invalidByteCount: number;
  /** Offset in the text of the first invalid byte, or -1. */
  firstInvalidByte: number;
};

const windowSizeBytes = 1 << 20;
/** A window that grows holds one word: it stands there, in the words, and where these are sorted. */
const memoryPerWindowByte = 3;
/** Scanning wants to see the whole last character and a byte more. */
const lookaheadBytes = 4;

/** Glue: bytes of a range -> documents -> word counts. */
export class RangeCounter {
  private readonly reader: RangeReader;
  /** Of the window, as long as no word is too long for it. */
  private readonly capacityBytes: number;
  private readonly longestTokenBytes: number;
  private firstInvalidByte = -1;

  /**
   * @param makeText the text that `documents` counts
   * @param mapping of its place; only if nobody but the kernel looks at the text
   */
  constructor(
    private readonly documents: Documents,
    specialTokens: readonly Uint8Array[],
    makeText: TextMaker,
    windowBytes = windowSizeBytes,
    private readonly room = new TextMemory(),
    mapping?: Mapping,
  ) {
    this.longestTokenBytes = Math.max(0, ...specialTokens.map((token) => token.length));
    // Half a window must hold more than is held back at its end, or reading would stand still.
    this.capacityBytes = Math.max(windowBytes, 4 * (this.longestTokenBytes + lookaheadBytes));
    this.reader = new RangeReader(this.capacityBytes, makeText, undefined, mapping);
  }

  /** Where in the text the work stands: the place of an error. */
  get offsetByte(): number {
    return this.reader.baseByte + this.documents.keepPos;
  }

  /**
   * Counts the words of a range; yields the bytes done after each window. Where its bytes are still coming it yields
   * when it has done with them, and `range` may say where it ends before it goes on.
   */
  *count(source: ByteSource, range: Range): Generator<number, RangeStatistics> {
    const { documents, reader } = this;
    const invalidBefore = documents.invalidByteCount;
    const documentsBefore = documents.documentCount;
    this.firstInvalidByte = -1;

    reader.open(source, range.startByte, range.endByte);
    try {
      documents.start(0, range.startsInside);
      for (let keepPos = 0; ; keepPos = documents.keepPos) {
        reader.endByte = range.endsInside
          ? Math.min(range.endByte + lookaheadBytes, source.sizeBytes)
          : range.endByte;
        if (this.claimWindow(source.path, keepPos)) yield this.bytesDone(range);
        documents.shift(reader.advance(keepPos));
        documents.searchText(reader.limit);
        const part = this.partOf(range);
        while (!this.countPart(part)) yield this.bytesDone(range);
        if (reader.atEnd) {
          const invalidByteCount = documents.invalidByteCount - invalidBefore;
          let documentCount = documents.documentCount - documentsBefore;
          if (range.endsInside) {
            documents.lookAhead(part.end, reader.limit);
            // A document that begins right at the cut: the next range takes it for one that goes on.
            if (!documents.isInside) documentCount++;
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

  /** Claims memory for a window that grows or has grown; true if room should be made for it. */
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

  /** What of the window can be counted now. */
  private partOf(range: Range): DocumentPart {
    const { reader } = this;
    if (reader.atEnd) {
      // Offsets in a file need 53 bits, positions in a text 31: `| 0` keeps them small integers.
      const end = (range.endByte - reader.baseByte) | 0;
      const limit = range.endsInside ? reader.limit : end;
      return { end, sureEnd: end, stop: end, limit, endsDocument: !range.endsInside };
    }
    const end = reader.limit;
    // A special token that begins before it is in the window as a whole.
    const sureEnd = end - Math.max(0, this.longestTokenBytes - 1);
    return { end, sureEnd, stop: sureEnd - lookaheadBytes, limit: sureEnd, endsDocument: false };
  }

  private countPart(part: DocumentPart): boolean {
    const isDone = this.documents.count(part);
    const { firstInvalidPos } = this.documents;
    if (firstInvalidPos >= 0 && this.firstInvalidByte < 0) {
      this.firstInvalidByte = this.reader.baseByte + firstInvalidPos;
    }
    return isDone;
  }

  private bytesDone(range: Range): number {
    return Math.min(range.endByte, this.reader.baseByte + this.documents.keepPos) - range.startByte;
  }
}
