import { closeSync } from "node:fs";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import {
  type ColumnChunk,
  type CompressionCodec,
  type PageHeader,
  parquetMetadata,
  type SchemaElement,
} from "hyparquet";
import { parquetHeader } from "hyparquet/src/column.js";
import { snappyUncompressor } from "hysnappy";
import { asOption, type Message, messages, phrase, scaled, UserError } from "#runtime";
import { zlibWithZstd } from "../../content.ts";
import { type Input, openInput } from "../../input.ts";
import { faultOf } from "../../malformed-data.ts";
import { FileSource, readFully, TextMemory } from "../../range-reader.ts";

/** The column with the texts: one column chunk for each row group that has rows. */
type TextColumn = {
  /** Whether its pages have definition levels, so that values can be null. */
  readonly isOptional: boolean;
  readonly chunks: readonly TextColumnChunk[];
};

/** The pages of the column in one row group: bytes [startByte, endByte) of the file. */
type TextColumnChunk = {
  readonly startByte: number;
  readonly endByte: number;
  readonly firstRow: number;
  readonly rowCount: number;
  readonly codec: CompressionCodec;
};

const magic = "PAR1";
/** The last bytes of a Parquet file: the size of its metadata (4 bytes) and the magic (4 bytes). */
const tailBytes = 8;

/** Finds the column `name` in the metadata at the end of the file. */
const findTextColumn = (source: FileSource, name: string, memory: TextMemory): TextColumn =>
  readAsParquet(source.path, () => textColumnOf(source, readMetadata(source, memory), name));

function textColumnOf(
  { path, sizeBytes }: FileSource,
  { schema, row_groups: groups }: ReturnType<typeof parquetMetadata>,
  name: string,
): TextColumn {
  const isOptional = checkColumn(path, topLevel(schema), name);
  const chunks: TextColumnChunk[] = [];
  let firstRow = 0;
  for (const { columns, num_rows } of groups) {
    const rowCount = Number(num_rows);
    if (rowCount === 0) continue;
    const chunk = columns.find(({ meta_data }) => {
      const [first, ...rest] = meta_data?.path_in_schema ?? [];
      return first === name && rest.length === 0;
    });
    const { startByte, endByte, codec } = placeOf(chunk);
    const isInFile = startByte >= magic.length && startByte <= endByte && endByte <= sizeBytes;
    if (!(Number.isSafeInteger(rowCount) && rowCount >= 0 && isInFile)) {
      throw damagedParquet(
        path,
        `its metadata places the rows from ${firstRow + 1} on at bytes ${startByte} to ${endByte}`,
      );
    }
    if (!isKnownCodec(codec)) {
      throw new UserError(
        `"${path}": column "${name}" is compressed ${codec ? `with ${codec}` : "in an unknown way"}, which bpe cannot read`,
        { hint: "rewrite the file with another compression, e.g. snappy or zstd" },
      );
    }
    chunks.push({ startByte, endByte, firstRow, rowCount, codec });
    firstRow += rowCount;
  }
  return { isOptional, chunks };
}

/**
 * The memory, in bytes, that a byte of metadata may take when it is decoded; 57 bytes were measured. It is so large
 * because hyparquet may create an object for every five bytes.
 */
const memoryPerMetadataByte = 60;

export function readMetadata(source: FileSource, memory: TextMemory): ReturnType<typeof parquetMetadata> {
  const { path, sizeBytes } = source;
  const text = (bytes: Uint8Array) => Buffer.from(bytes).toString("latin1");
  const begins = text(readFully(source, 0, Math.min(magic.length, sizeBytes)));
  if (begins === "PARE") throw encrypted(path);
  if (begins !== magic)
    throw new UserError(`"${path}" is not a Parquet file: it does not begin with ${magic}`, {
      hint: messages.ifHas(
        "input-format",
        phrase`copy or write the file again or, if it has another format than Parquet, state its format: ${asOption("input-format", "jsonl")}, json${messages.ifHas("input-format text", ", fasta or text", " or fasta")}`,
        messages.ifHas(
          "ranges",
          phrase`copy or write the file again, or state its format with ${asOption("input-format")}, and make a new plan`,
          "copy or write the file again or, if it has another format than Parquet, rename it: .parquet is only for Parquet",
        ),
      ),
    });
  if (sizeBytes < magic.length + tailBytes) throw cutOff(path);
  const tail = readFully(source, sizeBytes - tailBytes, sizeBytes);
  if (text(tail.subarray(4)) === "PARE") throw encrypted(path);
  if (text(tail.subarray(4)) !== magic) throw cutOff(path);
  const metadataBytes = new DataView(tail.buffer).getUint32(0, true);
  if (metadataBytes > sizeBytes - tailBytes) {
    throw damagedParquet(
      path,
      `its metadata claims to have ${metadataBytes} bytes, but the file has ${sizeBytes}`,
    );
  }
  memory.claim(
    memoryPerMetadataByte * metadataBytes,
    () => `the metadata of "${path}"`,
    "write the file with fewer row groups and columns",
  );
  return parquetMetadata(readFully(source, sizeBytes - tailBytes - metadataBytes, sizeBytes), {
    geoparquet: false,
    // Texts in statistics are not decoded, because they are not used.
    parsers: { stringFromBytes: (bytes) => bytes },
  });
}

