import { SpecialTokenFinder } from "../bytes/special-token-finder.ts";
import type { Input, Range } from "../corpus/input.ts";
import { type ByteSource, RangeReader, TextMemory } from "../corpus/range-reader.ts";
import type { RecordBatch } from "../corpus/records/record-batch.ts";
import { mayTakeLong, type Task } from "../corpus/task.ts";
import { TaskReader } from "../corpus/task-reader.ts";
import { MemoryBudget } from "../runtime/system-limits.ts";
import { longTextBytes, runTasks, type ThreadJob } from "./run-tasks.ts";

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

const windowSizeBytes = 1 << 20;

/** Counts the documents that begin in a range and have at least one byte, as counting words does, but without the words. */
export class DocumentCounter {
  private readonly finder: SpecialTokenFinder;
  private readonly reader: RangeReader;

  constructor(specialTokens: readonly Uint8Array[], windowBytes = windowSizeBytes) {
    this.finder = new SpecialTokenFinder(specialTokens);
    // Half a window must hold more than is kept for the next one, or reading would make no progress.
    this.reader = new RangeReader(Math.max(windowBytes, 4 * this.finder.longestBytes));
  }

  /** Where in a plain text the work is. */
  get offsetByte(): number {
    return this.reader.baseByte;
  }

  /**
   * Counts the documents of records; yields what `reading` yields. A record is one document, or several if special tokens end
   * documents inside it; without bytes it is none.
   */
  *countRecords(reading: Iterable<number>, batch: RecordBatch): Generator<number, number> {
    const { finder } = this;
    let documentCount = 0;
    for (const bytesDone of reading) {
      const { text, ends, count, byteCount } = batch;
      finder.reset(text.bytes.subarray(0, byteCount));
      for (let r = 0, pos = 0; r < count; r++) {
        const recordEnd = ends[r]!;
        while (pos < recordEnd) {
          const end = finder.find(pos, recordEnd);
          if (end > pos) documentCount++;
          pos = end < recordEnd ? end + finder.lengthAt(end, recordEnd) : recordEnd;
        }
      }
      yield bytesDone;
    }
    return documentCount;
  }

  /** Yields the bytes done after each window. */
  *count(source: ByteSource, range: Range): Generator<number, number> {
    const { finder, reader } = this;
    let insideDocument = range.startsInside;
    let documentCount = 0;
    reader.open(source, range.startByte, range.endByte);
    for (let pos = 0; ; ) {
      // The end of a stream is known only with its last chunk.
      reader.endByte = range.endByte;
      reader.advance(pos);
      finder.reset(reader.text.bytes.subarray(0, reader.limit));
      // A special token that begins before `sureEnd` is in the window as a whole.
      const sureEnd = reader.atEnd ? reader.limit : reader.limit - Math.max(0, finder.longestBytes - 1);
      pos = 0;
      for (;;) {
        const tokenPos = finder.find(pos, reader.limit);
        if (!insideDocument && Math.min(tokenPos, sureEnd) > pos) {
          insideDocument = true;
          documentCount++;
        }
        if (tokenPos >= sureEnd) break;
        insideDocument = false;
        pos = tokenPos + finder.lengthAt(tokenPos, reader.limit);
      }
      if (reader.atEnd) break;
      // The last token may reach behind `sureEnd`.
      pos = Math.max(pos, sureEnd);
      yield reader.baseByte + pos - range.startByte;
    }
    // A document that begins exactly at the cut is counted here: the next range takes it for one that continues.
    return documentCount + (range.endsInside && !insideDocument ? 1 : 0);
  }
}
