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

/** A job as seen from the main thread. */
export type Job<Setup, Part extends OutputPart, Found, Rest, Common = never> = {
  /** The name by which workers load the job (src/main/worker.ts), and in messages. */
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
   * How ranges are split into tasks (`textCutting`). undefined: a range is one task, except for Parquet, and one thread
   * gets all chunks of an input that is read in order.
   */
  readonly cutting: RangePlanOptions | undefined;
  /** Tasks are planned ahead up to this many bytes of text. */
  readonly aheadBytes: number;

  readonly threadCount: number;
  /** Whether the main thread does tasks, too. */
  readonly mainWorks: boolean;
  /** Whether a task may keep the main thread from handling signals for long. */
  readonly mayTakeLong: (task: tasks.Task) => boolean;
  /** Makes the data for combining the results of threads (`ThreadJob.share`). Without it, nothing is combined. */
  readonly commonOf?: (rests: readonly Rest[]) => Common | undefined;
  /** The number of rounds of combining. A round begins when the previous one is finished. */
  readonly shareRounds?: number;
  /** The workers, if they were started earlier. */
  readonly workers?: StartedWorkers | undefined;
};

/** Workers, and a function that ends them. A worker that ends before it gets a job is not noticed. */
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
/** One line, page or word of this many bytes takes about 0.1 s, and cannot be sliced. */
export const longTextBytes = scaled(1 << 24, 256);

/**
 * Runs the tasks of a job. The sink gets results in the order of the tasks. The returned results of threads are in no
 * particular order.
 *
 * The main thread leaves a task that may take long to a new worker, so that it can handle signals.
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
  // If `report` fails first, the error of the run itself is ignored.
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
  /** The bytes done by the workers, the main thread, and the worker that may replace it. */
  private readonly bytesDone: SharedProgress;
  private readonly mainIndex: number;
  /** Set by `stop`. No more work is begun. */
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
    // Signals are handled here, because preparing and posting many special tokens may take 0.2 s.
    await yieldToEventLoop();
    if (this.isStopped) return;
    // The workers get their tasks before this thread begins its own.
    const serving = this.serve(this.workers, (index) => ({ index, isExtra: this.isExtra }));
    await Promise.all([serving, this.job.mainWorks ? this.workHere() : undefined]);
    await this.share();
  }

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

  /** Yields before it begins, so that the workers have their requests by then. */
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

  /** `Thread.isExtra` of the workers. */
  private get isExtra(): boolean {
    return this.job.threadCount === 1;
  }

  /** Does tasks in the main thread, and starts a worker for one that the main thread leaves. */
  private async workHere(): Promise<void> {
    await this.workOnTasks();
    if (!this.tasks.hasLeft || this.isStopped) return;
    this.substitute = startWorkers(this.job.name, 1);
    await this.serve(this.substitute, () => ({ index: this.mainIndex + 1, isExtra: true }));
  }

  /** Does tasks in this thread. Messages and signals are handled after a slice. */
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

/** Small tasks are sent in batches, because a message costs as much as counting some kilobytes. */
const batchBytes = scaled(1 << 18, 256);
/** Tasks may have no text, so `aheadBytes` alone would not limit them. */
const aheadCountMax = scaled(1000, 2);

/** A taker, and the tasks that it leaves to other takers. */
export type PickyTaker = { readonly taker: number; readonly leaves: (task: tasks.Task) => boolean };

/** Hands out tasks in order, and plans some ahead. */
export class TaskQueue {
  private readonly asks: Ask[] = [];
  private readonly ready: tasks.Task[] = [];
  private readyBytes = 0;
  private isFilling = false;
  private end: { readonly error?: unknown } | undefined;
  /** The taker that got the chunk before, and must get the next one; -1 if there is none. */
  private holder = -1;

  /** Whether the picky taker has left a task. From then on it gets tasks like any other taker. */
  hasLeft = false;

  /** @param aheadBytes tasks are planned ahead up to this many bytes of text */
  constructor(
    private readonly tasks: AsyncGenerator<tasks.Task, void>,
    private readonly aheadBytes: number,
    private picky?: PickyTaker,
  ) {
    void this.fill();
  }