const encrypted = (path: string) =>
  new UserError(`"${path}" is an encrypted Parquet file, and bpe cannot decrypt it`, {
    hint: "rewrite the file without encryption",
  });

const cutOff = (path: string) =>
  new UserError(`"${path}" is cut off: it begins like a Parquet file, but does not end like one`, {
    hint: copyHint,
  });

/** Returns the top-level columns. `schema` lists a tree, parents before children; its first element is the root. */
export function topLevel(schema: readonly SchemaElement[]): SchemaElement[] {
  const columns: SchemaElement[] = [];
  for (let i = 1; i < schema.length; ) {
    columns.push(schema[i]!);
    for (let pending = 1; pending > 0 && i < schema.length; i++)
      pending += (schema[i]!.num_children ?? 0) - 1;
  }
  return columns;
}

/** Refuses a column that is missing, ambiguous or not text; returns whether its values are optional. */
function checkColumn(path: string, columns: readonly SchemaElement[], name: string): boolean {
  const [column, second] = columns.filter((element) => element.name === name);
  const names = columns.filter(isText).map((element) => element.name);
  if (second !== undefined) {
    throw new UserError(`"${path}" has several columns named "${name}"`, {
      hint: "rename the columns, so that only the column with the text has this name",
    });
  }
  if (column === undefined) {
    throw new UserError(`"${path}" has no column "${name}"`, {
      hint: useTextField(names, name),
    });
  }
  if (!isText(column)) {
    throw new UserError(`"${path}": column "${name}" contains ${describeContent(column)}, not text`, {
      hint: useTextField(names, name),
    });
  }
  return column.repetition_type !== "REQUIRED";
}

const kindOf = (column: SchemaElement) => column.logical_type?.type ?? column.converted_type;

/** Says for messages what the rows of a column contain. */
export function describeContent(column: SchemaElement): string {
  const kind = kindOf(column) ?? column.type;
  if (column.repetition_type === "REPEATED" || kind === "LIST") return "lists";
  if (kind === "MAP" || kind === "MAP_KEY_VALUE") return "maps";
  if (column.num_children) return "structs";
  return kind === undefined ? "values of an unknown type" : `values of the type ${kind}`;
}

function isText(column: SchemaElement): boolean {
  const kind = kindOf(column);
  const isTextKind = kind === undefined || ["STRING", "UTF8", "ENUM", "JSON"].includes(kind);
  return (
    !column.num_children &&
    column.repetition_type !== "REPEATED" &&
    column.type === "BYTE_ARRAY" &&
    isTextKind
  );
}

/**
 * Says how to name a column of text. `names` are the names of the file's columns of text; `wanted` is the name of the
 * column that was sought.
 */
function useTextField(names: readonly string[], wanted: string): Message {
  if (names.length === 0)
    return "leave this file out, or write the text into a column: it has no column of text";
  const listed = `columns of text: ${listNames(names)}`;
  return messages.ifHas(
    "input-format",
    phrase`use ${asOption("text-field")} to name the column that contains the text (${listed})`,
    messages.ifHas(
      "ranges",
      phrase`make a plan with a ${asOption("text-field")} that names the column with the text (${listed})`,
      `give the column that contains the text the name "${wanted}" (${listed})`,
    ),
  );
}

export function placeOf(chunk: ColumnChunk | undefined) {
  const metadata = chunk?.meta_data;
  if (chunk?.crypto_metadata !== undefined) throw new Error("the column is encrypted");
  if (metadata === undefined) throw new Error("a row group has no data for the column");
  if (chunk?.file_path) throw new Error(`the data of the column is in another file, ${chunk.file_path}`);
  const { dictionary_page_offset, data_page_offset, total_compressed_size, codec } = metadata;
  // Some writers store 0 if there is no dictionary.
  const hasDictionary = dictionary_page_offset !== undefined && dictionary_page_offset > 0n;
  const startByte = Number(
    hasDictionary && dictionary_page_offset < data_page_offset ? dictionary_page_offset : data_page_offset,
  );
  return { startByte, endByte: startByte + Number(total_compressed_size), codec };
}

