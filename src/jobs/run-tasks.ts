import { type Input, type Range, type RangePlanOptions, tasks } from "#corpus";
import {
  type JobName,
  runSliced,
  runToEnd,
  scaled,
  startWorker,
  type WorkerThread,
  yieldToEventLoop,
} from "#runtime";
import * as jobs from "./job.ts";

/** A job as seen from the main thread: its tasks, the threads that do them, and the sink for their results. */
export type Job<Setup, Part extends OutputPart, Found, Rest, Common = never> = {
  /** The name by which workers load the job (src/main/worker.ts). Messages show it, too. */
  readonly name: JobName;
  /** Starts the job's work in the main thread, as workers start it in theirs. */
  readonly start: StartThread<Setup, Part, Found, Rest, Common>;
  /** Makes the initial data of each thread: plain data that can be posted. */
  readonly setupOf: (thread: Thread) => Setup;
  readonly sink: Sink<Part, Found>;

  readonly inputs: readonly Input[];
  /** The byte ranges to process, in this order; everything if left out. */
  readonly ranges?: readonly Range[] | undefined;
  /**
   * How ranges are split into tasks (`textCutting` of src/text/cutting.ts). If undefined, each range is one task, and
   * one thread gets all chunks of an input that is read in order. A Parquet file may be several tasks even then.
   */
  readonly cutting: RangePlanOptions | undefined;
  /** Tasks are planned ahead until they have this many bytes of text, or until there are `aheadCountMax` of them. */
  readonly aheadBytes: number;

  readonly threadCount: number;
  /** Whether the main thread does tasks, too. Otherwise it only plans, reads chunks and receives results. */
  readonly mainWorks: boolean;
  /** Whether a task may keep the main thread from handling signals for long. */
  readonly mayTakeLong: (task: tasks.Task) => boolean;
  /**
   * Makes the data that each thread needs to combine the results of all threads at the end (`ThreadJob.share`). If it
   * is left out or returns undefined, nothing is combined.
   */
  readonly commonOf?: (rests: readonly Rest[]) => Common | undefined;
  /**
   * The number of rounds of combining. Each round begins when all threads have finished the previous one. Defaults to
   * one.
   */
  readonly shareRounds?: number;
  /** The workers, if they were started earlier. */
  readonly workers?: StartedWorkers | undefined;
};

/** Workers, and a function that ends all of them. If a worker ends before `runTasks` uses it, nothing notices that. */
export type StartedWorkers = { readonly workers: readonly WorkerThread[]; readonly terminate: () => void };

/** Starts workers for a job. The caller must end them, also after an error. */
export function startWorkers(name: JobName, workerCount: number): StartedWorkers {
  const workers = Array.from({ length: workerCount }, () => startWorker(name));
  const terminate = () => {
    for (const worker of workers) worker.terminate();
  };
  return { workers, terminate };
}

const reportIntervalMs = 50;
/** A task that cannot be sliced (one line, one page or one word) takes about 0.1 s if it has this many bytes. */
export const longTextBytes = scaled(1 << 24, 256);

/**
 * Runs the tasks of a job on its threads, and passes the results to the sink in the order of the tasks. Returns the
 * final result of each thread that had a task, in no particular order; a worker whose tasks were all empty ranges has no
 * result. Throws the first error. No worker is left running.
 *
 * If the next task of the main thread may take long, the main thread takes no more tasks, so that it can handle
 * signals. A new worker replaces it. At intervals and between slices of the main thread's work, `report` is called with
 * the number of input bytes that are done.
 */
