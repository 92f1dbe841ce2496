import { closeSync, readSync } from "node:fs";
import type { FileWindow } from "../runtime/file-window.ts";
import { onRead } from "../runtime/named-files.ts";
import type { Input } from "./input.ts";
import { checkUnchanged, openInput, shrank } from "./open-input.ts";

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
    const readBytes = onRead(this.input.path, () => readSync(this.fd, into, atPos, wantedBytes, offsetByte));
    if (readBytes === 0) throw shrank(this.input, offsetByte);
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
