import type { ChunkBuffers } from "../corpus/stream-chunks.ts";
import { isEmpty, memoryOf, type Task } from "../corpus/task.ts";
import type { FromWorker, OutputPart, ToWorker } from "./job.ts";
import type { TaskOrder, Turn } from "./ordered-output.ts";
import type { WorkerLink } from "./serve-workers.ts";
import type { TaskQueue } from "./task-queue.ts";

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
