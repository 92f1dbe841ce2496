import { close, fstatSync, open, read } from "node:fs";
import type { Transform } from "node:stream";
import { files, scaled } from "#runtime";
import type { ByteStream } from "./byte-stream.ts";
import {
  type Codec,
  compressionOf,
  damaged,
  decompressionError,
  multipleFramesError,
  truncatedError,
  zlib,
  zlibWithZstd,
  zstdUnpacked,
} from "./content.ts";
import { type Compression, checkSame, type Input, shrunkError, standardInput } from "./input.ts";

/** Milliseconds to wait before an empty pipe is read again, if another program has made that pipe non-blocking. */
const retryMs = 5;

/**
 * Opens the raw bytes of an input, compressed or not. Opening a pipe waits until the pipe has a writer. Only a thread
 * of the runtime waits, so signals are handled meanwhile.
 */
async function openByteStream(input: Input): Promise<ByteStream> {
  if (input.path === "-") return new InputStream(standardInput, input);
  try {
    const fd = await new Promise<number>((resolve, reject) => {
      open(input.path, "r", (error, opened) => (error === null ? resolve(opened) : reject(error)));
    });
    if (!input.isStream) checkSame(input, fstatSync(fd));
    return new InputStream(fd, input);
  } catch (error) {
    throw files.readErrorOf(input.path, error);
  }
}

class InputStream implements ByteStream {
  inputBytes = 0;

  constructor(
    private readonly fd: number,
    private readonly input: Input,
  ) {}

  async read(into: Uint8Array, from: number): Promise<number> {
    const { input } = this;
    const leftBytes = input.isStream ? into.length : input.sizeBytes - this.inputBytes;
    const wantedBytes = Math.min(into.length - from, leftBytes);
    if (wantedBytes === 0) return 0;
    for (;;) {
      try {
        const readBytes = await readAsync(this.fd, into, from, wantedBytes);
        if (readBytes === 0 && !input.isStream) throw shrunkError(input, this.inputBytes);
        this.inputBytes += readBytes;
        return readBytes;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw files.readErrorOf(input.path, error);
        await new Promise((resolve) => setTimeout(resolve, retryMs));
      }
    }
  }

  close(): void {
    if (this.fd !== standardInput) close(this.fd, () => {});
  }
}

const readAsync = (fd: number, into: Uint8Array, from: number, wantedBytes: number) =>
  new Promise<number>((resolve, reject) =>
    read(fd, into, from, wantedBytes, null, (error, readBytes) =>
      error === null ? resolve(readBytes) : reject(error),
    ),
  );

/**
 * Functions that open inputs without a path, or streams that are already open. They are not in the inputs themselves,
 * because inputs are plain data that is sent to threads.
 */
const openers = new WeakMap<Input, () => ByteStream>();

/** Registers how `openTextStream` opens this input. A copy of the input is opened by its path instead. */
export function registerOpener(input: Input, open: () => ByteStream): void {
  openers.set(input, open);
}

/** Opens the text of an input, which is read once and in order. */
export async function openTextStream(input: Input): Promise<ByteStream> {
  const open = openers.get(input);
  if (open !== undefined) return open();
  const bytes = await openByteStream(input);
  try {
    if (!input.isStream) return decompressed(bytes, input, input.compression);
    const { head, whole } = await peek(bytes, magicBytesMax, () => false);
    return decompressed(whole, input, compressionOf(head));
  } catch (error) {
    bytes.close();
    throw error;
  }
}

function decompressed(bytes: ByteStream, input: Input, compression: Compression): ByteStream {
  const { path } = input;
  const sizeBytes = input.isStream ? undefined : input.sizeBytes;
  const text = compression === "none" ? bytes : new DecompressedStream(bytes, path, compression, sizeBytes);
  return inLines(text, input);
}

export function inLines(text: ByteStream, { format, path }: Input): ByteStream {
  if (format !== "json") return text;
  // Loaded on demand, because few inputs are JSON.
  const { JsonLinesStream } = require("./json-lines-stream.ts") as typeof import("./json-lines-stream.ts");
  return new JsonLinesStream(text, path);
}

