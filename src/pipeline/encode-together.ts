import { canSeek, type Input } from "../corpus/input.ts";
import { type RangePlanOptions, totalBytesOf } from "../corpus/range.ts";
import { PieceBuffers } from "../corpus/stream-chunks.ts";
import {
  inputBytesOf,
  isEmpty,
  mayTakeLong,
  memoryOf,
  planTasks,
  type Task,
  TaskQueue,
} from "../corpus/task.ts";
import { encodeWorkerUrl } from "../embedded.ts";
import type { CompiledPattern } from "../pattern/pattern.ts";
import { expectLossOfMemory } from "../runtime/compile-sparingly.ts";
import { kernelModule } from "../runtime/kernel.ts";
import { MemoryBudget } from "../runtime/memory-budget.ts";
import { nextTurn } from "../runtime/turns.ts";
import { textCutting } from "../tokenizer/text-cutting.ts";
import type { EncodingParts } from "../tokenizer/tokenizer-parts.ts";
import type { EncodeCorpusOptions, EncodedCorpus, IdSink } from "./encode-corpus.ts";
import type { FromWorker, ToWorker } from "./encode-protocol.ts";
import { Outbox } from "./outbox.ts";
import { type StartedWorkers, serveWorkers, startWorkers } from "./serve-workers.ts";
import { TaskEncoder } from "./task-encoder.ts";
import { endsText, type Turn, WriteOrder } from "./write-order.ts";

const smallestRangeSizeBytes = 1 << 19;
const largestRangeSizeBytes = 1 << 22;
/** So many that the last range of one thread keeps the others waiting only for a small share of the whole. */
const rangesPerThread = 40;
/** Tasks a worker is given at a time, so that it does not wait for the next one. */
const tasksAhead = 2;
const reportIntervalMs = 50;

/** Threads that encode beside the main one. */
export type EncodingHelpers = StartedWorkers;

/**
 * The main thread encodes too, unless it has a stream to read: who reads between windows reads slowly. Nor does it where one
 * pretoken may take long to find: it would serve no signal meanwhile, while a helper can be ended.
 */
const doesMainEncode = (inputs: readonly Input[], pattern?: CompiledPattern) =>
  inputs.every(canSeek) && pattern?.kind !== "programs";

/**
 * Starts the threads that `encodeTogether` will use, so that they are up when the tokenizer is loaded. Whoever starts
 * them terminates them, whatever happens. The pattern may not be known yet.
 */
export function startHelpers(
  workerCount: number,
  inputs: readonly Input[],
  pattern?: CompiledPattern,
): EncodingHelpers {
  return startWorkers({
    url: encodeWorkerUrl,
    name: "encoding",
    workerCount: doesMainEncode(inputs, pattern) ? workerCount - 1 : workerCount,
  });
}

/** What the threads have in common, as the main one sees it. */
type SharedWork = {
  readonly tasks: TaskQueue;
  readonly order: WriteOrder;
  readonly buffers: PieceBuffers;
  /** A cell for each helper, and the last one for the main thread. */
  readonly bytesDone: Float64Array;
  textBytes: number;
  invalidByteCount: number;
  /** The memory that each thread has for a text and what it stands in. */
  readonly textBytesMax: number;
  /** Something failed: no more is begun. */
  isStopped: boolean;
};

/**
 * This thread and its helpers take one task after the other; this one writes what all of them make. When it meets a task that
 * may take long at a time it stops encoding, so that it goes on serving signals, and another helper stands in for it.
 */
export async function encodeTogether(
  options: EncodeCorpusOptions,
  sink: IdSink,
  report: (bytesDone: number) => void,
): Promise<EncodedCorpus> {
  const { inputs, workerCount } = options;
  const { pattern } = options.parts;
  expectLossOfMemory();
  const helpers = options.helpers ?? startHelpers(workerCount, inputs, pattern);
  const buffers = new PieceBuffers();
  const mainCell = helpers.workers.length;
  const bytesDone = new Float64Array(new SharedArrayBuffer(8 * (mainCell + 1)));
  const cutting = cuttingOf(options);
  const leaves = (task: Task) => mayTakeLong(task, longBytesOf(task, options, cutting));
  const shared: SharedWork = {
    tasks: new TaskQueue(
      planTasks(inputs, cutting, buffers, options.ranges),
      workerCount * smallestRangeSizeBytes,
      { taker: mainCell, leaves },
    ),
    order: new WriteOrder(sink),
    buffers,
    bytesDone,
    textBytes: 0,
    invalidByteCount: 0,
    textBytesMax: new MemoryBudget().shareBytes(workerCount),
    isStopped: false,
  };
  const ticker = setInterval(() => report(bytesDone.reduce((sum, cell) => sum + cell, 0)), reportIntervalMs);
  let standIn: EncodingHelpers | undefined;
  const encodeHere = async () => {
    await encodeBeside(options, sink, shared);
    if (!shared.tasks.hasLeft || shared.isStopped) return;
    standIn = startWorkers({ url: encodeWorkerUrl, name: "encoding", workerCount: 1 });
    await serveHelpers(options, standIn, shared, mainCell);
  };
  try {
    const helping = serveHelpers(options, helpers, shared);
    await Promise.all([helping, doesMainEncode(inputs, pattern) ? encodeHere() : undefined]);
  } finally {
    shared.isStopped = true;
    helpers.terminate();
    standIn?.terminate();
    shared.tasks.close();
    clearInterval(ticker);
  }
  const { textBytes, invalidByteCount } = shared;
  return { textBytes, invalidByteCount };
}