/** Consecutive pages of one column chunk, which a thread reads in one task. */
export type PageGroup = {
  /** Bytes [startByte, endByte) of the file. */
  readonly startByte: number;
  readonly endByte: number;
  /** The row of the group's first value; rows are counted from 0 through the whole file. */
  readonly firstRow: number;
  readonly rowCount: number;
  /** The start of the column chunk's dictionary page; -1 if it has none. */
  readonly dictionaryByte: number;
  /** The end of the column chunk. */
  readonly chunkEndByte: number;
  readonly codec: CompressionCodec;
  /** Whether the pages have definition levels, so that values can be null. */
  readonly isOptional: boolean;
  /** An upper bound of the decoded size of each page in the group, and of the dictionary. */
  readonly pageBytesMax: number;
};

export type InputPages = PageGroup & {
  readonly endsInput: boolean;
  /** The group's share of the file, including bytes that are not text, for progress. */
  readonly inputBytes: number;
};

/** The compressed size at which a page group is complete. Its text is often two to four times as large. */
const defaultGroupSizeBytes = scaled(1 << 20, 64);

/**
 * Plans the page groups of a Parquet file, in order. Now and then yields undefined, so that the caller can let the
 * event loop run.
 */
export function* planInputPages(
  input: Input,
  memory = new TextMemory(),
  groupSizeBytes = defaultGroupSizeBytes,
): Generator<InputPages | undefined, void> {
  const fd = openInput(input);
  try {
    const source = new FileSource(fd, input);
    const column = findTextColumn(source, input.textField, memory);
    const rowCount = column.chunks.reduce((sum, chunk) => sum + chunk.rowCount, 0);
    const withShare = (group: PageGroup, endsInput: boolean): InputPages => {
      return { ...group, endsInput, inputBytes: (group.rowCount / rowCount) * input.sizeBytes };
    };
    // A group is yielded only when the next one is known, so that the last one can be marked.
    let last: PageGroup | undefined;
    for (const chunk of column.chunks) {
      for (const group of planChunk(source, chunk, column.isOptional, groupSizeBytes)) {
        if (group === undefined || last === undefined) yield undefined;
        else yield withShare(last, false);
        last = group ?? last;
      }
    }
    if (last !== undefined) yield withShare(last, true);
  } finally {
    closeSync(fd);
  }
}

type OpenGroup = { -readonly [Field in keyof PageGroup]: PageGroup[Field] };

function* planChunk(
  source: FileSource,
  chunk: TextColumnChunk,
  isOptional: boolean,
  groupSizeBytes: number,
): Generator<PageGroup | undefined, void> {
  const { firstRow, rowCount, codec, endByte: chunkEndByte } = chunk;
  const endRow = firstRow + rowCount;
  let dictionaryByte = -1;
  let dictionaryBytes = 0;
  let group: OpenGroup | undefined;
  let row = firstRow;
  for (const { startByte, page } of pagesOf(source, chunk.startByte, chunkEndByte)) {
    if (row === endRow) break;
    if (page.header.type === "DICTIONARY_PAGE") {
      dictionaryByte = startByte;
      dictionaryBytes = decodedBytesMax(page);
    }
    const valueCount = valueCountOf(page.header);
    if (valueCount === 0) continue;
    group ??= {
      startByte,
      endByte: startByte,
      firstRow: row,
      rowCount: 0,
      pageBytesMax: dictionaryBytes,
      dictionaryByte,
      chunkEndByte,
      codec,
      isOptional,
    };
    group.endByte = page.endByte;
    group.dictionaryByte = dictionaryByte;
    group.pageBytesMax = Math.max(group.pageBytesMax, decodedBytesMax(page));
    group.rowCount += valueCount;
    row += valueCount;
    if (row > endRow) break;
    if (group.endByte - group.startByte >= groupSizeBytes) {
      yield group;
      group = undefined;
    } else yield undefined;
  }
  if (row !== endRow) {
    throw damagedParquet(
      source.path,
      `the pages of rows ${firstRow + 1} to ${endRow} contain ${row - firstRow} rows`,
    );
  }
  if (group !== undefined) yield group;
}

/** Returns an upper bound of the decoded size of a page, in bytes. */
function decodedBytesMax({ header, dataByte, endByte }: Page): number {
  const { encoding } = header.data_page_header ?? header.data_page_header_v2 ?? {};
  // In DELTA_BYTE_ARRAY texts share prefixes, so each text may be as long as the whole decompressed page.
  const copies = encoding === "DELTA_BYTE_ARRAY" ? valueCountOf(header) : 1;
  return Math.max(endByte - dataByte, header.uncompressed_page_size * copies);
}

