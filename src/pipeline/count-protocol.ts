import type { Input } from "../corpus/input.ts";
import type { Task } from "../corpus/task.ts";
import type { RangeFindings } from "../count/range-counter.ts";
import type { KeeperOptions } from "../count/spilling-counter.ts";
import type { ThreadProgress, ThreadWords } from "../count/thread-counter.ts";
import type { CompiledPattern } from "../pattern/pattern.ts";

/**
 * What the main thread and a counting worker say to each other:
 *
 *   main -> worker   setup, tasks, tasks, …, finish
 *   worker -> main   counted (after tasks), …, words
 *                    failed (pipeline/thread-failure.ts) at any time, and nothing after it
 */
export type ToWorker =
  | (ThreadProgress &
      KeeperOptions & {
        readonly kind: "setup";
        readonly pattern: CompiledPattern;
        readonly specialTokens: readonly Uint8Array[];
        readonly inputs: readonly Input[];
        /** The code that all threads share. */
        readonly kernelModule: WebAssembly.Module;
        /** Of this worker, among all that write runs. */
        readonly name: string;
      })
  | { readonly kind: "tasks"; readonly tasks: readonly CountTask[] }
  | { readonly kind: "finish" };

export type FromWorker =
  | {
      readonly kind: "counted";
      readonly counted: readonly Counted[];
      readonly distinctWordCount: number;
      /** The memory of pieces, to be used for others. */
      readonly emptied: readonly ArrayBuffer[];
    }
  | (ThreadWords & { readonly kind: "words" });

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
