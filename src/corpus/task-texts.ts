import { isUtf8 } from "node:buffer";
import { utf8 } from "#bytes";
import { files, scaled } from "#runtime";
import { TextChain, textParts } from "#text";
import type { Input, Range } from "./input.ts";
import {
  type ByteSource,
  type FileSource,
  type Mapping,
  MemorySource,
  OpenFile,
  RangeReader,
  TextMemory,
} from "./range-reader.ts";
import type { LineRange, LineReader } from "./records/line-reader.ts";
import type { ParquetReader } from "./records/parquet/parquet-reader.ts";
import { RecordBatch } from "./records/record-batch.ts";
import type * as tasks from "./task.ts";
import type { Task } from "./task.ts";
import { RangeChecksum, TextChecksum } from "./text-checksum.ts";

/** The statistics of a range that do not concern pretokens. */
export type RangeStatistics = {
  /** The size of the range's text, decompressed. */
  textBytes: number;
  /** The number of documents that begin in the range and have at least one byte. */
  documentCount: number;
  invalidByteCount: number;
  /** The offset of the range's first invalid byte, from the start of the input's text; -1 if all bytes are valid. */
  firstInvalidByte: number;
  /** The CRC-32 of the range's text; absent if it was not requested, or if the runtime has no CRC-32. */
  crc32?: number | undefined;
};

export type TaskTextsOptions = {
  readonly inputs: readonly Input[];
  readonly windowBytes?: number | undefined;
  /** The memory for texts that do not fit into a window; by default without a limit. */
  readonly memory?: TextMemory;
  /** How files are mapped into the taker's text. If this is given, only the kernel may read that text. */
  readonly mapping?: Mapping | undefined;
  /** Whether statistics have checksums. */
  readonly hasChecksums?: boolean | undefined;
  /** Called after each record, with the record's index in the batch. */
  readonly endRecord?: (batch: RecordBatch, r: number) => void;
};

const windowBytesUsual = scaled(1 << 20, 64);
/**
 * The number of bytes of memory that each byte of a window needs once the window has grown. Such a window holds one
 * long pretoken, and the word table and the sorting of words have copies of it.
 */
const memoryPerWindowByte = 3;

/** Reads the texts of one thread's tasks, from any source, and sends them through a `TextChain`. */
export class TaskTexts {
  private readonly file: OpenFile;
  private readonly chunks: ChunkedRanges<RangeStatistics>;
  private readonly memory: TextMemory;
  private readonly batch: RecordBatch;
  private lines: LineReader | undefined;
  private pages: ParquetReader | undefined;
  /** The reader of the current task's records; undefined if the task is plain text. */
  private records: { readonly offsetByte: number } | undefined;
  /** The capacity of the window, unless a pretoken needs more. */
  private readonly capacityBytes: number;
  /** Reads or maps windows directly into the taker's text; undefined if texts have to go through the chain. */
  private readonly windows: RangeReader | undefined;
  private readonly pushed: Uint8Array;
  /** The offset up to which the current range has been pushed into the chain. */
  private readByte = 0;

  constructor(
    private readonly chain: TextChain,
    private readonly options: TaskTextsOptions,
  ) {
    const { inputs, windowBytes, memory = new TextMemory(), mapping } = options;
    const { pretokens, taker, isDirect } = chain;
    this.memory = memory;
    // Half a window must be larger than the bytes that are kept for the next one, or reading would make no progress.
    const leastBytes = 4 * (pretokens.tokenBytesMax + textParts.lookaheadBytes);
    this.capacityBytes = Math.max(windowBytes ?? windowBytesUsual, leastBytes);
    this.pushed = new Uint8Array(isDirect ? 0 : TextChain.pushedBytes);
    const makeText = (capacityBytes: number) => taker.text(capacityBytes);
    this.windows = isDirect ? new RangeReader(this.capacityBytes, makeText, undefined, mapping) : undefined;
    // If the taker takes texts unchanged, records are written directly to its text.
    this.batch = new RecordBatch(isDirect ? makeText : undefined);
    this.file = new OpenFile(inputs);
    this.chunks = new ChunkedRanges(inputs, (source, range) => this.takeRange(source, range));
  }

  /** The current offset in the input, for errors. */
  get offsetByte(): number {
    const { records, chain, windows } = this;
    if (records !== undefined) return records.offsetByte;
    if (windows === undefined) return Math.max(0, this.readByte - chain.pendingBytes);
    return windows.baseByte + chain.pretokens.keepPos;
  }

