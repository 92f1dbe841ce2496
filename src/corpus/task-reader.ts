import type { Input, Range } from "./input.ts";
import { type ByteSource, type FileSource, MemorySource, OpenFile, type TextMemory } from "./range-reader.ts";
import { type LineRange, LineReader, type RecordInput } from "./records/line-reader.ts";
import type { ParquetReader } from "./records/parquet/parquet-reader.ts";
import type { PageGroup } from "./records/parquet/plan-pages.ts";
import { RecordBatch } from "./records/record-batch.ts";
import type { ChunkTask, PagesTask, Task } from "./task.ts";

/** Reads the records of any format into one batch. Generators yield the bytes done each time the batch is filled. */
class RecordReader {
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
    const loaded =
      require("./records/parquet/parquet-reader.ts") as typeof import("./records/parquet/parquet-reader.ts");
    return new loaded.ParquetReader(undefined, this.memory, this.batch);
  }
}

/** The end of a range until its last chunk has come. */
const endUnknown = Number.MAX_SAFE_INTEGER;

type Unfinished<Result> = {
  readonly source: MemorySource;
  readonly range: { -readonly [Field in keyof Range]: Range[Field] };
  readonly work: Generator<number, Result>;
};

/** Joins the chunks of a range for work that reads it from a source, as it would read a file. */
class ChunkedRanges<Result> {
  /** The range that continues. */
  private unfinished: Unfinished<Result> | undefined;

  /** @param start makes the work on a range. The work yields the bytes done, also when it waits for more. */
  constructor(
    private readonly inputs: readonly Input[],
    private readonly start: (source: ByteSource, range: LineRange) => Generator<number, Result>,
  ) {}

  /**
   * Works on a chunk; yields how many of its bytes are done. Returns the result for the range that ends with it; undefined
   * if the range continues in the next chunk.
   */
  *take(chunk: ChunkTask): Generator<number, Result | undefined> {
    const { source, range, work } = this.unfinished ?? this.begin(chunk);
    source.append(chunk.bytes);
    if (!chunk.continues) {
      range.endByte = chunk.endByte;
      range.endsInside = chunk.endsInside;
    }
    this.unfinished = undefined;
    do {
      const step = work.next();
      if (step.done) return step.value;
      yield Math.max(0, range.startByte + step.value - chunk.startByte);
    } while (!chunk.continues || !source.isDrained);
    this.unfinished = { source, range, work };
    return undefined;
  }

  private begin({ inputIndex, startByte, startsInside, linesBefore = 0 }: ChunkTask): Unfinished<Result> {
    const source = new MemorySource(this.inputs[inputIndex]!.path, startByte);
    const range = {
      inputIndex,
      startByte,
      startsInside,
      linesBefore,
      endByte: endUnknown,
      endsInside: false,
    };
    return { source, range, work: this.start(source, range) };
  }
}

/** Work on text, wherever it comes from. Generators yield the bytes done after each slice. */
type TextWork<Result> = {
  /** A range of plain text. Yields also where bytes have yet to come; `range` may then say anew where it ends. */
  text(source: ByteSource, range: Range): Generator<number, Result>;
  /** The texts that `reading` puts into the batch, which yields after each batch. */
  records(reading: Iterable<number>, batch: RecordBatch): Generator<number, Result>;
};

type TaskReaderOptions = {
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
