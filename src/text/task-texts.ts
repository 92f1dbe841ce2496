import { isUtf8 } from "node:buffer";
import { characterLengthAt, isUnfinished } from "../bytes/text.ts";
import type { Input, Range } from "../corpus/input.ts";
import { type ByteSource, type Mapping, RangeReader, TextMemory } from "../corpus/range-reader.ts";
import { RecordBatch } from "../corpus/records/record-batch.ts";
import type { Task } from "../corpus/task.ts";
import { TaskReader } from "../corpus/task-reader.ts";
import { assert } from "../errors.ts";
import { lookaheadBytes, partBefore, partTo, type TextPart } from "./pretokens.ts";
import type { TextChain } from "./text-chain.ts";

/** Statistics of a range, besides its pretokens. */
export type RangeStatistics = {
  /** Bytes of the range, unpacked. */
  textBytes: number;
  /** Documents that begin in the range and have at least one byte. */
  documentCount: number;
  invalidByteCount: number;
  /** Offset in the text of the first invalid byte, or -1. */
  firstInvalidByte: number;
};

export type TaskTextsOptions = {
  readonly inputs: readonly Input[];
  readonly windowBytes?: number | undefined;
  /** Memory for texts that do not fit a window; no limit, if left out. */
  readonly memory?: TextMemory;
  /** How files are mapped to the taker's text, if nobody but the kernel looks at it. */
  readonly mapping?: Mapping | undefined;
  /** Called behind each record. */
  readonly endRecord?: () => void;
};

const windowBytesUsual = 1 << 20;
/** A window that grows holds one pretoken, which is also in the word table and where words are sorted. */
const memoryPerWindowByte = 3;
/** What links are given at a time. */
const pushedBytes = 1 << 18;

/** The texts of the tasks of one thread, wherever their bytes come from: reads them, and sends them through a chain. */
export class TaskTexts {
  private readonly reader: TaskReader<RangeStatistics>;
  private readonly memory: TextMemory;
  /** Capacity of the window, as long as no pretoken is too long for it. */
  private readonly capacityBytes: number;
  /** Reads windows straight into the taker's text, or maps them there; undefined where there are links before. */
  private readonly windows: RangeReader | undefined;
  private readonly pushed: Uint8Array;
  /** How far a range has been pushed. */
  private readByte = 0;

  constructor(
    private readonly chain: TextChain,
    private readonly options: TaskTextsOptions,
  ) {
    const { inputs, windowBytes, memory = new TextMemory(), mapping } = options;
    const { pretokens, taker, isDirect } = chain;
    this.memory = memory;
    // Half a window must hold more than is kept for the next one, or reading would make no progress.
    const leastBytes = 4 * (pretokens.tokenBytesMax + lookaheadBytes);
    this.capacityBytes = Math.max(windowBytes ?? windowBytesUsual, leastBytes);
    this.pushed = new Uint8Array(isDirect ? 0 : pushedBytes);
    const makeText = (capacityBytes: number) => taker.text(capacityBytes);
    const mapped = pretokens.isReadByKernelOnly ? mapping : undefined;
    this.windows = isDirect ? new RangeReader(this.capacityBytes, makeText, undefined, mapped) : undefined;
    // Records are put where they are taken.
    const batch = new RecordBatch(isDirect ? makeText : undefined);
    this.reader = new TaskReader({ inputs, windowBytes, batch }, memory, {
      text: (source, range) => this.takeRange(source, range),
      records: (reading) => this.takeRecords(reading, batch),
    });
  }

  /** Where in the text the work is: the place of an error. */
  get offsetByte(): number {
    const { reader, chain, windows } = this;
    if (reader.recordOffsetByte !== undefined) return reader.recordOffsetByte;
    if (windows === undefined) return Math.max(0, this.readByte - chain.pendingBytes);
    return windows.baseByte + chain.pretokens.keepPos;
  }