  /**
   * Processes the text of a task. Now and then yields how many of the task's bytes are done. Returns the statistics of
   * the range that ends with the task; undefined if the range continues in the next task.
   */
  take(task: Task): Generator<number, RangeStatistics | undefined> {
    if (task.kind === "chunk") return this.chunks.take(task);
    const source = this.file.of(task.inputIndex);
    return task.kind === "pages" ? this.takePages(source, task) : this.takeRange(source, task);
  }

  close(): void {
    this.file.close();
  }

  private takePages(source: FileSource, pages: tasks.PagesTask): Generator<number, RangeStatistics> {
    this.pages ??= this.loadParquet();
    this.records = this.pages;
    const input = this.options.inputs[pages.inputIndex]!;
    return this.takeRecords(this.pages.read(source, pages, input), source.path);
  }

  /**
   * Loads the reader of Parquet and its packages. This is done on demand, because it takes about 10 ms and most runs
   * read no Parquet.
   */
  private loadParquet(): ParquetReader {
    const loaded =
      require("./records/parquet/parquet-reader.ts") as typeof import("./records/parquet/parquet-reader.ts");
    return new loaded.ParquetReader(undefined, this.memory, this.batch);
  }

  private takeRange(source: ByteSource, range: LineRange): Generator<number, RangeStatistics> {
    const input = this.options.inputs[range.inputIndex]!;
    if (input.format === "text") {
      this.records = undefined;
      return this.takeText(source, range);
    }
    this.lines ??= this.loadLines();
    this.records = this.lines;
    return this.takeRecords(this.lines.read(source, range, input), source.path);
  }

  /** Loads the reader of lines, which plain text does not need. */
  private loadLines(): LineReader {
    const loaded = require("./records/line-reader.ts") as typeof import("./records/line-reader.ts");
    return new loaded.LineReader(this.options.windowBytes, this.memory, this.batch);
  }

