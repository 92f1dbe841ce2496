import type { Input } from "../corpus/input.ts";
import { inputBytesOf, memoryOf, type Task } from "../corpus/task.ts";
import { nextTurn, runToEnd } from "../runtime/turns.ts";
import { describeFailure, reviveFailure, type Tell, Transferred } from "./job.ts";

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

/** What a worker begins with. */
export type TaskSetup<Setup> = {
  readonly setup: Setup;
  readonly thread: Thread;
  readonly inputs: readonly Input[];
  readonly bytesDone: SharedProgress;
};

/** What a worker tells of its tasks: output of the first one that is not done, and which ones are done. */
export type TaskNews<Part extends OutputPart, Found> =
  | { readonly kind: "part"; readonly part: Part }
  | {
      readonly kind: "done";
      /** What was found in each task, in their order. */
      readonly found: readonly Found[];
      /** The memory of chunks, to be used for others. */
      readonly emptied: readonly ArrayBuffer[];
    };

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

/**
 * The tasks of a worker: a job (job.ts). Tasks come before they are needed, so that there are always some at hand. A worker
 * has only so much output on its way (`Outbox`): then it waits. So memory is bounded however long a task is and however far
 * its turn to be written.
 */
export class TaskServer<Setup, Part extends OutputPart, Found, Rest> {
  private thread!: TaskThread<Part, Found, Rest>;
  private outbox: Outbox<Part> | undefined;
  /** What was found in tasks that are done, and their memory, if the main thread was not told yet. */
  private found: Found[] = [];
  private emptied: ArrayBuffer[] = [];

  constructor(
    private readonly start: StartThread<Setup, Part, Found, Rest>,
    private readonly tell: Tell<TaskNews<Part, Found>>,
  ) {}

  begin({ setup, thread, inputs, bytesDone }: TaskSetup<Setup>): void {
    const job = this.start(setup, thread);
    this.thread = new TaskThread(job, inputs, bytesDone, thread.index);
    if (job.output === undefined) return;
    this.outbox = new Outbox(job.output, (part) => {
      // It belongs to the first task of which the main thread does not know that it is done.
      if (this.found.length > 0) this.tellDone();
      this.tell({ kind: "part", part }, [part.memory]);
    });
  }

  /** A note: a part was written, and here is its memory. */
  written({ sizeBytes, memory }: { readonly sizeBytes: number; readonly memory: ArrayBuffer }): void {
    this.outbox!.written(sizeBytes, memory);
  }

  async take(tasks: readonly Task[]): Promise<void> {
    // Between two messages of tasks the event loop turns, and what was written comes back.
    await nextTurn();
    const { thread, outbox } = this;
    for (const task of tasks) {
      const work = thread.take(task);
      let step = work.next();
      for (; !step.done; step = work.next()) await outbox?.send();
      await outbox?.send();
      this.found.push(step.value);
      this.emptied.push(...memoryOf([task]));
    }
    this.tellDone();
  }

  private tellDone(): void {
    const { found, emptied } = this;
    this.found = [];
    this.emptied = [];
    this.tell({ kind: "done", found, emptied }, emptied);
  }

  /** What the thread has at the end. */
  finish(): Transferred<Rest> {
    const { job } = this.thread;
    job.close();
    if (job.finish !== undefined) runToEnd(job.finish(false));
    return new Transferred(job.rest, job.restMemory);
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
