// Entry of an encoding worker: takes tasks one by one, and sends their ids as they come.

import type { Input } from "./corpus/inputs.ts";
import { inputBytesOf, type Task } from "./corpus/tasks.ts";
import { type FromWorker, messageIdCount, type ToWorker, unwrittenMax } from "./encode/protocol.ts";
import { TaskEncoder } from "./encode/task-encoder.ts";
import { nextTurn } from "./next-turn.ts";
import { describeFailure, type Failure } from "./workers/failure.ts";

declare const self: {
  onmessage: (event: MessageEvent<ToWorker>) => void;
  postMessage(message: FromWorker | { kind: "failed"; failure: Failure }, transfer?: ArrayBuffer[]): void;
};

let inputs: readonly Input[] = [];
let tasks: TaskEncoder;
let progress: { bytesDone: Float64Array; workerIndex: number };
/** The task at work, and those after it. */
const waiting: Task[] = [];
/** Messages of ids that are not written yet. */
let unwrittenCount = 0;
/** Goes on with a task that waits for them. */
let resume: (() => void) | undefined;

self.onmessage = ({ data }) => {
  switch (data.kind) {
    case "setup":
      inputs = data.inputs;
      tasks = new TaskEncoder(inputs, data.parts, data.specialTokensAsText);
      progress = data;
      return self.postMessage({ kind: "ready" });
    case "task":
      waiting.push(data.task);
      if (waiting.length === 1) encodeWaiting();
      return;
    case "written":
      unwrittenCount--;
      resume?.();
      return;
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
  const { bytesDone, workerIndex } = progress;
  const { encoding } = tasks;
  const before = bytesDone[workerIndex]!;
  const invalidBefore = encoding.invalidByteCount;
  const textBytesBefore = tasks.textBytes;
  for (const done of tasks.encode(task)) {
    bytesDone[workerIndex] = before + inputBytesOf(task, done);
    const isEnd = done === task.endByte - task.startByte;
    if (encoding.out.count >= messageIdCount || (isEnd && !encoding.out.isEmpty)) await sendIds();
  }
  const invalidByteCount = encoding.invalidByteCount - invalidBefore;
  const emptied = task.kind === "piece" ? task.bytes.buffer : undefined;
  const textBytes = tasks.textBytes - textBytesBefore;
  self.postMessage(
    { kind: "encoded", textBytes, invalidByteCount, emptied },
    emptied === undefined ? [] : [emptied],
  );
}

async function sendIds(): Promise<void> {
  while (unwrittenCount >= unwrittenMax) {
    await new Promise<void>((resolve) => {
      resume = resolve;
    });
  }
  unwrittenCount++;
  const recordEnds = tasks.encoding.out.takeRecordEnds();
  const ids = tasks.encoding.out.take();
  self.postMessage({ kind: "ids", ids, recordEnds }, [ids.buffer]);
}

function failureOf(error: unknown, task: Task): Failure {
  return describeFailure(error, ` at byte ${tasks.offsetByte} of "${inputs[task.inputIndex]!.path}"`);
}