  /**
   * Takes the text of a task; yields the bytes of it that are done after each window. Returns the statistics of the range
   * that ends with it; undefined if the range continues in the next task.
   */
  take(task: Task): Generator<number, RangeStatistics | undefined> {
    return this.reader.take(task);
  }

  close(): void {
    this.reader.close();
  }

  /** Yields also where the rest of the range has yet to come; `range` may get its end before the generator goes on. */
  private *takeRange(source: ByteSource, range: Range): Generator<number, RangeStatistics> {
    const { pretokens } = this.chain;
    const documentsBefore = pretokens.documentCount;
    const invalidBefore = pretokens.invalidByteCount;
    const { windows } = this;
    const found = yield* windows === undefined
      ? this.pushRange(source, range)
      : this.readRange(windows, source, range);
    return {
      textBytes: range.endByte - range.startByte,
      documentCount: pretokens.documentCount - documentsBefore + found.moreDocuments,
      invalidByteCount: pretokens.invalidByteCount - invalidBefore - found.lessInvalid,
      firstInvalidByte: found.firstInvalidByte,
    };
  }

  private *readRange(reader: RangeReader, source: ByteSource, range: Range): Generator<number, Found> {
    const { pretokens } = this.chain;
    const bytesDone = () => Math.min(range.endByte, reader.baseByte + pretokens.keepPos) - range.startByte;
    let firstInvalidByte = -1;
    reader.open(source, range.startByte, range.endByte);
    try {
      pretokens.start(0, range.startsInside);
      for (let keepPos = 0; ; keepPos = pretokens.keepPos) {
        reader.endByte = range.endsInside
          ? Math.min(range.endByte + lookaheadBytes, source.sizeBytes)
          : range.endByte;
        if (this.claimWindow(reader, source.path, keepPos)) yield bytesDone();
        pretokens.shift(reader.advance(keepPos));
        pretokens.searchText(reader.limit);
        const part = this.partOf(reader, range);
        for (let isDone = false; !isDone; ) {
          isDone = pretokens.take(part);
          const { firstInvalidPos } = pretokens;
          if (firstInvalidPos >= 0 && firstInvalidByte < 0)
            firstInvalidByte = reader.baseByte + firstInvalidPos;
          if (!isDone) yield bytesDone();
        }
        if (reader.atEnd) return { ...this.lookBehind(reader, range, part), firstInvalidByte };
        yield bytesDone();
      }
    } catch (error) {
      throw reader.explained(error);
    } finally {
      reader.close();
      pretokens.start(0, false);
    }
  }

  /** What counting behind the cut at the end of a range changes. */
  private lookBehind(reader: RangeReader, { endsInside }: Range, { end }: TextPart) {
    if (!endsInside) return { moreDocuments: 0, lessInvalid: 0 };
    const { pretokens } = this.chain;
    const invalidBefore = pretokens.invalidByteCount;
    pretokens.lookAhead(end, reader.limit);
    // A document that begins exactly at the cut is counted here: the next range takes it for one that continues.
    const moreDocuments = pretokens.isInside ? 0 : 1;
    return { moreDocuments, lessInvalid: pretokens.invalidByteCount - invalidBefore };
  }

  /** Claims memory for a window that grows or has grown; true if words should make room for it. */
  private claimWindow(reader: RangeReader, path: string, keepPos: number): boolean {
    const windowBytes = reader.bytesAfter(keepPos);
    const neededBytes = windowBytes > this.capacityBytes ? memoryPerWindowByte * windowBytes : 0;
    const startByte = reader.baseByte + keepPos;
    return this.memory.claim(
      neededBytes,
      () => `"${path}": what stands from byte ${startByte} on without an end of a word`,
    );
  }

  /** The part of the window that can be taken now. */
  private partOf(reader: RangeReader, range: Range): TextPart {
    if (!reader.atEnd) return partBefore(reader.limit, this.chain.pretokens.tokenBytesMax);
    // Offsets in a file need 53 bits, positions in a text 31. `| 0` makes them small integers.
    const end = (range.endByte - reader.baseByte) | 0;
    return partTo(end, !range.endsInside, range.endsInside ? reader.limit : end);
  }

