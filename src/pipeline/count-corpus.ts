import { canSeek, type Input } from "../corpus/input.ts";
import { type Range, type RangePlanOptions, totalBytesOf } from "../corpus/range.ts";
import { PieceBuffers } from "../corpus/stream-chunks.ts";
import { isEmpty, mayTakeLong, memoryOf, planTasks, TaskQueue } from "../corpus/task.ts";
import type { RangeFindings } from "../count/range-counter.ts";
import type { Run, RunOptions } from "../count/sorted-runs.ts";
import { WordKeeper } from "../count/spilling-counter.ts";
import { ThreadCounter, type ThreadWords } from "../count/thread-counter.ts";
import { workerUrl } from "../embedded.ts";
import type { CompiledPattern } from "../pattern/pattern.ts";
import { kernelModule } from "../runtime/kernel.ts";
import { workerBytes } from "../runtime/memory-budget.ts";
import { inTurns, nextTurn } from "../runtime/turns.ts";
import type { FromWorker, ToWorker } from "./count-protocol.ts";
import { type StartedWorkers, serveWorkers, startWorkers } from "./serve-workers.ts";
import { describeFailure, reviveFailure } from "./thread-failure.ts";

export type CountOptions = {
  readonly inputs: readonly Input[];
  /** What of the inputs is counted; all of it, if left out. */
  readonly ranges?: readonly Range[] | undefined;
  readonly pattern: CompiledPattern;
  readonly specialTokens: readonly Uint8Array[];
  /** Threads that count, this one among them unless it has streams to read for the others. */
  readonly workerCount: number;
  /** How much text there is at most, all inputs together, if it is known: what the words can take follows from it. */
  readonly textBytesMax?: number | undefined;
  /** Wished size of the ranges that threads take. */
  readonly rangeSizeBytes?: number;
  /** Where runs go, and when. Without it no words are written to runs. */
  readonly runOptions?: RunOptions | undefined;
  /** Indices of the inputs whose words are wanted apart: in runs of their own, in memory too if there is room. */
  readonly inputsApart?: ReadonlySet<number> | undefined;
  /** Wished size of the pieces in which a worker is given what is read once and in order. */
  readonly pieceSizeBytes?: number;
};

type CountProgress = {
  readonly bytesDone: number;
  /** Not known where the inputs are streams. */
  readonly bytesTotal: number | null;
  readonly distinctWordCount: number;
};

type CorpusCounts = {
  /** The words, but for those in runs. */
  readonly keeper: WordKeeper;
  readonly runs: readonly Run[];
  /** Of each input, in their order. */
  readonly findings: readonly RangeFindings[];
};

/**
 * Counts the words of the inputs. Calls `report` between slices of work of at most some 30 ms, and lets the event
 * loop turn there, so that signals are served. Throws what a worker throws; no worker is left running.
 */
export async function countCorpus(
  options: CountOptions,
  report: (progress: CountProgress) => void,
): Promise<CorpusCounts> {
  const { inputs } = options;
  const findings = inputs.map(() => ({
    textBytes: 0,
    documentCount: 0,
    invalidByteCount: 0,
    firstInvalidByte: -1,
  }));
  const addFindings = (inputIndex: number, found: RangeFindings | undefined) => {
    if (found === undefined) return;
    const sum = findings[inputIndex]!;
    sum.textBytes += found.textBytes;
    sum.documentCount += found.documentCount;
    sum.invalidByteCount += found.invalidByteCount;
    if (
      found.firstInvalidByte >= 0 &&
      (sum.firstInvalidByte < 0 || found.firstInvalidByte < sum.firstInvalidByte)
    ) {
      sum.firstInvalidByte = found.firstInvalidByte;
    }
  };
  const bytesTotal = totalBytesOf(inputs, options.ranges);
  const isNothing = (options.ranges ?? inputs).length === 0;
  if (isNothing) return { keeper: new WordKeeper(options, nextName()), runs: [], findings };
  const counts = await countTogether(options, addFindings, (bytesDone, distinctWordCount) =>
    report({ bytesDone, bytesTotal, distinctWordCount }),
  );
  return { ...counts, findings };
}

/** Whoever writes runs has a name of its own, also where a corpus is counted in several goes. */
let nameCount = 0;
const nextName = () => String(nameCount++);

type Counts = Omit<CorpusCounts, "findings">;

type AddFindings = (inputIndex: number, findings: RangeFindings | undefined) => void;
type Report = (bytesDone: number, distinctWordCount: number) => void;

