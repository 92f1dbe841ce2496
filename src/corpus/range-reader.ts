import { closeSync, readSync } from "node:fs";
import { groupDigits, type Text, textBuffers } from "#bytes";
import { asOption, type FileWindow, files, machine, messages, phrase, scaled, UserError } from "#runtime";
import { checkUnchanged, type Input, openInput, shrunkError } from "./input.ts";
import { releaseText, type TextMaker } from "./text-memory.ts";

/**
 * Limits the memory of one thread for a text and the line, page or dictionary that contains it, or for the metadata of
 * a Parquet file.
 */
export class TextMemory {
  /** The number of bytes of the last claim; 0 if it was less than `smallBytes`. */
  claimedBytes = 0;

  /** @param bytesMax the maximum that may be claimed; by default there is no limit */
  constructor(private readonly bytesMax = Number.POSITIVE_INFINITY) {}

  /**
   * Claims `bytes`, in place of the previous claim. Returns true if other memory should be freed before these bytes are
   * allocated. Throws a UserError if the claim exceeds `bytesMax` and is at least `limitedBytes`; its message names the
   * text with `what()`, and its hint says how to need less.
   */
  claim(bytes: number, what: () => string, remedy = "split long texts into smaller ones"): boolean {
    if (bytes > this.bytesMax && bytes >= limitedBytes) {
      const [needed, most] = [`${Math.ceil(bytes / 1e6)} MB`, machine.limitText(this.bytesMax)];
      throw new UserError(`${what()} needs about ${needed} of memory; the limit is ${most}`, {
        kind: "memory",
        hint: phrase`${messages.raiseLimitOr}${remedy}${messages.orFewerWorkers}`,
      });
    }
    this.claimedBytes = bytes < smallBytes ? 0 : bytes;
    return this.claimedBytes > 0;
  }
}

/** Smaller claims are covered by each thread's fixed memory. */
const smallBytes = scaled(1 << 23, 128);
/** Smaller claims are never refused. This matters only at small scale, where even the smallest windows claim memory. */
const limitedBytes = scaled(0, 1 << 23);

/**
 * Where the bytes of an input come from. Offsets count bytes from the beginning of the input, after any decompression.
 */
export interface ByteSource {
  /** The path of the input, for errors. */
  readonly path: string;
  /** The offset after the last byte, or after the last byte that has arrived so far. */
  readonly sizeBytes: number;
  /**
   * Reads up to `wantedBytes` bytes from `offsetByte` on into `into` at `atPos`. Returns how many were read: 0 only if
   * the next bytes have not arrived yet.
   */
  read(into: Uint8Array, atPos: number, wantedBytes: number, offsetByte: number): number;
  /** The file, if the source is one. */
  readonly file?: FileSource;
}

/** The bytes of an open file. */
export class FileSource implements ByteSource {
  private isMappable: boolean | undefined;

  constructor(
    readonly fd: number,
    private readonly input: Input,
  ) {}

  get file(): FileSource {
    return this;
  }

  get path(): string {
    return this.input.path;
  }

  get sizeBytes(): number {
    return this.input.sizeBytes;
  }

  /** Whether the file can be mapped into the window. */
  canMap(window: FileWindow): boolean {
    this.isMappable ??= window.canMap(this.fd);
    return this.isMappable;
  }

  /** Throws an error if the file has changed, or if bytes [startByte, endByte) can no longer be read. */
  checkMapped(startByte: number, endByte: number): void {
    checkUnchanged(this.input);
    readFully(this, startByte, endByte);
  }

  read(into: Uint8Array, atPos: number, wantedBytes: number, offsetByte: number): number {
    const readBytes = files.tryRead(this.input.path, () =>
      readSync(this.fd, into, atPos, wantedBytes, offsetByte),
    );
    if (readBytes === 0) throw shrunkError(this.input, offsetByte);
    return readBytes;
  }
}

/** Keeps the last file open, because consecutive ranges are mostly in one file. */
export class OpenFile {
  private inputIndex = -1;
  private source: FileSource | undefined;

  constructor(private readonly inputs: readonly Input[]) {}