/** Thrown if a row has no value. `index` is the row's number within its page, from 0 on. */
export class NullValue extends Error {
  constructor(readonly index: number) {
    super("a value is null");
  }
}

/**
 * Runs code that decodes a Parquet file. hyparquet throws errors of all kinds for damaged data, so they become a
 * UserError that names the file. UserErrors and lack of memory are passed on.
 */
export function readAsParquet<Value>(path: string, read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    if (error instanceof UserError) throw error;
    if (error instanceof RangeError && /out of memory/i.test(error.message)) throw error;
    throw damagedParquet(path, faultOf(error));
  }
}

/** Runs code that decodes a page whose first row is `firstRow`. A null becomes an error that names its row. */
export function readRowsAsParquet<Value>(
  path: string,
  firstRow: number,
  textField: string,
  read: () => Value,
): Value {
  return readAsParquet(path, () => {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof NullValue)) throw error;
      throw rowError(
        path,
        firstRow + error.index,
        `the column "${textField}" is null`,
        "remove the rows without text, or write an empty text in them",
      );
    }
  });
}

export const damagedParquet = (path: string, reason: string) =>
  new UserError(`"${path}" cannot be read as Parquet: ${reason}`, { hint: copyHint });

const copyHint = "copy or write the file again";

/** Lists up to `shownMax` names, and says how many more there are. */
export function listNames(names: readonly string[]): string {
  const more = names.length > shownMax ? `, and ${names.length - shownMax} more` : "";
  return `${names.slice(0, shownMax).join(", ")}${more}`;
}

const shownMax = 20;

/** Returns the error for a row. In messages, rows count from 1, as lines do. */
export const rowError = (path: string, row: number, what: string, hint: string) =>
  new UserError(`row ${row + 1} of "${path}": ${what}`, { hint });

/** Names the page that contains a row, in messages about memory. */
export const pageName = (path: string, row: number) => `the page of row ${row + 1} of "${path}"`;
/** The remedy for a page that needs too much memory. */
export const smallerPages = "write the file with smaller pages and shorter texts";

/** A page in the file: its header, and the bounds [dataByte, endByte) of its compressed bytes. */
export type Page = { readonly header: PageHeader; readonly dataByte: number; readonly endByte: number };

/** Yields the pages of a column chunk, by reading their headers. */
function* pagesOf(source: FileSource, startByte: number, endByte: number) {
  for (let offset = startByte; offset < endByte; ) {
    const page = pageAt(source, offset, endByte);
    yield { startByte: offset, page };
    offset = page.endByte;
  }
}

/** The number of bytes of a header that are read first. Most headers have a few dozen bytes. */
const headerBytes = scaled(1 << 12, 16);

/** Returns the page that begins at `startByte`, in a column chunk that ends at `chunkEndByte`. */
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
      return readAsParquet(source.path, () => {
        throw error;
      });
    }
    readAsParquet(source.path, () => checkHeader(header));
    const dataByte = startByte + reader.offset;
    const endByte = dataByte + header.compressed_page_size;
    if (endByte > chunkEndByte) {
      throw damagedParquet(source.path, `a page at byte ${startByte} extends beyond its column`);
    }
    return { header, dataByte, endByte };
  }
}

/** Returns the number of rows in a data page; 0 for a page of another kind. */
export const valueCountOf = ({ type, data_page_header, data_page_header_v2 }: PageHeader) =>
  type === "DATA_PAGE"
    ? data_page_header!.num_values
    : type === "DATA_PAGE_V2"
      ? data_page_header_v2!.num_values
      : 0;

/**
 * The maximum of each size and count in the header of a page. Positions in a page are 31-bit integers, so it is below
 * 2^31.
 */
const pageBytesMax = 2 ** 30;

/**
 * Throws an error if the page is of an unknown kind, or if a size that this kind of page needs is missing in the header
 * or invalid. hyparquet does not check that.
 */
function checkHeader(header: PageHeader): void {
  const { type, data_page_header: v1, data_page_header_v2: v2, dictionary_page_header: dictionary } = header;
  const sizes: unknown[] = [header.compressed_page_size, header.uncompressed_page_size];
  if (type === "DATA_PAGE") sizes.push(v1?.num_values);
  else if (type === "DATA_PAGE_V2") {
    sizes.push(v2?.num_values, v2?.definition_levels_byte_length, v2?.repetition_levels_byte_length);
  } else if (type === "DICTIONARY_PAGE") sizes.push(dictionary?.num_values);
  else if (type !== "INDEX_PAGE") throw new Error("a page has an unknown type");
  const isSize = (size: unknown) =>
    Number.isInteger(size) && Number(size) >= 0 && Number(size) <= pageBytesMax;
  if (sizes.includes(undefined)) throw new Error("the header of a page lacks its sizes");
  if (!sizes.every(isSize))
    throw new Error(
      `a page has the sizes ${sizes.map(String).join(", ")}; each must be a whole number up to ${pageBytesMax}`,
    );
}

