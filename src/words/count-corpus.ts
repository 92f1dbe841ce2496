import {
  corpusInputs,
  type Input,
  joinChecksums,
  type Range,
  type RangePlanOptions,
  type RangeStatistics,
  rangeReader,
  TaskTexts,
  tasks,
} from "#corpus";
import { type stageProgress, taskRunner } from "#jobs";
import { kernels, machine, runSliced, scaled } from "#runtime";
import { type Cutting, cuttings, TextChain, tokensToFind } from "#text";
import type { EncodingModel } from "#tokenizer";
import { wordMemoryCount } from "./count-memory.ts";
import type { LiftedPretokens } from "./lifted-pretokens.ts";
import type { SortedRun, SortedRunOptions } from "./sorted-run.ts";
import { SpillingCounter, type SpillingOptions } from "./spilling-counter.ts";
import * as wordCounter from "./word-counter.ts";
import { WordCounter } from "./word-counter.ts";
import type { WordTable } from "./word-table.ts";
import * as wordTables from "./word-table.ts";

export type CountOptions = {
  readonly inputs: readonly Input[];
  /** The ranges to count; all inputs if left out. */
  readonly ranges?: readonly Range[] | undefined;
  readonly cutting: Cutting;
  /**
   * The number of counting threads. The main thread is one of them, unless it has to read inputs, such as streams,
   * in order for the other threads.
   */
  readonly workerCount: number;
  /** An upper bound of the bytes of text to count, if known. It bounds the memory for words. */
  readonly textBytesMax?: number | undefined;
  /** Target size, in bytes, of the ranges for threads. */
  readonly rangeSizeBytes?: number;
  /** Where and when to write sorted runs; if left out, all words stay in memory. */
  readonly runOptions?: SortedRunOptions | undefined;
  /** Indices of inputs to count separately: in sorted runs of their own, and also in memory if they fit. */
  readonly countedPerInput?: ReadonlySet<number> | undefined;
  /**
   * With at least this many words, the threads add up their words together. Each adds up one *slice*: all words whose
   * hashes are in one of several equal ranges. This is done only if memory suffices. If left out, words are never added
   * up in slices.
   */
  readonly slicedWordsLeast?: number | undefined;
  /** Awaited between steps of work; may throw to end the run. The default yields to the event loop. */
  readonly rest?: (() => Promise<void>) | undefined;
  /** Target size, in bytes, of the chunks of an input that is read in order, such as a stream. */
  readonly chunkSizeBytes?: number;
  /** If given, pretokens are *lifted*: counted as sequences of this model's ids (lifted-pretokens.ts). */
  readonly liftingModel?: EncodingModel | undefined;
};

type CorpusCounts = {
  /** The words in memory, except those in `slices`. */
  readonly counter: SpillingCounter;
  /** The words that threads added up in slices. These tables and the counter have no words in common. */
  readonly slices: readonly WordTable[];
  readonly runs: readonly SortedRun[];
  /** In the order of the inputs. */
  readonly statistics: readonly RangeStatistics[];
  /** For lifted pretokens: occurrences of each id of the model, by thread. */
  readonly idCounts: readonly Float64Array[];
};

/** Counts the words of the inputs. Throws any error of a worker; no worker is left running. */
export async function countCorpus(
  options: CountOptions,
  report: stageProgress.ReportBytes,
): Promise<CorpusCounts> {
  const { inputs, ranges, workerCount, runOptions, slicedWordsLeast } = options;
  const statistics = inputs.map(noStatistics);
  const name = nextName();
  if ((ranges ?? inputs).length === 0)
    return { counter: new SpillingCounter(options, name), slices: [], runs: [], statistics, idCounts: [] };
  // An entry for each worker, for the main thread, and for a worker that may replace it (src/jobs/run-tasks.ts).
  const distinctWordCounts = new Float64Array(new SharedArrayBuffer(8 * (workerCount + 2)));
  // When the words are added up, this thread may use the memory of all threads.
  const room = runOptions && { ...runOptions, wordBytesMax: runOptions.wordBytesMax * workerCount };
  let bytesDone = 0;
  const threads = await taskRunner.runTasks(
    {
      name: "counting",
      start: startCounting,
      setupOf: (thread) => setupOf(options, thread, { name: `${name}-${thread.index}`, distinctWordCounts }),
      sink: { endTask: ({ inputIndex }, found) => found && addStatistics(statistics[inputIndex]!, found) },
      inputs,
      ranges,
      cutting: rangePlanOf(options),
      aheadBytes: workerCount * smallestRangeSizeBytes,
      threadCount: workerCount,
      mainWorks: doesMainCount(options),
      mayTakeLong: (task) => tasks.mayTakeLong(task, taskRunner.longTextBytes),
      commonOf: (rests: readonly ThreadWords[]) =>
        canSlice(rests, slicedWordsLeast, room) ? tablesOf(rests) : undefined,
      shareRounds: wordCounter.sliceRounds,
    },
    (done) => {
      bytesDone = done;
      report(done, Math.max(...distinctWordCounts));
    },
  );
  const counter = new SpillingCounter({ ...options, runOptions: room }, name);
  const slices = threads.flatMap(({ slice }) => slice ?? []);
  const idCounts = threads.flatMap((thread) => thread.idCounts ?? []);
  if (slices.length > 0) {
    report(
      bytesDone,
      slices.reduce((sum, { wordCount }) => sum + wordCount, 0),
    );
    return { counter, slices, runs: [], statistics, idCounts };
  }
  const runs = await runSliced(gather(counter, threads), options.rest);
  report(bytesDone, counter.words.distinctWordCount);
  return { counter, slices: [], runs, statistics, idCounts };
}

