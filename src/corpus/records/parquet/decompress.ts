import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from "node:zlib";
import type { CompressionCodec } from "hyparquet";
import { compressors } from "hyparquet-compressors";
import { unpackLz4, unpackLz4Block } from "./lz4.ts";

type Decompress = (bytes: Uint8Array, sizeBytes: number) => Uint8Array;

const native =
  (decompress: (bytes: Uint8Array, options: { maxOutputLength: number }) => Uint8Array): Decompress =>
  (bytes, sizeBytes) =>
    // A limit of 0 is refused, and nothing is what an empty page has.
    sizeBytes === 0 ? new Uint8Array(0) : decompress(bytes, { maxOutputLength: sizeBytes });

const decompressors: Partial<Record<CompressionCodec, Decompress>> = {
  UNCOMPRESSED: (bytes) => bytes,
  SNAPPY: compressors.SNAPPY!,
  GZIP: native(gunzipSync),
  ZSTD: native(zstdDecompressSync),
  BROTLI: native(brotliDecompressSync),
  LZ4: unpackLz4,
  LZ4_RAW: unpackLz4Block,
};

/** Whether pages of this codec can be read. */
export const isKnownCodec = (codec: CompressionCodec) => decompressors[codec] !== undefined;

/** The bytes of a page, which has to be `sizeBytes` long then. Throws on what is damaged. */
export function decompressPage(bytes: Uint8Array, codec: CompressionCodec, sizeBytes: number): Uint8Array {
  const page = decompressors[codec]!(bytes, sizeBytes);
  if (page.length !== sizeBytes) throw new Error(`a page has ${page.length} bytes and not ${sizeBytes}`);
  return page;
}