  /** Returns the source for an input. It is valid until the next call with another input, or until `close`. */
  of(inputIndex: number): FileSource {
    if (this.source === undefined || this.inputIndex !== inputIndex) {
      this.close();
      const input = this.inputs[inputIndex]!;
      this.source = new FileSource(openInput(input), input);
      this.inputIndex = inputIndex;
    }
    return this.source;
  }

  close(): void {
    if (this.source !== undefined) closeSync(this.source.fd);
    this.source = undefined;
  }
}

/** Reads all bytes [startByte, endByte) of a file. */
export function readFully(source: FileSource, startByte: number, endByte: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(endByte - startByte);
  for (let pos = 0; pos < bytes.length; ) {
    pos += source.read(bytes, pos, bytes.length - pos, startByte + pos);
  }
  return bytes;
}

/** A source of bytes that arrive in memory in parts. Each byte is read once, in order. */
export class MemorySource implements ByteSource {
  private parts: Uint8Array[] = [];
  /** The offset of the first part's first byte. */
  private startByte: number;
  sizeBytes: number;

  constructor(
    readonly path: string,
    startByte: number,
  ) {
    this.startByte = startByte;
    this.sizeBytes = startByte;
  }

  append(bytes: Uint8Array): void {
    if (bytes.length > 0) this.parts.push(bytes);
    this.sizeBytes += bytes.length;
  }

  /** Whether all bytes that have arrived were read. */
  get isDrained(): boolean {
    return this.parts.length === 0;
  }

  read(into: Uint8Array, atPos: number, wantedBytes: number, offsetByte: number): number {
    const part = this.parts[0];
    if (part === undefined) return 0;
    const from = offsetByte - this.startByte;
    const readBytes = Math.min(wantedBytes, part.length - from);
    into.set(part.subarray(from, from + readBytes), atPos);
    if (from + readBytes === part.length) {
      this.parts.shift();
      this.startByte += part.length;
    }
    return readBytes;
  }
}

/** The maximum size of a window. Positions in a text are 31-bit integers. */
const windowBytesMax = 2 ** 30;

/** How a reader maps parts of large files into the memory of its text (docs/internals/reading.md). */
export type Mapping = {
  readonly window: FileWindow;
  /** The smallest size of a file that is mapped. Reading a smaller file is faster than mapping it. */
  readonly fileBytesLeast: number;
};

/**
 * Reads a range of bytes through a window: `text` holds `limit` bytes of the source, from `baseByte` on. `advance`
 * moves the window to the bytes that are still needed.
 */
export class RangeReader {
  text: Text;
  /** The offset in the source of the text's position 0. */
  baseByte = 0;
  limit = 0;
  /** The end of the range; while it is unknown, a number above every offset. */
  endByte = 0;
  private source: ByteSource | undefined;
  /** The file whose parts are mapped into the window. */
  private mapped: FileSource | undefined;
  /** The maximum number of bytes that are mapped at a time: the size of the window before it grows. */
  private readonly mappedBytesMax: number;

  /**
   * @param tooLong creates the error for bytes that are still needed but fill more than half of the largest window
   * @param mapping how large files are mapped; `window` must be the memory of the texts that `makeText` returns
   */
  constructor(
    private capacityBytes: number,
    private readonly makeText: TextMaker = textBuffers.allocate,
    private readonly tooLong = longPretokenError,
    private readonly mapping?: Mapping,
  ) {
    this.text = makeText(capacityBytes);
    this.mappedBytesMax = capacityBytes;
  }

  /**
   * Begins to read bytes [startByte, endByte) of the source. With a mapping, the caller must call `close` afterwards.
   */
  open(source: ByteSource, startByte: number, endByte: number): void {
    this.source = source;
    this.baseByte = startByte;
    this.endByte = endByte;
    this.limit = 0;
    const { mapping } = this;
    const { file } = source;
    if (mapping === undefined || file === undefined || file.sizeBytes < mapping.fileBytesLeast) return;
    if (file.canMap(mapping.window)) this.mapped = file;
  }

