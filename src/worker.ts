// Entry of a counting worker: takes tasks one by one, keeps their words, hands over the sum at the end.
import type { Input } from "./corpus/inputs.ts";
import { inputBytesOf, type Task } from "./corpus/tasks.ts";
import type { FromWorker, ToWorker } from "./count/protocol.ts";
import { TaskCounter } from "./count/task-counter.ts";
import { WordKeeper } from "./count/word-keeper.ts";
import { transferables } from "./words/counter.ts";
import { describeFailure, type Failure } from "./workers/failure.ts";

declare const self: {
  onmessage: (event: MessageEvent<ToWorker>) => void;
  postMessage(message: FromWorker | { kind: "failed"; failure: Failure }, transfer?: ArrayBuffer[]): void;
};

let inputs: readonly Input[] = [];
let keeper: WordKeeper;
let tasks: TaskCounter;
let progress: { bytesDone: Float64Array; workerIndex: number };

self.onmessage = ({ data }) => {
  try {
    switch (data.kind) {
      case "setup":
        inputs = data.inputs;
        keeper = new WordKeeper(data.runOptions, String(data.workerIndex));
        tasks = new TaskCounter(data, keeper.counter);
        progress = data;
        return self.postMessage({ kind: "ready" });
      case "task":
        return countTask(data.task, data.apart);
      case "finish": {
        tasks.close();
        atOnce(keeper.finish());
        const words = keeper.counter.pack();
        return self.postMessage({ kind: "words", words, runs: keeper.runs }, transferables(words));
      }
    }
  } catch (error) {
    self.postMessage({ kind: "failed", failure: failureOf(error, data) });
  }
};

function countTask(task: Task, apart: number | null): void {
  const { bytesDone, workerIndex } = progress;
  const before = bytesDone[workerIndex]!;
  atOnce(keeper.startTask(apart));
  const work = tasks.count(task);
  let step = work.next();
  for (; !step.done; step = work.next()) {
    bytesDone[workerIndex] = before + inputBytesOf(task, step.value);
    atOnce(keeper.makeRoom());
  }
  bytesDone[workerIndex] = before + inputBytesOf(task);
  const { distinctWordCount } = keeper;
  const emptied = task.kind === "piece" ? task.bytes.buffer : undefined;
  self.postMessage(
    { kind: "counted", inputIndex: task.inputIndex, findings: step.value, distinctWordCount, emptied },
    emptied === undefined ? [] : [emptied],
  );
}

function atOnce(work: Generator<undefined, void>): void {
  while (!work.next().done);
}

function failureOf(error: unknown, message: ToWorker): Failure {
  if (message.kind !== "task") return describeFailure(error, "");
  return describeFailure(error, ` at byte ${tasks.offsetByte} of "${inputs[message.task.inputIndex]!.path}"`);
}
