import { UserError } from "../errors.ts";
import { shellQuoted } from "../shell.ts";

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

/**
 * Decompresses gzip or zstd, as much at a time as there is room for.
 *
 * `node:zlib` decompresses into memory of its own, in chunks that are thrown away; the handle beneath it writes to
 * where it is told to, which takes half the time. The handle is no public interface, but the runtime is pinned and part
 * of the executable.
 */
export class Codec {
  /** How many bytes the last `write` took. */
  takenBytes = 0;
  private readonly handle: Handle;
  /** Room and bytes that the last call left: [room, bytes]. */
  private readonly left: Uint32Array;
  private failure = "";
  private failureCode = "";

  constructor(
    private readonly compression: "gzip" | "zstd",
    private readonly path: string,
  ) {
    // Loading it takes 1.6 ms: only where something is compressed.
    const { createGunzip, createZstdDecompress } = require("node:zlib") as typeof import("node:zlib");
    const stream: unknown = compression === "gzip" ? createGunzip() : createZstdDecompress();
    const { _handle, _writeState } = stream as { _handle: Handle; _writeState: Uint32Array };
    this.handle = _handle;
    this.left = _writeState;
    this.handle.onerror = (message, _number, code) => {
      this.failure = message;
      this.failureCode = code;
    };
  }

  /** Decompresses from [pos, end) of `bytes` into `into` from `from` on; says how many bytes it wrote. */
  write(bytes: Uint8Array, pos: number, end: number, into: Uint8Array, from: number): number {
    const writtenBytes = this.call(flushes.none, bytes, pos, end, into, from);
    if (this.failure !== "") throw this.error();
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

  private error(): UserError {
    const { path, failureCode } = this;
    if (failureCode === "ZSTD_error_frameParameter_windowTooLarge") {
      return new UserError(`"${path}" is zstd data with a window of more than 128 MB (zstd --long)`, {
        hint: `unpack it, which takes that much memory: zstd -dc --long=31 ${shellQuoted(path)} | bpe … -`,
      });
    }
    if (failureCode === "ZSTD_error_dictionary_wrong") {
      return new UserError(`"${path}" is zstd data that was compressed with a dictionary`, {
        hint: `unpack it with the same one: zstd -dc -D DICTIONARY ${shellQuoted(path)} | bpe … -`,
      });
    }
    return damaged(path, this.compression, this.failure);
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

export const damaged = (path: string, compression: string, what: string) =>
  new UserError(`"${path}" is damaged ${compression} data: ${what}`, {
    hint: `${compression === "gzip" ? "gzip" : "zstd"} -t tells more; copy or compress it again`,
  });
