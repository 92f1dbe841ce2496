import type { RangePlanOptions } from "../corpus/cut-into-ranges.ts";
import { canSeek, type Input, type Range, totalBytesOf } from "../corpus/input.ts";
import { mayTakeLong } from "../corpus/task.ts";
import type { RangeStatistics } from "../count/range-counter.ts";
import type { SortedRun, SortedRunOptions } from "../count/sorted-runs.ts";
import { SpillingCounter } from "../count/spilling-counter.ts";
import type { CompiledPattern } from "../pattern/pattern.ts";
import { kernelModule } from "../runtime/kernel.ts";
import { workerBytes } from "../runtime/system-limits.ts";
import { inTurns } from "../runtime/turns.ts";
import type { JobName } from "../runtime/worker-jobs.ts";
import { wordMemoryCount } from "./count-memory.ts";
import { longTextBytes, runTasks } from "./run-tasks.ts";
import type { ReportBytes } from "./stage-progress.ts";
import type { Thread, ThreadJob } from "./task-thread.ts";
import { type CountSetup, startCounting, type ThreadWords } from "./thread-counter.ts";

export type CountOptions = {
  readonly inputs: readonly Input[];
  /** The ranges that are counted; all of each input, if left out. */
  readonly ranges?: readonly Range[] | undefined;
  readonly pattern: CompiledPattern;
  readonly specialTokens: readonly Uint8Array[];
  /** Threads that count. The main thread is one of them, unless it has streams to read for the others. */
  readonly workerCount: number;
  /** Upper bound of the text in all inputs, if it is known. It bounds the memory for words. */
  readonly textBytesMax?: number | undefined;
  /** Wished size of the ranges that threads take. */
  readonly rangeSizeBytes?: number;
  /** Where sorted runs go, and when. Left out: all words stay in memory. */
  readonly runOptions?: SortedRunOptions | undefined;
  /** Indices of the inputs that are counted per input: in sorted runs of their own, and in memory too if there is room. */
  readonly countedPerInput?: ReadonlySet<number> | undefined;
  /** Wished size of the chunks of a stream. */
  readonly chunkSizeBytes?: number;
  /** What is counted; pretokens, if left out. */
  readonly countJob?: CountJob | undefined;
};

/** A job whose threads count words. Its setup has what they need beside that of counting pretokens. */
export type CountJob = {
  readonly name: JobName;
  readonly start: (
    setup: CountSetup,
    thread: Thread,
  ) => ThreadJob<never, RangeStatistics | undefined, ThreadWords>;
  readonly setup: Partial<CountSetup>;
  /** The text is changed before it is cut, so only special tokens are places to divide it; it may become longer. */
  readonly changesText?: boolean;
};

const pretokenJob: CountJob = { name: "counting", start: startCounting, setup: {} };

type CorpusCounts = {
  /** The words that are not in sorted runs. */
  readonly counter: SpillingCounter;
  readonly runs: readonly SortedRun[];
  /** Of each input, in their order. */
  readonly statistics: readonly RangeStatistics[];
};

/**
 * Counts the words of the inputs. Calls `report` between slices of work of at most some 30 ms, and lets the event
 * loop turn there, so that signals are served. Throws what a worker throws; no worker is left running.
 */
export async function countCorpus(options: CountOptions, report: ReportBytes): Promise<CorpusCounts> {
  const { inputs, ranges, workerCount, runOptions, countJob = pretokenJob } = options;
  const statistics = inputs.map(noStatistics);
  const name = nextName();
  if ((ranges ?? inputs).length === 0)
    return { counter: new SpillingCounter(options, name), runs: [], statistics };
  // One for each thread, and one for a worker that takes the main thread's place.
  const distinctWordCounts = new Float64Array(new SharedArrayBuffer(8 * (workerCount + 2)));
  let bytesDone = 0;
  const threads = await runTasks(
    {
      name: countJob.name,
      start: countJob.start,
      setupOf: ({ index, isExtra }) => ({
        ...setupOf(options, { name: `${name}-${index}`, distinctWordCounts, isExtra }),
        ...countJob.setup,
      }),
      sink: { endTask: ({ inputIndex }, found) => found && addStatistics(statistics[inputIndex]!, found) },
      inputs,
      ranges,
      cutting: cuttingOf(options),
      aheadBytes: workerCount * smallestRangeSizeBytes,
      threadCount: workerCount,
      mainWorks: doesMainCount(options),
      mayTakeLong: (task) => mayTakeLong(task, longTextBytes),
    },
    (done) => {
      bytesDone = done;
      report(done, Math.max(...distinctWordCounts));
    },
  );
  // The memory of all threads is now this one's.
  const room = runOptions && { ...runOptions, wordBytesMax: runOptions.wordBytesMax * workerCount };
  const counter = new SpillingCounter({ ...options, runOptions: room }, name);
  const runs = await inTurns(gather(counter, threads));
  report(bytesDone, counter.words.distinctWordCount);
  return { counter, runs, statistics };
}

