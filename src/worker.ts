// Entry of a counting worker: takes tasks, keeps their words, hands over the sum at the end.
import type { Input } from "./corpus/inputs.ts";
import { inputBytesOf, memoryOf, type Task } from "./corpus/tasks.ts";
import type { CountTask, FromWorker, ToWorker } from "./count/protocol.ts";
import type { RangeFindings } from "./count/range-counter.ts";
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
/** The task at work: the place of an error. */
let current: Task | undefined;
let progress: { bytesDone: Float64Array; workerIndex: number };

self.onmessage = ({ data }) => {
  try {
    switch (data.kind) {
      case "setup":
        inputs = data.inputs;
        keeper = new WordKeeper(data.runOptions, data.name);
        tasks = new TaskCounter(data, keeper.counter);
        progress = data;
        return self.postMessage({ kind: "ready" });
      case "tasks":
        return countTasks(data.tasks);
      case "finish": {
        tasks.close();
        atOnce(keeper.finish());
        const words = keeper.counter.pack();
        return self.postMessage({ kind: "words", words, runs: keeper.runs }, transferables(words));
      }
    }
  } catch (error) {
    self.postMessage({ kind: "failed", failure: failureOf(error) });
  }
};

function countTasks(given: readonly CountTask[]): void {
  const counted = given.map((next) => {
    current = next.task;
    return { inputIndex: current.inputIndex, findings: countTask(next) };
  });
  current = undefined;
  const { distinctWordCount } = keeper;
  const emptied = memoryOf(given.map(({ task }) => task));
  self.postMessage({ kind: "counted", counted, distinctWordCount, emptied }, emptied);
}

function countTask({ task, apart }: CountTask): RangeFindings | undefined {
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
  return step.value;
}

function atOnce(work: Generator<undefined, void>): void {
  while (!work.next().done);
}

function failureOf(error: unknown): Failure {
  if (current === undefined) return describeFailure(error, "");
  return describeFailure(error, ` at byte ${tasks.offsetByte} of "${inputs[current.inputIndex]!.path}"`);
}