  /**
   * Returns the next tasks; none if the taker leaves the next one. Waiting takers resume in the order of their tasks.
   */
  next(taker: number): Promise<tasks.Task[]> {
    const asked = new Promise<tasks.Task[]>((resolve, reject) => this.asks.push({ taker, resolve, reject }));
    // Deferred until the taker awaits `asked`. Otherwise a taker that has waited longer could resume first.
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
   * Receives output of the first task that has not ended. Its memory returns to the thread after this, or after
   * `drain`.
   */
  write?(part: Part): void;
  /** Called after each task. `found` is undefined if there was nothing to do. */
  endTask(task: tasks.Task, found: Found | undefined): void;
  /** Returns a promise if the sink cannot take more yet. It does not reject: the next `write` throws. */
  drain?(): Promise<void> | undefined;
};

/** The position of one task in the order, and its results so far. */
export type Turn<Part, Found> = {
  readonly task: tasks.Task;
  readonly parts: Part[];
  /** Returns the memory of written output to the thread. */
  readonly written: (sizeBytes: number, memory: ArrayBuffer) => void;
  isFinished: boolean;
  found?: Found | undefined;
};

/** Passes results to the sink, in the order in which tasks were handed out. */
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

/** The main thread's side of one worker. */
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

  /** Sends tasks to the worker. Passes on its final result, if it had a task. */
  async run(takeRest: (rest: Rest) => void): Promise<void> {
    const { thread } = this;
    // Not awaited, so that the first tasks are posted before the worker has begun.
    void thread.ask("begin", this.setup);
    // Two messages are under way, so that the worker need not wait for the next one.
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

  /** Sends the next tasks; null if there are no more. */
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

/** One thread's work for a job. `Found` is the result of a task, `Rest` the final result. */
export interface ThreadJob<Part extends OutputPart, Found, Rest, Common = never> {
  /** Does a task. Yields the number of bytes of text done so far, after each slice. */
  take(task: tasks.Task): Generator<number, Found>;
  /** Does the remaining work after the last task. `leavesMemory`: a worker continues, so memory should be freed. */
  finish?(leavesMemory: boolean): Generator<undefined, void>;
  /** The thread's final result. */
  readonly rest: Rest;
  /** Does this thread's share of a round of combining. If it returns false, nothing is combined. */
  share?(share: Share<Common>): Generator<undefined, boolean>;
  /** Called when the shares are done. Afterwards `rest` is this thread's part of the combined result. */
  endShare?(): Generator<undefined, void>;
  /** The memory in `rest` that is transferred instead of copied. */
  readonly restMemory?: ArrayBuffer[];
  /** The position in the text of the task, for errors. */
  readonly offsetByte: number;
  /** Collects the output of tasks; undefined if tasks have no output. */
  readonly output?: PartMaker<Part>;
  close(): void;
}

export interface PartMaker<Part extends OutputPart> {
  readonly isEmpty: boolean;
  /** Returns what was collected. `spare` is the memory of an earlier part, for the next one. */
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

/** A thread that combines its results with others', as seen from the main thread. */
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
  /** Whether the job has one thread more than planned. */
  readonly isExtra: boolean;
};

/** How many bytes of the inputs the threads have done, by thread index. */
export type SharedProgress = Float64Array;

/** The initial data of a worker. */
export type TaskSetup<Setup> = {
  readonly setup: Setup;
  readonly thread: Thread;
  readonly inputs: readonly Input[];
  readonly bytesDone: SharedProgress;
};

/** Output of the first task that is not done, or the tasks that are done. */
export type TaskNews<Part extends OutputPart, Found> =
  | { readonly kind: "part"; readonly part: Part }
  | {
      readonly kind: "done";
      /** The result of each task, in order. */
      readonly found: readonly Found[];
      /** The memory of chunks, to be reused. */
      readonly emptied: readonly ArrayBuffer[];
    };

/** One thread of a job. Adds the place in the text to an error that is a bug. */
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

/** Receives the main thread's messages in a worker. Tasks arrive early, so that it need not wait. */
export class TaskServer<Setup, Part extends OutputPart, Found, Rest, Common = never> {
  private thread!: TaskThread<Part, Found, Rest, Common>;
  private outbox: Outbox<Part> | undefined;
  /** The results of finished tasks that were not yet reported to the main thread. */
  private found: Found[] = [];
  /** The memory of these tasks' chunks. */
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
      // Reports finished tasks first: the main thread takes a part for the first unfinished one.
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

/** The output of one thread. Memory is reused last in, first out, because it is still in the cache. */
export class Outbox<Part extends OutputPart> {
  private unwrittenBytes = 0;
  private readonly spares: ArrayBuffer[] = [];
  private resume: (() => void) | undefined;

  constructor(
    private readonly output: PartMaker<Part>,
    private readonly post: (part: Part) => void,
  ) {}

  /** Sends the collected output, once less than `unwrittenBytesMax` is unwritten. */
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

  /** Called when this much was written; takes back the memory. */
  written(sizeBytes: number, memory: ArrayBuffer): void {
    this.unwrittenBytes -= sizeBytes;
    this.spares.push(memory);
    this.resume?.();
  }
}
