import type { Input } from "../corpus/input.ts";
import type { Task } from "../corpus/task.ts";
import type { Failure } from "./serve-workers.ts";

/**
 * What one thread of a job does, the main one or a worker: takes tasks, one after the other. `Found` is what it finds in a
 * task, `Rest` what it has at the end. A job is a module whose `start…` makes one of these from plain data (its setup).
 */
export interface ThreadJob<Part extends OutputPart, Found, Rest> {
  /** Does a task; yields after each slice of work how many bytes of the task's text are done. */
  take(task: Task): Generator<number, Found>;
  /** The work that is left when no task is to come. `leavesMemory`: another thread needs the memory of this one. */
  finish?(leavesMemory: boolean): Generator<undefined, void>;
  /** What the thread has at the end. */
  readonly rest: Rest;
  /** The memory in it that is handed over instead of copied. */
  readonly restMemory?: ArrayBuffer[];
  /** Where in the text of the task the work stands: the place of an error. */
  readonly offsetByte: number;
  /** What the tasks make besides, if it is written in their order. */
  readonly output?: PartMaker<Part>;
  close(): void;
}

/** Gathers the output of a task while it is at work; it is taken part by part. */
export interface PartMaker<Part extends OutputPart> {
  readonly isEmpty: boolean;
  /** Takes what was gathered. The next part goes into `spare`, the memory of an earlier one, or into new memory. */
  take(spare: ArrayBuffer | undefined): Part;
}

/** A part of the output, in memory of its own, which changes hands with it. */
export type OutputPart = { readonly memory: ArrayBuffer; readonly sizeBytes: number };

export type StartThread<Setup, Part extends OutputPart, Found, Rest> = (
  setup: Setup,
  thread: Thread,
) => ThreadJob<Part, Found, Rest>;

/** A thread among those of one job. */
export type Thread = {
  /** Unique among them. */
  readonly index: number;
  /** It takes the place of the main thread, which keeps its own memory: the job has one thread more than was planned for. */
  readonly isExtra: boolean;
};

/** Bytes of the inputs that each thread has done, by its index: written by it, read by the main thread. */
export type SharedProgress = Float64Array;

/**
 * What the main thread and the worker of a job say to each other:
 *
 *   main -> worker   setup, tasks, tasks, … (the next ones before the last are done), finish;
 *                    written for each `part`, once it is, with its memory
 *   worker -> main   part, part, … of the first task that is not done; done for each `tasks`, or for some of them;
 *                    at last `finished`. `failed` at any time, and nothing after it
 *
 * A worker has only so much output on its way (ordered-output.ts): then it waits. So memory is bounded however long a task
 * is and however far its turn to be written.
 */
export type ToWorker<Setup> =
  | {
      readonly kind: "setup";
      readonly setup: Setup;
      readonly thread: Thread;
      readonly inputs: readonly Input[];
      readonly bytesDone: SharedProgress;
    }
  | { readonly kind: "tasks"; readonly tasks: readonly Task[] }
  | { readonly kind: "written"; readonly sizeBytes: number; readonly memory: ArrayBuffer }
  | { readonly kind: "finish" };

export type FromWorker<Part extends OutputPart, Found, Rest> =
  | { readonly kind: "part"; readonly part: Part }
  | {
      readonly kind: "done";
      /** What was found in each task, in their order. */
      readonly found: readonly Found[];
      /** The memory of chunks, to be used for others. */
      readonly emptied: readonly ArrayBuffer[];
      /** All of a message of tasks is done: it is time for the next one. */
      readonly wantsTasks: boolean;
    }
  | { readonly kind: "finished"; readonly rest: Rest }
  | { readonly kind: "failed"; readonly failure: Failure };
