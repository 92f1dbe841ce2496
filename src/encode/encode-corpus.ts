import { checkUnchanged, type Input } from "../corpus/inputs.ts";
import { planRanges, type Range } from "../corpus/ranges.ts";
import { nextTurn } from "../next-turn.ts";
import { encodeWorkerUrl } from "../worker-url.ts";
import { runWorkers } from "../workers/run-workers.ts";
import type { FromWorker, ToWorker } from "./protocol.ts";
import { RangeEncoder } from "./range-encoder.ts";
import type { EncodingParts } from "./tokenizer-parts.ts";

export type EncodeCorpusOptions = {
  readonly inputs: readonly Input[];
  readonly parts: EncodingParts;
  readonly specialTokensAsText: boolean;
  /** 1 encodes in this thread; more start that many workers. */
  readonly workerCount: number;
  /** Wished size of the ranges handed to workers. */
  readonly rangeSizeBytes?: number;
};

/** Takes the ids, in the order of the inputs. */
export type IdSink = {
  /** The next ids of the input at hand, valid until it returns. */
  write(ids: Uint16Array | Uint32Array): void;
  endInput(): void;
};

export type EncodeProgress = { readonly bytesDone: number; readonly bytesTotal: number };

/**
 * Encodes the inputs, in order. Calls `report` between slices of work of at most some 10 ms, and lets the event loop
 * turn there, so that signals are served. Throws what a worker throws; no worker is left running. Returns the number of
 * bytes that were not valid UTF-8.
 */
export async function encodeCorpus(
  options: EncodeCorpusOptions,
  sink: IdSink,
  report: (progress: EncodeProgress) => void,
): Promise<number> {
  const bytesTotal = options.inputs.reduce((sum, input) => sum + input.sizeBytes, 0);
  const encode = options.workerCount === 1 ? encodeHere : encodeInWorkers;
  const invalidByteCount = await encode(options, sink, (bytesDone) => report({ bytesDone, bytesTotal }));
  for (const input of options.inputs) checkUnchanged(input);
  return invalidByteCount;
}

/** A range, or none for an input without bytes; neither range nor end while a cut is looked for. */
type Task = { readonly range: Range | undefined; readonly endsInput: boolean };

async function encodeHere(
  { inputs, parts, specialTokensAsText }: EncodeCorpusOptions,
  sink: IdSink,
  report: (bytesDone: number) => void,
): Promise<number> {
  const ranges = new RangeEncoder(inputs, parts, specialTokensAsText);
  let bytesBefore = 0;
  try {
    for (const { range, endsInput } of planTasks(inputs, wholeInputs(inputs))) {
      if (range !== undefined) {
        for (const bytesDone of ranges.encode(range)) {
          sink.write(ranges.encoding.out.flush());
          report(bytesBefore + bytesDone);
          await nextTurn();
        }
        bytesBefore += range.endByte - range.startByte;
      }
      if (endsInput) sink.endInput();
    }
  } finally {
    ranges.close();
  }
  return ranges.encoding.invalidByteCount;
}

const smallestRangeSizeBytes = 1 << 19;
const largestRangeSizeBytes = 1 << 22;
/** So many that the last range of one worker keeps the others waiting only for a small share of the whole. */
const rangesPerWorker = 16;
/** Ranges a worker is given at a time, so that it does not wait for the next one. */
const rangesAhead = 2;
const reportIntervalMs = 50;

async function encodeInWorkers(
  options: EncodeCorpusOptions,
  sink: IdSink,
  report: (bytesDone: number) => void,
): Promise<number> {
  const { inputs, parts, specialTokensAsText, workerCount } = options;
  const bytesDone = new Float64Array(new SharedArrayBuffer(8 * workerCount));
  const order = new WriteOrder(sink);
  const tasks = planTasks(inputs, plannedRanges(options));
  let invalidByteCount = 0;
  const ticker = setInterval(() => report(bytesDone.reduce((sum, cell) => sum + cell, 0)), reportIntervalMs);
  try {
    await runWorkers<ToWorker, FromWorker>(
      { url: encodeWorkerUrl, name: "encoding", workerCount },
      ({ workerIndex, send, finish }) => {
        /** Of the ranges that the worker was given, the one at work first. */
        const turns: Turn[] = [];
        const sendNext = async () => {
          for (;;) {
            const next = tasks.next();
            if (next.done) return turns.length === 0 ? finish() : undefined;
            const { range, endsInput } = next.value;
            if (range === undefined && !endsInput) {
              await nextTurn();
              continue;
            }
            const turn = order.add(endsInput, () => send({ kind: "written" }));
            if (range === undefined) {
              order.finish(turn);
              continue;
            }
            turns.push(turn);
            return send({ kind: "range", range });
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
              for (let ahead = 0; ahead < rangesAhead; ahead++) await sendNext();
              return;
            case "ids":
              return order.take(turns[0]!, message.ids);
            case "encoded":
              invalidByteCount += message.invalidByteCount;
              order.finish(turns.shift()!);
              return sendNext();
          }
        };
      },
    );
  } finally {
    clearInterval(ticker);
  }
  return invalidByteCount;
}

