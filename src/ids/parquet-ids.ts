import type { ColumnChunk, SchemaElement } from "hyparquet";
import { writeColumn } from "hyparquet-writer/src/column.js";
import { writePageHeader } from "hyparquet-writer/src/datapage.js";
import { ByteWriter, ParquetWriter } from "hyparquet-writer/src/index.js";
import { groupDigits, grow } from "#bytes";
import { keptField } from "#corpus";
import { type ByteSink, scaled, UserError } from "#runtime";
import { type IdWriter, shorterDocuments } from "./id-writers.ts";

/**
 * A row group ends with the first document that brings the group's size to at least this number. The size is the number
 * of ids, plus the number of rows, plus a quarter of the number of bytes of kept fields.
 */
const groupIds = scaled(1 << 20, 64);
/**
 * The maximum number of ids in a page. The size of a page in bytes is a signed 32-bit field, so it is below 2^31. Each
 * id takes 4 bytes. The levels (`levelsOf`) take fewer than 16 bytes a row, as much as four ids, and a page has at most
 * `groupIds` rows.
 */
const pageIdsMax = 2 ** 29 - 1 - 4 * groupIds;

/** The column `input_ids`: a list of int32 in the layout of pyarrow and `datasets`. Lists and ids are never null. */
const idsColumn = [
  { name: "input_ids", repetition_type: "REQUIRED", num_children: 1, converted_type: "LIST" },
  { name: "list", repetition_type: "REPEATED", num_children: 1 },
  { name: "element", repetition_type: "REQUIRED", type: "INT32" },
] as const;

const rootOf = (kept: number): SchemaElement => ({ name: "root", num_children: 1 + kept });
const fieldTypes = {
  text: { type: "BYTE_ARRAY", converted_type: "UTF8" },
  int: { type: "INT64" },
  double: { type: "DOUBLE" },
  bool: { type: "BOOLEAN" },
} as const;
const elementOf = (name: string, kind: keptField.Kind): SchemaElement => ({
  name,
  repetition_type: "OPTIONAL",
  ...fieldTypes[kind],
});

/**
 * Writes a Parquet file with a row for each document. The library would take some 100 ns for an id, because it makes
 * levels and values one by one. So the page of ids of each row group is built here: levels are runs, and the values are
 * the ids as they are in memory.
 */
export class ParquetIds implements IdWriter {
  idCount = 0;
  private readonly bytes = new ByteWriter();
  private readonly file = new ParquetWriter({
    writer: this.bytes,
    schema: [],
    codec: "UNCOMPRESSED",
    createdBy: "bpe",
  });
  /** The ids of the current row group are the first `count` of this array. */
  private ids = new Int32Array(groupIds);
  private count = 0;
  /** The end in `ids` of each document of the current row group. */
  private ends: number[] = [];
  /** The kept fields of the documents of the current row group, by column. */
  private values: keptField.Value[][];
  private keptBytes = 0;

  constructor(
    private readonly out: ByteSink,
    private readonly kept = new keptField.Columns([]),
  ) {
    this.values = kept.fields.map(() => []);
  }

  write(
    ids: Uint16Array | Uint32Array,
    documentEnds: Uint32Array = new Uint32Array(0),
    kept: readonly keptField.Value[] = [],
  ): void {
    let from = 0;
    const { length: width } = this.values;
    for (let d = 0; d < documentEnds.length; d++) {
      const end = documentEnds[d]!;
      this.append(ids.subarray(from, end));
      for (let k = 0; k < width; k++) this.keep(k, kept[d * width + k]!);
      this.endInput();
      from = end;
    }
    this.append(ids.subarray(from));
  }

  /** Ends a document. */
  endInput(): void {
    this.ends.push(this.count);
    // Each row adds one, because an empty row takes some space, too.
    if (this.count + this.ends.length + this.keptBytes / 4 >= groupIds) this.writeGroup();
  }

  drain(): Promise<void> | undefined {
    return this.out.drain?.();
  }

  finish(): void {
    // Ids after the last end of a document form one more document.
    if (this.count > (this.ends.at(-1) ?? 0)) this.ends.push(this.count);
    if (this.ends.length > 0) this.writeGroup();
    const { fields } = this.kept;
    const columns = this.kept.fixKinds().map((kind, k) => elementOf(fields[k]!.name, kind));
    this.file.schema = [rootOf(fields.length), ...idsColumn, ...columns];
    this.file.finish();
    this.flush();
  }

  private keep(k: number, value: keptField.Value): void {
    this.values[k]!.push(this.kept.convert(k, value));
    this.keptBytes += keptField.bytesOf(value);
  }

