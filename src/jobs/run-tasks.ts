import {
  ChunkBuffers,
  type Input,
  inputBytesOf,
  isEmpty,
  memoryOf,
  planTasks,
  type Range,
  type RangePlanOptions,
  type Task,
  textBytesOf,
} from "#corpus";
import {
  type JobName,
  runSliced,
  runToEnd,
  scaled,
  startWorker,
  type WorkerThread,
  yieldToEventLoop,
} from "#runtime";
import { describeFailure, JobThread, reviveFailure, type Tell, Transferred } from "./job.ts";

/** A job as the main thread sees it: which tasks there are, who does them, and who takes what they find. */
export type Job<Setup, Part extends OutputPart, Found, Rest, Common = never> = {
  /** What its workers load (worker.ts), and are called in messages. */
  readonly name: JobName;
  /** What its workers do, for the main thread. */
  readonly start: StartThread<Setup, Part, Found, Rest, Common>;
  /** What each thread begins with: plain data that can be posted. */
  readonly setupOf: (thread: Thread) => Setup;
  readonly sink: Sink<Part, Found>;

  readonly inputs: readonly Input[];
  /** What of the inputs is meant, in this order; all of it, if left out. */
  readonly ranges?: readonly Range[] | undefined;
  /** How the ranges are cut into tasks (`textCutting`); undefined: a file is one task, so it keeps one thread busy. */
  readonly cutting: RangePlanOptions | undefined;
  /** Text of so many bytes is planned ahead of the threads. */
  readonly aheadBytes: number;

  readonly threadCount: number;
  /** The main thread is one of the threads. Without it, it only plans, reads streams and takes what is found. */
  readonly mainWorks: boolean;
  /** Tasks that would keep the main thread from serving signals for long. */
  readonly mayTakeLong: (task: Task) => boolean;
  /** What each thread needs to put together what all have at the end (`ThreadJob.share`); undefined: nothing is shared. */
  readonly commonOf?: (rests: readonly Rest[]) => Common | undefined;
  /** In how many rounds they do so: each begins when all threads have done the one before. One, if left out. */
  readonly shareRounds?: number;
  /** The workers, if they were started ahead. */
  readonly workers?: StartedWorkers | undefined;
};

/** Workers that run before their tasks are known. Nobody notices meanwhile if one ends. */
export type StartedWorkers = { readonly workers: readonly WorkerThread[]; readonly terminate: () => void };

/** Workers for a job, whose setup may come later. The caller ends them, whatever happens. */
export function startWorkers(name: JobName, workerCount: number): StartedWorkers {
  const workers = Array.from({ length: workerCount }, () => startWorker(name));
  const terminate = () => {
    for (const worker of workers) worker.terminate();
  };
  return { workers, terminate };
}

const reportIntervalMs = 50;
/** So much text takes a thread some 0.1 s, if it cannot be done in slices: one line, one page or one word. */
export const longTextBytes = scaled(1 << 24, 256);

/**
 * Does the tasks of a job: the main thread and the workers take one after the other, and the sink gets what they find in
 * the order of the tasks. When the main thread meets a task that may take long it stops working, so that it goes on serving
 * signals, and a worker takes its place. Returns what each thread that had a task has at the end, in no order.
 *
 * Lets the event loop turn, and calls `report` with the bytes of the inputs that are done, between slices of work in this
 * thread. Throws what a thread throws, or `report`; no worker is left running.
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
  // If `report` fails first, it stops the run: the error of that is ignored.
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

class RunningJob<Setup, Part extends OutputPart, Found, Rest, Common> implements SharedTasks<Part, Found> {
  rests: Rest[] = [];
  /** The threads that have a rest, in the same order. */
  private readonly sharers: Sharer<Rest, Common>[] = [];
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
    private readonly job: Job<Setup, Part, Found, Rest, Common>,
    private readonly tell: (bytesDone: number) => void,
  ) {
    const { name, threadCount, mainWorks, inputs, cutting, ranges, aheadBytes, mayTakeLong, sink } = job;
    // Workers start while the rest is made ready.
    this.workers = job.workers ?? startWorkers(name, threadCount - (mainWorks ? 1 : 0));
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
    await yieldToEventLoop();
    if (this.isStopped) return;
    // The workers have their tasks before this thread turns to its own.
    const serving = this.serve(this.workers, (index) => ({ index, isExtra: this.isExtra }));
    await Promise.all([serving, this.job.mainWorks ? this.workHere() : undefined]);
    await this.share();
  }

  /** The threads put together what they have, if that is shared. */
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

  /** The main thread beside the others, which are asked before it begins. */
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
      if (threadJob.finish !== undefined) await runSliced(threadJob.finish(tasks.hasLeft));
      this.takeRest(threadJob.rest, this.sharerOf(threadJob));
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
      await (this.job.sink.drain?.() ?? yieldToEventLoop());
      if (this.isStopped) return undefined;
    }
  }

  /** Gives workers tasks until there are no more, and takes what they find. */
  private async serve({ workers }: StartedWorkers, threadOf: (workerIndex: number) => Thread): Promise<void> {
    const { job, bytesDone } = this;
    const { name, inputs, setupOf } = job;
    const running = workers.map((worker, i) => {
      const thread = threadOf(i);
      const setup = { setup: setupOf(thread), thread, inputs, bytesDone };
      const tasks = new WorkerTasks<Setup, Part, Found, Rest, Common>(
        this,
        worker,
        `${name} worker ${i}`,
        setup,
      );
      return tasks.run((rest) => this.takeRest(rest, tasks));
    });
    await Promise.all(running);
  }
}