export async function runTasks<Setup, Part extends OutputPart, Found, Rest, Common = never>(
  job: Job<Setup, Part, Found, Rest, Common>,
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
  // If `report` throws, the run is stopped, and an error of the run itself is ignored from then on.
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

type OnWritten = (sizeBytes: number, memory: ArrayBuffer) => void;

class RunningJob<Setup, Part extends OutputPart, Found, Rest, Common> implements SharedTasks<Part, Found> {
  rests: Rest[] = [];
  /** The threads whose final results are in `rests`, in the same order. */
  private readonly sharers: Sharer<Rest, Common>[] = [];
  private readonly workers: StartedWorkers;
  private substitute: StartedWorkers | undefined;
  readonly tasks: TaskQueue;
  readonly order: TaskOrder<Part, Found>;
  readonly buffers = new tasks.ChunkBuffers();
  /**
   * The number of bytes done by each worker, by the main thread, and by the worker that may replace the main thread.
   */
  private readonly bytesDone: SharedProgress;
  private readonly mainIndex: number;
  /** Whether `stop` was called, so that no more work is begun. */
  private isStopped = false;

  constructor(
    private readonly job: Job<Setup, Part, Found, Rest, Common>,
    private readonly tell: (bytesDone: number) => void,
  ) {
    const { name, threadCount, mainWorks, inputs, cutting, ranges, aheadBytes, mayTakeLong, sink } = job;
    // The workers start while everything else is prepared.
    this.workers = job.workers ?? startWorkers(name, threadCount - (mainWorks ? 1 : 0));
    this.mainIndex = this.workers.workers.length;
    this.bytesDone = new Float64Array(new SharedArrayBuffer(8 * (this.mainIndex + 2)));
    this.order = new TaskOrder(sink);
    this.tasks = new TaskQueue(tasks.plan(inputs, cutting, this.buffers, ranges), aheadBytes, {
      taker: this.mainIndex,
      leaves: mayTakeLong,
    });
  }

  readonly report = () => this.tell(this.bytesDone.reduce((sum, cell) => sum + cell, 0));

  async run(): Promise<void> {
    // Yields, so that signals are handled: with 100,000 special tokens, preparing the tasks takes 0.1 s, and posting
    // the first ones takes 0.1 s, too.
    await yieldToEventLoop();
    if (this.isStopped) return;
    // The workers get their tasks before this thread begins its own.
    const serving = this.serve(this.workers, (index) => ({ index, isExtra: this.isExtra }));
    await Promise.all([serving, this.job.mainWorks ? this.workHere() : undefined]);
    await this.share();
  }

  /** Combines the results of the threads, if the job has `commonOf`. */
  private async share(): Promise<void> {
    if (this.isStopped || this.job.commonOf === undefined) return;
    const common = this.job.commonOf(this.rests);
    if (common === undefined) return;
    for (let round = 0; round < (this.job.shareRounds ?? 1); round++) {
      const own = round === 0 ? common : undefined;
      const areDone = await Promise.all(
        this.sharers.map((sharer, index) => sharer.share({ common: own, index, round })),
      );
      if (!areDone.every((isDone) => isDone)) return;
    }
    this.rests = await Promise.all(this.sharers.map((sharer) => sharer.endShare()));
  }

  private takeRest(rest: Rest, sharer: Sharer<Rest, Common>): void {
    this.rests.push(rest);
    this.sharers.push(sharer);
  }

  /**
   * Returns the main thread's `Sharer`. Its work yields before it begins, so that all workers have their requests by
   * then.
   */
  private sharerOf(job: ThreadJob<Part, Found, Rest, Common>): Sharer<Rest, Common> {
    const work = async <T>(some: Generator<undefined, T>): Promise<T> => {
      await yieldToEventLoop();
      return runSliced(some, async () => {
        await yieldToEventLoop();
        if (this.isStopped) some.return(undefined as T);
      });
    };
    return {
      share: (share) => work(job.share!(share)),
      endShare: () => work(job.endShare!()).then(() => job.rest),
    };
  }

  stop(): void {
    this.isStopped = true;
    this.workers.terminate();
    this.substitute?.terminate();
    this.tasks.close();
  }

  /**
   * The value of `Thread.isExtra` for the workers. If the only planned thread is a worker, there is one thread more
   * than planned: the main thread.
   */
  private get isExtra(): boolean {
    return this.job.threadCount === 1;
  }

  /**
   * Does tasks in the main thread. If the main thread leaves a task to other threads, starts a worker that replaces it.
   */
  private async workHere(): Promise<void> {
    await this.workOnTasks();
    if (!this.tasks.hasLeft || this.isStopped) return;
    this.substitute = startWorkers(this.job.name, 1);
    await this.serve(this.substitute, () => ({ index: this.mainIndex + 1, isExtra: true }));
  }

  /** Does tasks in this thread, as a worker does. Messages and signals are handled after each slice. */
  private async workOnTasks(): Promise<void> {
    const { job, tasks: queue, order, buffers, mainIndex } = this;
    let next = await queue.next(mainIndex);
    // Without a task, the job is not started in this thread, so it allocates no memory.
    if (next.length === 0) return;
    const { setupOf, start, inputs } = job;
    const self = { index: mainIndex, isExtra: false };
    const threadJob = start(setupOf(self), self);
    const thread = new TaskThread(threadJob, inputs, this.bytesDone, mainIndex);
    try {
      let turn: Turn<Part, Found>;
      const outbox = threadJob.output && new Outbox(threadJob.output, (part) => order.take(turn, part));
      const written: OnWritten = (sizeBytes, memory) => outbox?.written(sizeBytes, memory);
      for (; next.length > 0; next = await queue.next(mainIndex)) {
        const turns = next.map((task) => order.add(task, written));
        for (const [i, task] of next.entries()) {
          turn = turns[i]!;
          const found = tasks.isEmpty(task) ? undefined : await this.takeTask(thread, task, outbox);
          if (this.isStopped) return;
          order.finish(turn, found);
          for (const memory of tasks.memoryOf([task])) buffers.give(memory);
        }
      }
      if (threadJob.finish !== undefined) await runSliced(threadJob.finish(queue.hasLeft));
      this.takeRest(threadJob.rest, this.sharerOf(threadJob));
    } finally {
      threadJob.close();
    }
  }

  /** Does a task in this thread. Stops in the middle of it if the job is stopped. */
  private async takeTask(
    thread: TaskThread<Part, Found, Rest>,
    task: tasks.Task,
    outbox: Outbox<Part> | undefined,
  ): Promise<Found | undefined> {
    const work = thread.take(task);
    for (let step = work.next(); ; step = work.next()) {
      await outbox?.send();
      if (step.done) return step.value;
      this.report();
      await (this.job.sink.drain?.() ?? yieldToEventLoop());
      if (this.isStopped) return undefined;
    }
  }

  /** Sends tasks to workers until there are no more, and receives their results. */
  private async serve({ workers }: StartedWorkers, threadOf: (workerIndex: number) => Thread): Promise<void> {
    const { job, bytesDone } = this;
    const { name, inputs, setupOf } = job;
    const running = workers.map((worker, i) => {
      const thread = threadOf(i);
      const setup = { setup: setupOf(thread), thread, inputs, bytesDone };
      const workerTasks = new WorkerTasks<Setup, Part, Found, Rest, Common>(
        this,
        worker,
        `${name} worker ${i}`,
        setup,
      );
      return workerTasks.run((rest) => this.takeRest(rest, workerTasks));
    });
    await Promise.all(running);
  }
}

/**
 * Small tasks are sent in batches of up to this much text, because a message costs as much as counting some kilobytes.
 */
const batchBytes = scaled(1 << 18, 256);
/** The maximum number of tasks planned ahead. Tasks may have no text, so `aheadBytes` alone would not limit them. */
const aheadCountMax = scaled(1000, 2);

/** The number of a taker, which is a thread that takes tasks, and whether it leaves a task to the other takers. */
export type PickyTaker = { readonly taker: number; readonly leaves: (task: tasks.Task) => boolean };

/** Hands out tasks in order, each to one of several takers, and plans some ahead. */
export class TaskQueue {
  private readonly asks: Ask[] = [];
  private readonly ready: tasks.Task[] = [];
  private readyBytes = 0;
  private isFilling = false;
  private end: { readonly error?: unknown } | undefined;
  /** The taker that must get the next task, because it got the previous chunk; -1 if any taker may get the task. */
  private holder = -1;

  /**
   * Whether the picky taker has left a task to the others. It got an empty list instead of that task. If it asks again,
   * it gets tasks like any other taker.
   */
  hasLeft = false;

  /** @param aheadBytes tasks are planned ahead up to this many bytes of text, but at most `aheadCountMax` of them */
  constructor(
    private readonly tasks: AsyncGenerator<tasks.Task, void>,
    private readonly aheadBytes: number,
    private picky?: PickyTaker,
  ) {
    void this.fill();
  }

  /**
   * Returns the next tasks for a taker, or an empty list if there are no more, or if the taker leaves the next one.
   * Takers that wait at the same time resume in the order of their tasks.
   */
  next(taker: number): Promise<tasks.Task[]> {
    const asked = new Promise<tasks.Task[]>((resolve, reject) => this.asks.push({ taker, resolve, reject }));
    // Deferred until the taker awaits `asked`. If tasks were handed out now, another taker that already waits might get
    // later tasks, but resume before this one.
    queueMicrotask(() => {
      this.serve();
      void this.fill();
    });
    return asked;
  }

  /** Stops planning tasks, and closes open files. */
  close(): void {
    this.end ??= {};
    this.tasks.return().catch(() => {});
  }

  private async fill(): Promise<void> {
    if (this.isFilling) return;
    this.isFilling = true;
    while (this.end === undefined && this.readyBytes < this.aheadBytes && this.ready.length < aheadCountMax) {
      try {
        const { value: task } = await this.tasks.next();
        if (task) this.ready.push(task);
        else this.end ??= {};
        this.readyBytes += task ? tasks.textBytesOf(task) : 0;
      } catch (error) {
        this.end ??= { error };
      }
      this.serve();
    }
    this.isFilling = false;
  }

  private serve(): void {
    const { asks, ready, end } = this;
    while (ready.length > 0) {
      const index = this.holder < 0 ? 0 : asks.findIndex(({ taker }) => taker === this.holder);
      const ask = asks[index];
      if (ask === undefined) return;
      asks.splice(index, 1);
      const { picky } = this;
      if (picky?.taker === ask.taker && picky.leaves(ready[0]!)) {
        this.picky = undefined;
        this.hasLeft = true;
        ask.resolve([]);
      } else ask.resolve(this.takeBatch(ask.taker));
    }
    if (end === undefined) return;
    for (const ask of asks.splice(0)) {
      if ("error" in end) ask.reject(end.error);
      else ask.resolve([]);
    }
  }

  private takeBatch(taker: number): tasks.Task[] {
    let count = 0;
    let sizeBytes = 0;
    for (const task of this.ready) {
      const isFull = sizeBytes + tasks.textBytesOf(task) > batchBytes || this.picky?.leaves(task);
      if (count > 0 && isFull) break;
      count++;
      sizeBytes += tasks.textBytesOf(task);
      this.holder = task.kind === "chunk" && task.continues ? taker : -1;
    }
    this.readyBytes -= sizeBytes;
    return this.ready.splice(0, count);
  }
}

type Ask = {
  readonly taker: number;
  readonly resolve: (tasks: tasks.Task[]) => void;
  readonly reject: (error: unknown) => void;
};

/** Receives the output and the results of tasks, in the order of the tasks. */
export type Sink<Part extends OutputPart, Found> = {
  /**
   * Receives the next output of the first task that has not ended (`endTask`). The output's memory goes back to the
   * thread that made the output once this returns, or once the promise of `drain` resolves.
   */
  write?(part: Part): void;
  /** Called after each task. `found` is undefined if there was nothing to do. */
  endTask(task: tasks.Task, found: Found | undefined): void;
  /**
   * Returns a promise that resolves once the sink can take more. Until it resolves, the memory of what was written does
   * not go back to the threads. The promise does not reject: the next `write` throws any error. If `drain` returns
   * undefined or is left out, the sink can take more now.
   */
  drain?(): Promise<void> | undefined;
};

/** The position of one task in the order, and its results so far. */
export type Turn<Part, Found> = {
  readonly task: tasks.Task;
  readonly parts: Part[];
  /** Called with the number of bytes that were written; returns their memory to the thread that sent them. */
  readonly written: (sizeBytes: number, memory: ArrayBuffer) => void;
  isFinished: boolean;
  found?: Found | undefined;
};

/** Passes the results of threads to the sink, in the order in which tasks were handed out. Early results wait. */
export class TaskOrder<Part extends OutputPart, Found> {
  private readonly turns: Turn<Part, Found>[] = [];

  constructor(private readonly sink: Sink<Part, Found>) {}

  add(task: tasks.Task, written: Turn<Part, Found>["written"]): Turn<Part, Found> {
    const turn: Turn<Part, Found> = { task, parts: [], written, isFinished: false };
    this.turns.push(turn);
    return turn;
  }

  take(turn: Turn<Part, Found>, part: Part): void {
    turn.parts.push(part);
    this.write();
  }

  finish(turn: Turn<Part, Found>, found: Found | undefined): void {
    turn.isFinished = true;
    turn.found = found;
    this.write();
  }

  private write(): void {
    const { sink } = this;
    for (let turn = this.turns[0]; turn !== undefined; turn = this.turns[0]) {
      const { written } = turn;
      for (const part of turn.parts.splice(0)) {
        const { sizeBytes, memory } = part;
        sink.write?.(part);
        const drained = sink.drain?.();
        if (drained === undefined) written(sizeBytes, memory);
        else void drained.then(() => written(sizeBytes, memory));
      }
      if (!turn.isFinished) return;
      this.turns.shift();
      sink.endTask(turn.task, turn.found);
    }
  }
}

/** The objects of the main thread that serve all threads of a job. */
export type SharedTasks<Part extends OutputPart, Found> = {
  readonly tasks: TaskQueue;
  readonly order: TaskOrder<Part, Found>;
  readonly buffers: tasks.ChunkBuffers;
};

/** The main thread's side of one worker: sends tasks to the worker, and passes on its results. */
export class WorkerTasks<Setup, Part extends OutputPart, Found, Rest, Common = never>
  implements Sharer<Rest, Common>
{
  /** The tasks that were sent to the worker and are not done, in order. */
  private readonly turns: Turn<Part, Found>[] = [];
  private readonly thread: jobs.Thread<TaskServer<Setup, Part, Found, Rest, Common>, TaskNews<Part, Found>>;
  private hasBegun = false;
  private hasAll = false;

  constructor(
    private readonly shared: SharedTasks<Part, Found>,
    worker: WorkerThread,
    /** Names the worker in error messages. */
    name: string,
    private readonly setup: TaskSetup<Setup>,
  ) {
    this.thread = new jobs.Thread(name, worker, (news) => this.take(news));
  }

  /** Sends tasks to the worker until there are no more. Passes on the worker's final result, if it had work. */
  async run(takeRest: (rest: Rest) => void): Promise<void> {
    const { thread } = this;
    // Not awaited, so that the first tasks are posted before the worker has begun.
    void thread.ask("begin", this.setup);
    // Two messages of tasks are under way, so that the next one is already queued when the worker has done the first.
    const first = await this.sendNext();
    await Promise.all([
      this.continueWith(first),
      this.sendNext().then((second) => this.continueWith(second)),
    ]);
    if (this.hasBegun) takeRest(await thread.ask("finish", undefined));
  }

  share(share: Share<Common>): Promise<boolean> {
    return this.thread.ask("share", share);
  }

  endShare(): Promise<Rest> {
    return this.thread.ask("endShare", undefined);
  }

  private async continueWith(sent: Sent | null): Promise<void> {
    for (let next = sent; next !== null; next = await this.sendNext()) await next.done;
  }

  /** Sends the next tasks. Returns null if there are no more. */
  private async sendNext(): Promise<Sent | null> {
    while (!this.hasAll) {
      const next = await this.shared.tasks.next(this.setup.thread.index);
      if (this.hasAll) return null;
      this.hasAll = next.length === 0;
      const given = next.filter((task) => this.addTurn(task));
      if (given.length === 0) continue;
      this.hasBegun = true;
      return { done: this.thread.ask("take", given, tasks.memoryOf(given)) };
    }
    return null;
  }

  private take(news: TaskNews<Part, Found>): void {
    const { order, buffers } = this.shared;
    if (news.kind === "part") {
      order.take(this.turns[0]!, news.part);
      return;
    }
    for (const found of news.found) order.finish(this.turns.shift()!, found);
    for (const memory of news.emptied) buffers.give(memory);
  }

  /** Adds a task to the order. Returns false if the task has nothing to do. */
  private addTurn(task: tasks.Task): boolean {
    const { order } = this.shared;
    const turn = order.add(task, (sizeBytes, memory) =>
      this.thread.note("written", { sizeBytes, memory }, [memory]),
    );
    if (tasks.isEmpty(task)) order.finish(turn, undefined);
    else this.turns.push(turn);
    return !tasks.isEmpty(task);
  }
}

/** A message of tasks on its way to a worker; `done` settles when all of them are done. */
type Sent = { readonly done: Promise<void> };

/**
 * One thread's work for a job, in the main thread or in a worker: takes tasks, one after the other. `Found` is the
 * result of a task, `Rest` the final result. The module of a job has a function `start…`, which creates a `ThreadJob`
 * from plain data, the setup.
 */
export interface ThreadJob<Part extends OutputPart, Found, Rest, Common = never> {
  /** Does a task. Yields after each slice the number of bytes of the task's text that are done. */
  take(task: tasks.Task): Generator<number, Found>;
  /**
   * Does the remaining work, when no more tasks will come. With `leavesMemory`, the thread should free memory, because
   * a worker continues in its place.
   */
  finish?(leavesMemory: boolean): Generator<undefined, void>;
  /** The thread's final result. */
  readonly rest: Rest;
  /**
   * Does this thread's share of one round of combining results, after all threads have done their tasks. In the first
   * round, it may return false, for example for lack of memory. Then nothing is combined, and each thread's `rest`
   * stays as it is.
   */
  share?(share: Share<Common>): Generator<undefined, boolean>;
  /** Called when all threads have done their shares. Afterwards `rest` is this thread's part of the combined result. */
  endShare?(): Generator<undefined, void>;
  /** The memory in `rest` that is transferred instead of copied. */
  readonly restMemory?: ArrayBuffer[];
  /** The current byte offset in the input, which says where an error occurred. */
  readonly offsetByte: number;
  /** Collects the output of tasks; undefined if tasks have no output. */
  readonly output?: PartMaker<Part>;
  close(): void;
}

/** Collects the output of a task while the task runs. The caller takes it part by part. */
export interface PartMaker<Part extends OutputPart> {
  readonly isEmpty: boolean;
  /**
   * Returns what was collected. The next part is put into `spare`, the memory of an earlier part, or into new memory.
   */
  take(spare: ArrayBuffer | undefined): Part;
}

/** A part of the output, whose memory is transferred with it. */
export type OutputPart = { readonly memory: ArrayBuffer; readonly sizeBytes: number };

/** The request for a thread's share of a round of combining results. */
export type Share<Common> = {
  /** The data of `Job.commonOf`, in the first round only. */
  readonly common: Common | undefined;
  /** The thread's position among the threads that share. */
  readonly index: number;
  /** The number of the round, from 0. */
  readonly round: number;
};

/** A thread that combines its results with those of the others, as seen from the main thread. See `ThreadJob`. */
type Sharer<Rest, Common> = {
  share(share: Share<Common>): Promise<boolean>;
  endShare(): Promise<Rest>;
};

export type StartThread<Setup, Part extends OutputPart, Found, Rest, Common = never> = (
  setup: Setup,
  thread: Thread,
) => ThreadJob<Part, Found, Rest, Common>;

/** A thread of a job. */
export type Thread = {
  /** A number that no other thread of the job has. */
  readonly index: number;
  /**
   * Whether the job has one thread more than planned. There are two cases: this thread replaces the main thread, which
   * keeps its memory; or it is the only worker, and the main thread does no tasks.
   */
  readonly isExtra: boolean;
};

/**
 * How many bytes of the inputs each thread has done, by thread index. Written by the threads, read by the main thread.
 */
export type SharedProgress = Float64Array;

/** The initial data of a worker. */
export type TaskSetup<Setup> = {
  readonly setup: Setup;
  readonly thread: Thread;
  readonly inputs: readonly Input[];
  readonly bytesDone: SharedProgress;
};

/**
 * A worker's report on its tasks: output of the first task that is not done, or the results of the tasks that are done.
 */
export type TaskNews<Part extends OutputPart, Found> =
  | { readonly kind: "part"; readonly part: Part }
  | {
      readonly kind: "done";
      /** The result of each task, in order. */
      readonly found: readonly Found[];
      /** The memory of chunks, to be reused. */
      readonly emptied: readonly ArrayBuffer[];
    };

/**
 * One thread of a job at work. Records its progress. If an error is a bug, adds to the error the place in the text
 * where it occurred.
 */
export class TaskThread<Part extends OutputPart, Found, Rest, Common = never> {
  constructor(
    readonly job: ThreadJob<Part, Found, Rest, Common>,
    private readonly inputs: readonly Input[],
    private readonly bytesDone: SharedProgress,
    private readonly index: number,
  ) {}

  /** Does a task. Yields after each slice of work. */
  *take(task: tasks.Task): Generator<undefined, Found> {
    const { job, bytesDone, index } = this;
    const bytesBefore = bytesDone[index]!;
    try {
      const work = job.take(task);
      let step = work.next();
      for (; !step.done; step = work.next()) {
        bytesDone[index] = bytesBefore + tasks.inputBytesOf(task, step.value);
        yield;
      }
      bytesDone[index] = bytesBefore + tasks.inputBytesOf(task);
      return step.value;
    } catch (error) {
      const place = ` at byte ${job.offsetByte} of "${this.inputs[task.inputIndex]!.path}"`;
      throw jobs.reviveFailure(jobs.describeFailure(error, place));
    }
  }
}

/**
 * Receives the main thread's messages in a worker, through `serve` of job.ts. The next tasks arrive early, so that the
 * worker need not wait for them. A worker with too much unwritten output waits (`Outbox`), so memory is bounded.
 */
export class TaskServer<Setup, Part extends OutputPart, Found, Rest, Common = never> {
  private thread!: TaskThread<Part, Found, Rest, Common>;
  private outbox: Outbox<Part> | undefined;
  /** The results of finished tasks that were not yet reported to the main thread. */
  private found: Found[] = [];
  /** The memory of the chunks of the tasks in `found`. */
  private emptied: ArrayBuffer[] = [];

  constructor(
    private readonly start: StartThread<Setup, Part, Found, Rest, Common>,
    private readonly tell: jobs.Tell<TaskNews<Part, Found>>,
  ) {}

  begin({ setup, thread, inputs, bytesDone }: TaskSetup<Setup>): void {
    const job = this.start(setup, thread);
    this.thread = new TaskThread(job, inputs, bytesDone, thread.index);
    if (job.output === undefined) return;
    this.outbox = new Outbox(job.output, (part) => {
      // Reports finished tasks first, because the main thread assigns a part to the first task that was not reported as
      // finished.
      if (this.found.length > 0) this.tellDone();
      this.tell({ kind: "part", part }, [part.memory]);
    });
  }

  /** Receives a note that a part was written, and takes back its memory. */
  written({ sizeBytes, memory }: { readonly sizeBytes: number; readonly memory: ArrayBuffer }): void {
    this.outbox!.written(sizeBytes, memory);
  }

  async take(received: readonly tasks.Task[]): Promise<void> {
    // Yields to the event loop between two messages of tasks, to receive returned memory.
    await yieldToEventLoop();
    const { thread, outbox } = this;
    for (const task of received) {
      const work = thread.take(task);
      let step = work.next();
      for (; !step.done; step = work.next()) await outbox?.send();
      await outbox?.send();
      this.found.push(step.value);
      this.emptied.push(...tasks.memoryOf([task]));
    }
    this.tellDone();
  }

  private tellDone(): void {
    const { found, emptied } = this;
    this.found = [];
    this.emptied = [];
    this.tell({ kind: "done", found, emptied }, emptied);
  }

  /** Does the job's remaining work. Returns the thread's final result. */
  finish(): jobs.Transferred<Rest> {
    const { job } = this.thread;
    job.close();
    if (job.finish !== undefined) runToEnd(job.finish(false));
    return new jobs.Transferred(job.rest, job.restMemory);
  }

  share(share: Share<Common>): Generator<undefined, boolean> {
    return this.thread.job.share!(share);
  }

  endShare(): jobs.Transferred<Rest> {
    const { job } = this.thread;
    runToEnd(job.endShare!());
    return new jobs.Transferred(job.rest, job.restMemory);
  }
}

/** With this many bytes of unwritten output, a thread waits before it sends more. */
const unwrittenBytesMax = scaled(1 << 23, 1 << 10);

/**
 * The output of one thread, until it is written. The thread waits while too much output is unwritten. The memory that
 * was returned last is reused first, because it is still in the processor's cache. New memory would be expensive.
 */
export class Outbox<Part extends OutputPart> {
  private unwrittenBytes = 0;
  private readonly spares: ArrayBuffer[] = [];
  private resume: (() => void) | undefined;

  constructor(
    private readonly output: PartMaker<Part>,
    private readonly post: (part: Part) => void,
  ) {}

  /** Sends the collected output, if there is any, once less than `unwrittenBytesMax` is unwritten. */
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

  /** Called when `sizeBytes` bytes were written; takes back their memory. */
  written(sizeBytes: number, memory: ArrayBuffer): void {
    this.unwrittenBytes -= sizeBytes;
    this.spares.push(memory);
    this.resume?.();
  }
}