/**
 * The word tables of all threads, as posted to each: their buffers, and where each table is in its buffer. The places
 * are JSON, because posting many objects is slower.
 */
type AllTables = { readonly buffers: readonly ArrayBufferLike[]; readonly json: string };

const tablesOf = (rests: readonly ThreadWords[]): AllTables => ({
  buffers: rests.map(({ words }) => words.tables.buffer),
  json: JSON.stringify(rests.map(({ words }) => ({ ...words.tables, buffer: null }))),
});

/**
 * Whether the threads add up their words in slices. This needs several threads with at least `wordsLeast` words in all,
 * no sorted runs, and enough memory. Otherwise, the main thread adds up table after table (`gather`).
 */
export function canSlice(
  rests: readonly ThreadWords[],
  wordsLeast = Number.POSITIVE_INFINITY,
  room?: SortedRunOptions,
): boolean {
  const sum = (of: (tables: wordCounter.PackedTables) => number) =>
    rests.reduce((total, { words }) => total + of(words.tables), 0);
  return (
    rests.length > 1 &&
    rests.every(({ runs }) => runs.length === 0) &&
    sum((tables) => tables.distinctWordCount) >= wordsLeast &&
    // For each thread: its tables, its slice (which may take twice as much as the tables), and the word table of its
    // slice, both by itself and as a part of the joined table.
    sum((tables) => 3 * tables.tableBytes + 2 * tables.wordTableBytes) <=
      (room?.wordBytesMax ?? Number.POSITIVE_INFINITY)
  );
}

const noStatistics = (): RangeStatistics => ({
  textBytes: 0,
  documentCount: 0,
  invalidByteCount: 0,
  firstInvalidByte: -1,
  crc32: 0,
});

/** Adds the statistics of a range to those of its input. Ranges with checksums come in order. */
function addStatistics(sum: RangeStatistics, found: RangeStatistics): void {
  // Before the first text of an input, there is no checksum to join.
  sum.crc32 = sum.textBytes === 0 ? found.crc32 : joinChecksums(sum.crc32, found.crc32, found.textBytes);
  sum.textBytes += found.textBytes;
  sum.documentCount += found.documentCount;
  sum.invalidByteCount += found.invalidByteCount;
  const isFirst = sum.firstInvalidByte < 0 || found.firstInvalidByte < sum.firstInvalidByte;
  if (found.firstInvalidByte >= 0 && isFirst) sum.firstInvalidByte = found.firstInvalidByte;
}

/**
 * Adds the threads' words to the counter. Returns all sorted runs, including those that the counter writes meanwhile.
 */
function* gather(counter: SpillingCounter, threads: ThreadWords[]): Generator<undefined, SortedRun[]> {
  const runs = threads.flatMap((thread) => thread.runs);
  // The thread with the most words comes first, because the counter takes over the memory of the first thread, and adds
  // the words of the others.
  threads.sort((a, b) => b.words.tables.distinctWordCount - a.words.tables.distinctWordCount);
  for (const { words } of threads) yield* counter.absorb(words);
  yield* counter.finish(runs);
  return [...runs, ...counter.runs];
}

/** The number of names given so far. It gives each writer of sorted runs a name of its own. */
let nameCount = 0;
const nextName = () => String(nameCount++);

