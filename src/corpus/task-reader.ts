import { type ByteSource, type FileSource, OpenFile } from "./byte-sources.ts";
import { ChunkedRanges } from "./chunked-ranges.ts";
import type { Input } from "./input.ts";
import type { Range } from "./range.ts";
import type { LineRange } from "./records/line-reader.ts";
import type { RecordBatch } from "./records/record-batch.ts";
import { RecordReader } from "./records/record-reader.ts";
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
  private readonly file: OpenFile;
  private readonly records: RecordReader;
  /** Whether the task that was begun last is one of records. */
  private readsRecords = false;
  private readonly chunks: ChunkedRanges<Result>;

  constructor(
    private readonly options: TaskReaderOptions,
    memory: TextMemory,
    private readonly work: TextWork<Result>,
  ) {
    const { inputs, batch, windowBytes } = options;
    this.file = new OpenFile(inputs);
    this.records = new RecordReader(memory, batch, windowBytes);
    this.chunks = new ChunkedRanges(inputs, (source, range) => this.takeRange(source, range));
  }

  /** Where in their input the records at work are; undefined for plain text. */
  get recordOffsetByte(): number | undefined {
    return this.readsRecords ? this.records.offsetByte : undefined;
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
    const { records } = this;
    this.readsRecords = true;
    const { textField } = this.options.inputs[pages.inputIndex]!;
    return this.work.records(records.readPages(source, pages, textField), records.batch);
  }

  private takeRange(source: ByteSource, range: LineRange): Generator<number, Result> {
    const input = this.options.inputs[range.inputIndex]!;
    this.readsRecords = input.format !== "text";
    if (!this.readsRecords) return this.work.text(source, range);
    const { records } = this;
    return this.work.records(records.readLines(source, range, input), records.batch);
  }
}
