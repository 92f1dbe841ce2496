import { closeSync, openSync, writeSync } from "node:fs";
import { brotliCompressSync, constants, gzipSync, zstdCompressSync } from "node:zlib";
import type { CompressionCodec, Encoding, FileMetaData, PageHeader } from "hyparquet";
import { ByteWriter } from "hyparquet-writer/src/bytewriter.js";
import { writePageHeader } from "hyparquet-writer/src/datapage.js";
import { deltaBinaryPack } from "hyparquet-writer/src/delta.js";
import { writeMetadata } from "hyparquet-writer/src/metadata.js";
import * as byteCharacters from "../../src/bytes/byte-characters.ts";

// Writes *bombs*: files that take much time or memory to read. Most of them are small.

/** The size in bytes of the unit that a bomb repeats. */
const unitBytes = 1 << 20;

/** The uncompressed content: `first`, then the 1 MiB text `unit` repeated `unitCount` times, then `last`. */
type Content = {
  readonly first: Uint8Array;
  readonly unit: Uint8Array;
  readonly unitCount: number;
  readonly last?: Uint8Array;
};

/** Returns 1 MiB of repeated `text`, whose length in bytes must divide 2^20. */
export const unitOf = (text: string) => Buffer.from(text.repeat(unitBytes / Buffer.byteLength(text)));

/** Compresses each part separately, as concatenated gzip members or zstd frames. */
const inMembers =
  (compress: (bytes: Uint8Array) => Uint8Array) =>
  ({ first, unit, unitCount, last }: Content): Uint8Array[] => {
    const middle = compress(unit);
    return [compress(first), ...Array<Uint8Array>(unitCount).fill(middle), ...(last ? [compress(last)] : [])];
  };

const plainly = ({ first, unit, unitCount, last }: Content): Uint8Array[] => [
  first,
  ...Array<Uint8Array>(unitCount).fill(unit),
  ...(last ? [last] : []),
];

const sizeOf = (parts: readonly Uint8Array[]) => parts.reduce((sum, { length }) => sum + length, 0);

/** Compresses with Snappy: writes two literals, then copies of at most 64 bytes, each from one period before. */
function inSnappy({ first, unit, unitCount }: Content): Uint8Array[] {
  const period = periodOf(unit);
  let size = first.length + unitCount * unit.length;
  const head: number[] = [];
  for (; size > 127; size = Math.floor(size / 128)) head.push((size % 128) | 128);
  head.push(size);
  // A literal of at most 60 bytes has its length minus 1 in the high six bits of its first byte.
  const literal = (bytes: Uint8Array) => [(bytes.length - 1) << 2, ...bytes];
  const copy = (length: number) => [((length - 1) << 2) | 2, period & 255, period >> 8];
  const copiedBytes = unitCount * unit.length - period;
  const copies = Buffer.alloc(3 * Math.floor(copiedBytes / 64), Buffer.from(copy(64)));
  const restBytes = copiedBytes % 64;
  return [
    Buffer.from([...head, ...literal(first), ...literal(unit.subarray(0, period))]),
    copies,
    Buffer.from(restBytes > 0 ? copy(restBytes) : []),
  ];
}

/** Compresses into one LZ4 block of two sequences: one with literals and a match, and a last one with literals only. */
function inLz4({ first, unit, unitCount }: Content): Uint8Array[] {
  const period = periodOf(unit);
  const literals = Buffer.concat([first, unit.subarray(0, period)]);
  const endBytes = 5;
  const number = (value: number) => [...Array<number>(Math.floor(value / 255)).fill(255), value % 255];
  const matchBytes = unitCount * unit.length - period - endBytes;
  const lengths = number(matchBytes - 4 - 15);
  const end = unit.subarray(unit.length - endBytes);
  return [
    Buffer.from([0xff, ...number(literals.length - 15)]),
    literals,
    Buffer.from([period & 255, period >> 8]),
    Buffer.from(lengths),
    Buffer.from([endBytes << 4, ...end]),
  ];
}

/** Returns the smallest distance in bytes at which the unit repeats. */
function periodOf(unit: Uint8Array): number {
  for (let period = 1; ; period++) {
    if (Buffer.compare(unit.subarray(period), unit.subarray(0, unit.length - period)) === 0) return period;
  }
}

const brotli = (parts: readonly Uint8Array[]) =>
  brotliCompressSync(Buffer.concat(parts), { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } });

