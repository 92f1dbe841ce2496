import { closeSync } from "node:fs";
import { type ColumnChunk, type CompressionCodec, parquetMetadata, type SchemaElement } from "hyparquet";
import { UserError } from "../../../errors.ts";
import { type Input, openInput } from "../../input.ts";
import { FileSource, readFully, TextMemory } from "../../range-reader.ts";
import {
  damagedParquet,
  isKnownCodec,
  type Page,
  pagesOf,
  readingFile,
  valueCountOf,
} from "./page-headers.ts";

/** The column of a Parquet file that holds the texts: a column chunk in each row group that has rows. */
type TextColumn = {
  /** Whether its pages say of each value if it is null. */
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
/** The length of the metadata, and the magic again. */
const tailBytes = 8;

/** Reads what the end of the file says about the column, and refuses one that holds no text. */
const findTextColumn = (source: FileSource, name: string, memory: TextMemory): TextColumn =>
  readingFile(source.path, () => textColumnOf(source, readMetadata(source, memory), name));

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
      throw damagedParquet(path, `rows from ${firstRow + 1} on would be at bytes ${startByte} to ${endByte}`);
    }
    if (!isKnownCodec(codec)) {
      throw new UserError(`"${path}": the compression of column "${name}" (${codec}) is not known`, {
        hint: "write it anew, e.g. with zstd",
      });
    }
    chunks.push({ startByte, endByte, firstRow, rowCount, codec });
    firstRow += rowCount;
  }
  return { isOptional, chunks };
}

/** Memory for a byte of metadata: the library may make an object of five bytes. Measured: 57 bytes. */
const memoryPerMetadataByte = 60;

function readMetadata(source: FileSource, memory: TextMemory): ReturnType<typeof parquetMetadata> {
  const { path, sizeBytes } = source;
  const text = (bytes: Uint8Array) => Buffer.from(bytes).toString("latin1");
  const begins = text(readFully(source, 0, Math.min(magic.length, sizeBytes)));
  if (begins === "PARE") throw new UserError(`"${path}" is encrypted`);
  if (begins !== magic)
    throw new UserError(`"${path}" is not a Parquet file: it does not begin with ${magic}`);
  if (sizeBytes < magic.length + tailBytes) throw cutOff(path);
  const tail = readFully(source, sizeBytes - tailBytes, sizeBytes);
  if (text(tail.subarray(4)) === "PARE") throw new UserError(`"${path}" is encrypted`);
  if (text(tail.subarray(4)) !== magic) throw cutOff(path);
  const metadataBytes = new DataView(tail.buffer).getUint32(0, true);
  if (metadataBytes > sizeBytes - tailBytes) {
    throw damagedParquet(
      path,
      `its metadata would have ${metadataBytes} bytes, and the file has ${sizeBytes}`,
    );
  }
  memory.claim(memoryPerMetadataByte * metadataBytes, () => `"${path}": its metadata`);
  return parquetMetadata(readFully(source, sizeBytes - tailBytes - metadataBytes, sizeBytes), {
    geoparquet: false,
    // Statistics stay bytes: nobody asks for them.
    parsers: { stringFromBytes: (bytes) => bytes },
  });
}

const cutOff = (path: string) =>
  new UserError(`"${path}" is cut off: it begins as a Parquet file, and does not end as one`);

/** The columns of the table: the children of the first element, without their own children. */
function topLevel(schema: readonly SchemaElement[]): SchemaElement[] {
  const columns: SchemaElement[] = [];
  for (let i = 1; i < schema.length; ) {
    columns.push(schema[i]!);
    for (let pending = 1; pending > 0 && i < schema.length; i++)
      pending += (schema[i]!.num_children ?? 0) - 1;
  }
  return columns;
}

/** Refuses a column that is missing, doubled or no text; returns whether its values are optional. */
function checkColumn(path: string, columns: readonly SchemaElement[], name: string): boolean {
  const [column, second] = columns.filter((element) => element.name === name);
  if (second !== undefined) {
    throw new UserError(`"${path}" has several columns named "${name}"`, {
      hint: "write it anew with one name for each, and say with --text-field which holds the text",
    });
  }
  if (column === undefined) {
    const names = columns.map((element) => element.name).slice(0, 20);
    throw new UserError(`"${path}" has no column "${name}"`, {
      hint: `--text-field names the column that holds the text; there are: ${names.join(", ")}`,
    });
  }
  const kind = column.logical_type?.type ?? column.converted_type;
  const isText = kind === undefined || ["STRING", "UTF8", "ENUM", "JSON"].includes(kind);
  if (
    column.num_children ||
    column.repetition_type === "REPEATED" ||
    column.type !== "BYTE_ARRAY" ||
    !isText
  ) {
    const what = column.num_children ? "a group of columns" : (kind ?? column.type);
    throw new UserError(`"${path}": the column "${name}" holds no text, but ${what}`, {
      hint: "--text-field names the column that holds the text",
    });
  }
  return column.repetition_type !== "REQUIRED";
}

