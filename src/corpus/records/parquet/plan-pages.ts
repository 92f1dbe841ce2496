import { closeSync } from "node:fs";
import type { CompressionCodec } from "hyparquet";
import { FileSource } from "../../byte-sources.ts";
import type { Input } from "../../input.ts";
import { openInput } from "../../open-input.ts";
import { TextMemory } from "../../text-memory.ts";
import { type Page, pagesOf, valueCountOf } from "./page-headers.ts";
import { damagedParquet } from "./parquet-errors.ts";
import { findTextColumn, type TextColumn, type TextColumnChunk } from "./text-column.ts";

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
