import { brotliDecompressSync, gunzipSync } from "node:zlib";
import type { CompressionCodec } from "hyparquet";
import { compressors } from "hyparquet-compressors";
import { zlibWithZstd } from "../../../runtime/zlib.ts";
import { unpackLz4, unpackLz4Block } from "./lz4.ts";

type Decompress = (bytes: Uint8Array, sizeBytes: number) => Uint8Array;

/** What `node:zlib` is given: the size of its chunks of memory, and the most that may come out. */
type Limits = { readonly chunkSize: number; readonly maxOutputLength: number };

/** Decompresses into one chunk of the right size; one byte more, or the runtime would make a second chunk. */
const native =
  (decompress: (bytes: Uint8Array, limits: Limits) => Uint8Array): Decompress =>
  (bytes, sizeBytes) =>
    // A limit of 0 is refused, and an empty page has no bytes.
    sizeBytes === 0
      ? new Uint8Array(0)
      : decompress(bytes, {
          chunkSize: Math.max(chunkBytesLeast, sizeBytes + 1),
          maxOutputLength: sizeBytes,
        });

/** The runtime refuses smaller ones. */
const chunkBytesLeast = 64;

const decompressors: Partial<Record<CompressionCodec, Decompress>> = {
  UNCOMPRESSED: (bytes) => bytes,
  SNAPPY: compressors.SNAPPY!,
  GZIP: native(gunzipSync),
  ZSTD: native((bytes, limits) => zlibWithZstd().zstdDecompressSync(bytes, limits)),
  BROTLI: native(brotliDecompressSync),
  LZ4: unpackLz4,
  LZ4_RAW: unpackLz4Block,
};

/** Whether pages of this codec can be read. */
export const isKnownCodec = (codec: CompressionCodec) => decompressors[codec] !== undefined;

/** How much memory a page takes that has so many bytes compressed and decompressed. */
export function pageMemoryBytes(compressedBytes: number, codec: CompressionCodec, sizeBytes: number): number {
  if (codec === "UNCOMPRESSED") return compressedBytes;
  const takesTwice = codec === "SNAPPY";
  return compressedBytes + (takesTwice ? 2 : 1) * sizeBytes;
}

/** The decompressed page, which must have `sizeBytes` bytes. Throws if it is damaged. */
export function decompressPage(bytes: Uint8Array, codec: CompressionCodec, sizeBytes: number): Uint8Array {
  const page = decompressors[codec]!(bytes, sizeBytes);
  if (page.length !== sizeBytes) throw new Error(`a page has ${page.length} bytes and not ${sizeBytes}`);
  return page;
}
