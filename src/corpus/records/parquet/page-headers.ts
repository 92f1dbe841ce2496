import { brotliDecompressSync, gunzipSync } from "node:zlib";
import type { CompressionCodec, PageHeader } from "hyparquet";
import { parquetHeader } from "hyparquet/src/column.js";
import { compressors } from "hyparquet-compressors";
import { UserError } from "../../../errors.ts";
import { zlibWithZstd } from "../../content.ts";
import { type FileSource, readFully } from "../../range-reader.ts";

/** A page has no value for one of its rows: `index` counts from the first row of the page. */
export class NullValue extends Error {
  constructor(readonly index: number) {
    super("a value is null");
  }
}

/**
 * Runs what reads the insides of a Parquet file. The library, and our own code where a length is wrong, throw errors of
 * any kind: they become one that names the file.
 */
export function readingFile<Value>(path: string, read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    if (error instanceof UserError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw damagedParquet(path, reason);
  }
}

/** The same for a page whose first row is `firstRow`: a null becomes an error that names its row. */
export function readingRows<Value>(
  path: string,
  firstRow: number,
  textField: string,
  read: () => Value,
): Value {
  return readingFile(path, () => {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof NullValue)) throw error;
      throw wrongRow(path, firstRow + error.index, `the column "${textField}" is null`);
    }
  });
}

export const damagedParquet = (path: string, reason: string) =>
  new UserError(`"${path}" is damaged, or not a Parquet file: ${reason}`);

/** The error of a row. People count rows from 1, as lines. */
export const wrongRow = (path: string, row: number, what: string) =>
  new UserError(`"${path}" row ${row + 1}: ${what}`);

/** A page in the file: its header, and its bytes [dataByte, endByte), compressed as they are. */
export type Page = { readonly header: PageHeader; readonly dataByte: number; readonly endByte: number };

/** The pages of a column chunk, bytes [startByte, endByte) of the file; reads their headers. */
export function* pagesOf(source: FileSource, startByte: number, endByte: number) {
  for (let offset = startByte; offset < endByte; ) {
    const page = pageAt(source, offset, endByte);
    yield { startByte: offset, page };
    offset = page.endByte;
  }
}

/** Most headers have some dozen bytes; those with statistics of long texts, more. */
const headerBytes = 1 << 12;

/** The page that begins at `startByte`, of a column chunk that ends at `chunkEndByte`. */
export function pageAt(source: FileSource, startByte: number, chunkEndByte: number): Page {
  const restBytes = chunkEndByte - startByte;
  for (
    let windowBytes = Math.min(headerBytes, restBytes);
    ;
    windowBytes = Math.min(8 * windowBytes, restBytes)
  ) {
    const window = readFully(source, startByte, startByte + windowBytes);
    const reader = { view: new DataView(window.buffer), offset: 0 };
    let header: PageHeader;
    try {
      header = parquetHeader(reader);
    } catch (error) {
      if (windowBytes < restBytes) continue;
      return readingFile(source.path, () => {
        throw error;
      });
    }
    readingFile(source.path, () => checkHeader(header));
    const dataByte = startByte + reader.offset;
    const endByte = dataByte + header.compressed_page_size;
    if (endByte > chunkEndByte) {
      throw damagedParquet(source.path, `a page at byte ${startByte} ends behind its column`);
    }
    return { header, dataByte, endByte };
  }
}

/** How many values of the column a page holds, one for each row; 0 for a page of another kind. */
export const valueCountOf = ({ type, data_page_header, data_page_header_v2 }: PageHeader) =>
  type === "DATA_PAGE"
    ? data_page_header!.num_values
    : type === "DATA_PAGE_V2"
      ? data_page_header_v2!.num_values
      : 0;

/** Positions in a page are 31-bit integers. */
const pageBytesMax = 2 ** 30;

