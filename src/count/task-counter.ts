import type { ByteSource, FileSource } from "../corpus/byte-sources.ts";
import { OpenFile } from "../corpus/byte-sources.ts";
import { PieceRanges } from "../corpus/chunked-ranges.ts";
import type { Input } from "../corpus/input.ts";
import { JsonlReader, type LineRange } from "../corpus/records/jsonl-reader.ts";
import { createParquetReader } from "../corpus/records/parquet/load-parquet.ts";
import type { ParquetReader } from "../corpus/records/parquet/parquet-reader.ts";
import { RecordBatch } from "../corpus/records/record-batch.ts";
import type { PagesTask, Task } from "../corpus/task.ts";
import { TextMemory } from "../corpus/text-memory.ts";
import type { CompiledPattern } from "../pattern/pattern.ts";
import type { WordCounter } from "../words/word-counter.ts";
import { createDocuments } from "./documents.ts";
import { RangeCounter, type RangeStatistics } from "./range-counter.ts";
import { RecordCounter } from "./record-counter.ts";

export type TaskCounterOptions = {
  readonly inputs: readonly Input[];
  readonly pattern: CompiledPattern;
  readonly specialTokens: readonly Uint8Array[];
  readonly windowBytes?: number;
  /** Size of the files from which on they are mapped and not read. */
  readonly mappedBytesLeast?: number;
};

/** Loading what maps takes some 1.5 M cycles a thread, as much as mapping saves for 10 MB. */
const mappedBytesLeastUsual = 1 << 25;

/** Counts the words of tasks, wherever their bytes come from. */
export class TaskCounter {
  private readonly ranges: RangeCounter;
  private readonly records: RecordCounter;
  /** Of both readers of records: it stands where the kernel counts. */
  private readonly batch: RecordBatch;
  private readonly jsonl: JsonlReader;
  private parquet: ParquetReader | undefined;
  private readonly file: OpenFile;
  /** Who read last. */
  private current: { readonly offsetByte: number };
  private readonly pieces: PieceRanges<RangeStatistics>;

  constructor(
    private readonly options: TaskCounterOptions,
    counter: WordCounter,
    private readonly room = new TextMemory(),
  ) {
    const { pattern, specialTokens, windowBytes } = options;
    const documents = createDocuments(pattern, specialTokens, counter);
    const makeText = (capacityBytes: number) => counter.text(capacityBytes);
    const mapping = documents.isReadByKernelOnly
      ? { window: counter.window, fileBytesLeast: options.mappedBytesLeast ?? mappedBytesLeastUsual }
      : undefined;
    this.ranges = new RangeCounter(documents, specialTokens, makeText, windowBytes, room, mapping);
    this.records = new RecordCounter(documents);
    this.batch = new RecordBatch(makeText);
    this.jsonl = new JsonlReader(windowBytes, room, this.batch);
    this.current = this.ranges;
    this.file = new OpenFile(options.inputs);
    this.pieces = new PieceRanges(options.inputs, (source, range) => this.countRange(source, range));
  }

  /** Where in the text the work stands: the place of an error. */
  get offsetByte(): number {
    return this.current.offsetByte;
  }

  /**
   * Counts the words of a task; yields the bytes of it that are done after each window. Returns what was met in the
   * range that ends with it; nothing if the range goes on in the next task.
   */
  count(task: Task): Generator<number, RangeStatistics | undefined> {
    if (task.kind === "piece") return this.pieces.take(task);
    const source = this.file.of(task.inputIndex);
    return task.kind === "pages" ? this.countPages(source, task) : this.countRange(source, task);
  }

  close(): void {
    this.file.close();
  }

  private countPages(source: FileSource, pages: PagesTask): Generator<number, RangeStatistics> {
    const { textField } = this.options.inputs[pages.inputIndex]!;
    this.parquet ??= createParquetReader(this.room, this.batch);
    this.current = this.parquet;
    return this.records.count(this.parquet.read(source, pages, textField), this.parquet.batch);
  }

  private countRange(source: ByteSource, range: LineRange): Generator<number, RangeStatistics> {
    const input = this.options.inputs[range.inputIndex]!;
    const isText = input.format === "text";
    this.current = isText ? this.ranges : this.jsonl;
    if (isText) return this.ranges.count(source, range);
    return this.records.count(this.jsonl.read(source, range, input), this.jsonl.batch);
  }
}
