import type { RangePlanOptions } from "../corpus/cut-into-ranges.ts";
import type { Input, Range } from "../corpus/input.ts";
import { ChunkBuffers, isEmpty, memoryOf, planTasks, type Task } from "../corpus/task.ts";
import { startWorker } from "../runtime/embedded.ts";
import { inTurns, nextTurn } from "../runtime/turns.ts";
import type { JobName, WorkerThread } from "../runtime/worker-jobs.ts";
import { type SharedTasks, type Sink, TaskOrder, TaskQueue, type Turn, WorkerTasks } from "./task-queue.ts";
import {
  Outbox,
  type OutputPart,
  type SharedProgress,
  type StartThread,
  TaskThread,
  type Thread,
} from "./task-thread.ts";

/** A job as the main thread sees it: which tasks there are, who does them, and who takes what they find. */
export type Job<Setup, Part extends OutputPart, Found, Rest> = {
  /** What its workers load (worker.ts), and are called in messages. */
  readonly name: JobName;
  /** What its workers do, for the main thread. */
  readonly start: StartThread<Setup, Part, Found, Rest>;
  /** What each thread begins with: plain data that can be posted. */
  readonly setupOf: (thread: Thread) => Setup;
  readonly sink: Sink<Part, Found>;

  readonly inputs: readonly Input[];
  /** What of the inputs is meant, in this order; all of it, if left out. */
  readonly ranges?: readonly Range[] | undefined;
  /** How the ranges are cut into tasks; not at all, if left out. */
  readonly cutting?: RangePlanOptions | undefined;
  /** Text of so many bytes is planned ahead of the threads. */
  readonly aheadBytes: number;

  readonly threadCount: number;
  /** The main thread is one of the threads. Without it, it only plans, reads streams and takes what is found. */
  readonly mainWorks: boolean;
  /** Tasks that would keep the main thread from serving signals for long. */
  readonly mayTakeLong: (task: Task) => boolean;
  /** The workers, if they were started ahead. */
  readonly workers?: StartedWorkers | undefined;
};

/** Workers that run before their tasks are known. Nobody notices meanwhile if one ends. */
export type StartedWorkers = { readonly workers: readonly WorkerThread[]; readonly terminate: () => void };

function startWorkers(name: JobName, workerCount: number): StartedWorkers {
  const workers = Array.from({ length: workerCount }, () => startWorker(name));
  const terminate = () => {
    for (const worker of workers) worker.terminate();
  };
  return { workers, terminate };
}

/** Workers for a job that has yet to be described; whoever starts them ends them, whatever happens. */
export const startJobWorkers = (name: JobName, threadCount: number, mainWorks: boolean) =>
  startWorkers(name, mainWorks ? threadCount - 1 : threadCount);

const reportIntervalMs = 50;
/** So much text takes a thread some 0.1 s, if it cannot be done in slices: one line, one page or one word. */
export const longTextBytes = 1 << 24;

/**
 * Does the tasks of a job: the main thread and the workers take one after the other, and the sink gets what they find in
 * the order of the tasks. When the main thread meets a task that may take long it stops working, so that it goes on serving
 * signals, and a worker takes its place. Returns what each thread that had a task has at the end, in no order.
 *
 * Lets the event loop turn, and calls `report` with the bytes of the inputs that are done, between slices of work in this
 * thread. Throws what a thread throws, or `report`; no worker is left running.
 */
export async function runTasks<Setup, Part extends OutputPart, Found, Rest>(
  job: Job<Setup, Part, Found, Rest>,
  report: (bytesDone: number) => void,
): Promise<Rest[]> {
  const running = new RunningJob(job, report);
  let fail: (error: unknown) => void;
  const failed = new Promise<never>((_, reject) => {
    fail = reject;
  });
  const ticker = setInterval(() => {
    try {
      running.report();
    } catch (error) {
      fail(error);
    }
  }, reportIntervalMs);
  const ran = running.run();
  // If `report` fails first, the failure of what it stops is no news.
  ran.catch(() => {});
  try {
    await Promise.race([ran, failed]);
  } finally {
    running.stop();
    clearInterval(ticker);
  }
  running.report();
  return running.rests;
}

type Written = (sizeBytes: number, memory: ArrayBuffer) => void;

class RunningJob<Setup, Part extends OutputPart, Found, Rest> implements SharedTasks<Part, Found> {
  readonly rests: Rest[] = [];
  private readonly workers: StartedWorkers;
  private substitute: StartedWorkers | undefined;
  readonly tasks: TaskQueue;
  readonly order: TaskOrder<Part, Found>;
  readonly buffers = new ChunkBuffers();
  /** A cell for each worker, for the main thread, and for the worker that may take its place. */
  private readonly bytesDone: SharedProgress;
  private readonly mainIndex: number;
  /** Something failed: no more is begun. */
  private isStopped = false;

