import type { Input } from "../corpus/input.ts";
import type { Range } from "../corpus/range.ts";
import { mayTakeLong, type Task } from "../corpus/task.ts";
import { MemoryBudget } from "../runtime/memory-budget.ts";
import { startCountingDocuments } from "./document-tasks.ts";
import { longTextBytes, runTasks } from "./run-tasks.ts";

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
