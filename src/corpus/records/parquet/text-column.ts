import { type ColumnChunk, type CompressionCodec, parquetMetadata, type SchemaElement } from "hyparquet";
import { UserError } from "../../../errors.ts";
import { type FileSource, readFully } from "../../byte-sources.ts";
import type { TextMemory } from "../../text-memory.ts";
import { isKnownCodec } from "./decompress-page.ts";
import { damagedParquet, readingFile } from "./parquet-errors.ts";

/** The column of a Parquet file that holds the texts: a column chunk in each row group that has rows. */
export type TextColumn = {
  /** Whether its pages say of each value if it is null. */
  readonly isOptional: boolean;
  readonly chunks: readonly TextColumnChunk[];
};

/** The pages of the column in one row group: bytes [startByte, endByte) of the file. */
export type TextColumnChunk = {
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
export const findTextColumn = (source: FileSource, name: string, memory: TextMemory): TextColumn =>
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
