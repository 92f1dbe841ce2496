// Entry of an encoding worker: takes tasks one by one, and sends their ids as they come.

import type { Input } from "./corpus/input.ts";
import { inputBytesOf, type Task } from "./corpus/task.ts";
import type { FromWorker, ToWorker } from "./pipeline/encode-protocol.ts";
import { Outbox } from "./pipeline/outbox.ts";
import { TaskEncoder } from "./pipeline/task-encoder.ts";
import { describeFailure, type Failure } from "./pipeline/thread-failure.ts";
import { expectLossOfMemory } from "./runtime/compile-sparingly.ts";
import { adoptKernelModule } from "./runtime/kernel.ts";
import { nextTurn } from "./runtime/turns.ts";

declare const self: {
  onmessage: (event: MessageEvent<ToWorker>) => void;
  postMessage(message: FromWorker | { kind: "failed"; failure: Failure }, transfer?: ArrayBuffer[]): void;
};

expectLossOfMemory();

let inputs: readonly Input[] = [];
let tasks: TaskEncoder;
let outbox: Outbox;
let progress: { bytesDone: Float64Array; cell: number };
/** The task at work, and those after it. */
const waiting: Task[] = [];

self.onmessage = ({ data }) => {
  switch (data.kind) {
    case "setup":
      adoptKernelModule(data.kernelModule);
      inputs = data.inputs;
      tasks = new TaskEncoder(inputs, data.parts, data.specialTokensAsText, data.textBytesMax);
      outbox = new Outbox(tasks.encoding.out, (part) =>
        self.postMessage({ kind: "ids", ...part }, [part.ids.buffer]),
      );
      progress = data;
      return;
    case "task":
      waiting.push(data.task);
      if (waiting.length === 1) encodeWaiting();
      return;
    case "written":
      return outbox.written(data.idCount, data.memory);
  }
};

/** Tasks come before they are needed, so that there is always one at hand. */
async function encodeWaiting(): Promise<void> {
  for (let task = waiting[0]; task !== undefined; task = waiting[0]) {
    try {
      await encodeTask(task);
    } catch (error) {
      return self.postMessage({ kind: "failed", failure: failureOf(error, task) });
    }
    // Messages are served in between: what is written, and the next task.
    await nextTurn();
    waiting.shift();
  }
}

async function encodeTask(task: Task): Promise<void> {
  const { bytesDone, cell } = progress;
  const { encoding } = tasks;
  const before = bytesDone[cell]!;
  const invalidBefore = encoding.invalidByteCount;
  const textBytesBefore = tasks.textBytes;
  for (const done of tasks.encode(task)) {
    bytesDone[cell] = before + inputBytesOf(task, done);
    if (!encoding.out.isEmpty) await outbox.send();
  }
  const invalidByteCount = encoding.invalidByteCount - invalidBefore;
  const emptied = task.kind === "piece" ? task.bytes.buffer : undefined;
  const textBytes = tasks.textBytes - textBytesBefore;
  self.postMessage(
    { kind: "encoded", textBytes, invalidByteCount, emptied },
    emptied === undefined ? [] : [emptied],
  );
}

function failureOf(error: unknown, task: Task): Failure {
  return describeFailure(error, ` at byte ${tasks.offsetByte} of "${inputs[task.inputIndex]!.path}"`);
}
