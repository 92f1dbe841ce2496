import { closeSync, readSync } from "node:fs";
import { allocateText, releaseText, type Text, type TextMaker } from "#bytes";
import { type FileWindow, limitText, scaled, tryRead, UserError } from "#runtime";
import { checkUnchanged, type Input, openInput, shrunk } from "./input.ts";

/**
 * The memory that one thread has for a text and for the line, page or dictionary that contains it. A reader claims memory,
 * yields, and then allocates it. So the owner of the words can make room first.
 */
export class TextMemory {
  /** What the reader has allocated, or is about to allocate, beyond its small windows. */
  claimedBytes = 0;

  /** @param bytesMax the most that may be claimed; by default there is no limit */
  constructor(private readonly bytesMax = Number.POSITIVE_INFINITY) {}

  /**
   * Claims `bytes`, in place of the claim before. Returns true if room should be made for so much.
   * A claim of more than `bytesMax` is an error, in which `what` names the text ("x.jsonl" line 5).
   */
  claim(bytes: number, what: () => string): boolean {
    if (bytes > this.bytesMax && bytes >= limitedBytes) {
      const [needed, most] = [`${Math.ceil(bytes / 1e6)} MB`, limitText(this.bytesMax)];
      throw new UserError(`${what()} needs about ${needed} of memory; the limit for one text is ${most}`, {
        hint: "raise --memory-limit, use fewer workers (-w 1), or split its texts into smaller pieces",
      });
    }
    this.claimedBytes = bytes < smallBytes ? 0 : bytes;
    return this.claimedBytes > 0;
  }
}

/** Every thread has this much in any case. */
const smallBytes = scaled(1 << 23, 128);
/** At small scale windows that claim nothing else grow, and claim. */
const limitedBytes = scaled(0, 1 << 23);

/** Where the bytes of a text come from. Offsets count from the beginning of the whole text, wherever the source begins. */
export interface ByteSource {
  /** Path of the input, for errors. */
  readonly path: string;
  /** Offset after the last byte, or after the last one that has arrived so far. */
  readonly sizeBytes: number;
  /**
   * Puts up to `wantedBytes` bytes from `offsetByte` on into `into` at `atPos` and returns how many; 0 only if the next
   * bytes have not arrived yet.
   */
  read(into: Uint8Array, atPos: number, wantedBytes: number, offsetByte: number): number;
  /** The file, if the bytes are those of one. */
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

  /**
   * Called when bytes [startByte, endByte) were mapped and some of them are gone: throws the error that reading them would
   * give.
   */
  checkMapped(startByte: number, endByte: number): void {
    checkUnchanged(this.input);
    readFully(this, startByte, endByte);
  }

  read(into: Uint8Array, atPos: number, wantedBytes: number, offsetByte: number): number {
    const readBytes = tryRead(this.input.path, () => readSync(this.fd, into, atPos, wantedBytes, offsetByte));
    if (readBytes === 0) throw shrunk(this.input, offsetByte);
    return readBytes;
  }
}

/** Opens one file at a time. The last one stays open: neighbouring ranges are mostly of one file. */
export class OpenFile {
  private inputIndex = -1;
  private source: FileSource | undefined;

  constructor(private readonly inputs: readonly Input[]) {}

  /** The bytes of an input; valid until another input is asked for. */
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

/** Bytes [startByte, endByte) of a file. */
export function readFully(source: FileSource, startByte: number, endByte: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(endByte - startByte);
  for (let pos = 0; pos < bytes.length; ) {
    pos += source.read(bytes, pos, bytes.length - pos, startByte + pos);
  }
  return bytes;
}

/** Bytes that arrive in memory, one part after the other. Each is read once, in order. */
export class MemorySource implements ByteSource {
  private parts: Uint8Array[] = [];
  /** Offset of the first byte of the first part. */
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

  /** Whether everything that has arrived was read. */
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

/** Positions in a text are 31-bit integers. */
const windowBytesMax = 2 ** 30;

/**
 * Where a reader may map files instead of reading them: at the start of its text, which only the kernel reads as long as a
 * range is open.
 */
export type Mapping = {
  readonly window: FileWindow;
  /** Smallest size of a file that is mapped: smaller ones are read faster. */
  readonly fileBytesLeast: number;
};

/**
 * Reads a range of bytes through a window: `text` holds the bytes of the source from `baseByte` on; `limit` of them are
 * valid. `advance` moves the window to the bytes that are still needed. The window grows only if they fill half of it.
 *
 * With a `Mapping`, parts of a large file are mapped into the window, from the start of a page on, so the text may begin
 * before the range does. A mapped window does not grow: its bytes are read into memory instead. docs/internals/reading.md says
 * what is mapped, and why.
 */
export class RangeReader {
  text: Text;
  /** Offset in the source of position 0 of the text. */
  baseByte = 0;
  limit = 0;
  /** Where the range ends; after every byte if its end is not known yet. */
  endByte = 0;
  private source: ByteSource | undefined;
  /** The file whose parts are mapped into the window. */
  private mapped: FileSource | undefined;
  /** The most that is mapped at a time: the size of the window before it grows. */
  private readonly mappedBytesMax: number;

  /**
   * @param tooLong makes the error for bytes that must be kept and are more than a window can hold
   * @param mapping where files are mapped: at the texts of `makeText`
   */
  constructor(
    private capacityBytes: number,
    private readonly makeText: TextMaker = allocateText,
    private readonly tooLong = noPretokenEnds,
    private readonly mapping?: Mapping,
  ) {
    this.text = makeText(capacityBytes);
    this.mappedBytesMax = capacityBytes;
  }

  /** Begins to read bytes [startByte, endByte) of the source. With a mapping, `close` must follow. */
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

  /** True when the text reaches the end of the range. */
  get atEnd(): boolean {
    return this.baseByte + this.limit >= this.endByte;
  }

  /**
   * Moves the bytes from `keepPos` on towards position 0 and reads more bytes after them, as far as they have arrived.
   * Positions get lower by what is returned, which may be negative the first time.
   */
  advance(keepPos: number): number {
    const baseBefore = this.baseByte;
    if (this.mapped !== undefined) this.map(keepPos);
    else this.read(keepPos);
    return this.baseByte - baseBefore;
  }

  /** How large the window will be after it moves: larger than now if the bytes that are kept fill half of it. */
  bytesAfter(keepPos: number): number {
    return (this.limit - keepPos > this.capacityBytes >> 1 ? 2 : 1) * this.capacityBytes;
  }

  /** The error of the kernel, or what is wrong with the file if mapped bytes are gone. */
  explained(error: unknown): unknown {
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
      throw this.tooLong(kept, `at byte ${this.baseByte + keepPos} of "${this.source!.path}"`);
    }
    const old = this.text.bytes;
    this.capacityBytes *= 2;
    this.text = this.makeText(this.capacityBytes);
    this.text.bytes.set(old.subarray(keepPos, keepPos + kept));
    releaseText(old);
  }
}

function noPretokenEnds(keptBytes: number, place: string): UserError {
  return new UserError(`no pretoken ends within ${keptBytes} bytes ${place}`, {
    hint: "check that it is text; a --pattern that cuts it, or a special token in it (-s), helps",
  });
}