/** Throws unless the header has what its kind of page needs, and its numbers are sizes: the library does not check. */
function checkHeader(header: PageHeader): void {
  const { type, data_page_header: v1, data_page_header_v2: v2, dictionary_page_header: dictionary } = header;
  const sizes: unknown[] = [header.compressed_page_size, header.uncompressed_page_size];
  if (type === "DATA_PAGE") sizes.push(v1?.num_values);
  else if (type === "DATA_PAGE_V2") {
    sizes.push(v2?.num_values, v2?.definition_levels_byte_length, v2?.repetition_levels_byte_length);
  } else if (type === "DICTIONARY_PAGE") sizes.push(dictionary?.num_values);
  else if (type !== "INDEX_PAGE") throw new Error("it is a page of an unknown kind");
  const isSize = (size: unknown) =>
    Number.isInteger(size) && Number(size) >= 0 && Number(size) <= pageBytesMax;
  if (!sizes.every(isSize)) throw new Error(`a page has sizes of ${sizes.map(String).join(", ")}`);
}

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

/**
 * Pages compressed with LZ4. The codec `LZ4_RAW` is one block. The codec `LZ4` is either that (fastparquet) or Hadoop's:
 * any number of blocks, each after its decompressed and its compressed size, four bytes, high byte first.
 */

/** The `sizeBytes` bytes of one block. Throws if it has more or fewer. */
export function unpackLz4Block(bytes: Uint8Array, sizeBytes: number): Uint8Array {
  const page = new Uint8Array(sizeBytes);
  if (decodeBlock(bytes, page, 0, sizeBytes) !== sizeBytes) throw new Error("its LZ4 data is damaged");
  return page;
}

/** Hadoop's blocks, if their sizes fit the page; else one block. */
export function unpackLz4(bytes: Uint8Array, sizeBytes: number): Uint8Array {
  return unpackSizedBlocks(bytes, sizeBytes) ?? unpackLz4Block(bytes, sizeBytes);
}

function unpackSizedBlocks(bytes: Uint8Array, sizeBytes: number): Uint8Array | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const page = new Uint8Array(sizeBytes);
  let pos = 0;
  let filled = 0;
  while (pos < bytes.length) {
    if (pos + 8 > bytes.length) return undefined;
    const decompressedEnd = filled + view.getUint32(pos);
    const compressedEnd = pos + 8 + view.getUint32(pos + 4);
    if (decompressedEnd > sizeBytes || compressedEnd > bytes.length) return undefined;
    if (
      decodeBlock(bytes.subarray(pos + 8, compressedEnd), page, filled, decompressedEnd) !== decompressedEnd
    ) {
      return undefined;
    }
    pos = compressedEnd;
    filled = decompressedEnd;
  }
  return filled === sizeBytes ? page : undefined;
}

/**
 * Decompresses a block into [from, end) of `out` and returns where its bytes end there; -1 if the block is damaged or
 * does not fit. A block is a list of sequences:
 *
 *   token      1         high four bits: literals; low four bits: length of the match, less 4
 *   more       any       if a number is 15: bytes to add to it, up to and with the first that is not 255
 *   literals             bytes to copy
 *   distance   2         how far back the match begins, the low byte first; the last sequence has none
 *   more       any       the same for the length of the match
 */
function decodeBlock(block: Uint8Array, out: Uint8Array, from: number, end: number): number {
  let pos = 0;
  let outPos = from;
  while (pos < block.length) {
    const token = block[pos++]!;
    let literalCount = token >> 4;
    if (literalCount === 15) {
      let more = 255;
      while (more === 255 && pos < block.length) literalCount += more = block[pos++]!;
    }
    if (pos + literalCount > block.length || outPos + literalCount > end) return -1;
    out.set(block.subarray(pos, pos + literalCount), outPos);
    pos += literalCount;
    outPos += literalCount;
    if (pos === block.length) return outPos;

    if (pos + 2 > block.length) return -1;
    const distance = block[pos]! | (block[pos + 1]! << 8);
    pos += 2;
    let length = 4 + (token & 15);
    if (length === 19) {
      let more = 255;
      while (more === 255 && pos < block.length) length += more = block[pos++]!;
    }
    if (distance === 0 || distance > outPos - from || outPos + length > end) return -1;
    // Byte by byte: a match may reach into itself.
    for (const stop = outPos + length; outPos < stop; outPos++) out[outPos] = out[outPos - distance]!;
  }
  return outPos;
}