const smallestRangeSizeBytes = 1 << 20;
const largestRangeSizeBytes = 1 << 23;
/** So many that the last range of one thread keeps the others waiting only for a small share of the whole. */
const rangesPerThread = 16;
const reportIntervalMs = 50;
/** So much text, if it is one line, one page or one word, takes this thread some 0.1 s at a time. */
const longTextBytes = 1 << 24;

/**
 * The main thread counts too, unless the others wait for what it reads: who reads between windows reads slowly. One stream may
 * turn out to be so short that no other thread is needed.
 */
const doesMainCount = ({ inputs, workerCount }: CountOptions) =>
  inputs.every(canSeek) || (workerCount === 1 && inputs.length === 1);

/** What the threads have in common, as the main one sees it. */
type SharedWork = {
  readonly mainCounts: boolean;
  readonly tasks: TaskQueue;
  readonly buffers: PieceBuffers;
  /** A cell for each worker, and one for the main thread. */
  readonly bytesDone: Float64Array;
  readonly distinctWordCounts: Float64Array;
  readonly addFindings: AddFindings;
  readonly tell: () => void;
  /** What the threads leave. */
  readonly left: ThreadWords[];
  /** Something failed: no more is begun. */
  isStopped: boolean;
};

/**
 * This thread and the workers take one task after the other; this one adds up what all of them leave. When it meets a task that
 * may take long at a time it stops counting, so that it goes on serving signals, and another worker stands in for it.
 */
async function countTogether(
  options: CountOptions,
  addFindings: AddFindings,
  report: Report,
): Promise<Counts> {
  const { inputs, ranges, workerCount, runOptions } = options;
  const mainCounts = doesMainCount(options);
  const workers = startWorkers({
    url: workerUrl,
    name: "counting",
    workerCount: mainCounts ? workerCount - 1 : workerCount,
  });
  const buffers = new PieceBuffers();
  const bytesDone = new Float64Array(new SharedArrayBuffer(8 * (workerCount + 1)));
  const distinctWordCounts = new Float64Array(workerCount + 1);
  const tell = () =>
    report(
      bytesDone.reduce((sum, cell) => sum + cell, 0),
      Math.max(...distinctWordCounts),
    );
  const shared: SharedWork = {
    mainCounts,
    tasks: new TaskQueue(
      planTasks(inputs, cuttingOf(options), buffers, ranges),
      workerCount * smallestRangeSizeBytes,
      { taker: workerCount, leaves: (task) => mayTakeLong(task, longTextBytes) },
    ),
    buffers,
    bytesDone,
    distinctWordCounts,
    addFindings,
    tell,
    left: [],
    isStopped: false,
  };
  const ticker = setInterval(tell, reportIntervalMs);
  let standIn: StartedWorkers | undefined;
  const countHere = async () => {
    await countBeside(options, shared);
    if (!shared.tasks.hasLeft || shared.isStopped) return;
    standIn = startWorkers({ url: workerUrl, name: "counting", workerCount: 1 });
    await serve(besideMain(options), standIn, shared, workerCount);
  };
  try {
    // The workers have their tasks before this thread turns to its own.
    const serving = serve(workerCount === 1 ? besideMain(options) : options, workers, shared);
    await Promise.all([serving, mainCounts ? countHere() : undefined]);
  } finally {
    shared.isStopped = true;
    workers.terminate();
    standIn?.terminate();
    shared.tasks.close();
    clearInterval(ticker);
  }
  // This thread has the room of all of them for it.
  const keeper = new WordKeeper(
    { ...options, runOptions: runOptions && roomOf(runOptions, workerCount) },
    nextName(),
  );
  const runs = shared.left.flatMap((left) => left.runs);
  // The most words first: their memory is taken over, and the others are added to it.
  shared.left.sort((a, b) => b.words.distinctWordCount - a.words.distinctWordCount);
  for (const { words } of shared.left) await inTurns(keeper.absorb(words));
  await inTurns(keeper.finish(runs));
  distinctWordCounts[workerCount] = keeper.counter.distinctWordCount;
  tell();
  return { keeper, runs: [...runs, ...keeper.runs] };
}

