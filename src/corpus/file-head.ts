import { readSync } from "node:fs";
import { Codec } from "./codec.ts";
import { type Compression, compressionOf, headBytesMax } from "./content.ts";

/** The beginning of a file, unpacked. */
export type FileHead = {
  readonly compression: Compression;
  /** To be looked at before the next file is: the memory is used again. */
  readonly bytes: Uint8Array;
  /** There is nothing behind it. */
  readonly isWhole: boolean;
};

/** Reads the first `bytesMax` bytes of what the file holds. Damaged packing is an error. */
export function readHead(fd: number, path: string, bytesMax = headBytesMax): FileHead {
  if (bytesMax > room.length) room = new Uint8Array(bytesMax);
  const readBytes = readSync(fd, room, 0, bytesMax, 0);
  const compression = compressionOf(room.subarray(0, readBytes));
  if (compression === "none") {
    return { compression, bytes: room.subarray(0, readBytes), isWhole: readBytes < bytesMax };
  }
  const unpackedBytes = unpackHead(fd, path, compression, bytesMax);
  return { compression, bytes: room.subarray(0, unpackedBytes), isWhole: unpackedBytes < bytesMax };
}

let room = new Uint8Array(headBytesMax);
const packed = new Uint8Array(1 << 16);
/** Empty members of gzip give nothing, however many there are. */
const packedBytesMax = 1 << 24;

/** Unpacks into `room`; returns how many bytes came out. */
function unpackHead(fd: number, path: string, compression: "gzip" | "zstd", bytesMax: number): number {
  const codec = new Codec(compression, path);
  let unpackedBytes = 0;
  try {
    for (let offset = 0; offset < packedBytesMax; ) {
      const readBytes = readSync(fd, packed, 0, packed.length, offset);
      if (readBytes === 0) break;
      offset += readBytes;
      for (let pos = 0; pos < readBytes; ) {
        const writtenBytes = codec.write(packed, pos, readBytes, room.subarray(0, bytesMax), unpackedBytes);
        unpackedBytes += writtenBytes;
        pos += codec.takenBytes;
        if (unpackedBytes === bytesMax) return unpackedBytes;
        // What stands behind the last member is looked at when all of it is read.
        if (writtenBytes === 0 && codec.takenBytes === 0) return unpackedBytes;
      }
    }
    return unpackedBytes;
  } finally {
    codec.close();
  }
}
