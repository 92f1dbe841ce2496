import { canSeek, checkUnchanged, emptyCorpus, type Input } from "../corpus/inputs.ts";
import { PieceBuffers } from "../corpus/pieces.ts";
import { type Range, type RangePlanOptions, totalBytesOf } from "../corpus/ranges.ts";
import { inputBytesOf, isEmpty, memoryOf, planTasks, type Task, TaskQueue } from "../corpus/tasks.ts";
import { encodeWorkerUrl } from "../embedded.ts";
import { nextTurn } from "../next-turn.ts";
import { runWorkers } from "../workers/run-workers.ts";
import { canBeCut, cuttingTokens } from "./cuts.ts";
import type { FromWorker, ToWorker, WrittenIds } from "./protocol.ts";
import { TaskEncoder } from "./task-encoder.ts";
import type { EncodingParts } from "./tokenizer-parts.ts";

export type EncodeCorpusOptions = {
  readonly inputs: readonly Input[];
  /** What of the inputs is encoded, in this order; all of it, if left out. */
  readonly ranges?: readonly Range[] | undefined;
  readonly parts: EncodingParts;
  readonly specialTokensAsText: boolean;
  /** 1 encodes in this thread; more start that many workers. */
  readonly workerCount: number;
  /** Wished size of the ranges handed to workers. */
  readonly rangeSizeBytes?: number;
  /** Wished size of the pieces in which a worker is given what is read once and in order. */
  readonly pieceSizeBytes?: number;
};

export type EncodedCorpus = {
  /** Bytes of text that were read. */
  readonly textBytes: number;
  /** Those of them that were not valid UTF-8. */
  readonly invalidByteCount: number;
};

/** Takes the ids, in the order of the inputs or of the ranges given. */
export type IdSink = {
  /** The next ids of the input at hand, valid until it returns; of records also where among them each ends. */
  write(ids: Uint16Array | Uint32Array, recordEnds?: Uint32Array): void;
  /** A text ends that is no record. */
  endInput(): void;
  /** What to wait for before more is written; undefined or absent: nothing. Errors come out of the next `write`. */
  drained?(): Promise<void> | undefined;
};

export type EncodeProgress = { readonly bytesDone: number; readonly bytesTotal: number | null };

/**
 * Encodes the inputs, or the ranges of them that are given, in order. Calls `report` between slices of work of at most
 * some 10 ms, and lets the event loop turn there, so that signals are served. Throws what a worker throws; no worker is
 * left running.
 */
export async function encodeCorpus(
  options: EncodeCorpusOptions,
  sink: IdSink,
  report: (progress: EncodeProgress) => void,
): Promise<EncodedCorpus> {
  const { inputs, ranges } = options;
  const bytesTotal = totalBytesOf(inputs, ranges);
  const encode = options.workerCount === 1 ? encodeHere : encodeInWorkers;
  const encoded = await encode(options, sink, (bytesDone) => report({ bytesDone, bytesTotal }));
  for (const input of inputs) checkUnchanged(input);
  // Some of many ranges may well be empty.
  if (encoded.textBytes === 0 && ranges === undefined && !inputs.every(canSeek)) throw emptyCorpus(inputs);
  return encoded;
}

async function encodeHere(
  { inputs, ranges, parts, specialTokensAsText }: EncodeCorpusOptions,
  sink: IdSink,
  report: (bytesDone: number) => void,
): Promise<EncodedCorpus> {
  const tasks = new TaskEncoder(inputs, parts, specialTokensAsText);
  const buffers = new PieceBuffers();
  let bytesBefore = 0;
  try {
    for await (const task of planTasks(inputs, undefined, buffers, ranges)) {
      if (!isEmpty(task)) {
        for (const bytesDone of tasks.encode(task)) {
          const recordEnds = tasks.encoding.out.takeRecordEnds();
          sink.write(tasks.encoding.out.flush(), recordEnds);
          report(bytesBefore + inputBytesOf(task, bytesDone));
          await (sink.drained?.() ?? nextTurn());
        }
        bytesBefore += inputBytesOf(task);
        if (task.kind === "piece") buffers.give(task.bytes.buffer);
      }
      if (endsText(task, inputs)) sink.endInput();
    }
  } finally {
    tasks.close();
  }
  return { textBytes: tasks.textBytes, invalidByteCount: tasks.encoding.invalidByteCount };
}

/** Whether a text that is no record ends with the task. */
const endsText = ({ endsInput, inputIndex }: Task, inputs: readonly Input[]) =>
  endsInput && inputs[inputIndex]!.format === "text";

const smallestRangeSizeBytes = 1 << 19;
const largestRangeSizeBytes = 1 << 22;
/** So many that the last range of one worker keeps the others waiting only for a small share of the whole. */
const rangesPerWorker = 16;
/** Tasks a worker is given at a time, so that it does not wait for the next one. */
const tasksAhead = 2;
const reportIntervalMs = 50;

