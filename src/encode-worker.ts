// Entry of an encoding worker: takes ranges one by one, and sends their ids as they come.

import type { Input } from "./corpus/inputs.ts";
import type { Range } from "./corpus/ranges.ts";
import { type FromWorker, messageIdCount, type ToWorker, unwrittenMax } from "./encode/protocol.ts";
import { RangeEncoder } from "./encode/range-encoder.ts";
import { nextTurn } from "./next-turn.ts";
import { describeFailure, type Failure } from "./workers/failure.ts";

declare const self: {
  onmessage: (event: MessageEvent<ToWorker>) => void;
  postMessage(message: FromWorker | { kind: "failed"; failure: Failure }, transfer?: ArrayBuffer[]): void;
};

let inputs: readonly Input[] = [];
let ranges: RangeEncoder;
let progress: { bytesDone: Float64Array; workerIndex: number };
/** The range at work, and those after it. */
const waiting: Range[] = [];
/** Messages of ids that are not written yet. */
let unwrittenCount = 0;
/** Goes on with a range that waits for them. */
let resume: (() => void) | undefined;

self.onmessage = ({ data }) => {
  switch (data.kind) {
    case "setup":
      inputs = data.inputs;
      ranges = new RangeEncoder(inputs, data.parts, data.specialTokensAsText);
      progress = data;
      return self.postMessage({ kind: "ready" });
    case "range":
      waiting.push(data.range);
      if (waiting.length === 1) encodeWaiting();
      return;
    case "written":
      unwrittenCount--;
      resume?.();
      return;
  }
};

/** Ranges come before they are needed, so that there is always one at hand. */
async function encodeWaiting(): Promise<void> {
  for (let range = waiting[0]; range !== undefined; range = waiting[0]) {
    try {
      await encodeRange(range);
    } catch (error) {
      return self.postMessage({ kind: "failed", failure: failureOf(error, range) });
    }
    // Messages are served in between: what is written, and the next range.
    await nextTurn();
    waiting.shift();
  }
}

async function encodeRange(range: Range): Promise<void> {
  const { bytesDone, workerIndex } = progress;
  const { encoding } = ranges;
  const before = bytesDone[workerIndex]!;
  const invalidBefore = encoding.invalidByteCount;
  for (const done of ranges.encode(range)) {
    bytesDone[workerIndex] = before + done;
    const isEnd = done === range.endByte - range.startByte;
    if (encoding.out.count >= messageIdCount || (isEnd && encoding.out.count > 0)) await sendIds();
  }
  self.postMessage({ kind: "encoded", invalidByteCount: encoding.invalidByteCount - invalidBefore });
}

async function sendIds(): Promise<void> {
  while (unwrittenCount >= unwrittenMax) {
    await new Promise<void>((resolve) => {
      resume = resolve;
    });
  }
  unwrittenCount++;
  const ids = ranges.encoding.out.take();
  self.postMessage({ kind: "ids", ids }, [ids.buffer]);
}

function failureOf(error: unknown, range: Range): Failure {
  return describeFailure(error, ` at byte ${ranges.offsetByte} of "${inputs[range.inputIndex]!.path}"`);
}