function placeOf(chunk: ColumnChunk | undefined) {
  const metadata = chunk?.meta_data;
  if (chunk?.crypto_metadata !== undefined) throw new Error("the column is encrypted");
  if (metadata === undefined) throw new Error("a row group lacks the column");
  if (chunk?.file_path) throw new Error(`the column is in another file, ${chunk.file_path}`);
  const { dictionary_page_offset, data_page_offset, total_compressed_size, codec } = metadata;
  // Some writers say 0 where there is no dictionary.
  const hasDictionary = dictionary_page_offset !== undefined && dictionary_page_offset > 0n;
  const startByte = Number(
    hasDictionary && dictionary_page_offset < data_page_offset ? dictionary_page_offset : data_page_offset,
  );
  return { startByte, endByte: startByte + Number(total_compressed_size), codec };
}

/** Consecutive pages of one column chunk: what a worker reads at a time. */
export type PageGroup = {
  /** Bytes [startByte, endByte) of the file. */
  readonly startByte: number;
  readonly endByte: number;
  /** Row of the file that the first value is in. */
  readonly firstRow: number;
  readonly rowCount: number;
  /** Where the dictionary page of the column chunk begins; -1: it has none. */
  readonly dictionaryByte: number;
  /** Where the column chunk ends. */
  readonly chunkEndByte: number;
  readonly codec: CompressionCodec;
  /** Whether the pages say of each value if it is null. */
  readonly isOptional: boolean;
  /** What the largest page of the group, or the dictionary, may become in memory. */
  readonly pageBytesMax: number;
};

/** A page group as a task knows it. */
export type InputPages = PageGroup & {
  readonly endsInput: boolean;
  /** Its share of the file, with the bytes that are not text: for progress. */
  readonly inputBytes: number;
};

/** Compressed; text takes some two to four times as much. */
const defaultGroupSizeBytes = 1 << 20;

/**
 * The page groups of a Parquet file, in order. Reads nothing of a page but its header. Yields undefined now and then, so
 * that the caller can let signals be served.
 */
export function* planInputPages(
  input: Input,
  groupSizeBytes = defaultGroupSizeBytes,
  memory = new TextMemory(),
): Generator<InputPages | undefined, void> {
  const fd = openInput(input);
  try {
    const source = new FileSource(fd, input);
    const column = findTextColumn(source, input.textField, memory);
    const rowCount = column.chunks.reduce((sum, chunk) => sum + chunk.rowCount, 0);
    const withShare = (group: PageGroup, endsInput: boolean): InputPages => {
      return { ...group, endsInput, inputBytes: (group.rowCount / rowCount) * input.sizeBytes };
    };
    // One group is held back: the last one is marked.
    let last: PageGroup | undefined;
    for (const group of planColumn(source, column, groupSizeBytes)) {
      if (group === undefined || last === undefined) yield undefined;
      else yield withShare(last, false);
      last = group ?? last;
    }
    if (last !== undefined) yield withShare(last, true);
  } finally {
    closeSync(fd);
  }
}

function* planColumn(
  source: FileSource,
  { chunks, isOptional }: TextColumn,
  groupSizeBytes: number,
): Generator<PageGroup | undefined, void> {
  for (const chunk of chunks) yield* planChunk(source, chunk, isOptional, groupSizeBytes);
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
      ...{ startByte, endByte: startByte, firstRow: row, rowCount: 0, pageBytesMax: dictionaryBytes },
      ...{ dictionaryByte, chunkEndByte, codec, isOptional },
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
      `rows ${firstRow + 1} to ${endRow} are ${row - firstRow} by their pages`,
    );
  }
  if (group !== undefined) yield group;
}

/** How many bytes the texts of a page may be: where each shares bytes with the one before, as many as the page has. */
function decodedBytesMax({ header, dataByte, endByte }: Page): number {
  const { encoding } = header.data_page_header ?? header.data_page_header_v2 ?? {};
  const copies = encoding === "DELTA_BYTE_ARRAY" ? valueCountOf(header) : 1;
  return Math.max(endByte - dataByte, header.uncompressed_page_size * copies);
}
