import { TextMemory } from "../corpus/range-reader.ts";
import type { Task } from "../corpus/task.ts";
import type { RangeStatistics } from "../count/range-counter.ts";
import type { SortedRun } from "../count/sorted-runs.ts";
import { SpillingCounter, type SpillingOptions } from "../count/spilling-counter.ts";
import { TaskCounter, type TaskCounterOptions } from "../count/task-counter.ts";
import { adoptKernelModule } from "../runtime/kernel.ts";
import type { KernelTaker } from "../text/pretokens.ts";
import type { EncodingModel } from "../tokenizer/encoding-model.ts";
import type { EncodingParts } from "../tokenizer/tokenizer-parts.ts";
import type { PackedCounts, WordCounter } from "../words/word-counter.ts";
import { tableMemory } from "../words/word-table.ts";
import type { Thread, ThreadJob } from "./task-thread.ts";

/** What a thread that counts begins with. */
export type CountSetup = TaskCounterOptions &
  SpillingOptions & {
    /** The code that all threads share. */
    readonly kernelModule: WebAssembly.Module;
    /** Of this thread, unique among all that write runs to one directory. */
    readonly name: string;
    /** Inputs whose words are wanted apart. */
    readonly countedPerInput?: ReadonlySet<number> | undefined;
    /** How many distinct words each thread has, by its index: written by it, read by the main thread. */
    readonly distinctWordCounts: Float64Array;
    /** How the text is changed before it is cut (normalized-counter.ts). */
    readonly normalizing?: Pick<EncodingParts, "normalization" | "addsPrefixSpace">;
    /** What encodes the pretokens where these are lifted (superword-counter.ts). */
    readonly model?: EncodingModel;
  };

/** What a thread has counted: the words it has in memory, and the runs it wrote. */
export type ThreadWords = { readonly words: PackedCounts; readonly runs: readonly SortedRun[] };

/** What one thread of a count does: counts tasks and keeps their words. */
export class ThreadCounter implements ThreadJob<never, RangeStatistics | undefined, ThreadWords> {
  private readonly counter: SpillingCounter;
  private readonly tasks: TaskCounter;

  /** @param takerOf makes who takes the pretokens, and gives the words of them to the counter */
  constructor(
    private readonly setup: CountSetup,
    private readonly index: number,
    takerOf?: (counter: WordCounter) => KernelTaker,
  ) {
    const room = new TextMemory(setup.runOptions?.wordBytesMax);
    this.counter = new SpillingCounter(setup, setup.name, room);
    this.tasks = new TaskCounter(setup, this.counter.words, room, takerOf?.(this.counter.words));
  }

  get offsetByte(): number {
    return this.tasks.offsetByte;
  }

  /** Counts a task, window by window; returns what was met in the range that ends with it, if one does. */
  *take(task: Task): Generator<number, RangeStatistics | undefined> {
    const { counter, setup, index } = this;
    const isApart = setup.countedPerInput?.has(task.inputIndex) ?? false;
    for (const _ of counter.startTask(isApart ? task.inputIndex : null)) yield 0;
    const work = this.tasks.count(task);
    let step = work.next();
    for (; !step.done; step = work.next()) {
      setup.distinctWordCounts[index] = counter.distinctWordCount;
      yield step.value;
      for (const _ of counter.makeRoom()) yield step.value;
    }
    setup.distinctWordCounts[index] = counter.distinctWordCount;
    return step.value;
  }

  /** `leavesMemory`: this thread keeps no words if they can go to sorted runs. */
  finish(leavesMemory: boolean): Generator<undefined, void> {
    return this.counter.finish([], leavesMemory);
  }

  get rest(): ThreadWords {
    const { words, runs } = this.counter;
    return { words: words.pack(), runs };
  }

  get restMemory(): ArrayBuffer[] {
    return this.counter.runs.flatMap(({ table }) => (table === null ? [] : tableMemory(table)));
  }

  close(): void {
    this.tasks.close();
  }
}

export function startCounting(setup: CountSetup, { index }: Thread): ThreadCounter {
  adoptKernelModule(setup.kernelModule);
  return new ThreadCounter(setup, index);
}