  constructor(
    private readonly job: Job<Setup, Part, Found, Rest>,
    private readonly tell: (bytesDone: number) => void,
  ) {
    const { name, threadCount, mainWorks, inputs, cutting, ranges, aheadBytes, mayTakeLong, sink } = job;
    // Workers start while the rest is made ready.
    this.workers = job.workers ?? startJobWorkers(name, threadCount, mainWorks);
    this.mainIndex = this.workers.workers.length;
    this.bytesDone = new Float64Array(new SharedArrayBuffer(8 * (this.mainIndex + 2)));
    this.order = new TaskOrder(sink);
    this.tasks = new TaskQueue(planTasks(inputs, cutting, this.buffers, ranges), aheadBytes, {
      taker: this.mainIndex,
      leaves: mayTakeLong,
    });
  }

  readonly report = () => this.tell(this.bytesDone.reduce((sum, cell) => sum + cell, 0));

  async run(): Promise<void> {
    // To find the first cut takes 0.1 s where there are 100,000 special tokens, and so does posting them.
    await nextTurn();
    if (this.isStopped) return;
    // The workers have their tasks before this thread turns to its own.
    const serving = this.serve(this.workers, (index) => ({ index, isExtra: this.isExtra }));
    await Promise.all([serving, this.job.mainWorks ? this.workHere() : undefined]);
  }

  stop(): void {
    this.isStopped = true;
    this.workers.terminate();
    this.substitute?.terminate();
    this.tasks.close();
  }

  /** A single worker is one thread more than was planned for, because the main thread is there, too. */
  private get isExtra(): boolean {
    return this.job.threadCount === 1;
  }

  /** The main thread's share of the work, and what it leaves to another worker. */
  private async workHere(): Promise<void> {
    await this.workBeside();
    if (!this.tasks.hasLeft || this.isStopped) return;
    this.substitute = startWorkers(this.job.name, 1);
    await this.serve(this.substitute, () => ({ index: this.mainIndex + 1, isExtra: true }));
  }

  /** What a worker does, in this thread: messages and signals are served after each slice. */
  private async workBeside(): Promise<void> {
    const { job, tasks, order, buffers, mainIndex } = this;
    let next = await tasks.next(mainIndex);
    // Nothing is begun here for nothing: a thread has memory of its own.
    if (next.length === 0) return;
    const { setupOf, start, inputs } = job;
    const self = { index: mainIndex, isExtra: false };
    const threadJob = start(setupOf(self), self);
    const thread = new TaskThread(threadJob, inputs, this.bytesDone, mainIndex);
    try {
      let turn: Turn<Part, Found>;
      const outbox = threadJob.output && new Outbox(threadJob.output, (part) => order.take(turn, part));
      const written: Written = (sizeBytes, memory) => outbox?.written(sizeBytes, memory);
      for (; next.length > 0; next = await tasks.next(mainIndex)) {
        const turns = next.map((task) => order.add(task, written));
        for (const [i, task] of next.entries()) {
          turn = turns[i]!;
          const found = isEmpty(task) ? undefined : await this.takeTask(thread, task, outbox);
          if (this.isStopped) return;
          order.finish(turn, found);
          for (const memory of memoryOf([task])) buffers.give(memory);
        }
      }
      if (threadJob.finish !== undefined) await inTurns(threadJob.finish(tasks.hasLeft));
      this.rests.push(threadJob.rest);
    } finally {
      threadJob.close();
    }
  }

  /** Does a task in this thread; stops in the middle of it when the job is stopped. */
  private async takeTask(
    thread: TaskThread<Part, Found, Rest>,
    task: Task,
    outbox: Outbox<Part> | undefined,
  ): Promise<Found | undefined> {
    const work = thread.take(task);
    for (let step = work.next(); ; step = work.next()) {
      await outbox?.send();
      if (step.done) return step.value;
      this.report();
      await (this.job.sink.drained?.() ?? nextTurn());
      if (this.isStopped) return undefined;
    }
  }

  /** Gives workers tasks until there are no more, and takes what they find. */
  private async serve(
    { workers, terminate }: StartedWorkers,
    threadOf: (workerIndex: number) => Thread,
  ): Promise<void> {
    const { job, bytesDone, rests } = this;
    const { name, inputs, setupOf } = job;
    const running = workers.map((worker, i) => {
      const thread = threadOf(i);
      const setup = { setup: setupOf(thread), thread, inputs, bytesDone };
      const tasks = new WorkerTasks<Setup, Part, Found, Rest>(this, worker, `${name} worker ${i}`, setup);
      return tasks.run((rest) => rests.push(rest));
    });
    try {
      await Promise.all(running);
    } finally {
      terminate();
    }
  }
}