const packers: Partial<Record<CompressionCodec, (content: Content) => Uint8Array[]>> = {
  UNCOMPRESSED: plainly,
  SNAPPY: inSnappy,
  GZIP: inMembers((bytes) => gzipSync(bytes)),
  ZSTD: inMembers((bytes) => zstdCompressSync(bytes)),
  BROTLI: (content) => [brotli(plainly(content))],
  LZ4_RAW: inLz4,
};

export const bombCodecs = ["SNAPPY", "GZIP", "ZSTD", "BROTLI", "LZ4_RAW"] as const;
type BombCodec = (typeof bombCodecs)[number] | "UNCOMPRESSED";

/** Writes parts to a file, one after the other. Returns its path. */
export function writeParts(path: string, parts: Iterable<Uint8Array>): string {
  const fd = openSync(path, "w");
  for (const part of parts) for (let pos = 0; pos < part.length; ) pos += writeSync(fd, part, pos);
  closeSync(fd);
  return path;
}

/** Writes a compressed file, as gzip members or zstd frames. Returns its path. */
export const writePacked = (path: string, compression: "gzip" | "zstd", content: Content) =>
  writeParts(
    path,
    inMembers(compression === "gzip" ? (bytes) => gzipSync(bytes) : (bytes) => zstdCompressSync(bytes))(
      content,
    ),
  );

type Column = {
  readonly codec: CompressionCodec;
  readonly encoding: Encoding;
  readonly rowCount: number;
  /** The header and the bytes of each page. */
  readonly pages: readonly { readonly header: PageHeader; readonly parts: readonly Uint8Array[] }[];
};

/** Writes a Parquet file with one row group and one required column `text`. */
function writeColumn(path: string, { codec, encoding, rowCount, pages }: Column): string {
  const bytesOf = (write: (writer: ByteWriter) => void) => {
    const writer = new ByteWriter();
    write(writer);
    return writer.getBytes().slice();
  };
  const magic = Buffer.from("PAR1");
  const parts: Uint8Array[] = [];
  for (const page of pages)
    parts.push(
      bytesOf((writer) => writePageHeader(writer, page.header)),
      ...page.parts,
    );
  const size = BigInt(sizeOf(parts));
  const metadata: FileMetaData = {
    version: 2,
    created_by: "bombs",
    metadata_length: 0,
    num_rows: BigInt(rowCount),
    schema: [
      { name: "root", num_children: 1 },
      { name: "text", type: "BYTE_ARRAY", repetition_type: "REQUIRED", converted_type: "UTF8" },
    ],
    row_groups: [
      {
        total_byte_size: size,
        num_rows: BigInt(rowCount),
        columns: [
          {
            file_offset: 4n,
            meta_data: {
              type: "BYTE_ARRAY",
              encodings: [encoding],
              path_in_schema: ["text"],
              codec,
              num_values: BigInt(rowCount),
              total_uncompressed_size: size,
              total_compressed_size: size,
              data_page_offset: 4n,
            },
          },
        ],
      },
    ],
  };
  const footer = bytesOf((writer) => writeMetadata(writer, metadata));
  return writeParts(path, [magic, ...parts, footer, magic]);
}

const levels = { definition_level_encoding: "RLE", repetition_level_encoding: "RLE" } as const;

/** Writes a Parquet file with one page, which has one text of `unitCount` MiB. */
export function writePageBomb(path: string, codec: BombCodec, unit: Uint8Array, unitCount: number): string {
  const first = Buffer.alloc(4);
  first.writeUInt32LE(unitCount * unit.length);
  const parts = packers[codec]!({ first, unit, unitCount });
  const header: PageHeader = {
    type: "DATA_PAGE",
    uncompressed_page_size: first.length + unitCount * unit.length,
    compressed_page_size: sizeOf(parts),
    data_page_header: { num_values: 1, encoding: "PLAIN", ...levels },
  };
  return writeColumn(path, { codec, encoding: "PLAIN", rowCount: 1, pages: [{ header, parts }] });
}

/** Writes a Parquet file of `rowCount` rows. All rows refer to one text of `unitCount` units in a dictionary. */
export function writeDictionaryBomb(
  path: string,
  unit: Uint8Array,
  unitCount: number,
  rowCount: number,
): string {
  const first = Buffer.alloc(4);
  first.writeUInt32LE(unitCount * unit.length);
  const parts = packers.ZSTD!({ first, unit, unitCount });
  const dictionary: PageHeader = {
    type: "DICTIONARY_PAGE",
    uncompressed_page_size: first.length + unitCount * unit.length,
    compressed_page_size: sizeOf(parts),
    dictionary_page_header: { num_values: 1, encoding: "PLAIN" },
  };
  // The indices have a width of 0 bits: all of them are 0.
  const indices = zstdCompressSync(Buffer.from([0]));
  const header: PageHeader = {
    type: "DATA_PAGE",
    uncompressed_page_size: 1,
    compressed_page_size: indices.length,
    data_page_header: { num_values: rowCount, encoding: "RLE_DICTIONARY", ...levels },
  };
  const pages = [
    { header: dictionary, parts },
    { header, parts: [indices] },
  ];
  return writeColumn(path, { codec: "ZSTD", encoding: "RLE_DICTIONARY", rowCount, pages });
}

