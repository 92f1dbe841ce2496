import { type Task, textBytesOf } from "../corpus/task.ts";

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