/** The number of bytes that show the compression of a stream. */
const magicBytesMax = 4;

/**
 * Reads the beginning of a stream, at most `bytesMax` bytes, until `isEnough` accepts what was read. Returns `head`,
 * the bytes that were read; `isWhole`, whether a read found the end of the stream; and `whole`, a stream of all bytes,
 * `head` included.
 */
export async function peek(from: ByteStream, bytesMax: number, isEnough: (head: Uint8Array) => boolean) {
  let buffer = new Uint8Array(Math.min(bytesMax, scaled(1 << 13, 16)));
  let end = 0;
  let isWhole = false;
  while (!isWhole && end < bytesMax && !isEnough(buffer.subarray(0, end))) {
    if (end === buffer.length) {
      const longer = new Uint8Array(Math.min(bytesMax, 4 * end));
      longer.set(buffer);
      buffer = longer;
    }
    const readBytes = await from.read(buffer, end);
    isWhole = readBytes === 0;
    end += readBytes;
  }
  const head = buffer.subarray(0, end);
  let pos = 0;
  const whole: ByteStream = {
    get inputBytes() {
      return from.inputBytes;
    },
    close: () => from.close(),
    read: async (into, at) => {
      if (pos === end) return from.read(into, at);
      const part = head.subarray(pos, pos + into.length - at);
      into.set(part, at);
      pos += part.length;
      return part.length;
    },
  };
  return { head, isWhole, whole };
}

/** The maximum size of the decoder's input chunks and of its buffers for output chunks. */
const chunkBytesMax = scaled(1 << 18, 128);
/** The minimum size of the decoder's buffers for output chunks. */
const outputChunkBytesLeast = scaled(1 << 12, 64);
/** For a small file, the size of the buffers for output chunks, as a multiple of the file's size. */
const expectedRatio = scaled(8, 1);

/**
 * The decompressed bytes of another stream: all members of a gzip file, all frames of a zstd file. Node decodes only
 * the first frame, so there a second frame is an error.
 */
export class DecompressedStream implements ByteStream {
  private readonly decoder: Transform & { readonly bytesWritten: number };
  /**
   * Settles when the decoder has consumed the input, and any bytes after the compressed data were checked. It also
   * settles when the stream was closed or has failed.
   */
  private feeding: Promise<void> | undefined;
  private unread: Uint8Array = noBytes;
  private outputBytes = 0;
  /**
   * The offset in the output at which the text ends and the content of the sentinel begins. (The sentinel is a frame
   * that `writeSentinel` adds at the end.) Infinite until the sentinel is written.
   */
  private textBytes = Number.POSITIVE_INFINITY;
  private tail: Uint8Array = noBytes;
  private hasEnded = false;
  private failure: unknown;
  private isClosed = false;
  /** Called when the decoder has bytes or has ended, or when decoding or reading the input has failed. */
  private wake = () => {};

  constructor(
    private readonly from: ByteStream,
    private readonly path: string,
    private readonly compression: Codec,
    private readonly compressedBytes = Number.POSITIVE_INFINITY,
  ) {
    const expectedBytes = Math.max(outputChunkBytesLeast, expectedRatio * compressedBytes);
    const options = { chunkSize: Math.min(chunkBytesMax, expectedBytes) };
    this.decoder =
      compression === "gzip"
        ? zlib().createGunzip(options)
        : zlibWithZstd(zstdUnpacked(path)).createZstdDecompress(options);
    this.decoder.on("readable", () => this.wake());
    this.decoder.on("end", () => {
      this.hasEnded = true;
      this.wake();
    });
    this.decoder.on("error", (error) => {
      // The sentinel (see `writeSentinel`) is a valid frame, so an error after its beginning means that the frame
      // before it is truncated.
      const isAtSentinel = this.textBytes < Number.POSITIVE_INFINITY;
      this.fail(
        isAtSentinel ? truncatedError(path, compression) : decompressionError(path, compression, error),
      );
    });
  }

  get inputBytes(): number {
    return this.from.inputBytes;
  }

