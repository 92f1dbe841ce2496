import type { Task } from "../corpus/task.ts";
import type { OutputPart, PartMaker } from "./job.ts";

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