  /** Ends the mapping: the text is plain memory again. */
  close(): void {
    if (this.mapped === undefined) return;
    this.mapped = undefined;
    this.mapping!.window.clear();
  }

  /** Whether the text is a mapping: then only the kernel may read it. */
  get isMapped(): boolean {
    return this.mapped !== undefined;
  }

  /** Whether the text reaches the end of the range. */
  get atEnd(): boolean {
    return this.baseByte + this.limit >= this.endByte;
  }

  /**
   * Moves the window so that it begins at `keepPos` or, if a file is mapped, at the start of the memory page that
   * contains `keepPos`. Then fills the window. Returns by how much positions decrease; this number is negative if that
   * page begins before the old window.
   */
  advance(keepPos: number): number {
    const baseBefore = this.baseByte;
    if (this.mapped !== undefined) this.map(keepPos);
    else this.read(keepPos);
    return this.baseByte - baseBefore;
  }

  /**
   * Returns an upper bound of the window's size after `advance(keepPos)`: twice the present size if the kept bytes fill
   * more than half of the window, otherwise the present size.
   */
  bytesAfter(keepPos: number): number {
    return (this.limit - keepPos > this.capacityBytes >> 1 ? 2 : 1) * this.capacityBytes;
  }

  /**
   * Returns the error to throw in place of `error`: if the kernel failed because the mapped file has changed, an error
   * that says so; otherwise `error` itself.
   */
  explain(error: unknown): unknown {
    if (this.mapped === undefined || !(error instanceof WebAssembly.RuntimeError)) return error;
    try {
      this.mapped.checkMapped(this.baseByte, this.baseByte + this.limit);
    } catch (reason) {
      return reason;
    }
    return error;
  }

  private map(keepPos: number): void {
    const { window } = this.mapping!;
    const keepByte = this.baseByte + keepPos;
    const pageByte = window.pageStart(keepByte);
    const byteCount = Math.min(this.mappedBytesMax, this.endByte - pageByte);
    // A mapped window does not grow. If the kept bytes fill more than half of it, the file is read into memory instead.
    const isHalfFull = this.baseByte + this.limit - pageByte > this.mappedBytesMax >> 1;
    if (!isHalfFull && window.map(this.mapped!.fd, pageByte, byteCount)) {
      this.baseByte = pageByte;
      this.limit = byteCount;
      return;
    }
    this.close();
    this.baseByte = keepByte;
    this.limit = 0;
    this.fill();
  }

  private read(keepPos: number): void {
    const kept = this.limit - keepPos;
    if (kept > this.capacityBytes >> 1) this.grow(keepPos, kept);
    else this.text.bytes.copyWithin(0, keepPos, this.limit);
    this.baseByte += keepPos;
    this.limit = kept;
    this.fill();
  }

  private fill(): void {
    while (this.limit < this.capacityBytes && !this.atEnd) {
      const offset = this.baseByte + this.limit;
      const wantedBytes = Math.min(this.capacityBytes - this.limit, this.endByte - offset);
      const readBytes = this.source!.read(this.text.bytes, this.limit, wantedBytes, offset);
      if (readBytes === 0) return;
      this.limit += readBytes;
    }
  }

  private grow(keepPos: number, kept: number): void {
    if (2 * this.capacityBytes > windowBytesMax) {
      throw this.tooLong(
        kept,
        `at byte ${groupDigits(this.baseByte + keepPos)} of ${files.nameOf(this.source!.path)}`,
      );
    }
    const old = this.text.bytes;
    this.capacityBytes *= 2;
    this.text = this.makeText(this.capacityBytes);
    this.text.bytes.set(old.subarray(keepPos, keepPos + kept));
    releaseText(old);
  }
}

function longPretokenError(keptBytes: number, place: string): UserError {
  return new UserError(
    `the pattern takes ${groupDigits(keptBytes)} bytes of text ${place} as one word, too long to be read`,
    {
      hint: phrase`check that this is text; if it is, divide it into shorter documents, or train with a pattern that splits it (${asOption("pattern")} or, for superwords, ${asOption("superword-pattern")})`,
    },
  );
}