/** Small tasks are handed out in batches of this much text: a message costs as much as counting some kilobytes. */
const batchBytes = scaled(1 << 18, 256);
/** Upper bound of the tasks that are planned ahead, for tasks without text. */
const aheadCountMax = scaled(1000, 2);

/** A taker that leaves a task and all that follow to the others. */
export type PickyTaker = { readonly taker: number; readonly leaves: (task: Task) => boolean };

/** Hands tasks out in order, each to one of several takers, and plans some ahead. */
export class TaskQueue {
  private readonly asks: Ask[] = [];
  private readonly ready: Task[] = [];
  private readyBytes = 0;
  private isFilling = false;
  private end: { readonly error?: unknown } | undefined;
  /** The taker of a range that continues: the next task is its own. -1 if there is none. */
  private holder = -1;

  /** The picky taker has met a task that it leaves. It got no tasks then, and is treated as any other taker since. */
  hasLeft = false;

  /** @param aheadBytes text of at least so many bytes is planned ahead */
  constructor(
    private readonly tasks: AsyncGenerator<Task, void>,
    private readonly aheadBytes: number,
    private picky?: PickyTaker,
  ) {
    void this.fill();
  }

  /** The next tasks for the taker; none if there are no more. Takers that wait at the same time are resumed in the order of their tasks. */
  next(taker: number): Promise<Task[]> {
    const asked = new Promise<Task[]>((resolve, reject) => this.asks.push({ taker, resolve, reject }));
    // Later, when the taker awaits the promise: another one that awaits already, and gets a later task, would resume first.
    queueMicrotask(() => {
      this.serve();
      void this.fill();
    });
    return asked;
  }

  /** No more tasks are wanted: open files get closed. */
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
        this.readyBytes += task ? textBytesOf(task) : 0;
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

  private takeBatch(taker: number): Task[] {
    let count = 0;
    let sizeBytes = 0;
    for (const task of this.ready) {
      const isFull = sizeBytes + textBytesOf(task) > batchBytes || this.picky?.leaves(task);
      if (count > 0 && isFull) break;
      count++;
      sizeBytes += textBytesOf(task);
      this.holder = task.kind === "chunk" && task.continues ? taker : -1;
    }
    this.readyBytes -= sizeBytes;
    return this.ready.splice(0, count);
  }
}

type Ask = {
  readonly taker: number;
  readonly resolve: (tasks: Task[]) => void;
  readonly reject: (error: unknown) => void;
};

/** Takes what the tasks of a job make and find, in the order of the tasks. */
export type Sink<Part extends OutputPart, Found> = {
  /** The next output of the task at hand; its memory is the thread's again when this returns, or when `drain` does. */
  write?(part: Part): void;
  /** The task is done. `found` is undefined for a task without anything to do. */
  endTask(task: Task, found: Found | undefined): void;
  /** What to wait for before more is written; undefined or absent: nothing. Errors come out of the next `write`. */
  drain?(): Promise<void> | undefined;
};

/** One task's place in the order. */
export type Turn<Part, Found> = {
  readonly task: Task;
  readonly parts: Part[];
  /** So much was written; gives back its memory. */
  readonly written: (sizeBytes: number, memory: ArrayBuffer) => void;
  isFinished: boolean;
  found?: Found | undefined;
};

/** Hands to the sink what threads make, in the order in which tasks were handed out; what comes too early waits. */
export class TaskOrder<Part extends OutputPart, Found> {
  private readonly turns: Turn<Part, Found>[] = [];

  constructor(private readonly sink: Sink<Part, Found>) {}

