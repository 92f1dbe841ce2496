import { readSync } from "node:fs";
import type { FileWindow } from "../runtime/file-window.ts";
import { checkUnchanged, type Input, shrank } from "./input.ts";

/** Where the bytes of a text come from. Offsets are those of the whole text, wherever the source begins. */
export interface ByteSource {
  /** The name of the input, for errors. */
  readonly path: string;
  /** Offset behind the last byte that there is, or that has come so far. */
  readonly sizeBytes: number;
  /**
   * Puts up to `wantedBytes` bytes from `offsetByte` on into `into` at `atPos` and says how many; 0 only where more
   * have yet to come.
   */
  read(into: Uint8Array, atPos: number, wantedBytes: number, offsetByte: number): number;
  /** The file, where the bytes are those of one. */
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

  /** Whether the file can be mapped to a window. */
  canMap(window: FileWindow): boolean {
    this.isMappable ??= window.canMap(this.fd);
    return this.isMappable;
  }

  /**
   * To be called when bytes [startByte, endByte) were mapped and some of them were gone: throws what reading them would
   * have said, if the file shows it.
   */
  checkMapped(startByte: number, endByte: number): void {
    checkUnchanged(this.input);
    readFully(this, startByte, endByte);
  }

  read(into: Uint8Array, atPos: number, wantedBytes: number, offsetByte: number): number {
    const readBytes = readSync(this.fd, into, atPos, wantedBytes, offsetByte);
    if (readBytes === 0) throw shrank(this.input, offsetByte);
    return readBytes;
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

/** Bytes that were handed over in memory, one part after the other; each is read once, in order. */
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

  /** Everything that has come was read. */
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
