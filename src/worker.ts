// Entry of a counting worker: takes tasks, keeps their words, hands over the sum at the end.
import { canSeek } from "./corpus/input.ts";
import { memoryOf } from "./corpus/task.ts";
import { ThreadCounter } from "./count/thread-counter.ts";
import type { CountTask, FromWorker, ToWorker } from "./pipeline/count-protocol.ts";
import { describeFailure, type Failure } from "./pipeline/thread-failure.ts";
import { expectLossOfMemory } from "./runtime/compile-sparingly.ts";
import { adoptKernelModule } from "./runtime/kernel.ts";
import { atOnce } from "./runtime/turns.ts";
import { tableMemory } from "./words/word-table.ts";

declare const self: {
  onmessage: (event: MessageEvent<ToWorker>) => void;
  postMessage(message: FromWorker | { kind: "failed"; failure: Failure }, transfer?: ArrayBuffer[]): void;
};

let counter: ThreadCounter | undefined;

self.onmessage = ({ data }) => {
  try {
    switch (data.kind) {
      case "setup":
        // Pieces of a stream come and go.
        if (!data.inputs.every(canSeek)) expectLossOfMemory();
        adoptKernelModule(data.kernelModule);
        counter = new ThreadCounter(data, data, data.name, data);
        return;
      case "tasks":
        return countTasks(counter!, data.tasks);
      case "finish": {
        counter!.close();
        const { words, runs } = atOnce(counter!.finish());
        return self.postMessage({ kind: "words", words, runs }, [
          ...runs.flatMap(({ table }) => (table === null ? [] : tableMemory(table))),
        ]);
      }
    }
  } catch (error) {
    self.postMessage({ kind: "failed", failure: describeFailure(error, counter?.place ?? "") });
  }
};

function countTasks(counter: ThreadCounter, given: readonly CountTask[]): void {
  const counted = given.map((next) => ({
    inputIndex: next.task.inputIndex,
    findings: atOnce(counter.count(next)),
  }));
  const { distinctWordCount } = counter;
  const emptied = memoryOf(given.map(({ task }) => task));
  self.postMessage({ kind: "counted", counted, distinctWordCount, emptied }, emptied);
}
