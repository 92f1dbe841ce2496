import { parquetSchema, type SchemaElement, type SchemaTree } from "hyparquet";
import { readPage } from "hyparquet/src/column.js";
import { convert, DEFAULT_PARSERS } from "hyparquet/src/convert.js";
import { asOption, phrase, scaled, UserError } from "#runtime";
import { type FileSource, readFully, type TextMemory } from "../../range-reader.ts";
import type * as keptField from "../kept-fields.ts";
import {
  damagedParquet,
  decompressors,
  describeContent,
  listNames,
  pageAt,
  pageMemoryBytes,
  pageName,
  placeOf,
  readAsParquet,
  readMetadata,
  smallerPages,
  valueCountOf,
} from "./plan-pages.ts";

type Column = {
  readonly field: keptField.Field;
  readonly schemaPath: SchemaTree[];
  readonly chunks: readonly (ReturnType<typeof placeOf> & {
    readonly firstRow: number;
    readonly endRow: number;
  })[];
};

/** A position in a column: the page that was read last, and the start of the next page. */
type Place = {
  chunk: Column["chunks"][number] | undefined;
  /** The position of the next page in the file. */
  nextByte: number;
  /** The first row of the next page. */
  nextRow: number;
  dictionary: ArrayLike<unknown> | undefined;
  /** The values of the current page: of rows [nextRow - values.length, nextRow). */
  values: ArrayLike<unknown>;
};

/** Reads the columns of a Parquet file that are kept next to the texts. */
export class KeptColumnReader {
  readonly path: string;
  private readonly columns: readonly Column[];
  private readonly places: Place[];

  constructor(
    source: FileSource,
    fields: readonly keptField.Field[],
    private readonly memory: TextMemory,
  ) {
    const { path } = source;
    this.path = path;
    this.columns = readAsParquet(path, () => columnsOf(source, fields, memory));
    this.places = fields.map(() => ({
      chunk: undefined,
      nextByte: 0,
      nextRow: 0,
      dictionary: undefined,
      values: [],
    }));
  }

  /** Appends the values of rows [first, end) to `kept`, row by row. */
  read(source: FileSource, first: number, end: number, kept: keptField.Value[]): void {
    for (let row = first; row < end; row++) {
      for (const [c, column] of this.columns.entries()) {
        const place = this.places[c]!;
        if (row < place.nextRow - place.values.length || row >= place.nextRow)
          readAsParquet(this.path, () => this.seek(source, column, place, row));
        const value = place.values[row - (place.nextRow - place.values.length)];
        kept.push(keptOf(value, column, this.path));
      }
    }
  }

  /** Reads the column's page that has the row. */
  private seek(source: FileSource, { chunks, schemaPath }: Column, place: Place, row: number): void {
    if (place.chunk === undefined || row < place.nextRow || row >= place.chunk.endRow) {
      const chunk = chunks.find(({ firstRow, endRow }) => row >= firstRow && row < endRow);
      if (chunk === undefined) throw new Error(`a column has no row ${row + 1}`);
      Object.assign(place, { chunk, nextByte: chunk.startByte, nextRow: chunk.firstRow });
      place.dictionary = undefined;
    }
    const { codec, endByte, endRow } = place.chunk!;
    const { element } = schemaPath[1]!;
    const decoder = {
      pathInSchema: [element.name],
      type: element.type!,
      element,
      schemaPath,
      codec,
      compressors: decompressors,
      parsers,
    };
    for (place.values = []; row >= place.nextRow; ) {
      if (place.nextByte >= endByte) throw new Error(`a column ends before row ${row + 1}`);
      const { header, dataByte, endByte: pageEnd } = pageAt(source, place.nextByte, endByte);
      const count = valueCountOf(header);
      place.nextByte = pageEnd;
      place.nextRow += count;
      if (place.nextRow > endRow)
        throw new Error(`a column has rows after row ${endRow}, the last of its row group`);
      const isDictionary = header.type === "DICTIONARY_PAGE";
      if (!isDictionary && (count === 0 || row >= place.nextRow)) continue;
      const sizeBytes = pageMemoryBytes(pageEnd - dataByte, codec, header.uncompressed_page_size);
      this.memory.claim(sizeBytes + valueBytes * count, () => pageName(this.path, row), smallerPages);
      const bytes = readFully(source, dataByte, pageEnd);
      const reader = { view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), offset: 0 };
      const { data } = readPage(reader, header, decoder, place.dictionary as never, undefined, 0);
      if (isDictionary) place.dictionary = convert(data!, decoder);
      else place.values = data!;
      if (!isDictionary && data!.length !== count)
        throw new Error(`a page has ${data!.length} values, but its header says ${count}`);
    }
  }
}

