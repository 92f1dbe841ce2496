import { type ChunkBuffers, isEmpty, memoryOf, type Task, textBytesOf } from "../corpus/task.ts";
import type { WorkerLink } from "./job.ts";
import type { FromWorker, OutputPart, ToWorker } from "./task-thread.ts";

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
  private hasBegun = false;
  private hasAll = false;

  /** @param takeRest called with what the worker has at the end, if it had a task */
  constructor(
    private readonly shared: SharedTasks<Part, Found>,
    private readonly index: number,
    private readonly link: WorkerLink<ToWorker<Setup>>,
    private readonly takeRest: (rest: Rest) => void,
  ) {}

  /** Sends the next tasks, or the message that there are no more. */
  async sendNext(): Promise<void> {
    const { shared, link } = this;
    while (!this.hasAll) {
      const next = await shared.tasks.next(this.index);
      if (this.hasAll) return;
      this.hasAll = next.length === 0;
      if (this.hasAll) return this.hasBegun ? link.send({ kind: "finish" }) : link.finish();
      const given = next.filter((task) => this.addTurn(task));
      if (given.length === 0) continue;
      this.hasBegun = true;
      return link.send({ kind: "tasks", tasks: given }, memoryOf(given));
    }
  }

  /** Takes a message of the worker. */
  take(message: FromWorker<Part, Found, Rest>): Promise<void> | undefined {
    const { order, buffers } = this.shared;
    switch (message.kind) {
      case "part":
        order.take(this.turns[0]!, message.part);
        return;
      case "done":
        for (const found of message.found) order.finish(this.turns.shift()!, found);
        for (const memory of message.emptied) buffers.give(memory);
        return message.wantsTasks ? this.sendNext() : undefined;
      case "finished":
        this.takeRest(message.rest);
        this.link.finish();
    }
  }

  /** Gives the task its place in the order; false if there is nothing to do. */
  private addTurn(task: Task): boolean {
    const { order } = this.shared;
    const turn = order.add(task, (sizeBytes, memory) =>
      this.link.send({ kind: "written", sizeBytes, memory }, [memory]),
    );
    if (isEmpty(task)) order.finish(turn, undefined);
    else this.turns.push(turn);
    return !isEmpty(task);
  }
}
