import { createGunzip, createZstdDecompress } from "node:zlib";
import { UserError } from "../errors.ts";
import type { ByteStream } from "./byte-stream.ts";

/** Compressed bytes taken at a time: some milliseconds of work. */
const chunkSizeBytes = 1 << 17;

/**
 * What the bytes of another stream were before they were compressed; all members of a gzip file, all frames of a
 * zstd file.
 *
 * `node:zlib` decompresses into memory of its own, in chunks that are thrown away; the handle beneath it writes to
 * where it is told to, which takes half the time. The handle is no public interface, but the runtime is pinned and part
 * of the executable.
 */
export class DecompressedStream implements ByteStream {
  private readonly chunk = new Uint8Array(chunkSizeBytes);
  private chunkPos = 0;
  private chunkEnd = 0;
  private readonly codec: Codec;

  constructor(
    private readonly from: ByteStream,
    private readonly path: string,
    private readonly compression: "gzip" | "zstd",
  ) {
    this.codec = new Codec(compression, path);
  }

  get inputBytes(): number {
    return this.from.inputBytes;
  }

  async read(into: Uint8Array, from: number): Promise<number> {
    const { codec } = this;
    for (;;) {
      if (this.chunkPos === this.chunkEnd) {
        this.chunkPos = 0;
        this.chunkEnd = await this.from.read(this.chunk, 0);
        if (this.chunkEnd === 0) {
          const heldBytes = codec.write(noBytes, 0, 0, into, from);
          if (heldBytes === 0) codec.end();
          return heldBytes;
        }
      }
      const writtenBytes = codec.write(this.chunk, this.chunkPos, this.chunkEnd, into, from);
      this.chunkPos += codec.takenBytes;
      if (writtenBytes > 0) return writtenBytes;
      if (codec.takenBytes === 0) await this.skipPadding();
    }
  }

  close(): void {
    this.codec.close();
    this.from.close();
  }

  /** What stands behind the last member is no other one: gzip accepts zeros there, which tapes leave. */
  private async skipPadding(): Promise<void> {
    for (let end = this.chunkEnd; end > 0; end = await this.from.read(this.chunk, 0)) {
      if (this.chunk.subarray(this.chunkPos, end).some((byte) => byte !== 0)) {
        throw damaged(this.path, this.compression, "behind its end stands something else");
      }
      this.chunkPos = 0;
    }
    this.chunkPos = 0;
    this.chunkEnd = 0;
  }
}

const noBytes = new Uint8Array(0);

/** What lies beneath the streams of `node:zlib`, as far as it is used here. */
type Handle = {
  writeSync(
    flush: number,
    from: Uint8Array,
    fromPos: number,
    fromBytes: number,
    into: Uint8Array,
    intoPos: number,
    intoBytes: number,
  ): void;
  onerror: (message: string, number: number, code: string) => void;
  close(): void;
};

class Codec {
  /** How many bytes the last `write` took. */
  takenBytes = 0;
  private readonly handle: Handle;
  /** Room and bytes that the last call left: [room, bytes]. */
  private readonly left: Uint32Array;
  private failure = "";

  constructor(
    private readonly compression: "gzip" | "zstd",
    private readonly path: string,
  ) {
    const stream: unknown = compression === "gzip" ? createGunzip() : createZstdDecompress();
    const { _handle, _writeState } = stream as { _handle: Handle; _writeState: Uint32Array };
    this.handle = _handle;
    this.left = _writeState;
    this.handle.onerror = (message) => {
      this.failure = message;
    };
  }

  /** Decompresses from [pos, end) of `bytes` into `into` from `from` on; says how many bytes it wrote. */
  write(bytes: Uint8Array, pos: number, end: number, into: Uint8Array, from: number): number {
    const writtenBytes = this.call(flushes.none, bytes, pos, end, into, from);
    if (this.failure !== "") throw damaged(this.path, this.compression, this.failure);
    return writtenBytes;
  }

  /** The input ends here: an error if it ends in the middle of a member or a frame. */
  end(): void {
    const room = new Uint8Array(1 << 10);
    if (this.compression === "gzip") this.call(flushes.gzipFinish, noBytes, 0, 0, room, 0);
    else {
      // The decoder does not say whether a frame is under way. If none is, it takes another one and gives its content.
      // Byte by byte: one that has begun on a header would take a whole frame for that header's.
      let writtenBytes = 0;
      for (let pos = 0; pos < sentinelFrame.length && this.failure === ""; pos++) {
        writtenBytes += this.call(flushes.none, sentinelFrame, pos, pos + 1, room, writtenBytes);
        if (this.takenBytes === 0) break;
      }
      if (Buffer.compare(room.subarray(0, writtenBytes), sentinel) !== 0) this.failure = "cut short";
    }
    if (this.failure === "") return;
    throw new UserError(`"${this.path}" ends in the middle of its ${this.compression} data`, {
      hint: "it was cut short: copy or compress it again",
    });
  }

  close(): void {
    this.handle.close();
  }

  private call(
    flush: number,
    bytes: Uint8Array,
    pos: number,
    end: number,
    into: Uint8Array,
    from: number,
  ): number {
    const roomBytes = into.length - from;
    this.handle.writeSync(flush, bytes, pos, end - pos, into, from, roomBytes);
    const [roomLeft, bytesLeft] = this.left;
    this.takenBytes = end - pos - bytesLeft!;
    return roomBytes - roomLeft!;
  }
}

const flushes = { none: 0, gzipFinish: 4 } as const;

/** A frame of zstd: magic number, one segment, size of the content, one raw block that is the last, its content. */
const sentinel = Buffer.from("the end");
const sentinelFrame = Buffer.concat([
  Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x20, sentinel.length, (sentinel.length << 3) | 1, 0, 0]),
  sentinel,
]);

const damaged = (path: string, compression: string, what: string) =>
  new UserError(`"${path}" is damaged ${compression} data: ${what}`, {
    hint: `${compression === "gzip" ? "gzip" : "zstd"} -t tells more; copy or compress it again`,
  });