/** One range's place in the output. */
type Turn = {
  readonly ids: (Uint16Array | Uint32Array)[];
  readonly endsInput: boolean;
  readonly written: () => void;
  isFinished: boolean;
};

/** Writes what workers send in the order in which ranges were handed out; what comes too early waits. */
class WriteOrder {
  private readonly turns: Turn[] = [];

  constructor(private readonly sink: IdSink) {}

  add(endsInput: boolean, written: () => void): Turn {
    const turn: Turn = { ids: [], endsInput, written, isFinished: false };
    this.turns.push(turn);
    return turn;
  }

  take(turn: Turn, ids: Uint16Array | Uint32Array): void {
    turn.ids.push(ids);
    this.write();
  }

  finish(turn: Turn): void {
    turn.isFinished = true;
    this.write();
  }

  private write(): void {
    for (let turn = this.turns[0]; turn !== undefined; turn = this.turns[0]) {
      for (const ids of turn.ids.splice(0)) {
        this.sink.write(ids);
        turn.written();
      }
      if (!turn.isFinished) return;
      if (turn.endsInput) this.sink.endInput();
      this.turns.shift();
    }
  }
}

/** The ranges given, and where each input ends; inputs without bytes have no range. */
function* planTasks(inputs: readonly Input[], ranges: Iterable<Range | undefined>): Generator<Task> {
  let inputIndex = 0;
  for (const range of ranges) {
    if (range === undefined) {
      yield { range, endsInput: false };
      continue;
    }
    for (; inputIndex < range.inputIndex; inputIndex++) yield { range: undefined, endsInput: true };
    const endsInput = range.endByte === inputs[inputIndex]!.sizeBytes;
    yield { range, endsInput };
    if (endsInput) inputIndex++;
  }
  for (; inputIndex < inputs.length; inputIndex++) yield { range: undefined, endsInput: true };
}

/** The parts alone: what else the tokenizer knows stays here. */
function encodingParts(parts: EncodingParts): EncodingParts {
  const { model, pattern, normalization, addsPrefixSpace, addedTokens, isNarrow } = parts;
  return { model, pattern, normalization, addsPrefixSpace, addedTokens, isNarrow };
}

function plannedRanges(options: EncodeCorpusOptions): Iterable<Range | undefined> {
  const { inputs, parts, workerCount, specialTokensAsText } = options;
  if (!canBeCut(parts, specialTokensAsText)) return wholeInputs(inputs);
  const bytesTotal = inputs.reduce((sum, input) => sum + input.sizeBytes, 0);
  const evenSizeBytes = Math.ceil(bytesTotal / (workerCount * rangesPerWorker));
  const rangeSizeBytes =
    options.rangeSizeBytes ??
    Math.min(Math.max(evenSizeBytes, smallestRangeSizeBytes), largestRangeSizeBytes);
  const specialTokens = specialTokensAsText
    ? []
    : parts.addedTokens.map(({ content }) => new TextEncoder().encode(content));
  return planRanges(inputs, { pattern: parts.pattern, specialTokens, rangeSizeBytes });
}

function* wholeInputs(inputs: readonly Input[]): Generator<Range> {
  for (const [inputIndex, { sizeBytes }] of inputs.entries()) {
    if (sizeBytes === 0) continue;
    yield { inputIndex, startByte: 0, endByte: sizeBytes, startsInside: false, endsInside: false };
  }
}

/**
 * Whether a file can be cut into ranges by its bytes alone. Not where what is encoded differs from what was read (a
 * normal form, a space put before), where a token reaches for its neighbours, or where one kind of added token is
 * looked for in what another one leaves: there a file is encoded by one worker, and several files side by side.
 */
function canBeCut(parts: EncodingParts, specialTokensAsText: boolean): boolean {
  const { addedTokens } = parts;
  if (parts.normalization !== null || parts.addsPrefixSpace) return false;
  if (addedTokens.some((token) => token.lstrip || token.rstrip || token.singleWord)) return false;
  if (specialTokensAsText && addedTokens.some((token) => !token.special)) return false;
  return new Set(addedTokens.map((token) => token.normalized)).size < 2;
}
