import { isUtf8 } from "node:buffer";
import { UserError } from "../../../errors.ts";
import { type FileSource, readFully } from "../../byte-sources.ts";
import { RecordBatch } from "../record-batch.ts";
import { reading } from "./damage.ts";
import { dictionaryValues, NullValue, type PageValues, pageValues } from "./page-values.ts";
import { type PageRun, pageAt, valueCountOf } from "./pages.ts";

/** Texts in a batch, in bytes, if none is longer: a page may name one text of its dictionary any number of times. */
const batchSizeBytes = 1 << 20;

/** Glue: pages of a column -> texts of records. */
export class ParquetReader {
  /** The texts of the rows read last. */
  readonly batch = new RecordBatch();
  /** Where in the file the work stands: the place of an error. */
  offsetByte = 0;
  /** The dictionary read last: neighbouring runs mostly refer to the same one. */
  private dictionary: { path: string; startByte: number; values: PageValues } | undefined;

  constructor(private readonly batchBytes = batchSizeBytes) {}

  /** Reads the texts of a run of pages into `batch`, some at a time; yields the bytes of the run done after each time. */
  *read(source: FileSource, run: PageRun, textField: string): Generator<number, void> {
    const { path } = source;
    const dictionary = this.dictionaryOf(source, run);
    let row = run.firstRow;
    for (this.offsetByte = run.startByte; this.offsetByte < run.endByte; ) {
      const page = pageAt(source, this.offsetByte, run.partEndByte);
      const valueCount = valueCountOf(page.header);
      if (valueCount > 0) {
        const values = reading(path, () => {
          const packed = readFully(source, page.dataByte, page.endByte);
          return withoutNull(() => pageValues(page, packed, run, dictionary), path, row, textField);
        });
        for (let v = 0; v < valueCount; ) {
          const end = this.fill(values, v);
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

  private dictionaryOf(source: FileSource, run: PageRun): PageValues | undefined {
    const { dictionaryByte: startByte, partEndByte, codec } = run;
    const { path } = source;
    if (startByte < 0) return undefined;
    if (this.dictionary?.path !== path || this.dictionary.startByte !== startByte) {
      const values = reading(path, () => {
        const page = pageAt(source, startByte, partEndByte);
        return dictionaryValues(page, readFully(source, page.dataByte, page.endByte), codec);
      });
      this.dictionary = { path, startByte, values };
    }
    return this.dictionary.values;
  }

  /** Fills the batch with values from `first` on; returns where to go on. */
  private fill({ bytes, starts, ends }: PageValues, first: number): number {
    const { batch } = this;
    let byteCount = 0;
    let end = first;
    for (; end < starts.length; end++) {
      const longer = byteCount + ends[end]! - starts[end]!;
      if (longer > this.batchBytes && end > first) break;
      byteCount = longer;
    }
    batch.restart(byteCount);
    for (let v = first; v < end; v++) batch.append(bytes.subarray(starts[v]!, ends[v]!));
    return end;
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
