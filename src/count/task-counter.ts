import type { Input } from "../corpus/input.ts";
import { TextMemory } from "../corpus/range-reader.ts";
import { RecordBatch } from "../corpus/records/record-batch.ts";
import type { Task } from "../corpus/task.ts";
import { TaskReader } from "../corpus/task-reader.ts";
import type { CompiledPattern } from "../pattern/pattern.ts";
import { createPretokens, type KernelTaker } from "../text/pretokens.ts";
import type { WordCounter } from "../words/word-counter.ts";
import { RangeCounter, type RangeStatistics } from "./range-counter.ts";
import { RecordCounter } from "./record-counter.ts";

export type TaskCounterOptions = {
  readonly inputs: readonly Input[];
  readonly pattern: CompiledPattern;
  readonly specialTokens: readonly Uint8Array[];
  readonly windowBytes?: number;
  /** Files of this size or more are mapped instead of read. */
  readonly mappedBytesLeast?: number;
};

/** Loading the code that maps takes some 1.5 M cycles a thread, as much as mapping saves for 10 MB. */
const mappedBytesLeastUsual = 1 << 25;

/** Counts the words of tasks, wherever their bytes come from. */
export class TaskCounter {
  private readonly ranges: RangeCounter;
  private readonly reader: TaskReader<RangeStatistics>;

  /**
   * @param counter takes the words
   * @param lifting makes the words of the pretokens; left out: they are the pretokens
   */
  constructor(
    options: TaskCounterOptions,
    counter: WordCounter,
    room = new TextMemory(),
    lifting?: KernelTaker,
  ) {
    const { inputs, pattern, specialTokens, windowBytes } = options;
    const taker = lifting ?? counter;
    const tokens = specialTokens.map((bytes) => ({ bytes, id: 0 }));
    const pretokens = createPretokens(pattern, tokens, taker);
    const makeText = (capacityBytes: number) => taker.text(capacityBytes);
    const mapping =
      pretokens.isReadByKernelOnly && lifting === undefined
        ? { window: counter.window, fileBytesLeast: options.mappedBytesLeast ?? mappedBytesLeastUsual }
        : undefined;
    const ranges = new RangeCounter(pretokens, specialTokens, makeText, windowBytes, room, mapping);
    const records = new RecordCounter(pretokens);
    this.ranges = ranges;
    // Records are put where the kernel counts them.
    this.reader = new TaskReader({ inputs, windowBytes, batch: new RecordBatch(makeText) }, room, {
      text: (source, range) => ranges.count(source, range),
      records: (reading, batch) => records.count(reading, batch),
    });
  }

  /** Where in the text the work is: the place of an error. */
  get offsetByte(): number {
    return this.reader.recordOffsetByte ?? this.ranges.offsetByte;
  }

  /**
   * Counts the words of a task; yields the bytes of it that are done after each window. Returns the statistics of the range
   * that ends with it; undefined if the range continues in the next task.
   */
  count(task: Task): Generator<number, RangeStatistics | undefined> {
    return this.reader.take(task);
  }

  close(): void {
    this.reader.close();
  }
}
