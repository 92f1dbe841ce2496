import { readSync } from "node:fs";
import { zlib, zlibWithZstd } from "../runtime/zlib.ts";
import { decompressionError, type Packing } from "./compression-errors.ts";
import { compressionOf, headBytesMax } from "./content.ts";
import type { Compression } from "./input.ts";

/** The beginning of a file, decompressed. */
export type FileHead = {
  readonly compression: Compression;
  /** Valid until the next head is read: the memory is used again. */
  readonly bytes: Uint8Array;
  /** The file holds nothing more. */
  readonly isWhole: boolean;
};

/** Reads the first `bytesMax` bytes of what the file holds. Damaged compression is an error. */
export function readHead(fd: number, path: string, bytesMax = headBytesMax): FileHead {
  const read = readBytes(fd, bytesMax);
  const compression = compressionOf(read);
  const bytes = compression === "none" ? read : decompressHead(fd, path, compression, bytesMax);
  return { compression, bytes, isWhole: bytes.length < bytesMax };
}

let memory = new Uint8Array(headBytesMax);

/** The first `byteCount` bytes of the file, or all of it. */
function readBytes(fd: number, byteCount: number): Uint8Array {
  if (byteCount > memory.length) memory = new Uint8Array(byteCount);
  return memory.subarray(0, readSync(fd, memory, 0, byteCount, 0));
}

/** Compressed bytes that are tried first: they mostly hold a head. */
const firstTryBytes = 1 << 12;
/** Empty members of gzip give nothing, however many there are. */
const compressedBytesMax = 1 << 24;
/** A few bytes of zstd may become gigabytes. */
const decompressedBytesMax = 1 << 24;

/** Decompresses longer and longer beginnings of the file until enough bytes come out, but not far too many. */
function decompressHead(fd: number, path: string, compression: Packing, bytesMax: number): Uint8Array {
  let tooFewBytes = 0;
  let tooManyBytes = Number.POSITIVE_INFINITY;
  for (let triedBytes = firstTryBytes; ; ) {
    const compressed = readBytes(fd, triedBytes);
    const head = decompressBeginning(compressed, path, compression);
    if (head === undefined) tooManyBytes = triedBytes;
    else {
      const isAll = compressed.length < triedBytes || triedBytes >= compressedBytesMax;
      if (head.length >= bytesMax || isAll) return head.subarray(0, bytesMax);
      tooFewBytes = triedBytes;
    }
    // A block of zstd has 128 KB at most: some length between the two gives enough and not too much.
    triedBytes = Number.isFinite(tooManyBytes) ? (tooFewBytes + tooManyBytes) >> 1 : 4 * triedBytes;
  }
}

/** What comes out of the beginning of compressed data; undefined if that is more than `decompressedBytesMax`. */
function decompressBeginning(bytes: Uint8Array, path: string, compression: Packing): Uint8Array | undefined {
  const { constants, gunzipSync, zstdDecompressSync } = compression === "gzip" ? zlib() : zlibWithZstd();
  const maxOutputLength = decompressedBytesMax;
  try {
    // A beginning ends anywhere: that is no error here.
    return compression === "gzip"
      ? gunzipSync(bytes, { maxOutputLength, finishFlush: constants.Z_SYNC_FLUSH })
      : zstdDecompressSync(bytes, { maxOutputLength, finishFlush: constants.ZSTD_e_flush });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") return undefined;
    throw decompressionError(path, compression, error);
  }
}