async function encodeInWorkers(
  options: EncodeCorpusOptions,
  sink: IdSink,
  report: (bytesDone: number) => void,
): Promise<EncodedCorpus> {
  const { inputs, parts, specialTokensAsText, workerCount } = options;
  const bytesDone = new Float64Array(new SharedArrayBuffer(8 * workerCount));
  const order = new WriteOrder(sink);
  const buffers = new PieceBuffers();
  const tasks = new TaskQueue(
    planTasks(inputs, cuttingOf(options), buffers, options.ranges),
    workerCount * smallestRangeSizeBytes,
  );
  let textBytes = 0;
  let invalidByteCount = 0;
  const ticker = setInterval(() => report(bytesDone.reduce((sum, cell) => sum + cell, 0)), reportIntervalMs);
  try {
    await runWorkers<ToWorker, FromWorker>(
      { url: encodeWorkerUrl, name: "encoding", workerCount },
      ({ workerIndex, send, finish }) => {
        /** Of the tasks that the worker was given, the one at work first. */
        const turns: Turn[] = [];
        const sendNext = async () => {
          for (;;) {
            const next = await tasks.next(workerIndex);
            if (next.length === 0) return turns.length === 0 ? finish() : undefined;
            for (const task of next) {
              const turn = order.add(endsText(task, inputs), () => send({ kind: "written" }));
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
        send({
          kind: "setup",
          parts: encodingParts(parts),
          specialTokensAsText,
          inputs,
          bytesDone,
          workerIndex,
        });
        return async (message) => {
          switch (message.kind) {
            case "ready":
              await sendNext();
              return turns.length < tasksAhead ? sendNext() : undefined;
            case "ids":
              return order.take(turns[0]!, message);
            case "encoded":
              textBytes += message.textBytes;
              invalidByteCount += message.invalidByteCount;
              if (message.emptied !== undefined) buffers.give(message.emptied);
              order.finish(turns.shift()!);
              return turns.length < tasksAhead ? sendNext() : undefined;
          }
        };
      },
    );
  } finally {
    tasks.close();
    clearInterval(ticker);
  }
  return { textBytes, invalidByteCount };
}

/** One task's place in the output. */
type Turn = {
  readonly parts: WrittenIds[];
  readonly endsInput: boolean;
  readonly written: () => void;
  isFinished: boolean;
};

/** Writes what workers send in the order in which tasks were handed out; what comes too early waits. */
class WriteOrder {
  private readonly turns: Turn[] = [];

  constructor(private readonly sink: IdSink) {}

  add(endsInput: boolean, written: () => void): Turn {
    const turn: Turn = { parts: [], endsInput, written, isFinished: false };
    this.turns.push(turn);
    return turn;
  }

  take(turn: Turn, part: WrittenIds): void {
    turn.parts.push(part);
    this.write();
  }

  finish(turn: Turn): void {
    turn.isFinished = true;
    this.write();
  }

  private write(): void {
    for (let turn = this.turns[0]; turn !== undefined; turn = this.turns[0]) {
      for (const { ids, recordEnds } of turn.parts.splice(0)) {
        this.sink.write(ids, recordEnds);
        const drained = this.sink.drained?.();
        if (drained === undefined) turn.written();
        else void drained.then(turn.written);
      }
      if (!turn.isFinished) return;
      if (turn.endsInput) this.sink.endInput();
      this.turns.shift();
    }
  }
}

/** The parts alone: what else the tokenizer knows stays here. */
function encodingParts(parts: EncodingParts): EncodingParts {
  const { model, pattern, normalization, addsPrefixSpace, addedTokens, isNarrow } = parts;
  return { model, pattern, normalization, addsPrefixSpace, addedTokens, isNarrow };
}

/** How inputs are cut, if they are. */
function cuttingOf(options: EncodeCorpusOptions): RangePlanOptions | undefined {
  const { inputs, ranges, parts, workerCount, specialTokensAsText, pieceSizeBytes } = options;
  if (!canBeCut(parts, specialTokensAsText)) return undefined;
  const evenSizeBytes = Math.ceil((totalBytesOf(inputs, ranges) ?? 0) / (workerCount * rangesPerWorker));
  const rangeSizeBytes =
    options.rangeSizeBytes ??
    Math.min(Math.max(evenSizeBytes, smallestRangeSizeBytes), largestRangeSizeBytes);
  const specialTokens = cuttingTokens(parts, specialTokensAsText).map((token) =>
    new TextEncoder().encode(token),
  );
  return {
    pattern: parts.pattern,
    specialTokens,
    rangeSizeBytes,
    ...(pieceSizeBytes !== undefined && { pieceSizeBytes }),
  };
}
