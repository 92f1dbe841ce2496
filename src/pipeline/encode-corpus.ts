import type { RangePlanOptions } from "../corpus/cut-into-ranges.ts";
import {
  canSeek,
  checkUnchanged,
  emptyCorpus,
  type Input,
  type Range,
  totalBytesOf,
} from "../corpus/input.ts";
import { mayTakeLong, type Task } from "../corpus/task.ts";
import { appending, type IdSink, type IdType, idWriterFor } from "../formats/id-writers.ts";
import type { ByteSink } from "../runtime/file-calls.ts";
import { kernelModule } from "../runtime/kernel.ts";
import { MemoryBudget, workerBytes } from "../runtime/system-limits.ts";
import { nextTurn } from "../runtime/turns.ts";
import { textCutting } from "../tokenizer/text-cutting.ts";
import type { EncodingParts } from "../tokenizer/tokenizer-parts.ts";
import { runTasks, type StartedWorkers, startJobWorkers } from "./run-tasks.ts";
import { type EncodedText, type IdsPart, startEncoding } from "./task-encoder.ts";
import type { Sink } from "./task-queue.ts";

export type EncodeCorpusOptions = {
  readonly inputs: readonly Input[];
  /** The ranges that are encoded, in this order; all of each input, if left out. */
  readonly ranges?: readonly Range[] | undefined;
  readonly parts: EncodingParts;
  readonly specialTokensAsText: boolean;
  /** Threads that encode. The main thread is one of them, unless that may keep it from serving signals. */
  readonly workerCount: number;
  /** The memory that may be used; what this process may use, if left out. */
  readonly budget?: MemoryBudget;
  /** The other threads, if they were started ahead (`startEncodingWorkers`). */
  readonly workers?: StartedWorkers | undefined;
  /** Wished size of the ranges that threads take. */
  readonly rangeSizeBytes?: number;
  /** Wished size of the chunks of a stream. */
  readonly chunkSizeBytes?: number;
};

export type EncodeProgress = { readonly bytesDone: number; readonly bytesTotal: number | null };

/** What a tokenizer takes for each of its merges, in the main thread, which loads it, and in each other one. Measured. */
const mergeBytesOfMain = 200;
const mergeBytesOfThread = 70;

const smallestRangeSizeBytes = 1 << 19;
const largestRangeSizeBytes = 1 << 22;
/** With so many, the others wait for the last range of one thread only for a small share of the whole time. */
const rangesPerThread = 40;

/**
 * The main thread encodes too, unless it has a stream to read: between windows it would read too slowly. Nor does it if one
 * pretoken may take long to find, or the tokenizer long to set up: it would serve no signals meanwhile, but a worker can be
 * terminated.
 */
const doesMainEncode = (inputs: readonly Input[], parts?: EncodingParts) =>
  inputs.every(canSeek) && (parts === undefined || isQuick(parts));

/** Whether no step of encoding takes long: to set up 100,000 added tokens, or a million merges, takes some 0.2 s. */
export const isQuick = ({ pattern, addedTokens, model }: EncodingParts) =>
  pattern.kind === "automata" && addedTokens.length <= 20_000 && model.merges.left.length <= 500_000;

/**
 * Starts the workers of `encodeCorpus`, so that they are up when the tokenizer is loaded. Whoever starts them terminates
 * them, whatever happens. The tokenizer is not known yet.
 */
export const startEncodingWorkers = (workerCount: number, inputs: readonly Input[]): StartedWorkers =>
  startJobWorkers("encoding", workerCount, doesMainEncode(inputs));

/**
 * Encodes the inputs, or the ranges of them that are given, in order. Calls `report` between slices of work of at most
 * some 10 ms, and lets the event loop turn there, so that signals are served. Throws what a worker throws; no worker is
 * left running.
 */