/**
 * The estimated memory of a decoded value, in bytes: its element in an array, and the object to which the element
 * refers.
 */
const valueBytes = scaled(64, 1);

const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const stringFromBytes = (bytes: Uint8Array) => bytes && text.decode(bytes);
const parsers = { ...DEFAULT_PARSERS, stringFromBytes, jsonFromBytes: stringFromBytes };

function columnsOf(source: FileSource, fields: readonly keptField.Field[], memory: TextMemory): Column[] {
  const { path } = source;
  const metadata = readMetadata(source, memory);
  const root = parquetSchema(metadata);
  const names = root.children.filter(({ element }) => isKeepable(element)).map(({ element }) => element.name);
  return fields.map((field) => {
    const { name } = field;
    const [column, second] = root.children.filter(({ element }) => element.name === name);
    const hint =
      names.length === 0
        ? phrase`leave out ${asOption("keep-field")}: no column has text, numbers or booleans`
        : phrase`in ${asOption("keep-field")}, name only columns of text, numbers or booleans; this file has these: ${listNames(names)}`;
    if (second !== undefined)
      throw new UserError(`"${path}" has several columns named "${name}"`, {
        hint: phrase`leave "${name}" out of ${asOption("keep-field")}, or rename all but one of these columns`,
      });
    if (column === undefined) throw new UserError(`"${path}" has no column "${name}"`, { hint });
    if (!isKeepable(column.element))
      throw new UserError(
        phrase`"${path}": column "${name}" contains ${describeContent(column.element)}, but ${asOption("keep-field")} takes only text, booleans, integers, and numbers of the types FLOAT and DOUBLE`,
        { hint },
      );
    let endRow = 0;
    const chunks = metadata.row_groups.map(({ columns, num_rows }) => {
      const chunk = columns.find(({ meta_data }) => meta_data?.path_in_schema.join("\0") === name);
      const firstRow = endRow;
      endRow += Number(num_rows);
      return { ...placeOf(chunk), firstRow, endRow };
    });
    return { field, schemaPath: [root, column], chunks };
  });
}

const typeOf = ({ logical_type, converted_type, type }: SchemaElement) =>
  logical_type?.type ?? converted_type ?? type ?? "";

function isKeepable(element: SchemaElement): boolean {
  if (element.num_children || element.repetition_type === "REPEATED") return false;
  const types = ["BOOLEAN", "INT32", "INT64", "FLOAT", "DOUBLE", "BYTE_ARRAY"];
  return (
    types.includes(element.type!) &&
    /^(STRING|UTF8|ENUM|JSON|INTEGER|U?INT_\d+|BOOLEAN|INT32|INT64|FLOAT|DOUBLE|BYTE_ARRAY)$/.test(
      typeOf(element),
    )
  );
}

function keptOf(
  value: unknown,
  { field: { name, kind }, schemaPath }: Column,
  path: string,
): keptField.Value {
  if (value === null) return null;
  // The library returns undefined for an index beyond the dictionary.
  if (value === undefined) throw damagedParquet(path, `column "${name}" lacks a value`);
  if (kind === "text") return String(value);
  const isWhole = /^INT/.test(schemaPath[1]!.element.type!);
  return isWhole ? BigInt(value as number | bigint) : (value as keptField.Value);
}