  /**
   * Processes a range of plain text, and yields how many of its bytes are done. It also yields when it needs bytes that
   * have not arrived yet. The caller then appends them to `source`, and sets the end of `range` once it is known.
   */
  private *takeText(source: ByteSource, range: Range): Generator<number, RangeStatistics> {
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
      crc32: found.crc32,
    };
  }

  private *readRange(
    reader: RangeReader,
    source: ByteSource,
    range: Range,
  ): Generator<number, RangeFindings> {
    const { pretokens } = this.chain;
    const bytesDone = () => Math.min(range.endByte, reader.baseByte + pretokens.keepPos) - range.startByte;
    let firstInvalidByte = -1;
    const checksum = this.options.hasChecksums ? new RangeChecksum(source, range.startByte) : undefined;
    reader.open(source, range.startByte, range.endByte);
    try {
      pretokens.start(0, range.startsInside);
      for (let keepPos = 0; ; keepPos = pretokens.keepPos) {
        reader.endByte = range.endsInside
          ? Math.min(range.endByte + textParts.lookaheadBytes, source.sizeBytes)
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
        checksum?.addWindow(reader, range.endByte);
        if (reader.atEnd)
          return { ...this.readPastCut(reader, range, part), firstInvalidByte, crc32: checksum?.value };
        yield bytesDone();
      }
    } catch (error) {
      throw reader.explain(error);
    } finally {
      reader.close();
      pretokens.start(0, false);
    }
  }

  /**
   * If the range ends inside a document, lets the character after the cut decide where the last pretoken ends. Returns
   * by how much the range's statistics must then be corrected.
   */
  private readPastCut(reader: RangeReader, { endsInside }: Range, { end }: textParts.TextPart) {
    if (!endsInside) return { moreDocuments: 0, lessInvalid: 0 };
    const { pretokens } = this.chain;
    const invalidBefore = pretokens.invalidByteCount;
    pretokens.lookAhead(end, reader.limit);
    // If a document begins exactly at the cut, it is counted here. The next range will not count it, but take it for
    // the continuation of an earlier document.
    const moreDocuments = pretokens.isInside ? 0 : 1;
    return { moreDocuments, lessInvalid: pretokens.invalidByteCount - invalidBefore };
  }

  /**
   * Claims memory for a window that will grow or has grown. Returns true if the caller of `take` should free memory
   * before the window grows.
   */
  private claimWindow(reader: RangeReader, path: string, keepPos: number): boolean {
    return this.claim(reader.bytesAfter(keepPos), reader.baseByte + keepPos, path);
  }

  /** Claims memory for `windowBytes` of pending text from `startByte` on, in addition to `readerBytes`. */
  private claim(windowBytes: number, startByte: number, path: string, readerBytes = 0): boolean {
    const waitingBytes = windowBytes > this.capacityBytes ? memoryPerWindowByte * windowBytes : 0;
    const neededBytes = readerBytes + waitingBytes;
    return this.memory.claim(
      neededBytes,
      () =>
        `${files.nameOf(path)}: the text from byte ${startByte} to the next position where it can be split`,
    );
  }

  /** The part of the window that can be processed now. */
  private partOf(reader: RangeReader, range: Range): textParts.TextPart {
    if (!reader.atEnd) return textParts.before(reader.limit, this.chain.pretokens.tokenBytesMax);
    // `| 0` makes positions small integers. Offsets in a file need 53 bits, but positions in a text only 31.
    const end = (range.endByte - reader.baseByte) | 0;
    return textParts.to(end, !range.endsInside, range.endsInside ? reader.limit : end);
  }

  private *pushRange(source: ByteSource, range: Range): Generator<number, RangeFindings> {
    const { chain, pushed } = this;
    const check = new Utf8Check(range.startByte);
    const checksum = this.options.hasChecksums ? new TextChecksum() : undefined;
    this.readByte = range.startByte;
    if (range.startsInside) chain.pretokens.start(0, true);
    // The end of a range that arrives in chunks may be set while the range is read.
    while (this.readByte < range.endByte) {
      const wantedBytes = Math.min(pushed.length, range.endByte - this.readByte);
      const readBytes = source.read(pushed, 0, wantedBytes, this.readByte);
      this.readByte += readBytes;
      check.take(pushed.subarray(0, readBytes));
      checksum?.add(pushed.subarray(0, readBytes));
      chain.push(pushed, 0, readBytes);
      this.claim(chain.waitingBytes, this.offsetByte, source.path);
      yield this.readByte - range.startByte;
    }
    const found = { firstInvalidByte: check.end(), crc32: checksum?.value };
    if (!range.endsInside) {
      chain.end();
      return { moreDocuments: 0, lessInvalid: 0, ...found };
    }
    const behindBytes = source.read(pushed, 0, textParts.lookaheadBytes, range.endByte);
    chain.end(pushed.slice(0, behindBytes));
    return { moreDocuments: chain.endedInside ? 0 : 1, lessInvalid: 0, ...found };
  }

  /**
   * Pushes a long record in parts. Claims memory for pending text, in addition to the memory of the record's reader.
   */
  private *pushRecord(start: number, end: number, bytesDone: number, path: string): Generator<number, void> {
    const { chain, memory } = this;
    const { bytes } = this.batch.text;
    const readerBytes = memory.claimedBytes;
    for (let pos = start; pos < end; pos += TextChain.pushedBytes) {
      chain.push(bytes, pos, Math.min(end, pos + TextChain.pushedBytes));
      if (this.claim(chain.waitingBytes, this.offsetByte, path, readerBytes)) yield bytesDone;
    }
    chain.end();
    memory.claimedBytes = readerBytes;
  }

  /**
   * Processes the records that `reading` puts into the batch, each as a text of its own. Yields the numbers that
   * `reading` yields. Within a batch, it may also yield the previous number again, or 0 if there is none.
   */
  private *takeRecords(reading: Iterable<number>, path: string): Generator<number, RangeStatistics> {
    const { chain, batch } = this;
    const { pretokens, isDirect } = chain;
    const documentsBefore = pretokens.documentCount;
    const checksum = this.options.hasChecksums ? new TextChecksum() : undefined;
    let textBytes = 0;
    let bytesDoneBefore = 0;
    // All records share one object: with small records, an object for each record left 300 MB of garbage.
    const part = { end: 0, sureEnd: 0, stop: 0, limit: 0, endsText: true };
    for (const bytesDone of reading) {
      if (isDirect) pretokens.searchText(batch.byteCount);
      for (let r = 0, start = 0; r < batch.count; r++) {
        const end = batch.ends[r]!;
        if (isDirect) {
          pretokens.start(start, false);
          part.end = part.sureEnd = part.stop = part.limit = end;
          while (!pretokens.take(part)) yield bytesDoneBefore;
        } else if (end - start <= TextChain.pushedBytes) chain.pushText(batch.text.bytes, start, end);
        else yield* this.pushRecord(start, end, bytesDoneBefore, path);
        this.options.endRecord?.(batch, r);
        start = end;
      }
      if (isDirect) pretokens.start(0, false);
      checksum?.add(batch.text.bytes.subarray(0, batch.byteCount));
      textBytes += batch.byteCount;
      yield bytesDone;
      bytesDoneBefore = bytesDone;
    }
    const documentCount = pretokens.documentCount - documentsBefore;
    // The texts of records are valid UTF-8, because their readers refuse others.
    return {
      ...{ textBytes, documentCount, invalidByteCount: 0, firstInvalidByte: -1 },
      crc32: checksum?.value,
    };
  }
}

