import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from "node:zlib";
import type { CompressionCodec } from "hyparquet";
import { compressors } from "hyparquet-compressors";
import { Codec } from "../../codec.ts";
import { unpackLz4, unpackLz4Block } from "./lz4.ts";

type Decompress = (bytes: Uint8Array, sizeBytes: number) => Uint8Array;

/** The runtime makes chunks, and then one of them: twice the memory. */
const native =
  (decompress: (bytes: Uint8Array, options: { maxOutputLength: number }) => Uint8Array): Decompress =>
  (bytes, sizeBytes) =>
    // A limit of 0 is refused, and nothing is what an empty page has.
    sizeBytes === 0 ? new Uint8Array(0) : decompress(bytes, { maxOutputLength: sizeBytes });

/** The same, for large pages into memory of the right size. */
const direct =
  (compression: "gzip" | "zstd", small: Decompress): Decompress =>
  (bytes, sizeBytes) =>
    sizeBytes < largePageBytes ? small(bytes, sizeBytes) : unpackInto(sizeBytes, bytes, compression);

/** Below that, making a decoder would take longer than using it. */
const largePageBytes = 1 << 22;

function unpackInto(sizeBytes: number, bytes: Uint8Array, compression: "gzip" | "zstd"): Uint8Array {
  const codec = new Codec(compression, "a page");
  try {
    // One byte more, so that a page that is longer shows.
    const page = new Uint8Array(sizeBytes + 1);
    let size = 0;
    for (let pos = 0; pos < bytes.length && size <= sizeBytes; ) {
      const writtenBytes = codec.write(bytes, pos, bytes.length, page, size);
      size += writtenBytes;
      pos += codec.takenBytes;
      if (writtenBytes === 0 && codec.takenBytes === 0) break;
    }
    return page.subarray(0, size);
  } finally {
    codec.close();
  }
}

const decompressors: Partial<Record<CompressionCodec, Decompress>> = {
  UNCOMPRESSED: (bytes) => bytes,
  SNAPPY: compressors.SNAPPY!,
  GZIP: direct("gzip", native(gunzipSync)),
  ZSTD: direct("zstd", native(zstdDecompressSync)),
  BROTLI: native(brotliDecompressSync),
  LZ4: unpackLz4,
  LZ4_RAW: unpackLz4Block,
};

/** Whether pages of this codec can be read. */
export const isKnownCodec = (codec: CompressionCodec) => decompressors[codec] !== undefined;

/** How much memory a page takes that has so many bytes, before and after. */
export function pageMemoryBytes(packedBytes: number, codec: CompressionCodec, sizeBytes: number): number {
  if (codec === "UNCOMPRESSED") return packedBytes;
  const takesTwice = codec === "BROTLI" || codec === "SNAPPY";
  return packedBytes + (takesTwice ? 2 : 1) * sizeBytes;
}

/** The bytes of a page, which has to be `sizeBytes` long then. Throws on what is damaged. */
export function decompressPage(bytes: Uint8Array, codec: CompressionCodec, sizeBytes: number): Uint8Array {
  const page = decompressors[codec]!(bytes, sizeBytes);
  if (page.length !== sizeBytes) throw new Error(`a page has ${page.length} bytes and not ${sizeBytes}`);
  return page;
}