/**
 * Helpers have their first tasks before they are up: the main thread looks up late from its own first window. Their cells
 * begin with `firstCell`.
 */
async function serveHelpers(
  { inputs, parts, specialTokensAsText }: EncodeCorpusOptions,
  helpers: EncodingHelpers,
  shared: SharedWork,
  firstCell = 0,
): Promise<void> {
  const { tasks, order, buffers, bytesDone, textBytesMax } = shared;
  const firstTasks: Promise<void>[] = [];
  const serving = serveWorkers<ToWorker, FromWorker>(helpers, ({ workerIndex, send, finish }) => {
    const cell = firstCell + workerIndex;
    /** Of the tasks that the worker was given, the one at work first. */
    const turns: Turn[] = [];
    const written: Turn["written"] = (idCount, memory) =>
      send({ kind: "written", idCount, memory }, [memory]);
    const sendNext = async () => {
      for (;;) {
        const next = await tasks.next(cell);
        if (next.length === 0) return turns.length === 0 ? finish() : undefined;
        for (const task of next) {
          const turn = order.add(endsText(task, inputs), written);
          if (isEmpty(task)) {
            order.finish(turn);
            continue;
          }
          turns.push(turn);
          send({ kind: "task", task }, memoryOf([task]));
        }
        if (turns.length > 0) return;
      }
    };
    const sendAhead = () => (turns.length < tasksAhead ? sendNext() : undefined);
    send({
      kind: "setup",
      kernelModule: kernelModule(),
      parts: encodingParts(parts),
      specialTokensAsText,
      inputs,
      textBytesMax,
      bytesDone,
      cell,
    });
    firstTasks.push(sendNext().then(sendAhead));
    return (message) => {
      switch (message.kind) {
        case "ids":
          return order.take(turns[0]!, message);
        case "encoded":
          shared.textBytes += message.textBytes;
          shared.invalidByteCount += message.invalidByteCount;
          if (message.emptied !== undefined) buffers.give(message.emptied);
          order.finish(turns.shift()!);
          return sendAhead();
      }
    };
  });
  await Promise.all([serving, ...firstTasks]);
}

/** What a helper does, in this thread: messages are served after each window. */
async function encodeBeside(
  { inputs, parts, specialTokensAsText }: EncodeCorpusOptions,
  sink: IdSink,
  shared: SharedWork,
): Promise<void> {
  const { tasks, order, bytesDone } = shared;
  const cell = bytesDone.length - 1;
  let next = await tasks.next(cell);
  if (tasks.hasLeft) return;
  const encoder = new TaskEncoder(inputs, parts, specialTokensAsText, shared.textBytesMax);
  const { encoding } = encoder;
  const { out } = encoding;
  let turn: Turn | undefined;
  const outbox = new Outbox(out, (part) => order.take(turn!, part));
  const written: Turn["written"] = (idCount, memory) => outbox.written(idCount, memory);
  try {
    for (; next.length > 0; next = await tasks.next(cell)) {
      const turns = next.map((task) => order.add(endsText(task, inputs), written));
      for (const [i, task] of next.entries()) {
        turn = turns[i]!;
        const before = bytesDone[cell]!;
        for (const done of isEmpty(task) ? [] : encoder.encode(task)) {
          bytesDone[cell] = before + inputBytesOf(task, done);
          if (order.isNext(turn)) {
            const recordEnds = out.takeRecordEnds();
            sink.write(out.flush(), recordEnds);
          } else if (!out.isEmpty) await outbox.send();
          await (sink.drained?.() ?? nextTurn());
          if (shared.isStopped) return;
        }
        order.finish(turn);
      }
    }
    shared.textBytes += encoder.textBytes;
    shared.invalidByteCount += encoding.invalidByteCount;
  } finally {
    encoder.close();
  }
}

/** The parts alone: what else the tokenizer knows stays here. */
function encodingParts(parts: EncodingParts): EncodingParts {
  const { model, pattern, normalization, addsPrefixSpace, addedTokens, isNarrow } = parts;
  return { model, pattern, normalization, addsPrefixSpace, addedTokens, isNarrow };
}

/**
 * How much text without a cut takes some 0.2 s: a page or a line of that length, cut into words; or a range that grew because no
 * cut was found, which may be one word.
 */
function longBytesOf(
  task: Task,
  { inputs }: EncodeCorpusOptions,
  { rangeSizeBytes, keepsTextsWhole }: RangePlanOptions,
): number {
  const isCut = task.kind === "range" && !(keepsTextsWhole && inputs[task.inputIndex]!.format === "text");
  return isCut ? 2 * rangeSizeBytes : 2 * largestRangeSizeBytes;
}

/** How inputs are cut. */
function cuttingOf(options: EncodeCorpusOptions): RangePlanOptions {
  const { inputs, ranges, parts, workerCount, specialTokensAsText, pieceSizeBytes } = options;
  const evenSizeBytes = Math.ceil((totalBytesOf(inputs, ranges) ?? 0) / (workerCount * rangesPerThread));
  const rangeSizeBytes =
    options.rangeSizeBytes ??
    Math.min(Math.max(evenSizeBytes, smallestRangeSizeBytes), largestRangeSizeBytes);
  return {
    ...textCutting(parts, specialTokensAsText),
    rangeSizeBytes,
    textBytesMax: new MemoryBudget().shareBytes(workerCount),
    ...(pieceSizeBytes !== undefined && { pieceSizeBytes }),
  };
}
