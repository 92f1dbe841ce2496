import type { ByteSource, FileSource } from "../byte-sources.ts";
import type { TextMemory } from "../text-memory.ts";
import { type LineRange, LineReader, type RecordInput } from "./line-reader.ts";
import type { ParquetReader } from "./parquet/parquet-reader.ts";
import type { PageGroup } from "./parquet/plan-pages.ts";
import { RecordBatch } from "./record-batch.ts";

/** Reads the records of any format into one batch. Generators yield the bytes done each time the batch is filled. */
export class RecordReader {
  private readonly lines: LineReader;
  private pages: ParquetReader | undefined;
  /** The reader that was used last. */
  private current: { readonly offsetByte: number };

  constructor(
    private readonly memory: TextMemory,
    /** The texts of the records that were read last. */
    readonly batch = new RecordBatch(),
    windowBytes?: number,
  ) {
    this.lines = new LineReader(windowBytes, memory, batch);
    this.current = this.lines;
  }

  /** How far the input has been read: the place of an error. */
  get offsetByte(): number {
    return this.current.offsetByte;
  }

  readLines(source: ByteSource, range: LineRange, input: RecordInput): Generator<number, void> {
    this.current = this.lines;
    return this.lines.read(source, range, input);
  }

  readPages(source: FileSource, pages: PageGroup, textField: string): Generator<number, void> {
    this.pages ??= this.loadParquet();
    this.current = this.pages;
    return this.pages.read(source, pages, textField);
  }

  /** Loads the reader of Parquet and its packages. That takes some 10 ms, and most runs read no Parquet. */
  private loadParquet(): ParquetReader {
    const loaded = require("./parquet/parquet-reader.ts") as typeof import("./parquet/parquet-reader.ts");
    return new loaded.ParquetReader(undefined, this.memory, this.batch);
  }
}