export async function encodeCorpus(
  options: EncodeCorpusOptions,
  sink: IdSink,
  report: (progress: EncodeProgress) => void,
): Promise<EncodedText> {
  const { inputs, ranges, parts, specialTokensAsText, workerCount, workers } = options;
  const { budget = new MemoryBudget() } = options;
  const mergeCount = parts.model.merges.left.length;
  const threads = workerCount === 1 ? "encoding" : `encoding with ${workerCount} workers`;
  const otherBytes = (workerCount - 1) * (workerBytes + mergeBytesOfThread * mergeCount);
  budget.check(threads, mergeBytesOfMain * mergeCount + otherBytes, "use fewer workers (-w 1)");
  const textBytesMax = budget.shareBytes(workerCount);
  const bytesTotal = totalBytesOf(inputs, ranges);
  const cutting = { ...cuttingOf(options), textBytesMax };
  const setup = {
    kernelModule: kernelModule(),
    inputs,
    parts: encodingParts(parts),
    specialTokensAsText,
    textBytesMax,
  };
  await nextTurn();
  const encoded = await runTasks(
    {
      name: "encoding",
      start: startEncoding,
      setupOf: () => setup,
      sink: inOrder(sink, inputs),
      inputs,
      ranges,
      cutting,
      aheadBytes: workerCount * smallestRangeSizeBytes,
      threadCount: workerCount,
      mainWorks: doesMainEncode(inputs, parts),
      mayTakeLong: (task) => mayTakeLong(task, longBytesOf(task, options, cutting)),
      workers,
    },
    (bytesDone) => report({ bytesDone, bytesTotal }),
  );
  for (const input of inputs) checkUnchanged(input);
  const sumOf = (field: keyof EncodedText) => encoded.reduce((sum, thread) => sum + thread[field], 0);
  const textBytes = sumOf("textBytes");
  // Ranges of a plan may be empty.
  if (textBytes === 0 && ranges === undefined && !inputs.every(canSeek)) throw emptyCorpus(inputs);
  return { textBytes, invalidByteCount: sumOf("invalidByteCount") };
}

/** Passes the output of tasks on to a sink of ids. A text that is not a record ends with its last task. */
function inOrder(sink: IdSink, inputs: readonly Input[]): Sink<IdsPart, void> {
  return {
    write: ({ ids, recordEnds }) => sink.write(ids, recordEnds),
    endTask({ endsInput, inputIndex }) {
      if (endsInput && inputs[inputIndex]!.format === "text") sink.endInput();
    },
    drained: () => sink.drained?.(),
  };
}

/** Only what encoding needs: the rest of the tokenizer is not posted to workers. */
export function encodingParts(parts: EncodingParts): EncodingParts {
  const { model, pattern, normalization, addsPrefixSpace, addedTokens, isNarrow } = parts;
  return { model, pattern, normalization, addsPrefixSpace, addedTokens, isNarrow };
}

/**
 * Size of a task that may take some 0.2 s without a pause: a page or a line of that length, in words; or a range that grew
 * because no place to cut was found, which may be one word.
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
  const { inputs, ranges, parts, workerCount, specialTokensAsText, chunkSizeBytes } = options;
  const evenSizeBytes = Math.ceil((totalBytesOf(inputs, ranges) ?? 0) / (workerCount * rangesPerThread));
  const rangeSizeBytes =
    options.rangeSizeBytes ??
    Math.min(Math.max(evenSizeBytes, smallestRangeSizeBytes), largestRangeSizeBytes);
  return {
    ...textCutting(parts, specialTokensAsText),
    rangeSizeBytes,
    ...(chunkSizeBytes !== undefined && { chunkSizeBytes }),
  };
}

export type EncodeIntoOptions = EncodeCorpusOptions & {
  readonly type: IdType;
  /** An id to be written after each text. */
  readonly appendId?: number | undefined;
  readonly report: (progress: EncodeProgress) => void;
};

export type EncodedFile = EncodedText & { readonly idCount: number };

/** Encodes the inputs in the format that the ending of the path names; without a path, for stdout, as decimal ids. */
export async function encodeInto(
  path: string | undefined,
  out: ByteSink,
  options: EncodeIntoOptions,
): Promise<EncodedFile> {
  const { type, appendId, report } = options;
  const writer = idWriterFor(path, type, out);
  const sink = appendId === undefined ? writer : appending(writer, appendId);
  const encoded = await encodeCorpus(options, sink, report);
  writer.finish();
  return { ...encoded, idCount: writer.idCount };
}
