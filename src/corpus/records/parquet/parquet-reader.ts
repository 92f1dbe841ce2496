import { isUtf8 } from "node:buffer";
import { type FileSource, readFully } from "../../byte-sources.ts";
import { TextMemory } from "../../text-memory.ts";
import { RecordBatch } from "../record-batch.ts";
import { pageMemoryBytes } from "./decompress-page.ts";
import { type Page, pageAt, valueCountOf } from "./page-headers.ts";
import { dictionaryValues, type PageValues, pageValues } from "./page-values.ts";
import { readingFile, readingRows, wrongRow } from "./parquet-errors.ts";
import type { PageGroup } from "./plan-pages.ts";

/** Bytes of text in a batch, if no text is longer. A page may name one text of its dictionary any number of times. */
const batchSizeBytes = 1 << 20;

/** Glue: pages of a column -> texts of records. */
export class ParquetReader {
  /** How far the file has been read: the place of an error. */
  offsetByte = 0;
  /** The dictionary read last: neighbouring page groups mostly refer to the same one. */
  private dictionary: { path: string; startByte: number; values: PageValues } | undefined;

  constructor(
    private readonly batchBytes = batchSizeBytes,
    private readonly memory = new TextMemory(),
    /** The texts of the rows read last. */
    readonly batch = new RecordBatch(),
  ) {}

  /** Reads the texts of a page group into `batch`, some at a time; yields how many bytes of the group are done. */
  *read(source: FileSource, group: PageGroup, textField: string): Generator<number, void> {
    const { path } = source;
    let row = group.firstRow;
    const nameText = () => `"${path}": the page of row ${row + 1}`;
    const dictionaryPage =
      group.dictionaryByte < 0 ? undefined : pageAt(source, group.dictionaryByte, group.chunkEndByte);
    const dictionaryBytes = dictionaryPage === undefined ? 0 : memoryOfPage(dictionaryPage, group);
    if (this.claim(dictionaryBytes, nameText)) yield 0;
    const dictionary = this.dictionaryOf(source, group, dictionaryPage);
    for (this.offsetByte = group.startByte; this.offsetByte < group.endByte; ) {
      const page = pageAt(source, this.offsetByte, group.chunkEndByte);
      const valueCount = valueCountOf(page.header);
      if (valueCount > 0) {
        // The batch comes on top, once its texts are known: one may be as long as the page.
        const neededBytes = dictionaryBytes + memoryOfPage(page, group);
        if (this.claim(neededBytes, nameText)) yield this.offsetByte - group.startByte;
        const claimValues = (bytes: number) => void this.claim(neededBytes + bytes, nameText);
        const values = readingRows(path, row, textField, () => {
          const packed = readFully(source, page.dataByte, page.endByte);
          return pageValues(page, packed, group, dictionary, claimValues);
        });
        for (let v = 0; v < valueCount; ) {
          const { end, byteCount } = this.batchFrom(values, v);
          if (byteCount > this.batchBytes && this.claim(neededBytes + byteCount, nameText)) {
            yield this.offsetByte - group.startByte;
          }
          this.fill(values, v, end, byteCount);
          this.checkTexts(path, row + v, textField);
          v = end;
          if (v < valueCount) yield this.offsetByte - group.startByte;
        }
        row += valueCount;
      }
      this.offsetByte = page.endByte;
      if (valueCount > 0) yield this.offsetByte - group.startByte;
    }
  }

  /** Claims memory for what is read next. The caller has taken the batch: it is emptied while room is made. */
  private claim(bytes: number, nameText: () => string): boolean {
    const needsRoom = this.memory.claim(bytes, nameText);
    if (needsRoom) this.batch.restart(0);
    return needsRoom;
  }

  private dictionaryOf(source: FileSource, group: PageGroup, page: Page | undefined): PageValues | undefined {
    const { dictionaryByte: startByte, codec } = group;
    const { path } = source;
    if (page === undefined) return undefined;
    if (this.dictionary?.path !== path || this.dictionary.startByte !== startByte) {
      const values = readingFile(path, () => {
        return dictionaryValues(page, readFully(source, page.dataByte, page.endByte), codec);
      });
      this.dictionary = { path, startByte, values };
    }
    return this.dictionary.values;
  }

  /** Where the values from `first` on that fit into one batch end, and how many bytes they have. */
  private batchFrom({ starts, ends }: PageValues, first: number): { end: number; byteCount: number } {
    let byteCount = 0;
    let end = first;
    for (; end < starts.length; end++) {
      const longer = byteCount + ends[end]! - starts[end]!;
      if (longer > this.batchBytes && end > first) break;
      byteCount = longer;
    }
    return { end, byteCount };
  }

  private fill({ bytes, starts, ends }: PageValues, first: number, end: number, byteCount: number): void {
    const { batch } = this;
    batch.restart(byteCount);
    for (let v = first; v < end; v++) batch.append(bytes.subarray(starts[v]!, ends[v]!));
  }

  /** Texts whose bytes are valid UTF-8 as a whole are valid one by one, if none begins inside a character. */
  private checkTexts(path: string, firstRow: number, textField: string): void {
    const { text, ends, count, byteCount } = this.batch;
    let isValid = isUtf8(text.bytes.subarray(0, byteCount));
    for (let r = 0; r < count - 1; r++)
      isValid &&= ends[r] === byteCount || (text.bytes[ends[r]!]! & 0xc0) !== 0x80;
    if (isValid) return;
    for (let r = 0; ; r++) {
      if (isUtf8(text.bytes.subarray(r === 0 ? 0 : ends[r - 1]!, ends[r]!))) continue;
      throw wrongRow(path, firstRow + r, `the column "${textField}" is not valid UTF-8`);
    }
  }
}

/** Memory for a page and its values: each has a start and an end, and maybe an index and a level. */
const memoryOfPage = ({ header, dataByte, endByte }: Page, { codec, isOptional }: PageGroup) =>
  pageMemoryBytes(endByte - dataByte, codec, header.uncompressed_page_size) +
  (valueCountOf(header) + (header.dictionary_page_header?.num_values ?? 0)) * (isOptional ? 16 : 12);