const smallestRangeSizeBytes = scaled(1 << 20, 128);
const largestRangeSizeBytes = scaled(1 << 23, 512);
/** The number of ranges per thread. It is large, so that waiting for the last range takes a small share of the time. */
const rangesPerThread = 16;

/**
 * Whether the main thread also counts. It does not if it reads inputs, such as streams, in order for other threads.
 * Exception: with one thread and one input, the main thread reads and counts that input.
 */
const doesMainCount = ({ inputs, workerCount }: CountOptions) =>
  inputs.every(corpusInputs.canSeek) || (workerCount === 1 && inputs.length === 1);

const areWhole = (inputs: readonly Input[], ranges: readonly Range[] = []) =>
  ranges.every(
    ({ inputIndex, startByte, endByte }) => startByte === 0 && endByte === inputs[inputIndex]!.sizeBytes,
  );

function setupOf(
  {
    inputs,
    ranges,
    cutting,
    liftingModel,
    textBytesMax,
    runOptions,
    countedPerInput,
    workerCount,
  }: CountOptions,
  { isExtra }: taskRunner.Thread,
  own: Pick<CountSetup, "name" | "distinctWordCounts">,
): CountSetup {
  const room = runOptions && {
    ...runOptions,
    wordBytesMax: runOptions.wordBytesMax - (isExtra ? machine.workerBytes : 0),
  };
  return {
    ...own,
    kernelModule: kernels.sharedModule(),
    inputs,
    cutting,
    liftingModel,
    hasChecksums: areWhole(inputs, ranges),
    textBytesMax:
      textBytesMax === undefined ? undefined : Math.max(textBytesMax, textBytesWithTablesOf(cutting)),
    memoryCount: wordMemoryCount(workerCount, countedPerInput !== undefined),
    runOptions: room,
    countedPerInput,
  };
}

/** Returns a `textBytesMax` that gives enough memory for the tables of special tokens, and for 4 MB of other tables. */
const textBytesWithTablesOf = ({ addedTokens }: Cutting) =>
  wordCounter.textBytesForTables(4e6 + tokensToFind.tablesBytes(addedTokens));

function rangePlanOf(options: CountOptions): RangePlanOptions {
  const { inputs, ranges, cutting, workerCount, chunkSizeBytes } = options;
  // For each input in `countedPerInput`, every thread sorts and writes the words that it counted. Large ranges make
  // fewer such files.
  const leastSizeBytes = options.countedPerInput?.size ? largestRangeSizeBytes : smallestRangeSizeBytes;
  const evenSizeBytes = (corpusInputs.totalBytesOf(inputs, ranges) ?? 0) / (workerCount * rangesPerThread);
  const rangeSizeBytes =
    options.rangeSizeBytes ?? Math.min(Math.max(evenSizeBytes, leastSizeBytes), largestRangeSizeBytes);
  return {
    ...cuttings.textCutting(cutting),
    rangeSizeBytes: Math.ceil(rangeSizeBytes),
    textBytesMax: options.runOptions?.wordBytesMax,
    ...(chunkSizeBytes !== undefined && { chunkSizeBytes }),
  };
}

export type CountSetup = SpillingOptions &
  Pick<CountOptions, "inputs" | "cutting" | "liftingModel" | "countedPerInput"> & {
    /** The compiled kernel, which all threads share. */
    readonly kernelModule: WebAssembly.Module;
    /** Whether ranges get checksums: only if all ranges are whole inputs. */
    readonly hasChecksums?: boolean;
    /** This thread's name, unique among all threads that write sorted runs to one directory. */
    readonly name: string;
    /**
     * The number of distinct words of each thread, by its index. Each thread writes its own number, and the main thread
     * reads all.
     */
    readonly distinctWordCounts: Float64Array;
  };

/** The results of a thread: the words in its memory, and the sorted runs that it wrote. */
export type ThreadWords = {
  readonly words: wordCounter.PackedCounts;
  readonly runs: readonly SortedRun[];
  /** If words were added up in slices: all words whose hashes are in this thread's slice. `words` is then consumed. */
  readonly slice?: WordTable | undefined;
  readonly idCounts?: Float64Array | undefined;
};

/**
 * Files of at least this size are mapped. The size is well above 10 MB, below which loading the code for mapping takes
 * more time than mapping saves.
 */
const mappedBytesLeast = scaled(1 << 25, 1 << 12);
/** The most bytes of ids that a window of lifted text yields. */
const windowIdBytes = scaled(1 << 20, 16);