  async read(into: Uint8Array, from: number): Promise<number> {
    this.feeding ??= this.feed().catch((error) => this.fail(error));
    while (this.unread.length === 0) {
      const chunk: Uint8Array | null = this.decoder.read();
      if (chunk !== null) this.accept(chunk);
      else if (this.failure !== undefined) throw this.failure;
      else if (this.hasEnded) {
        await this.feeding;
        if (this.failure !== undefined) throw this.failure;
        if (this.textBytes < Number.POSITIVE_INFINITY && Buffer.compare(sentinel, this.tail) !== 0) {
          throw truncatedError(this.path, this.compression);
        }
        return 0;
      } else await new Promise<void>((resolve) => (this.wake = resolve));
    }
    const part = this.unread.subarray(0, into.length - from);
    into.set(part, from);
    this.unread = this.unread.subarray(part.length);
    return part.length;
  }

  close(): void {
    this.isClosed = true;
    this.decoder.destroy();
    this.from.close();
  }

  private accept(chunk: Uint8Array): void {
    const textEnd = Math.max(0, this.textBytes - this.outputBytes);
    this.outputBytes += chunk.length;
    this.unread = chunk.subarray(0, textEnd);
    if (textEnd < chunk.length) this.tail = Buffer.concat([this.tail, chunk.subarray(textEnd)]);
  }

  private fail(error: unknown): void {
    this.failure ??= error;
    this.wake();
  }

  /** Feeds the input to the decoder, and waits after each chunk until it is consumed. */
  private async feed(): Promise<void> {
    const chunk = new Uint8Array(Math.min(chunkBytesMax, this.compressedBytes));
    let fedBytes = 0;
    for (;;) {
      const chunkBytes = await this.from.read(chunk, 0);
      if (this.isClosed || this.failure !== undefined) return;
      if (chunkBytes === 0) break;
      await this.write(chunk.subarray(0, chunkBytes));
      if (this.isClosed || this.failure !== undefined) return;
      fedBytes += chunkBytes;
      const leftBytes = fedBytes - this.decoder.bytesWritten;
      if (leftBytes > 0) return this.checkPadding(chunk, chunkBytes - leftBytes, chunkBytes);
    }
    if (this.compression === "zstd") await this.writeSentinel();
    if (!this.isClosed) this.decoder.end();
  }

  private write(bytes: Uint8Array): Promise<void> {
    return new Promise((resolve) => this.decoder.write(bytes, () => resolve()));
  }

  /**
   * Reads the rest of the input, from `pos` of the chunk, where the decoder has ended. Throws if anything but padding
   * follows. (Padding is zeros after a gzip member, as files read from tapes have.)
   */
  private async checkPadding(chunk: Uint8Array, pos: number, chunkBytes: number): Promise<void> {
    let from = pos;
    for (let end = chunkBytes; end > 0; end = await this.from.read(chunk, 0)) {
      const isPadding = this.compression === "gzip" && chunk.subarray(from, end).every((byte) => byte === 0);
      // Node decodes only the first frame of a zstd file, so on Node this may be a second, valid frame.
      if (this.compression === "zstd" && compressionOf(chunk.subarray(from, end)) === "zstd")
        throw multipleFramesError(this.path);
      if (!isPadding)
        throw damaged(this.path, this.compression, "other data follows the end of the compressed data");
      from = 0;
    }
  }

  /**
   * Writes one more frame, with known content, after the last frame of a zstd file. If the file ends within a frame,
   * the decoder fails, or does not return that content.
   */
  private async writeSentinel(): Promise<void> {
    this.textBytes = this.outputBytes + this.decoder.readableLength;
    // The sentinel is written byte by byte. If it were written at once, a decoder in the middle of a frame's header
    // would take the rest of the sentinel for that frame's content.
    for (const byte of sentinelFrame) {
      await this.write(Uint8Array.of(byte));
      if (this.isClosed || this.failure !== undefined) return;
    }
  }
}

const noBytes = new Uint8Array(0);

const sentinel = Buffer.from("the end");
/**
 * A zstd frame with `sentinel` as its content: magic number, single segment, content size, and one raw block, the last.
 */
const sentinelFrame = Buffer.concat([
  Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x20, sentinel.length, (sentinel.length << 3) | 1, 0, 0]),
  sentinel,
]);
