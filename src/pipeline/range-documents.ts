import type { ByteSource, FileSource } from "../corpus/byte-sources.ts";
import { OpenFile } from "../corpus/byte-sources.ts";
import { PieceRanges } from "../corpus/chunked-ranges.ts";
import { DocumentCounter } from "../corpus/document-counter.ts";
import type { Input } from "../corpus/input.ts";
import type { Range } from "../corpus/range.ts";
import { JsonlReader, type LineRange } from "../corpus/records/jsonl-reader.ts";
import { createParquetReader } from "../corpus/records/parquet/load-parquet.ts";
import type { ParquetReader } from "../corpus/records/parquet/parquet-reader.ts";
import { PieceBuffers } from "../corpus/stream-chunks.ts";
import { inputBytesOf, type PagesTask, planTasks, type Task } from "../corpus/task.ts";
import { TextMemory } from "../corpus/text-memory.ts";

/** Counts the documents that begin in a range of an input, whatever these are packed in. */
export class RangeDocuments {
  private readonly counter: DocumentCounter;
  private readonly jsonl: JsonlReader;
  private parquet: ParquetReader | undefined;
  private readonly file: OpenFile;
  private readonly buffers = new PieceBuffers();
  private readonly pieces: PieceRanges<number>;

  constructor(
    private readonly inputs: readonly Input[],
    specialTokens: readonly Uint8Array[],
    private readonly room = new TextMemory(),
  ) {
    this.jsonl = new JsonlReader(undefined, room);
    this.counter = new DocumentCounter(specialTokens);
    this.file = new OpenFile(inputs);
    this.pieces = new PieceRanges(inputs, (source, range) => this.countText(source, range));
  }

  /** Yields the bytes of the input that are done, after each window. */
  async *count(range: Range): AsyncGenerator<number, number> {
    let documentCount = 0;
    let bytesBefore = 0;
    for await (const task of planTasks(this.inputs, undefined, this.buffers, [range])) {
      const work = this.countTask(task);
      let step = work.next();
      for (; !step.done; step = work.next()) yield bytesBefore + inputBytesOf(task, step.value);
      documentCount += step.value ?? 0;
      bytesBefore += inputBytesOf(task);
      if (task.kind === "piece") this.buffers.give(task.bytes.buffer);
      yield bytesBefore;
    }
    return documentCount;
  }

  close(): void {
    this.file.close();
  }

  /** Gives nothing for a piece whose range goes on in the next one. */
  private countTask(task: Task): Generator<number, number | undefined> {
    if (task.kind === "piece") return this.pieces.take(task);
    const source = this.file.of(task.inputIndex);
    return task.kind === "pages" ? this.countPages(source, task) : this.countText(source, task);
  }

  private countPages(source: FileSource, pages: PagesTask): Generator<number, number> {
    const { textField } = this.inputs[pages.inputIndex]!;
    this.parquet ??= createParquetReader(this.room);
    return this.counter.countRecords(this.parquet.read(source, pages, textField), this.parquet.batch);
  }

  private countText(source: ByteSource, range: LineRange): Generator<number, number> {
    const input = this.inputs[range.inputIndex]!;
    if (input.format === "text") return this.counter.count(source, range);
    return this.counter.countRecords(this.jsonl.read(source, range, input), this.jsonl.batch);
  }
}
