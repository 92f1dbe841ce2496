import { type ByteSource, type FileSource, OpenFile } from "./byte-sources.ts";
import { ChunkedRanges } from "./chunked-ranges.ts";
import type { Input } from "./input.ts";
import type { Range } from "./range.ts";
import { JsonlReader, type LineRange } from "./records/jsonl-reader.ts";
import { createParquetReader } from "./records/parquet/load-parquet.ts";
import type { ParquetReader } from "./records/parquet/parquet-reader.ts";
import type { RecordBatch } from "./records/record-batch.ts";
import type { PagesTask, Task } from "./task.ts";
import type { TextMemory } from "./text-memory.ts";

/** Work on text, wherever it comes from. Generators yield the bytes done after each slice. */
export type TextWork<Result> = {
  /** A range of plain text. Yields also where bytes have yet to come; `range` may then say anew where it ends. */
  text(source: ByteSource, range: Range): Generator<number, Result>;
  /** The texts that `reading` puts into the batch, which yields after each batch. */
  records(reading: Iterable<number>, batch: RecordBatch): Generator<number, Result>;
};

export type TaskReaderOptions = {
  readonly inputs: readonly Input[];
  /** Where records are put; a batch of the reader's own, if left out. */
  readonly batch?: RecordBatch;
  readonly windowBytes?: number | undefined;
};

/** Opens what the tasks of one thread are of, reads their records, and has the work on their text done. */
export class TaskReader<Result> {
  /** The reader of the records at work; undefined if plain text is. */
  private current: { readonly offsetByte: number } | undefined;
  private readonly file: OpenFile;
  private readonly jsonl: JsonlReader;
  private parquet: ParquetReader | undefined;
  private readonly chunks: ChunkedRanges<Result>;

  constructor(
    private readonly options: TaskReaderOptions,
    private readonly room: TextMemory,
    private readonly work: TextWork<Result>,
  ) {
    const { inputs, batch, windowBytes } = options;
    this.file = new OpenFile(inputs);
    this.jsonl = new JsonlReader(windowBytes, room, batch);
    this.chunks = new ChunkedRanges(inputs, (source, range) => this.takeRange(source, range));
  }

  /** Where in their input the records at work are; undefined for plain text. */
  get recordOffsetByte(): number | undefined {
    return this.current?.offsetByte;
  }

  /** Does a task. Returns the result for the range that ends with it; undefined if the range continues in the next task. */
  take(task: Task): Generator<number, Result | undefined> {
    if (task.kind === "chunk") return this.chunks.take(task);
    const source = this.file.of(task.inputIndex);
    return task.kind === "pages" ? this.takePages(source, task) : this.takeRange(source, task);
  }

  close(): void {
    this.file.close();
  }

  private takePages(source: FileSource, pages: PagesTask): Generator<number, Result> {
    const { inputs, batch } = this.options;
    this.parquet ??= createParquetReader(this.room, batch);
    this.current = this.parquet;
    const { textField } = inputs[pages.inputIndex]!;
    return this.work.records(this.parquet.read(source, pages, textField), this.parquet.batch);
  }

  private takeRange(source: ByteSource, range: LineRange): Generator<number, Result> {
    const input = this.options.inputs[range.inputIndex]!;
    if (input.format === "text") {
      this.current = undefined;
      return this.work.text(source, range);
    }
    this.current = this.jsonl;
    return this.work.records(this.jsonl.read(source, range, input), this.jsonl.batch);
  }
}
