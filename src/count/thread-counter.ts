import { inputBytesOf, type Task } from "../corpus/task.ts";
import { TextRoom } from "../corpus/text-room.ts";
import type { CountTask } from "../pipeline/count-protocol.ts";
import type { PackedCounts } from "../words/word-counter.ts";
import type { RangeFindings } from "./range-counter.ts";
import type { Run } from "./sorted-runs.ts";
import { type KeeperOptions, WordKeeper } from "./spilling-counter.ts";
import { TaskCounter, type TaskCounterOptions } from "./task-counter.ts";

/** Bytes counted so far by each thread, one cell each, in memory that all of them share. */
export type ThreadProgress = { readonly bytesDone: Float64Array; readonly cell: number };

/** What a thread has counted: the words it has in memory, and the runs it wrote. */
export type ThreadWords = { readonly words: PackedCounts; readonly runs: readonly Run[] };

/** What one thread of a count does, a worker or the main one: counts tasks and keeps their words. */
export class ThreadCounter {
  private readonly keeper: WordKeeper;
  private readonly tasks: TaskCounter;
  /** The task at work: the place of an error. */
  private current: Task | undefined;

  /** @param name of the thread, unique among those that write to one directory */
  constructor(
    private readonly options: TaskCounterOptions,
    keeperOptions: KeeperOptions,
    name: string,
    private readonly progress: ThreadProgress,
  ) {
    const room = new TextRoom(keeperOptions.runOptions?.wordBytesMax);
    this.keeper = new WordKeeper(keeperOptions, name, room);
    this.tasks = new TaskCounter(options, this.keeper.counter, room);
  }

  get distinctWordCount(): number {
    return this.keeper.distinctWordCount;
  }

  /** Where the work stands, as the end of a message about what went wrong. */
  get place(): string {
    if (this.current === undefined) return "";
    return ` at byte ${this.tasks.offsetByte} of "${this.options.inputs[this.current.inputIndex]!.path}"`;
  }

  /** Counts a task, window by window; returns what was met in the range that ends with it, if one does. */
  *count({ task, apart }: CountTask): Generator<undefined, RangeFindings | undefined> {
    const { keeper } = this;
    const { bytesDone, cell } = this.progress;
    const before = bytesDone[cell]!;
    this.current = task;
    yield* keeper.startTask(apart);
    const work = this.tasks.count(task);
    let step = work.next();
    for (; !step.done; step = work.next()) {
      bytesDone[cell] = before + inputBytesOf(task, step.value);
      yield;
      yield* keeper.makeRoom();
    }
    bytesDone[cell] = before + inputBytesOf(task);
    this.current = undefined;
    return step.value;
  }

  /** No task is to come. `leavesMemory`: another thread will have the memory of this one, which keeps no words if they can go to runs. */
  *finish(leavesMemory = false): Generator<undefined, ThreadWords> {
    const { keeper } = this;
    yield* keeper.finish([], leavesMemory);
    return { words: keeper.counter.pack(), runs: keeper.runs };
  }

  close(): void {
    this.tasks.close();
  }
}
