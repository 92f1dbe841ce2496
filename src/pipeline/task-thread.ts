import type { Input } from "../corpus/input.ts";
import { inputBytesOf, memoryOf, type Task } from "../corpus/task.ts";
import { atOnce, nextTurn } from "../runtime/turns.ts";
import { describeFailure, type Failure, reviveFailure } from "./job.ts";

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
 * A worker has only so much output on its way (`Outbox`): then it waits. So memory is bounded however long a task
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

/** One thread of a job at work: keeps its progress, and says where an error came from. */
export class TaskThread<Part extends OutputPart, Found, Rest> {
  constructor(
    readonly job: ThreadJob<Part, Found, Rest>,
    private readonly inputs: readonly Input[],
    private readonly bytesDone: SharedProgress,
    private readonly index: number,
  ) {}

  /** Does a task; yields after each slice of work. */
  *take(task: Task): Generator<undefined, Found> {
    const { job, bytesDone, index } = this;
    const bytesBefore = bytesDone[index]!;
    try {
      const work = job.take(task);
      let step = work.next();
      for (; !step.done; step = work.next()) {
        bytesDone[index] = bytesBefore + inputBytesOf(task, step.value);
        yield;
      }
      bytesDone[index] = bytesBefore + inputBytesOf(task);
      return step.value;
    } catch (error) {
      const place = ` at byte ${job.offsetByte} of "${this.inputs[task.inputIndex]!.path}"`;
      throw reviveFailure(describeFailure(error, place));
    }
  }
}

type Post<Part extends OutputPart, Found, Rest> = (
  message: FromWorker<Part, Found, Rest>,
  transfer?: ArrayBuffer[],
) => void;

/**
 * What a worker does with the messages of the main thread. Tasks come before they are needed, so that there is always one
 * at hand; between two messages of tasks the event loop turns, and what was written comes back.
 */
export function serveTasks<Setup, Part extends OutputPart, Found, Rest>(
  start: StartThread<Setup, Part, Found, Rest>,
  post: Post<Part, Found, Rest>,
): (message: ToWorker<Setup>) => void {
  let server: TaskServer<Part, Found, Rest>;
  const fail = (error: unknown) => post({ kind: "failed", failure: describeFailure(error, "") });
  return (message) => {
    switch (message.kind) {
      case "setup":
        try {
          const { setup, thread, inputs, bytesDone } = message;
          const job = start(setup, thread);
          server = new TaskServer(new TaskThread(job, inputs, bytesDone, thread.index), post);
        } catch (error) {
          fail(error);
        }
        return;
      case "written":
        return server.written(message.sizeBytes, message.memory);
      case "tasks":
        return void server.take(message.tasks).catch(fail);
      case "finish":
        return void server.take("finish").catch(fail);
    }
  };
}

/** The tasks of a worker. */
class TaskServer<Part extends OutputPart, Found, Rest> {
  private readonly outbox: Outbox<Part> | undefined;
  /** What is at work, and what comes after it. */
  private readonly waiting: (readonly Task[] | "finish")[] = [];
  /** What was found in tasks that are done, and their memory, if the main thread was not told yet. */
  private found: Found[] = [];
  private emptied: ArrayBuffer[] = [];

  constructor(
    private readonly thread: TaskThread<Part, Found, Rest>,
    private readonly post: Post<Part, Found, Rest>,
  ) {
    const { output } = thread.job;
    if (output === undefined) return;
    this.outbox = new Outbox(output, (part) => {
      // It belongs to the first task of which the main thread does not know that it is done.
      if (this.found.length > 0) this.tell(false);
      post({ kind: "part", part }, [part.memory]);
    });
  }

  written(sizeBytes: number, memory: ArrayBuffer): void {
    this.outbox!.written(sizeBytes, memory);
  }

  /** Takes tasks, and does them if none are at work. */
  async take(next: readonly Task[] | "finish"): Promise<void> {
    const { waiting } = this;
    waiting.push(next);
    if (waiting.length > 1) return;
    for (let first = waiting[0]; first !== undefined; first = waiting[0]) {
      if (first === "finish") return this.finish();
      await this.work(first);
      await nextTurn();
      waiting.shift();
    }
  }

  private async work(tasks: readonly Task[]): Promise<void> {
    const { thread, outbox } = this;
    for (const task of tasks) {
      const work = thread.take(task);
      let step = work.next();
      for (; !step.done; step = work.next()) await outbox?.send();
      await outbox?.send();
      this.found.push(step.value);
      this.emptied.push(...memoryOf([task]));
    }
    this.tell(true);
  }

  private tell(wantsTasks: boolean): void {
    const { found, emptied } = this;
    this.found = [];
    this.emptied = [];
    this.post({ kind: "done", found, emptied, wantsTasks }, emptied);
  }

  private finish(): void {
    const { job } = this.thread;
    job.close();
    if (job.finish !== undefined) atOnce(job.finish(false));
    this.post({ kind: "finished", rest: job.rest }, job.restMemory);
  }
}

/** Output of one thread that may be on its way. */
const unwrittenBytesMax = 1 << 23;

/**
 * The output of one thread on its way to be written: its turn may be long in coming, and the thread waits while too much
 * is. The memory of what was written comes back and is used again, the last first: it is still in the processor's cache,
 * and new memory costs.
 */
export class Outbox<Part extends OutputPart> {
  private unwrittenBytes = 0;
  private readonly spares: ArrayBuffer[] = [];
  private resume: (() => void) | undefined;

  constructor(
    private readonly output: PartMaker<Part>,
    private readonly post: (part: Part) => void,
  ) {}

  /** Sends what was gathered, if anything, once there is room for it. */
  async send(): Promise<void> {
    if (this.output.isEmpty) return;
    while (this.unwrittenBytes >= unwrittenBytesMax) {
      await new Promise<void>((resolve) => {
        this.resume = resolve;
      });
    }
    const part = this.output.take(this.spares.pop());
    this.unwrittenBytes += part.sizeBytes;
    this.post(part);
  }

  /** So much was written: here is its memory. */
  written(sizeBytes: number, memory: ArrayBuffer): void {
    this.unwrittenBytes -= sizeBytes;
    this.spares.push(memory);
    this.resume?.();
  }
}
