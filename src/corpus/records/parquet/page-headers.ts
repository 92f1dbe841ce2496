import type { PageHeader } from "hyparquet";
import { parquetHeader } from "hyparquet/src/column.js";
import { type FileSource, readFully } from "../../byte-sources.ts";
import { damagedParquet, readingFile } from "./parquet-errors.ts";

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