const noStatistics = (): RangeStatistics => ({
  textBytes: 0,
  documentCount: 0,
  invalidByteCount: 0,
  firstInvalidByte: -1,
});

/** Adds the statistics of a range to those of other ranges of its input. */
function addStatistics(sum: RangeStatistics, found: RangeStatistics): void {
  sum.textBytes += found.textBytes;
  sum.documentCount += found.documentCount;
  sum.invalidByteCount += found.invalidByteCount;
  const isFirst = sum.firstInvalidByte < 0 || found.firstInvalidByte < sum.firstInvalidByte;
  if (found.firstInvalidByte >= 0 && isFirst) sum.firstInvalidByte = found.firstInvalidByte;
}

/** Adds up the words of the threads in the counter. Returns all sorted runs, also those that it wrote meanwhile. */
function* gather(counter: SpillingCounter, threads: ThreadWords[]): Generator<undefined, SortedRun[]> {
  const runs = threads.flatMap((thread) => thread.runs);
  // The thread with the most words comes first: its memory is taken over, and the others' words are added to it.
  threads.sort((a, b) => b.words.distinctWordCount - a.words.distinctWordCount);
  for (const { words } of threads) yield* counter.absorb(words);
  yield* counter.finish(runs);
  return [...runs, ...counter.runs];
}

/** Each writer of sorted runs has a unique name, even if a corpus is counted in several passes. */
let nameCount = 0;
const nextName = () => String(nameCount++);

const smallestRangeSizeBytes = 1 << 20;
const largestRangeSizeBytes = 1 << 23;
/** With so many, the others wait for the last range of one thread only for a small share of the whole time. */
const rangesPerThread = 16;

/**
 * The main thread counts too, unless the others wait for what it reads: between windows it would read too slowly. A single
 * stream may be so short that no other thread is needed.
 */
const doesMainCount = ({ inputs, workerCount }: CountOptions) =>
  inputs.every(canSeek) || (workerCount === 1 && inputs.length === 1);

function setupOf(
  { inputs, pattern, specialTokens, textBytesMax, runOptions, countedPerInput, ...options }: CountOptions,
  { isExtra, ...thread }: { readonly isExtra: boolean } & Pick<CountSetup, "name" | "distinctWordCounts">,
): CountSetup {
  const room = runOptions && {
    ...runOptions,
    wordBytesMax: runOptions.wordBytesMax - (isExtra ? workerBytes : 0),
  };
  return {
    ...thread,
    kernelModule: kernelModule(),
    inputs,
    pattern,
    specialTokens,
    textBytesMax,
    memoryCount: wordMemoryCount(options.workerCount, countedPerInput !== undefined),
    runOptions: room,
    countedPerInput,
  };
}

/** How inputs are cut. */
function cuttingOf(options: CountOptions): RangePlanOptions {
  const { inputs, ranges, pattern, specialTokens, workerCount, chunkSizeBytes } = options;
  // What is counted per input is sorted and written for each thread that counts some of it.
  const leastSizeBytes = options.countedPerInput?.size ? largestRangeSizeBytes : smallestRangeSizeBytes;
  const evenSizeBytes = (totalBytesOf(inputs, ranges) ?? 0) / (workerCount * rangesPerThread);
  const rangeSizeBytes =
    options.rangeSizeBytes ?? Math.min(Math.max(evenSizeBytes, leastSizeBytes), largestRangeSizeBytes);
  const { changesText = false } = options.countJob ?? pretokenJob;
  return {
    pattern: changesText ? null : pattern,
    specialTokens,
    keepsTextsWhole: changesText && specialTokens.length === 0,
    rangeSizeBytes: Math.ceil(rangeSizeBytes),
    textBytesMax: options.runOptions?.wordBytesMax,
    ...(chunkSizeBytes !== undefined && { chunkSizeBytes }),
  };
}
