import type { ByteStream } from "./byte-stream.ts";
import { Codec, damaged } from "./codec.ts";

/** Compressed bytes taken at a time: some milliseconds of work. */
const chunkSizeBytes = 1 << 17;

/**
 * What the bytes of another stream were before they were compressed; all members of a gzip file, all frames of a
 * zstd file.
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