/** The work of one counting thread: counts tasks and keeps their words. */
export class ThreadCounter
  implements taskRunner.ThreadJob<never, RangeStatistics | undefined, ThreadWords, AllTables>
{
  private readonly counter: SpillingCounter;
  private packed: wordCounter.PackedCounts | undefined;
  private allTables: wordCounter.PackedTables[] = [];
  private sliceCounter: WordCounter | undefined;
  private slice: WordTable | undefined;
  private readonly texts: TaskTexts;
  private readonly lifted: LiftedPretokens | undefined;

  constructor(
    private readonly setup: CountSetup,
    private readonly index: number,
  ) {
    const { inputs, cutting, liftingModel, runOptions, name } = setup;
    const memory = new rangeReader.TextMemory(runOptions?.wordBytesMax);
    this.counter = new SpillingCounter(setup, name, memory);
    const { words } = this.counter;
    if (liftingModel === undefined) {
      const mapping = { window: words.window, fileBytesLeast: mappedBytesLeast };
      this.texts = new TaskTexts(new TextChain(cutting, words), {
        ...{ inputs, memory, mapping },
        hasChecksums: setup.hasChecksums,
      });
    } else {
      // Loaded on demand, because only superwords need it.
      const loaded = require("./lifted-pretokens.ts") as typeof import("./lifted-pretokens.ts");
      this.lifted = new loaded.LiftedPretokens(liftingModel, words);
      const windowBytes = windowIdBytes / loaded.idBytesOf(liftingModel);
      this.texts = new TaskTexts(new TextChain(cutting, this.lifted), { inputs, memory, windowBytes });
    }
  }

  get offsetByte(): number {
    return this.texts.offsetByte;
  }

  /** Counts a task. Returns the statistics of the range if the task ends it. */
  *take(task: tasks.Task): Generator<number, RangeStatistics | undefined> {
    const { counter, setup, index } = this;
    const isApart = setup.countedPerInput?.has(task.inputIndex) ?? false;
    for (const _ of counter.startTask(isApart ? task.inputIndex : null)) yield 0;
    const work = this.texts.take(task);
    let step = work.next();
    for (; !step.done; step = work.next()) {
      setup.distinctWordCounts[index] = counter.distinctWordCount;
      yield step.value;
      for (const _ of counter.makeRoom()) yield step.value;
    }
    setup.distinctWordCounts[index] = counter.distinctWordCount;
    return step.value;
  }

  /**
   * Ends counting. The words in memory move to a sorted run in two cases: this thread has already written a run that
   * may have words of several inputs; or another thread needs this memory (`leavesMemory`), and sorted runs may be
   * written.
   */
  finish(leavesMemory: boolean): Generator<undefined, void> {
    return this.counter.finish([], leavesMemory);
  }

  get rest(): ThreadWords {
    const { counter, slice } = this;
    this.packed ??= counter.words.pack();
    return { words: this.packed, runs: counter.runs, slice, idCounts: this.lifted?.idCounts };
  }

  get restMemory(): ArrayBuffer[] {
    if (this.slice !== undefined) return wordTables.memoryOf(this.slice);
    return this.counter.runs.flatMap(({ table }) => (table === null ? [] : wordTables.memoryOf(table)));
  }

  /**
   * Adds up those words of all threads that are in this thread's slice of the hashes: in each round, the words of one
   * kind (short, middle or long). Returns false if memory does not suffice.
   */
  *share({ common, index, round }: taskRunner.Share<AllTables>): Generator<undefined, boolean> {
    if (round === 0) {
      const tables: wordCounter.PackedTables[] = JSON.parse(common!.json);
      this.allTables = tables.map((places, i) => ({ ...places, buffer: common!.buffers[i]! }));
      this.sliceCounter = WordCounter.forSlice(this.packed!, { index, count: tables.length });
      if (!this.sliceCounter.hasRoomForSliceOf(this.allTables)) return false;
    } else wordCounter.discardRound(this.packed!, round - 1);
    yield* this.sliceCounter!.addSliceOf(this.allTables, round);
    return true;
  }

  /** Turns the added-up words of the slice into a word table. */
  *endShare(): Generator<undefined, void> {
    wordCounter.discardRound(this.packed!, wordCounter.sliceRounds - 1);
    this.slice = yield* this.sliceCounter!.listWords();
    this.sliceCounter!.clear();
  }

  close(): void {
    this.texts.close();
  }
}

export function startCounting(setup: CountSetup, { index }: taskRunner.Thread): ThreadCounter {
  kernels.adoptModule(setup.kernelModule);
  return new ThreadCounter(setup, index);
}