/** The `endByte` of a range whose last chunk has not arrived. */
const endUnknown = Number.MAX_SAFE_INTEGER;

type Unfinished<Result> = {
  readonly source: MemorySource;
  readonly range: { -readonly [Field in keyof Range]: Range[Field] };
  readonly work: Generator<number, Result>;
};

/** Joins the chunks of a range into one source, which can be read like a file. */
class ChunkedRanges<Result> {
  /** The range that continues in the next chunk. */
  private unfinished: Unfinished<Result> | undefined;

  /**
   * @param start begins the work on a range; the work yields the number of bytes done, also when it waits for more
   * bytes
   */
  constructor(
    private readonly inputs: readonly Input[],
    private readonly start: (source: ByteSource, range: LineRange) => Generator<number, Result>,
  ) {}

  /**
   * Processes a chunk, and yields how many of its bytes are done. Returns the result for the range that ends with the
   * chunk; undefined if the range continues in the next chunk.
   */
  *take(chunk: tasks.ChunkTask): Generator<number, Result | undefined> {
    const { source, range, work } = this.unfinished ?? this.begin(chunk);
    source.append(chunk.bytes);
    if (!chunk.continues) {
      range.endByte = chunk.endByte;
      range.endsInside = chunk.endsInside;
    }
    this.unfinished = undefined;
    do {
      const step = work.next();
      if (step.done) return step.value;
      yield Math.max(0, range.startByte + step.value - chunk.startByte);
    } while (!chunk.continues || !source.isDrained);
    this.unfinished = { source, range, work };
    return undefined;
  }

  private begin({
    inputIndex,
    startByte,
    startsInside,
    linesBefore = 0,
  }: tasks.ChunkTask): Unfinished<Result> {
    const source = new MemorySource(this.inputs[inputIndex]!.path, startByte);
    const range = {
      inputIndex,
      startByte,
      startsInside,
      linesBefore,
      endByte: endUnknown,
      endsInside: false,
    };
    return { source, range, work: this.start(source, range) };
  }
}

/** What is found in a range, in addition to the counts of `pretokens`. */
type RangeFindings = {
  /** Documents to add to the count of `pretokens`. */
  readonly moreDocuments: number;
  /** Invalid bytes to subtract from the count of `pretokens`. */
  readonly lessInvalid: number;
  readonly firstInvalidByte: number;
  readonly crc32: number | undefined;
};

/** Finds the first invalid byte of a text that arrives in windows. */
class Utf8Check {
  private rest = new Uint8Array(0);
  private firstInvalidByte = -1;

  constructor(private atByte: number) {}

  take(window: Uint8Array): void {
    if (this.firstInvalidByte < 0) this.look(Buffer.concat([this.rest, window]), false);
  }

  /** The offset of the first invalid byte; -1 if all of the text is valid. */
  end(): number {
    if (this.firstInvalidByte < 0) this.look(this.rest, true);
    return this.firstInvalidByte;
  }

  private look(bytes: Uint8Array, isEnd: boolean): void {
    let pos = bytes.length;
    for (let back = 1; back <= Math.min(3, bytes.length); back++) {
      if (utf8.isUnfinished(bytes, bytes.length - back, bytes.length)) pos = bytes.length - back;
    }
    if (!isUtf8(bytes.subarray(0, pos))) pos = 0;
    while (pos < bytes.length) {
      const length = utf8.characterLengthAt(bytes, pos, bytes.length);
      if (length === 0 && !isEnd && utf8.isUnfinished(bytes, pos, bytes.length)) break;
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
