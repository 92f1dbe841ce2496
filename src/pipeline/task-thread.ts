import type { Input } from "../corpus/input.ts";
import { inputBytesOf, memoryOf, type Task } from "../corpus/task.ts";
import { atOnce, nextTurn } from "../runtime/turns.ts";
import type { FromWorker, OutputPart, SharedProgress, StartThread, ThreadJob, ToWorker } from "./job.ts";
import { Outbox } from "./ordered-output.ts";
import { describeFailure, reviveFailure } from "./serve-workers.ts";

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
