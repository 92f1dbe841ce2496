import type { Input } from "../corpus/inputs.ts";
import { PieceBuffers } from "../corpus/pieces.ts";
import { type Range, totalBytesOf } from "../corpus/ranges.ts";
import { inputBytesOf, isEmpty, memoryOf, planTasks, TaskQueue } from "../corpus/tasks.ts";
import { workerUrl } from "../embedded.ts";
import { inTurns, nextTurn } from "../next-turn.ts";
import type { CompiledPattern } from "../pattern/index.ts";
import { runWorkers } from "../workers/run-workers.ts";
import type { FromWorker, ToWorker } from "./protocol.ts";
import type { RangeFindings } from "./range-counter.ts";
import type { Run, RunOptions } from "./runs.ts";
import { TaskCounter } from "./task-counter.ts";
import { WordKeeper } from "./word-keeper.ts";

export type CountOptions = {
  readonly inputs: readonly Input[];
  /** What of the inputs is counted; all of it, if left out. */
  readonly ranges?: readonly Range[] | undefined;
  readonly pattern: CompiledPattern;
  readonly specialTokens: readonly Uint8Array[];
  /** 1 counts in this thread; more start that many workers. */
  readonly workerCount: number;
  /** Wished size of the ranges handed to workers. */
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
  const count = options.workerCount === 1 || isNothing ? countHere : countInWorkers;
  const counts = await count(options, addFindings, (bytesDone, distinctWordCount) =>
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

async function countHere(options: CountOptions, addFindings: AddFindings, report: Report): Promise<Counts> {
  const keeper = new WordKeeper(options.runOptions, nextName());
  const { counter } = keeper;
  const tasks = new TaskCounter(options, counter);
  const buffers = new PieceBuffers();
  let bytesBefore = 0;
  try {
    for await (const task of planTasks(options.inputs, undefined, buffers, options.ranges)) {
      if (isEmpty(task)) continue;
      await inTurns(keeper.startTask(apartOf(options, task.inputIndex)));
      const work = tasks.count(task);
      let step = work.next();
      for (; !step.done; step = work.next()) {
        report(bytesBefore + inputBytesOf(task, step.value), keeper.distinctWordCount);
        await nextTurn();
        await inTurns(keeper.makeRoom());
      }
      addFindings(task.inputIndex, step.value);
      if (task.kind === "piece") buffers.give(task.bytes.buffer);
      bytesBefore += inputBytesOf(task);
      report(bytesBefore, keeper.distinctWordCount);
    }
  } finally {
    tasks.close();
  }
  await inTurns(keeper.finish());
  return { keeper, runs: keeper.runs };
}

/** The input whose words are kept apart, or null. */
function apartOf({ inputsApart }: CountOptions, inputIndex: number): number | null {
  return inputsApart?.has(inputIndex) ? inputIndex : null;
}

const roomOf = (options: RunOptions, threadCount: number): RunOptions => ({
  ...options,
  wordBytesMax: options.wordBytesMax * threadCount,
});

const smallestRangeSizeBytes = 1 << 20;
const largestRangeSizeBytes = 1 << 23;
/** So many that the last range of one worker keeps the others waiting only for a small share of the whole. */
const rangesPerWorker = 16;
const reportIntervalMs = 50;

async function countInWorkers(
  options: CountOptions,
  addFindings: AddFindings,
  report: Report,
): Promise<Counts> {
  const { inputs, ranges, pattern, specialTokens, workerCount, runOptions, pieceSizeBytes } = options;
  // What is wanted apart is sorted and written for each thread that counts some of it.
  const leastSizeBytes = options.inputsApart?.size ? largestRangeSizeBytes : smallestRangeSizeBytes;
  const evenSizeBytes = (totalBytesOf(inputs, ranges) ?? 0) / (workerCount * rangesPerWorker);
  const rangeSizeBytes =
    options.rangeSizeBytes ?? Math.min(Math.max(evenSizeBytes, leastSizeBytes), largestRangeSizeBytes);
  const cutting = {
    pattern,
    specialTokens,
    rangeSizeBytes: Math.ceil(rangeSizeBytes),
    ...(pieceSizeBytes !== undefined && { pieceSizeBytes }),
  };
  const buffers = new PieceBuffers();
  const tasks = new TaskQueue(
    planTasks(inputs, cutting, buffers, ranges),
    workerCount * smallestRangeSizeBytes,
  );
  const bytesDone = new Float64Array(new SharedArrayBuffer(8 * workerCount));
  const distinctWordCounts = new Float64Array(workerCount);
  const sum = (cells: Float64Array) => cells.reduce((total, cell) => total + cell, 0);
  // What the workers leave, this thread has the room of all of them for.
  const keeper = new WordKeeper(runOptions && roomOf(runOptions, workerCount), nextName());
  const runs: Run[] = [];
  const ticker = setInterval(() => report(sum(bytesDone), Math.max(...distinctWordCounts)), reportIntervalMs);
  try {
    await runWorkers<ToWorker, FromWorker>(
      { url: workerUrl, name: "counting", workerCount },
      ({ workerIndex, send, finish }) => {
        const sendNext = async () => {
          for (;;) {
            const next = await tasks.next(workerIndex);
            if (next.length === 0) return send({ kind: "finish" });
            const given = next
              .filter((task) => !isEmpty(task))
              .map((task) => ({ task, apart: apartOf(options, task.inputIndex) }));
            if (given.length > 0) return send({ kind: "tasks", tasks: given }, memoryOf(next));
          }
        };
        const name = nextName();
        send({ kind: "setup", pattern, specialTokens, inputs, bytesDone, workerIndex, name, runOptions });
        return (message) => {
          switch (message.kind) {
            case "ready":
              return sendNext();
            case "counted":
              for (const { inputIndex, findings } of message.counted) addFindings(inputIndex, findings);
              distinctWordCounts[workerIndex] = message.distinctWordCount;
              for (const memory of message.emptied) buffers.give(memory);
              return sendNext();
            case "words":
              runs.push(...message.runs);
              return inTurns(keeper.absorb(message.words)).then(finish);
          }
        };
      },
    );
  } finally {
    tasks.close();
    clearInterval(ticker);
  }
  await inTurns(keeper.finish(runs));
  report(sum(bytesDone), keeper.counter.distinctWordCount);
  return { keeper, runs: [...runs, ...keeper.runs] };
}
