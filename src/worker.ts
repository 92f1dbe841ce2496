// Entry of a counting worker: takes ranges one by one, keeps their words, hands over the sum at the end.
import { closeSync } from "node:fs";
import { type Input, openInput } from "./corpus/inputs.ts";
import type { Range } from "./corpus/ranges.ts";
import type { FromWorker, ToWorker } from "./count/protocol.ts";
import { RangeCounter } from "./count/range-counter.ts";
import { transferables, WordCounter } from "./words/counter.ts";
import { describeFailure, type Failure } from "./workers/failure.ts";

declare const self: {
  onmessage: (event: MessageEvent<ToWorker>) => void;
  postMessage(message: FromWorker | { kind: "failed"; failure: Failure }, transfer?: ArrayBuffer[]): void;
};

let inputs: readonly Input[] = [];
let counter: WordCounter;
let ranges: RangeCounter;
let progress: { bytesDone: Float64Array; workerIndex: number };
/** The file read last stays open: neighbouring ranges are mostly of one file. */
let opened: { inputIndex: number; fd: number } | undefined;

self.onmessage = ({ data }) => {
  try {
    switch (data.kind) {
      case "setup":
        inputs = data.inputs;
        counter = new WordCounter();
        ranges = new RangeCounter(data.pattern, data.specialTokens, counter);
        progress = data;
        return self.postMessage({ kind: "ready" });
      case "range":
        return countRange(data.range);
      case "finish": {
        if (opened !== undefined) closeSync(opened.fd);
        const words = counter.pack();
        return self.postMessage({ kind: "words", words }, transferables(words));
      }
    }
  } catch (error) {
    self.postMessage({ kind: "failed", failure: failureOf(error, data) });
  }
};

function countRange(range: Range): void {
  const input = inputs[range.inputIndex]!;
  if (opened?.inputIndex !== range.inputIndex) {
    if (opened !== undefined) closeSync(opened.fd);
    opened = undefined;
    opened = { inputIndex: range.inputIndex, fd: openInput(input) };
  }
  const { bytesDone, workerIndex } = progress;
  const before = bytesDone[workerIndex]!;
  const work = ranges.count(opened.fd, input, range);
  let step = work.next();
  for (; !step.done; step = work.next()) bytesDone[workerIndex] = before + step.value;
  bytesDone[workerIndex] = before + range.endByte - range.startByte;
  const { distinctWordCount } = counter;
  self.postMessage({
    kind: "counted",
    inputIndex: range.inputIndex,
    findings: step.value,
    distinctWordCount,
  });
}

function failureOf(error: unknown, message: ToWorker): Failure {
  if (message.kind !== "range") return describeFailure(error, "");
  return describeFailure(
    error,
    ` at byte ${ranges.offsetByte} of "${inputs[message.range.inputIndex]!.path}"`,
  );
}
