import { type ChunkBuffers, isEmpty, memoryOf, type Task, textBytesOf } from "../corpus/task.ts";
import type { WorkerThread } from "../runtime/worker-jobs.ts";
import { JobThread } from "./job.ts";
import type { OutputPart, TaskNews, TaskServer, TaskSetup } from "./task-thread.ts";

/** Small tasks are handed out in batches of this much text: a message costs as much as counting some kilobytes. */
const batchBytes = 1 << 18;
/** Upper bound of the tasks that are planned ahead, for tasks without text. */
const aheadCountMax = 1000;

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
  /** The next output of the task at hand; its memory is the thread's again when this returns, or when `drained` does. */
  write?(part: Part): void;
  /** The task is done. `found` is undefined for a task without anything to do. */
  endTask(task: Task, found: Found | undefined): void;
  /** What to wait for before more is written; undefined or absent: nothing. Errors come out of the next `write`. */
  drained?(): Promise<void> | undefined;
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
        const drained = sink.drained?.();
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
export class WorkerTasks<Setup, Part extends OutputPart, Found, Rest> {
  /** The tasks that the worker has, in their order. */
  private readonly turns: Turn<Part, Found>[] = [];
  private readonly thread: JobThread<TaskServer<Setup, Part, Found, Rest>, TaskNews<Part, Found>>;
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