  private *pushRange(source: ByteSource, range: Range): Generator<number, Found> {
    const { chain, pushed } = this;
    const check = new Utf8Check(range.startByte);
    this.readByte = range.startByte;
    // A stream's range gets its end while it is read.
    while (this.readByte < range.endByte) {
      const wantedBytes = Math.min(pushed.length, range.endByte - this.readByte);
      const readBytes = source.read(pushed, 0, wantedBytes, this.readByte);
      this.readByte += readBytes;
      check.take(pushed.subarray(0, readBytes));
      chain.push(pushed, 0, readBytes);
      yield this.readByte - range.startByte;
    }
    assert(!range.endsInside, "a text that goes through links is cut at added tokens only");
    chain.end();
    return { moreDocuments: 0, lessInvalid: 0, firstInvalidByte: check.end() };
  }

  /** Takes what `reading` puts into the batch, each record as a text of its own; yields what `reading` yields. */
  private *takeRecords(reading: Iterable<number>, batch: RecordBatch): Generator<number, RangeStatistics> {
    const { chain } = this;
    const { pretokens, isDirect } = chain;
    const documentsBefore = pretokens.documentCount;
    let textBytes = 0;
    let bytesDoneBefore = 0;
    // One object for all: small records made garbage faster than it was collected, 300 MB of it.
    const part = { end: 0, sureEnd: 0, stop: 0, limit: 0, endsText: true };
    for (const bytesDone of reading) {
      if (isDirect) pretokens.searchText(batch.byteCount);
      for (let r = 0, start = 0; r < batch.count; r++) {
        const end = batch.ends[r]!;
        if (isDirect) {
          pretokens.start(start, false);
          part.end = part.sureEnd = part.stop = part.limit = end;
          while (!pretokens.take(part)) yield bytesDoneBefore;
        } else chain.pushText(batch.text.bytes, start, end);
        this.options.endRecord?.();
        start = end;
      }
      if (isDirect) pretokens.start(0, false);
      textBytes += batch.byteCount;
      yield bytesDone;
      bytesDoneBefore = bytesDone;
    }
    const documentCount = pretokens.documentCount - documentsBefore;
    // The readers of records let only valid UTF-8 through.
    return { textBytes, documentCount, invalidByteCount: 0, firstInvalidByte: -1 };
  }
}

/** What a loop over a range finds, beside what the pretokens count. */
type Found = {
  readonly moreDocuments: number;
  readonly lessInvalid: number;
  readonly firstInvalidByte: number;
};

/** Finds the first byte of a text that is not part of valid UTF-8; the text comes in windows. */
class Utf8Check {
  private rest = new Uint8Array(0);
  private firstInvalidByte = -1;

  constructor(private atByte: number) {}

  take(window: Uint8Array): void {
    if (this.firstInvalidByte < 0) this.look(Buffer.concat([this.rest, window]), false);
  }

  /** Its offset; -1 if all of the text is valid. */
  end(): number {
    if (this.firstInvalidByte < 0) this.look(this.rest, true);
    return this.firstInvalidByte;
  }

  private look(bytes: Uint8Array, isEnd: boolean): void {
    let pos = bytes.length;
    for (let back = 1; back <= Math.min(3, bytes.length); back++) {
      if (isUnfinished(bytes, bytes.length - back, bytes.length)) pos = bytes.length - back;
    }
    if (!isUtf8(bytes.subarray(0, pos))) pos = 0;
    while (pos < bytes.length) {
      const length = characterLengthAt(bytes, pos, bytes.length);
      if (length === 0 && !isEnd && isUnfinished(bytes, pos, bytes.length)) break;
      if (length === 0) {
        this.firstInvalidByte = this.atByte + pos;
        return;
      }
      pos += length;
    }
    this.rest = bytes.slice(pos);
    this.atByte += pos;
  }
}
