import type { Transform } from "node:stream";
import { zlib, zlibWithZstd } from "../runtime/zlib.ts";
import type { ByteStream } from "./byte-stream.ts";
import { cutShort, damaged, decompressionError, type Packing, severalFrames } from "./compression-errors.ts";
import { compressionOf } from "./content.ts";

/**
 * Bytes that the decoder takes, or makes, at a time; it waits while a chunk was not read. For smaller files less memory is
 * made: chunks of the file's size, and some times that for the text.
 */
const chunkBytesMax = 1 << 18;
const outputChunkBytesLeast = 1 << 12;
const expectedRatio = 8;

/**
 * The decompressed bytes of another stream: all members of a gzip file, all frames of a zstd file. The decoder is a
 * stream of `node:zlib`, which works on a thread of the runtime. It leaves two questions to us:
 *
 * - *What follows the last member?* The decoder ends there, and `bytesWritten` says how far it came. Zeros after a gzip
 *   member are padding, which tapes leave; anything else is an error.
 * - *Does a zstd file end in the middle of a frame?* The decoder does not say. So it gets one more frame, the sentinel,
 *   and has to return its content.
 */
export class DecompressedStream implements ByteStream {
  private readonly decoder: Transform & { readonly bytesWritten: number };
  /** Settles when the decoder has taken all of the input, and what follows the last member was checked. */
  private feeding: Promise<void> | undefined;
  /** Decompressed bytes that were not read yet. */
  private unread: Uint8Array = noBytes;
  /** How many decompressed bytes came from the decoder. */
  private outputBytes = 0;
  /** Where the text ends and the content of the sentinel begins; unknown until the input ends. */
  private textBytes = Number.POSITIVE_INFINITY;
  /** What came after the text. */
  private tail: Uint8Array = noBytes;
  private hasEnded = false;
  private failure: unknown;
  private isClosed = false;
  /** Called when the decoder has bytes, has ended or has failed. */
  private wake = () => {};

  constructor(
    private readonly from: ByteStream,
    private readonly path: string,
    private readonly compression: Packing,
    /** How many compressed bytes there are, if that is known. */
    private readonly compressedBytes = Number.POSITIVE_INFINITY,
  ) {
    const expectedBytes = Math.max(outputChunkBytesLeast, expectedRatio * compressedBytes);
    const options = { chunkSize: Math.min(chunkBytesMax, expectedBytes) };
    this.decoder =
      compression === "gzip" ? zlib().createGunzip(options) : zlibWithZstd().createZstdDecompress(options);
    this.decoder.on("readable", () => this.wake());
    this.decoder.on("end", () => {
      this.hasEnded = true;
      this.wake();
    });
    this.decoder.on("error", (error) => {
      // The sentinel is right: what fails at it is the frame before it.
      const isAtSentinel = this.textBytes < Number.POSITIVE_INFINITY;
      this.fail(isAtSentinel ? cutShort(path, compression) : decompressionError(path, compression, error));
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
        if (this.textBytes < Number.POSITIVE_INFINITY && !sentinel.equals(this.tail)) {
          throw cutShort(this.path, this.compression);
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

  /** Gives the decoder all bytes of the input, a chunk at a time: it takes the next one when it is done with the last. */
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

  /** Resolves when the decoder has taken the bytes, or has failed. */
  private write(bytes: Uint8Array): Promise<void> {
    return new Promise((resolve) => this.decoder.write(bytes, () => resolve()));
  }

  /** Reads on from `pos` of the chunk, where the decoder has ended: an error if anything but padding follows. */
  private async checkPadding(chunk: Uint8Array, pos: number, chunkBytes: number): Promise<void> {
    let from = pos;
    for (let end = chunkBytes; end > 0; end = await this.from.read(chunk, 0)) {
      const isPadding = this.compression === "gzip" && chunk.subarray(from, end).every((byte) => byte === 0);
      if (this.compression === "zstd" && compressionOf(chunk.subarray(from, end)) === "zstd")
        throw severalFrames(this.path);
      if (!isPadding) throw damaged(this.path, this.compression, "something else follows its end");
      from = 0;
    }
  }

  /**
   * Gives the sentinel to a decoder that has taken all of its input. It goes in byte by byte: a decoder in the middle of
   * a frame's header would else take the rest of the sentinel for that frame.
   */
  private async writeSentinel(): Promise<void> {
    this.textBytes = this.outputBytes + this.decoder.readableLength;
    for (const byte of sentinelFrame) {
      await this.write(Uint8Array.of(byte));
      if (this.isClosed || this.failure !== undefined) return;
    }
  }
}

const noBytes = new Uint8Array(0);

/** A frame of zstd: magic number, one segment, size of the content, one raw block that is the last, its content. */
const sentinel = Buffer.from("the end");
const sentinelFrame = Buffer.concat([
  Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x20, sentinel.length, (sentinel.length << 3) | 1, 0, 0]),
  sentinel,
]);