type Decompress = (bytes: Uint8Array, sizeBytes: number) => Uint8Array;

/** Options for `node:zlib`: the size of its chunks, and the maximum size of the result. */
type Limits = { readonly chunkSize: number; readonly maxOutputLength: number };

/** Returns a function that decompresses into one chunk of `node:zlib`. */
const native =
  (decompress: (bytes: Uint8Array, limits: Limits) => Uint8Array): Decompress =>
  (bytes, sizeBytes) =>
    // An empty page is not decompressed, because the runtime refuses a limit of 0.
    sizeBytes === 0
      ? new Uint8Array(0)
      : decompress(bytes, {
          // The chunk is longer than the result, because the runtime allocates a second chunk once the first one is
          // full.
          chunkSize: Math.max(chunkBytesLeast, sizeBytes + 1),
          maxOutputLength: sizeBytes,
        });

/** The smallest chunk that the runtime accepts. */
const chunkBytesLeast = 64;

/** The functions that decompress pages, by codec. Codecs that `bpe` cannot read have none. */
export const decompressors: Partial<Record<CompressionCodec, Decompress>> = {
  UNCOMPRESSED: (bytes) => bytes,
  SNAPPY: snappyUncompressor(),
  GZIP: native(gunzipSync),
  ZSTD: native((bytes, limits) =>
    zlibWithZstd("write the Parquet file with another compression, e.g. snappy").zstdDecompressSync(
      bytes,
      limits,
    ),
  ),
  BROTLI: native(brotliDecompressSync),
  LZ4: unpackLz4,
  LZ4_RAW: unpackLz4Block,
};

const isKnownCodec = (codec: CompressionCodec) => decompressors[codec] !== undefined;

/** Returns the memory in bytes of a page. Snappy's decompressor needs the decompressed size twice. */
export function pageMemoryBytes(compressedBytes: number, codec: CompressionCodec, sizeBytes: number): number {
  if (codec === "UNCOMPRESSED") return compressedBytes;
  const takesTwice = codec === "SNAPPY";
  return compressedBytes + (takesTwice ? 2 : 1) * sizeBytes;
}

export function decompressPage(bytes: Uint8Array, codec: CompressionCodec, sizeBytes: number): Uint8Array {
  const page = decompressors[codec]!(bytes, sizeBytes);
  if (page.length !== sizeBytes) throw new Error(`a page has ${page.length} bytes instead of ${sizeBytes}`);
  return page;
}

/*
 * Pages compressed with LZ4. The codec `LZ4_RAW` is one block. The codec `LZ4` is either one block (fastparquet) or
 * Hadoop's format: any number of blocks, each preceded by its decompressed and its compressed size, four bytes each,
 * big-endian.
 */

export function unpackLz4Block(bytes: Uint8Array, sizeBytes: number): Uint8Array {
  const page = new Uint8Array(sizeBytes);
  if (decodeBlock(bytes, page, 0, sizeBytes) !== sizeBytes) throw new Error("its LZ4 data is damaged");
  return page;
}

/** Decompresses Hadoop's blocks if that gives a page of this size, otherwise one block. */
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
 * Decompresses a block into [from, end) of `out`. Returns the end of the decompressed bytes in `out`; -1 if they do not
 * fit, or if a sequence is invalid. If the end of a block is missing, the bytes may just be fewer, so callers check the
 * returned end. A block is a list of sequences, and a sequence has, in this order:
 *
 *   token      1 byte    high four bits: the number of literals; low four bits: the length of the match minus 4
 *   more       bytes     only if the high four bits are 15: numbers to add to the number of literals; the first byte
 *                        below 255 is the last
 *   literals   bytes     to be copied to the output
 *   distance   2 bytes   from the start of the match to the end of the output so far, little-endian
 *   more       bytes     only if the low four bits are 15: numbers to add to the length of the match, as above
 *
 * The last sequence ends with its literals.
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
    // Copies byte by byte, because a match may overlap its copy.
    for (const stop = outPos + length; outPos < stop; outPos++) out[outPos] = out[outPos - distance]!;
  }
  return outPos;
}
