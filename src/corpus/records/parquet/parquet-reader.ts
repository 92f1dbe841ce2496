import { isUtf8 } from "node:buffer";
import { UserError } from "../../../errors.ts";
import { type FileSource, readFully } from "../../byte-sources.ts";
import { TextRoom } from "../../text-room.ts";
import { RecordBatch } from "../record-batch.ts";
import { pageMemoryBytes } from "./decompress-page.ts";
import { type Page, type PageRun, pageAt, valueCountOf } from "./page-headers.ts";
import { dictionaryValues, NullValue, type PageValues, pageValues } from "./page-values.ts";
import { reading } from "./parquet-errors.ts";

/** Texts in a batch, in bytes, if none is longer: a page may name one text of its dictionary any number of times. */
const batchSizeBytes = 1 << 20;

/** Glue: pages of a column -> texts of records. */
export class ParquetReader {
  /** Where in the file the work stands: the place of an error. */
  offsetByte = 0;
  /** The dictionary read last: neighbouring runs mostly refer to the same one. */
  private dictionary: { path: string; startByte: number; values: PageValues } | undefined;

  constructor(
    private readonly batchBytes = batchSizeBytes,
    private readonly room = new TextRoom(),
    /** The texts of the rows read last. */
    readonly batch = new RecordBatch(),
  ) {}

  /** Reads the texts of a run of pages into `batch`, some at a time; yields the bytes of the run done after each time. */
  *read(source: FileSource, run: PageRun, textField: string): Generator<number, void> {
    const { path } = source;
    let row = run.firstRow;
    const nameText = () => `"${path}": the page of row ${row + 1}`;
    const dictionaryPage =
      run.dictionaryByte < 0 ? undefined : pageAt(source, run.dictionaryByte, run.partEndByte);
    const dictionaryBytes = dictionaryPage === undefined ? 0 : memoryOfPage(dictionaryPage, run);
    if (this.claim(dictionaryBytes, nameText)) yield 0;
    const dictionary = this.dictionaryOf(source, run, dictionaryPage);
    for (this.offsetByte = run.startByte; this.offsetByte < run.endByte; ) {
      const page = pageAt(source, this.offsetByte, run.partEndByte);
      const valueCount = valueCountOf(page.header);
      if (valueCount > 0) {
        // What it is decoded to, when that is known: the texts of a batch, of which one may be as long as the page.
        const neededBytes = dictionaryBytes + memoryOfPage(page, run);
        if (this.claim(neededBytes, nameText)) yield this.offsetByte - run.startByte;
        const claimValues = (bytes: number) => void this.claim(neededBytes + bytes, nameText);
        const values = reading(path, () => {
          const packed = readFully(source, page.dataByte, page.endByte);
          return withoutNull(
            () => pageValues(page, packed, run, dictionary, claimValues),
            path,
            row,
            textField,
          );
        });
        for (let v = 0; v < valueCount; ) {
          const { end, byteCount } = this.batchFrom(values, v);
          if (byteCount > this.batchBytes && this.claim(neededBytes + byteCount, nameText)) {
            yield this.offsetByte - run.startByte;
          }
          this.fill(values, v, end, byteCount);
          this.checkTexts(path, row + v, textField);
          v = end;
          if (v < valueCount) yield this.offsetByte - run.startByte;
        }
        row += valueCount;
      }
      this.offsetByte = page.endByte;
      if (valueCount > 0) yield this.offsetByte - run.startByte;
    }
  }

  /** Claims memory for what is read next; the batch was taken, and is empty while room is made. */
  private claim(bytes: number, nameText: () => string): boolean {
    const needsRoom = this.room.claim(bytes, nameText);
    if (needsRoom) this.batch.restart(0);
    return needsRoom;
  }

  private dictionaryOf(source: FileSource, run: PageRun, page: Page | undefined): PageValues | undefined {
    const { dictionaryByte: startByte, codec } = run;
    const { path } = source;
    if (page === undefined) return undefined;
    if (this.dictionary?.path !== path || this.dictionary.startByte !== startByte) {
      const values = reading(path, () => {
        return dictionaryValues(page, readFully(source, page.dataByte, page.endByte), codec);
      });
      this.dictionary = { path, startByte, values };
    }
    return this.dictionary.values;
  }

  /** How far the values from `first` on go into one batch, and how many bytes they are. */
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

  /** Bytes that are valid as a whole are so text by text if no text begins within a character. */
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

/** A page and its values: for each a place in it, and a level and an index by which it is found. */
const memoryOfPage = ({ header, dataByte, endByte }: Page, { codec, isOptional }: PageRun) =>
  pageMemoryBytes(endByte - dataByte, codec, header.uncompressed_page_size) +
  (valueCountOf(header) + (header.dictionary_page_header?.num_values ?? 0)) * (isOptional ? 16 : 12);

function withoutNull(read: () => PageValues, path: string, firstRow: number, textField: string): PageValues {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof NullValue)) throw error;
    throw wrongRow(path, firstRow + error.index, `the column "${textField}" is null`);
  }
}

/** People count rows from 1, as lines. */
const wrongRow = (path: string, row: number, what: string) =>
  new UserError(`"${path}" row ${row + 1}: ${what}`);