  add(task: Task, written: Turn<Part, Found>["written"]): Turn<Part, Found> {
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

/** What the threads of a job share, in the main thread. */
export type SharedTasks<Part extends OutputPart, Found> = {
  readonly tasks: TaskQueue;
  readonly order: TaskOrder<Part, Found>;
  readonly buffers: ChunkBuffers;
};

/** The tasks of one worker, in the main thread: sends them, and passes on what the worker finds. */
export class WorkerTasks<Setup, Part extends OutputPart, Found, Rest, Common = never>
  implements Sharer<Rest, Common>
{
  /** The tasks that the worker has, in their order. */
  private readonly turns: Turn<Part, Found>[] = [];
  private readonly thread: JobThread<TaskServer<Setup, Part, Found, Rest, Common>, TaskNews<Part, Found>>;
  private hasBegun = false;
  private hasAll = false;

  constructor(
    private readonly shared: SharedTasks<Part, Found>,
    worker: WorkerThread,
    /** What errors call the worker. */
    name: string,
    private readonly setup: TaskSetup<Setup>,
  ) {
    this.thread = new JobThread(name, worker, (news) => this.take(news));
  }

  /** Has the worker do tasks until there are none. Passes on what it has at the end, if it had a task. */
  async run(takeRest: (rest: Rest) => void): Promise<void> {
    const { thread } = this;
    // Tasks are posted before the worker is up.
    void thread.ask("begin", this.setup);
    // Two messages, so that one is at hand when the other is done.
    const first = await this.sendNext();
    await Promise.all([this.goOn(first), this.sendNext().then((second) => this.goOn(second))]);
    if (this.hasBegun) takeRest(await thread.ask("finish", undefined));
  }

  share(share: Share<Common>): Promise<boolean> {
    return this.thread.ask("share", share);
  }

  endShare(): Promise<Rest> {
    return this.thread.ask("endShare", undefined);
  }

  private async goOn(sent: Sent | null): Promise<void> {
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
      return { done: this.thread.ask("take", given, memoryOf(given)) };
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

  /** Gives the task its place in the order; false if there is nothing to do. */
  private addTurn(task: Task): boolean {
    const { order } = this.shared;
    const turn = order.add(task, (sizeBytes, memory) =>
      this.thread.note("written", { sizeBytes, memory }, [memory]),
    );
    if (isEmpty(task)) order.finish(turn, undefined);
    else this.turns.push(turn);
    return !isEmpty(task);
  }
}

/** A message of tasks on its way to a worker; `done` settles when all of them are. */
type Sent = { readonly done: Promise<void> };

/**
 * What one thread of a job does, the main one or a worker: takes tasks, one after the other. `Found` is what it finds in a
 * task, `Rest` what it has at the end. A job is a module whose `start…` makes one of these from plain data (its setup).
 */
export interface ThreadJob<Part extends OutputPart, Found, Rest, Common = never> {
  /** Does a task; yields after each slice of work how many bytes of the task's text are done. */
  take(task: Task): Generator<number, Found>;
  /** The work that is left when no task is to come. `leavesMemory`: another thread needs the memory of this one. */
  finish?(leavesMemory: boolean): Generator<undefined, void>;
  /** What the thread has at the end. */
  readonly rest: Rest;
  /**
   * All threads have done their tasks: does this one's share of a round of putting together what they have. False, in the first
   * round only: it cannot, and `rest` of all threads is still as it was.
   */
  share?(share: Share<Common>): Generator<undefined, boolean>;
  /** All have done their shares. Afterwards `rest` is what this one has now. */
  endShare?(): Generator<undefined, void>;
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

/** What a thread needs for its share, in the first round; its place among the threads that have one; and the round. */
export type Share<Common> = {
  readonly common: Common | undefined;
  readonly index: number;
  readonly round: number;
};

/** A thread that puts together with the others what they have, as the main thread sees it; see `ThreadJob`. */
type Sharer<Rest, Common> = {
  share(share: Share<Common>): Promise<boolean>;
  endShare(): Promise<Rest>;
};

export type StartThread<Setup, Part extends OutputPart, Found, Rest, Common = never> = (
  setup: Setup,
  thread: Thread,
) => ThreadJob<Part, Found, Rest, Common>;

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
export class TaskThread<Part extends OutputPart, Found, Rest, Common = never> {
  constructor(
    readonly job: ThreadJob<Part, Found, Rest, Common>,
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
export class TaskServer<Setup, Part extends OutputPart, Found, Rest, Common = never> {
  private thread!: TaskThread<Part, Found, Rest, Common>;
  private outbox: Outbox<Part> | undefined;
  /** What was found in tasks that are done, and their memory, if the main thread was not told yet. */
  private found: Found[] = [];
  private emptied: ArrayBuffer[] = [];

  constructor(
    private readonly start: StartThread<Setup, Part, Found, Rest, Common>,
    private readonly tell: Tell<TaskNews<Part, Found>>,
  ) {}

  begin({ setup, thread, inputs, bytesDone }: TaskSetup<Setup>): void {
    const job = this.start(setup, thread);
    this.thread = new TaskThread(job, inputs, bytesDone, thread.index);
    if (job.output === undefined) return;
    this.outbox = new Outbox(job.output, (part) => {
      // It belongs to the first task that the main thread does not know to be done.
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
    await yieldToEventLoop();
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

  share(share: Share<Common>): Generator<undefined, boolean> {
    return this.thread.job.share!(share);
  }

  endShare(): Transferred<Rest> {
    const { job } = this.thread;
    runToEnd(job.endShare!());
    return new Transferred(job.rest, job.restMemory);
  }
}

/** Output of one thread that may be on its way. */
const unwrittenBytesMax = scaled(1 << 23, 1 << 10);

/**
 * Output of one thread that waits for its turn to be written. The thread waits while there is too much of it. Memory of
 * written output comes back and is used again, the last first: it is still in the processor's cache, and new memory costs.
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
