import type { CompressionCodec, PageHeader } from "hyparquet";
import { parquetHeader } from "hyparquet/src/column.js";
import { type FileSource, readFully } from "../../byte-sources.ts";
import { damaged, reading } from "./parquet-errors.ts";
import type { ColumnPart, TextColumn } from "./text-column.ts";

/** A page as it stands in the file: its bytes are [dataByte, endByte), as they are packed. */
export type Page = { readonly header: PageHeader; readonly dataByte: number; readonly endByte: number };

/** Some pages of one part of a column, one behind the other: what a worker reads at a time. */
export type PageRun = {
  /** Bytes [startByte, endByte) of the file. */
  readonly startByte: number;
  readonly endByte: number;
  /** Row of the file that the first value is in. */
  readonly firstRow: number;
  readonly rowCount: number;
  /** Where the dictionary page is that they refer to; -1: they refer to none. */
  readonly dictionaryByte: number;
  /** Where the part of the column ends. */
  readonly partEndByte: number;
  readonly codec: CompressionCodec;
  readonly isOptional: boolean;
  /** What its largest page, or their dictionary, may become in memory. */
  readonly pageBytesMax: number;
};

/**
 * The runs of pages of a column, of about the wished size, in order; reads nothing of a page but its header. Yields
 * undefined between, so that whoever carries the plan out can serve signals meanwhile.
 */
export function* planPages(
  source: FileSource,
  { parts, isOptional }: TextColumn,
  wishedBytes: number,
): Generator<PageRun | undefined, void> {
  for (const part of parts) {
    const { firstRow, rowCount, codec, endByte: partEndByte } = part;
    let dictionaryByte = -1;
    let run:
      | { startByte: number; endByte: number; firstRow: number; rowCount: number; pageBytesMax: number }
      | undefined;
    let row = firstRow;
    let dictionaryBytes = 0;
    const finished = (pages: NonNullable<typeof run>) => {
      return { ...pages, dictionaryByte, partEndByte, codec, isOptional };
    };
    for (const { startByte, page } of pagesOf(source, part)) {
      if (row === firstRow + rowCount) break;
      if (page.header.type === "DICTIONARY_PAGE") {
        dictionaryByte = startByte;
        dictionaryBytes = unpackedBytesMax(page);
      }
      const valueCount = valueCountOf(page.header);
      if (valueCount === 0) continue;
      run ??= { startByte, endByte: startByte, firstRow: row, rowCount: 0, pageBytesMax: dictionaryBytes };
      run.endByte = page.endByte;
      run.pageBytesMax = Math.max(run.pageBytesMax, unpackedBytesMax(page));
      run.rowCount += valueCount;
      row += valueCount;
      if (row > firstRow + rowCount) break;
      if (run.endByte - run.startByte >= wishedBytes) {
        yield finished(run);
        run = undefined;
      } else yield undefined;
    }
    if (row !== firstRow + rowCount) {
      const wrong = `rows ${firstRow + 1} to ${firstRow + rowCount} are ${row - firstRow} by their pages`;
      throw damaged(source.path, wrong);
    }
    if (run !== undefined) yield finished(run);
  }
}

function* pagesOf(source: FileSource, { startByte, endByte }: Pick<ColumnPart, "startByte" | "endByte">) {
  for (let offset = startByte; offset < endByte; ) {
    const page = pageAt(source, offset, endByte);
    yield { startByte: offset, page };
    offset = page.endByte;
  }
}

/** Values of a page that holds some of the column's; 0 for any other. A column without lists has one for each row. */
export const valueCountOf = ({ type, data_page_header, data_page_header_v2 }: PageHeader) =>
  type === "DATA_PAGE"
    ? data_page_header!.num_values
    : type === "DATA_PAGE_V2"
      ? data_page_header_v2!.num_values
      : 0;

/** How many bytes the texts of a page may be: where each shares bytes with the one before, as many as the page has. */
function unpackedBytesMax({ header, dataByte, endByte }: Page): number {
  const { encoding } = header.data_page_header ?? header.data_page_header_v2 ?? {};
  const copies = encoding === "DELTA_BYTE_ARRAY" ? valueCountOf(header) : 1;
  return Math.max(endByte - dataByte, header.uncompressed_page_size * copies);
}

/** A header says what its kind of page needs, and its numbers are sizes. Throws if not: the library takes what is there. */
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

/** Most headers have some dozen bytes; those with statistics of long texts, more. */
const headerBytes = 1 << 12;
/** Positions in a page are 31-bit integers. */
const pageBytesMax = 2 ** 30;

/** The page that begins at `startByte`, of a part of the column that ends at `partEndByte`. */
export function pageAt(source: FileSource, startByte: number, partEndByte: number): Page {
  const restBytes = partEndByte - startByte;
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
      return reading(source.path, () => {
        throw error;
      });
    }
    reading(source.path, () => checkHeader(header));
    const dataByte = startByte + reader.offset;
    const endByte = dataByte + header.compressed_page_size;
    if (endByte > partEndByte)
      throw damaged(source.path, `a page at byte ${startByte} ends behind its column`);
    return { header, dataByte, endByte };
  }
}
