import { canSeek, emptyCorpus, type Input } from "../corpus/input.ts";
import { checkUnchanged } from "../corpus/open-input.ts";
import { type Range, totalBytesOf } from "../corpus/range.ts";
import type { EncodingParts } from "../tokenizer/tokenizer-parts.ts";
import { type EncodingHelpers, encodeTogether } from "./encode-together.ts";
import type { EncodedText } from "./task-encoder.ts";

export type EncodeCorpusOptions = {
  readonly inputs: readonly Input[];
  /** What of the inputs is encoded, in this order; all of it, if left out. */
  readonly ranges?: readonly Range[] | undefined;
  readonly parts: EncodingParts;
  readonly specialTokensAsText: boolean;
  /** Threads that encode, this one included, unless the pattern may keep it from serving signals. */
  readonly workerCount: number;
  /** The others, if they were started ahead. */
  readonly helpers?: EncodingHelpers | undefined;
  /** Wished size of the ranges that threads take. */
  readonly rangeSizeBytes?: number;
  /** Wished size of the pieces in which a worker is given what is read once and in order. */
  readonly pieceSizeBytes?: number;
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
): Promise<EncodedText> {
  const { inputs, ranges } = options;
  const bytesTotal = totalBytesOf(inputs, ranges);
  const encoded = await encodeTogether(options, sink, (bytesDone) => report({ bytesDone, bytesTotal }));
  for (const input of inputs) checkUnchanged(input);
  // Some of many ranges may well be empty.
  if (encoded.textBytes === 0 && ranges === undefined && !inputs.every(canSeek)) throw emptyCorpus(inputs);
  return encoded;
}
