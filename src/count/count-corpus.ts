import { canSeek, type Input } from "../corpus/inputs.ts";
import { PieceBuffers } from "../corpus/pieces.ts";
import { type Range, type RangePlanOptions, totalBytesOf } from "../corpus/ranges.ts";
import { isEmpty, memoryOf, planTasks, TaskQueue } from "../corpus/tasks.ts";
import { workerUrl } from "../embedded.ts";
import { inTurns, nextTurn } from "../next-turn.ts";
import type { CompiledPattern } from "../pattern/index.ts";
import { describeFailure, reviveFailure } from "../workers/failure.ts";
import { runWorkers } from "../workers/run-workers.ts";
import type { FromWorker, ToWorker } from "./protocol.ts";
import type { RangeFindings } from "./range-counter.ts";
import type { Run, RunOptions } from "./runs.ts";
import { ThreadCounter } from "./thread-counter.ts";
import { WordKeeper } from "./word-keeper.ts";

export type CountOptions = {
  readonly inputs: readonly Input[];
  /** What of the inputs is counted; all of it, if left out. */
  readonly ranges?: readonly Range[] | undefined;
  readonly pattern: CompiledPattern;
  readonly specialTokens: readonly Uint8Array[];
  /** Threads that count, this one among them unless it has streams to read for the others. */
  readonly workerCount: number;
  /** Wished size of the ranges that threads take. */
  readonly rangeSizeBytes?: number;
  /** Where runs go, and when. Without it no words are written to runs. */
  readonly runOptions?: RunOptions | undefined;
  /** Indices of the inputs whose words are wanted apart: in runs of their own, in memory too if there is room. */
  readonly inputsApart?: ReadonlySet<number> | undefined;
  /** Wished size of the pieces in which a worker is given what is read once and in order. */
  readonly pieceSizeBytes?: number;
};

export type CountProgress = {
  readonly bytesDone: number;
  /** Not known where the inputs are streams. */
  readonly bytesTotal: number | null;
  readonly distinctWordCount: number;
};

export type CorpusCounts = {
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
  if (isNothing) return { keeper: new WordKeeper(options.runOptions, nextName()), runs: [], findings };
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

/** The main thread counts too, unless the others wait for what it reads: who reads between windows reads slowly. */
const doesMainCount = ({ inputs, workerCount }: CountOptions) => workerCount === 1 || inputs.every(canSeek);

/** What the threads have in common, as the main one sees it. */
type SharedWork = {
  readonly tasks: TaskQueue;
  readonly buffers: PieceBuffers;
  /** A cell for each worker, and the last one for the main thread. */
  readonly bytesDone: Float64Array;
  readonly distinctWordCounts: Float64Array;
  readonly addFindings: AddFindings;
  readonly tell: () => void;
  /** What the threads leave, added up: this thread has the room of all of them for it. */
  readonly sum: WordKeeper;
  readonly runs: Run[];
  /** Something failed: no more is begun. */
  isStopped: boolean;
};

/** This thread and the workers take one task after the other; this one adds up what all of them leave. */
async function countTogether(
  options: CountOptions,
  addFindings: AddFindings,
  report: Report,
): Promise<Counts> {
  const { inputs, ranges, workerCount, runOptions } = options;
  const buffers = new PieceBuffers();
  const cellBytes = 8 * (workerCount + 1);
  const bytesDone = new Float64Array(new SharedArrayBuffer(cellBytes));
  const distinctWordCounts = new Float64Array(workerCount + 1);
  const tell = () =>
    report(
      bytesDone.reduce((sum, cell) => sum + cell, 0),
      Math.max(...distinctWordCounts),
    );
  const shared: SharedWork = {
    tasks: new TaskQueue(
      planTasks(inputs, workerCount === 1 ? undefined : cuttingOf(options), buffers, ranges),
      workerCount * smallestRangeSizeBytes,
    ),
    buffers,
    bytesDone,
    distinctWordCounts,
    addFindings,
    tell,
    sum: new WordKeeper(runOptions && roomOf(runOptions, workerCount), nextName()),
    runs: [],
    isStopped: false,
  };
  const helperCount = doesMainCount(options) ? workerCount - 1 : workerCount;
  const ticker = setInterval(tell, reportIntervalMs);
  const { sum, runs } = shared;
  try {
    const counting = doesMainCount(options) ? countBeside(options, shared) : Promise.resolve();
    await Promise.all([serveHelpers(options, helperCount, shared, counting), counting]);
  } finally {
    shared.isStopped = true;
    shared.tasks.close();
    clearInterval(ticker);
  }
  await inTurns(sum.finish(runs));
  distinctWordCounts[workerCount] = sum.counter.distinctWordCount;
  tell();
  return { keeper: sum, runs: [...runs, ...sum.runs] };
}

/** Tasks a worker is given at a time where the main thread is at work itself: it need not wait for the next one. */
const tasksAhead = 2;

/** Workers take tasks; what they leave is added up once `counting`, the main thread's own part, is done. */
function serveHelpers(
  options: CountOptions,
  workerCount: number,
  shared: SharedWork,
  counting: Promise<void>,
): Promise<void> {
  const { inputs, pattern, specialTokens, runOptions } = options;
  const { tasks, buffers, bytesDone, distinctWordCounts, addFindings, sum, runs } = shared;
  const ahead = doesMainCount(options) ? tasksAhead : 1;
  return runWorkers<ToWorker, FromWorker>(
    { url: workerUrl, name: "counting", workerCount },
    ({ workerIndex: cell, send, finish }) => {
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
      send({ kind: "setup", pattern, specialTokens, inputs, bytesDone, cell, name, runOptions });
      return async (message) => {
        switch (message.kind) {
          case "ready":
            for (let count = 0; count < ahead; count++) await sendNext();
            return;
          case "counted":
            for (const { inputIndex, findings } of message.counted) addFindings(inputIndex, findings);
            distinctWordCounts[cell] = message.distinctWordCount;
            for (const memory of message.emptied) buffers.give(memory);
            return sendNext();
          case "words":
            await counting;
            runs.push(...message.runs);
            await inTurns(sum.absorb(message.words));
            return finish();
        }
      };
    },
  );
}

/** What a worker does, in this thread: messages and signals are served after each window. */
async function countBeside(options: CountOptions, shared: SharedWork): Promise<void> {
  const { tasks, buffers, bytesDone, distinctWordCounts, addFindings, tell, sum, runs } = shared;
  const cell = options.workerCount;
  const counter = new ThreadCounter(options, options.runOptions, nextName(), { bytesDone, cell });
  try {
    for (let next = await tasks.next(cell); next.length > 0; next = await tasks.next(cell)) {
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
    const left = await inTurns(counter.finish());
    runs.push(...left.runs);
    await inTurns(sum.absorb(left.words));
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

/** How inputs are cut where several threads count. */
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
    ...(pieceSizeBytes !== undefined && { pieceSizeBytes }),
  };
}