  private append(ids: Uint16Array | Uint32Array): void {
    const count = this.count + ids.length;
    if (count > pageIdsMax) {
      throw new UserError(
        `a document has more than ${groupDigits(pageIdsMax)} ids, the most that fit into a row of Parquet`,
        { hint: shorterDocuments },
      );
    }
    if (count > this.ids.length) this.ids = grow(this.ids, count);
    this.ids.set(ids, this.count);
    this.count = count;
    this.idCount += ids.length;
  }

  private writeGroup(): void {
    const { bytes, file, ids, count, ends } = this;
    const startByte = bytes.offset;
    const { levels, repetitionBytes, definitionBytes, valueCount } = levelsOf(ends, count);
    const page = new Uint8Array(ids.buffer, 0, 4 * count);
    const pageBytes = levels.length + page.length;
    writePageHeader(bytes, {
      type: "DATA_PAGE_V2",
      uncompressed_page_size: pageBytes,
      compressed_page_size: pageBytes,
      data_page_header_v2: {
        num_values: valueCount,
        num_nulls: valueCount - count,
        num_rows: ends.length,
        encoding: "PLAIN",
        repetition_levels_byte_length: repetitionBytes,
        definition_levels_byte_length: definitionBytes,
        is_compressed: false,
      },
    });
    bytes.appendBytes(levels);
    this.flush();
    this.out.write(page);
    bytes.offset += page.length;
    const size = BigInt(bytes.offset - startByte);
    const meta_data = {
      type: "INT32" as const,
      encodings: ["PLAIN" as const, "RLE" as const],
      path_in_schema: ["input_ids", "list", "element"],
      codec: "UNCOMPRESSED" as const,
      num_values: BigInt(valueCount),
      total_uncompressed_size: size,
      total_compressed_size: size,
      data_page_offset: BigInt(startByte),
    };
    const num_rows = BigInt(ends.length);
    const columns = [{ file_offset: BigInt(startByte), meta_data }, ...this.writeKept()];
    const groupSize = BigInt(bytes.offset - startByte);
    file.row_groups.push({
      columns,
      total_byte_size: groupSize,
      total_compressed_size: groupSize,
      num_rows,
    });
    file.num_rows += num_rows;
    this.count = 0;
    this.ends = [];
  }

  /** Writes the columns of kept fields. The library lays them out. */
  private writeKept(): ColumnChunk[] {
    const { bytes, values, kept } = this;
    const columns = kept.fixKinds().map((kind, k) => {
      const { name } = kept.fields[k]!;
      const element = elementOf(name, kind);
      const column = {
        ...{ columnName: name, element, schemaPath: [rootOf(values.length), element] },
        ...{ codec: "UNCOMPRESSED" as const, compressors: {}, stats: false, pageSize: 1 << 20 },
        ...{ columnIndex: false, offsetIndex: false },
        // A dictionary would have one entry for both 0 and -0.
        ...(kind === "double" && { encoding: "PLAIN" as const }),
      };
      const definitionLevels = values[k]!.map((value) => (value === null ? 0 : 1));
      const pageData = { values: values[k]!, definitionLevels, repetitionLevels: [], maxDefinitionLevel: 1 };
      const { chunk } = writeColumn({ writer: bytes, column, pageData });
      this.flush();
      return chunk;
    });
    this.values = values.map(() => []);
    this.keptBytes = 0;
    return columns;
  }

  private flush(): void {
    this.out.write(this.bytes.getBytes());
    this.bytes.index = 0;
  }
}

/**
 * Returns Dremel levels: one for each id, and one for each empty list. Repetition level 0 begins a row, and definition
 * level 0 is an empty list. Equal levels are written as a run: twice the run's length, then the level. Sources:
 * "Dremel: Interactive Analysis of Web-Scale Datasets", 2010; Parquet's RLE.
 */
function levelsOf(ends: readonly number[], idCount: number) {
  const out = new ByteWriter();
  const putRun = (length: number, level: 0 | 1) => {
    if (length === 0) return;
    out.appendVarInt(2 * length);
    out.appendUint8(level);
  };
  const sizes = ends.map((end, row) => end - (ends[row - 1] ?? 0));
  for (const size of sizes) {
    putRun(1, 0);
    putRun(Math.max(1, size) - 1, 1);
  }
  const repetitionBytes = out.offset;
  let emptyCount = 0;
  let run = 0;
  for (const size of sizes) {
    run += size;
    if (size > 0) continue;
    emptyCount++;
    putRun(run, 1);
    putRun(1, 0);
    run = 0;
  }
  putRun(run, 1);
  return {
    levels: out.getBytes(),
    repetitionBytes,
    definitionBytes: out.offset - repetitionBytes,
    valueCount: idCount + emptyCount,
  };
}
