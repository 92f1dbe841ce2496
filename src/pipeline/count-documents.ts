import { DocumentCounter } from "../corpus/document-counter.ts";
import type { Input, Range } from "../corpus/input.ts";
import { TextMemory } from "../corpus/range-reader.ts";
import { mayTakeLong, type Task } from "../corpus/task.ts";
import { TaskReader } from "../corpus/task-reader.ts";
import { MemoryBudget } from "../runtime/system-limits.ts";
import { longTextBytes, runTasks } from "./run-tasks.ts";
import type { ThreadJob } from "./task-thread.ts";

/** What a thread that counts documents begins with. */
export type DocumentSetup = {
  readonly inputs: readonly Input[];
  readonly specialTokens: readonly Uint8Array[];
  /** The memory for a text and what it is packed in. */
  readonly textBytesMax: number;
};

/** What one thread does that counts documents, whatever they are packed in. */
export class DocumentTasks implements ThreadJob<never, number | undefined, undefined> {
  readonly rest = undefined;
  private readonly counter: DocumentCounter;
  private readonly reader: TaskReader<number>;

  constructor({ inputs, specialTokens, textBytesMax }: DocumentSetup) {
    const counter = new DocumentCounter(specialTokens);
    this.counter = counter;
    this.reader = new TaskReader({ inputs }, new TextMemory(textBytesMax), {
      text: (source, range) => counter.count(source, range),
      records: (reading, batch) => counter.countRecords(reading, batch),
    });
  }

  get offsetByte(): number {
    return this.reader.recordOffsetByte ?? this.counter.offsetByte;
  }

  /** Returns how many documents begin in the range that ends with the task; undefined if it continues in the next one. */
  take(task: Task): Generator<number, number | undefined> {
    return this.reader.take(task);
  }

  close(): void {
    this.reader.close();
  }
}

export const startCountingDocuments = (setup: DocumentSetup) => new DocumentTasks(setup);

export type CountDocumentsOptions = {
  readonly inputs: readonly Input[];
  /** Counted one by one, and not cut. */
  readonly ranges: readonly Range[];
  readonly specialTokens: readonly Uint8Array[];
  readonly threadCount: number;
};

/** Takes the numbers, in the order of the ranges. */
export type DocumentSink = {
  endRange(range: Range, documentCount: number): void;
  /** What to wait for before more is counted; undefined or absent: nothing. */
  drained?(): Promise<void> | undefined;
};

/** Counts the documents that begin in each range. Calls `report` with the bytes of the inputs that are done. */
export async function countDocuments(
  { inputs, ranges, specialTokens, threadCount }: CountDocumentsOptions,
  sink: DocumentSink,
  report: (bytesDone: number) => void,
): Promise<void> {
  const setup = { inputs, specialTokens, textBytesMax: new MemoryBudget().shareBytes(threadCount) };
  let rangeIndex = 0;
  let documentCount = 0;
  await runTasks(
    {
      name: "planning",
      start: startCountingDocuments,
      setupOf: () => setup,
      sink: {
        endTask(task, found = 0) {
          documentCount += found;
          if (!endsRange(task)) return;
          sink.endRange(ranges[rangeIndex++]!, documentCount);
          documentCount = 0;
        },
        drained: () => sink.drained?.(),
      },
      inputs,
      ranges,
      aheadBytes: 1,
      threadCount,
      mainWorks: true,
      // Plain text is counted in windows, however long its lines are.
      mayTakeLong: (task) => inputs[task.inputIndex]!.format !== "text" && mayTakeLong(task, longTextBytes),
    },
    report,
  );
}

/** A range of a file is one task. What has no ranges is counted as a whole. */
const endsRange = (task: Task) => task.kind === "range" || task.endsInput;