/** Gives the workers tasks until there are no more, and takes what they leave. Their cells begin with `firstCell`. */
async function serve(
  options: CountOptions,
  workers: StartedWorkers,
  shared: SharedWork,
  firstCell = 0,
): Promise<void> {
  const { inputs, pattern, specialTokens, textBytesMax, runOptions } = options;
  const { mainCounts, tasks, buffers, bytesDone, distinctWordCounts, addFindings, left } = shared;
  const firstTasks: Promise<void>[] = [];
  const serving = serveWorkers<ToWorker, FromWorker>(workers, ({ workerIndex, send, finish }) => {
    const cell = firstCell + workerIndex;
    let hasAll = false;
    const sendNext = async () => {
      while (!hasAll) {
        const next = await tasks.next(cell);
        if (hasAll) return;
        if (next.length === 0) {
          hasAll = true;
          return send({ kind: "finish" });
        }
        const given = next
          .filter((task) => !isEmpty(task))
          .map((task) => ({ task, apart: apartOf(options, task.inputIndex) }));
        if (given.length > 0) return send({ kind: "tasks", tasks: given }, memoryOf(next));
      }
    };
    const name = nextName();
    send({
      kind: "setup",
      kernelModule: kernelModule(),
      pattern,
      specialTokens,
      inputs,
      bytesDone,
      cell,
      name,
      textBytesMax,
      runOptions,
    });
    for (let count = mainCounts ? tasksAhead : 1; count > 0; count--) firstTasks.push(sendNext());
    return (message) => {
      switch (message.kind) {
        case "counted":
          for (const { inputIndex, findings } of message.counted) addFindings(inputIndex, findings);
          distinctWordCounts[cell] = message.distinctWordCount;
          for (const memory of message.emptied) buffers.give(memory);
          return sendNext();
        case "words":
          left.push(message);
          return finish();
      }
    };
  });
  await Promise.all([serving, ...firstTasks]);
}

/** Tasks a worker has where the main thread is at work itself: it need not wait until that looks up. */
const tasksAhead = 2;

/** What a worker does, in this thread: messages and signals are served after each window. */
async function countBeside(options: CountOptions, shared: SharedWork): Promise<void> {
  const { tasks, buffers, bytesDone, distinctWordCounts, addFindings, tell, left } = shared;
  const cell = options.workerCount;
  let next = await tasks.next(cell);
  // Nothing is begun here for nothing: a thread that counts has memory of its own.
  if (tasks.hasLeft) return;
  const counter = new ThreadCounter(options, options, nextName(), { bytesDone, cell });
  try {
    for (; next.length > 0; next = await tasks.next(cell)) {
      for (const task of next) {
        if (isEmpty(task)) continue;
        const work = counter.count({ task, apart: apartOf(options, task.inputIndex) });
        let step = work.next();
        for (; !step.done; step = work.next()) {
          distinctWordCounts[cell] = counter.distinctWordCount;
          tell();
          await nextTurn();
          if (shared.isStopped) return;
        }
        addFindings(task.inputIndex, step.value);
        for (const memory of memoryOf([task])) buffers.give(memory);
      }
    }
    left.push(await inTurns(counter.finish(tasks.hasLeft)));
  } catch (error) {
    throw reviveFailure(describeFailure(error, counter.place));
  } finally {
    counter.close();
  }
}

/** The input whose words are kept apart, or null. */
function apartOf({ inputsApart }: CountOptions, inputIndex: number): number | null {
  return inputsApart?.has(inputIndex) ? inputIndex : null;
}

const roomOf = (options: RunOptions, threadCount: number): RunOptions => ({
  ...options,
  wordBytesMax: options.wordBytesMax * threadCount,
});

/** For one worker more than was reckoned with. This thread keeps no words meanwhile: they are in runs. */
const besideMain = ({ runOptions, ...options }: CountOptions): CountOptions => ({
  ...options,
  runOptions: runOptions && { ...runOptions, wordBytesMax: runOptions.wordBytesMax - workerBytes },
});

/** How inputs are cut. */
function cuttingOf(options: CountOptions): RangePlanOptions {
  const { inputs, ranges, pattern, specialTokens, workerCount, pieceSizeBytes } = options;
  // What is wanted apart is sorted and written for each thread that counts some of it.
  const leastSizeBytes = options.inputsApart?.size ? largestRangeSizeBytes : smallestRangeSizeBytes;
  const evenSizeBytes = (totalBytesOf(inputs, ranges) ?? 0) / (workerCount * rangesPerThread);
  const rangeSizeBytes =
    options.rangeSizeBytes ?? Math.min(Math.max(evenSizeBytes, leastSizeBytes), largestRangeSizeBytes);
  return {
    pattern,
    specialTokens,
    rangeSizeBytes: Math.ceil(rangeSizeBytes),
    textBytesMax: options.runOptions?.wordBytesMax,
    ...(pieceSizeBytes !== undefined && { pieceSizeBytes }),
  };
}
