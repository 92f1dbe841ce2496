import type { Input } from "../corpus/inputs.ts";
import type { Task } from "../corpus/tasks.ts";
import type { CompiledPattern } from "../pattern/index.ts";
import type { PackedCounts } from "../words/counter.ts";
import type { RangeFindings } from "./range-counter.ts";
import type { Run, RunOptions } from "./runs.ts";

/**
 * What the main thread and a counting worker say to each other:
 *
 *   main -> worker   setup, tasks, tasks, …, finish
 *   worker -> main   ready, counted (after them), …, words
 *                    failed (workers/failure.ts) at any time, and nothing after it
 */
export type ToWorker =
  | {
      readonly kind: "setup";
      readonly pattern: CompiledPattern;
      readonly specialTokens: readonly Uint8Array[];
      readonly inputs: readonly Input[];
      /** Bytes counted so far by each worker, one cell each: written by the workers, read by the main thread. */
      readonly bytesDone: Float64Array;
      readonly workerIndex: number;
      /** Of this worker, among all that write runs. */
      readonly name: string;
      readonly runOptions: RunOptions | undefined;
    }
  | { readonly kind: "tasks"; readonly tasks: readonly CountTask[] }
  | { readonly kind: "finish" };

export type FromWorker =
  | { readonly kind: "ready" }
  | {
      readonly kind: "counted";
      readonly counted: readonly Counted[];
      readonly distinctWordCount: number;
      /** The memory of pieces, to be used for others. */
      readonly emptied: readonly ArrayBuffer[];
    }
  | { readonly kind: "words"; readonly words: PackedCounts; readonly runs: readonly Run[] };

export type CountTask = {
  readonly task: Task;
  /** The input whose words go to runs of their own, or null. */
  readonly apart: number | null;
};

export type Counted = {
  readonly inputIndex: number;
  /** Of the range that ended with the task; none if it goes on in the next one. */
  readonly findings: RangeFindings | undefined;
};