/** Writes a Parquet file of `rowCount` rows in `pageCount` pages. All rows refer to one text in a dictionary. */
export function writeTinyRows(path: string, text: string, rowCount: number, pageCount: number): string {
  const [first, rows] = [Buffer.concat([Buffer.alloc(4), Buffer.from(text)]), rowCount / pageCount];
  first.writeUInt32LE(first.length - 4);
  const dictionary: PageHeader = {
    type: "DICTIONARY_PAGE",
    uncompressed_page_size: first.length,
    compressed_page_size: first.length,
    dictionary_page_header: { num_values: 1, encoding: "PLAIN" },
  };
  const indices = Buffer.from([0]);
  const header: PageHeader = {
    type: "DATA_PAGE",
    uncompressed_page_size: indices.length,
    compressed_page_size: indices.length,
    data_page_header: { num_values: rows, encoding: "RLE_DICTIONARY", ...levels },
  };
  const page = { header, parts: [indices] };
  const pages = [{ header: dictionary, parts: [first] }, ...Array<typeof page>(pageCount).fill(page)];
  return writeColumn(path, { codec: "UNCOMPRESSED", encoding: "RLE_DICTIONARY", rowCount, pages });
}

/**
 * Writes a Parquet file of `rowCount` equal rows. The first row stores the text; each other row takes all its bytes
 * from the row before.
 */
export function writeSharedBomb(path: string, text: Uint8Array, rowCount: number): string {
  const page = new ByteWriter();
  const shared = new Int32Array(rowCount).fill(text.length);
  shared[0] = 0;
  const rest = new Int32Array(rowCount);
  rest[0] = text.length;
  for (const lengths of [shared, rest]) deltaBinaryPack(page, lengths as unknown as number[], "INT32");
  const bytes = Buffer.concat([page.getBytes(), text]);
  const packed = zstdCompressSync(bytes);
  const header: PageHeader = {
    type: "DATA_PAGE",
    uncompressed_page_size: bytes.length,
    compressed_page_size: packed.length,
    data_page_header: { num_values: rowCount, encoding: "DELTA_BYTE_ARRAY", ...levels },
  };
  const pages = [{ header, parts: [packed] }];
  return writeColumn(path, { codec: "ZSTD", encoding: "DELTA_BYTE_ARRAY", rowCount, pages });
}

/** Writes a Parquet file without rows, with `columnCount` columns. */
export function writeFooterBomb(path: string, columnCount: number): string {
  const writer = new ByteWriter();
  const column = { name: "a", type: "BYTE_ARRAY" } as const;
  const schema = [{ name: "root", num_children: columnCount }, ...Array(columnCount).fill(column)];
  writeMetadata(writer, { version: 2, num_rows: 0n, schema, row_groups: [], metadata_length: 0 });
  return writeParts(path, [Buffer.from("PAR1"), writer.getBytes(), Buffer.from("PAR1")]);
}

/** Writes a tokenizer.json with many tokens. Each merge extends a token by one letter. */
export function writeTokenizerBomb(path: string, tokenCount: number): string {
  const tokens = [...byteCharacters.characters];
  const merges: string[] = [];
  const letters = "abcdefghijklmnopqrstuvwxyz";
  for (
    let from = letters.split(""), next: string[] = [];
    tokens.length < tokenCount;
    from = next, next = []
  ) {
    for (const left of from) {
      for (const right of letters) {
        if (tokens.length >= tokenCount) break;
        next.push(left + right);
        tokens.push(left + right);
        merges.push(`${left} ${right}`);
      }
    }
  }
  const vocab = Object.fromEntries(tokens.map((token, id) => [token, id]));
  const pre_tokenizer = { type: "ByteLevel", add_prefix_space: false, use_regex: true };
  const model = { type: "BPE", vocab, merges };
  const root = { version: "1.0", added_tokens: [], normalizer: null, pre_tokenizer, model };
  return writeParts(path, [Buffer.from(JSON.stringify(root))]);
}
