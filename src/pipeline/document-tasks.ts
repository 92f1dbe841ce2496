import { DocumentCounter } from "../corpus/document-counter.ts";
import type { Input } from "../corpus/input.ts";
import type { Task } from "../corpus/task.ts";
import { TaskReader } from "../corpus/task-reader.ts";
import { TextMemory } from "../corpus/text-memory.ts";
import type { ThreadJob } from "./job.ts";

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
