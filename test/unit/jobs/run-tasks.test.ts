import { expect, test } from "bun:test";
import { truncateSync } from "node:fs";
import { findInputs } from "../../../src/corpus/find-inputs.ts";
import { wholeRange } from "../../../src/corpus/input.ts";
import type { Task } from "../../../src/corpus/task.ts";
import * as tasks from "../../../src/corpus/task.ts";
import type { RangeStatistics } from "../../../src/corpus/task-texts.ts";
import { IdsOutput } from "../../../src/encoding/encode-corpus.ts";
import { Outbox, runTasks, type Sink, TaskQueue } from "../../../src/jobs/run-tasks.ts";
import { patterns } from "../../../src/pattern/named-patterns.ts";
import * as compiledPatterns from "../../../src/pattern/pattern.ts";
import * as kernels from "../../../src/runtime/kernel.ts";
import { yieldToEventLoop } from "../../../src/runtime/slices.ts";
import * as cuttings from "../../../src/text/cutting.ts";
import { IdBuffer, type Ids } from "../../../src/tokenizer/encoding-kernel.ts";
import { startCounting } from "../../../src/words/count-corpus.ts";
import { put, scratch } from "../../binary.ts";

const directory = scratch();
const token = "<|end|>";
const specialTokens = [token];
const threadCounts = [1, 2, 5];

/**
 * The number of documents in each file, from 0 to 6. Some files have lines of JSON, which the main thread may leave to
 * workers.
 */
const documentCounts = Array.from({ length: 60 }, (_, i) => i % 7);
const paths = documentCounts.map((count, i) => {
  const texts = Array.from({ length: count }, (_, k) => `text ${k} `.repeat(1 + ((i * 31) % 900)));
  if (i % 3 > 0 || count === 0) return put(directory, `file-${i}.txt`, texts.join(token));
  const lines = texts.map((text) => `${JSON.stringify({ text })}\n`).join("");
  return put(directory, `file-${i}.jsonl${i % 2 ? ".zst" : ""}`, i % 2 ? Bun.zstdCompressSync(lines) : lines);
});
const inputs = findInputs(paths);

type RangeSink = {
  endRange(inputIndex: number, documentCount: number): void;
  drain?: Sink<never, RangeStatistics | undefined>["drain"];
};

/** Counts the documents of each input. */
async function jobOn(threadCount: number, { endRange, drain }: RangeSink, given = inputs): Promise<void> {
  const setup = {
    kernelModule: kernels.sharedModule(),
    inputs: given,
    cutting: cuttings.plain(compiledPatterns.compile(patterns.gpt2.sources), specialTokens),
    distinctWordCounts: new Float64Array(threadCount + 2),
  };
  let documentCount = 0;
  const endTask = ({ kind, inputIndex, endsInput }: Task, found: RangeStatistics | undefined) => {
    documentCount += found?.documentCount ?? 0;
    if (kind !== "range" && !endsInput) return;
    endRange(inputIndex, documentCount);
    documentCount = 0;
  };
  await runTasks(
    {
      name: "counting",
      start: startCounting,
      setupOf: ({ index }) => ({ ...setup, name: `thread-${index}` }),
      sink: { endTask, ...(drain && { drain }) },
      inputs: given,
      ranges: given.map(wholeRange),
      cutting: undefined,
      aheadBytes: 1,
      threadCount,
      mainWorks: true,
      mayTakeLong: (task) => given[task.inputIndex]!.format !== "text",
    },
    () => {},
  );
}

test("results of tasks arrive in the order of the tasks, with any number of threads", async () => {
  for (const threadCount of threadCounts) {
    const found: [number, number][] = [];
    await jobOn(threadCount, { endRange: (inputIndex, count) => found.push([inputIndex, count]) });
    expect(found).toEqual([...documentCounts.entries()]);
  }
});

test("an error of the sink ends the job, wherever the task ran", async () => {
  for (const threadCount of threadCounts) {
    for (const failing of [0, 17, 42, documentCounts.length - 1]) {
      const failure = new Error("the reader is gone");
      const endRange = (inputIndex: number) => {
        if (inputIndex === failing) throw failure;
      };
      const told = await jobOn(threadCount, { endRange }).catch((error: unknown) => error);
      expect(told).toBe(failure);
    }
  }
});

test("an error of a task ends the job, after the results before it", async () => {
  const path = put(directory, "shrinks.txt", "some text ".repeat(1000));
  const given = findInputs([...paths.slice(0, 5), path, ...paths.slice(5)]);
  truncateSync(path, 100);
  for (const threadCount of threadCounts) {
    const found: number[] = [];
    const running = jobOn(threadCount, { endRange: (_, count) => found.push(count) }, given);
    await expect(running).rejects.toThrow("shrank");
    expect(found).toEqual(documentCounts.slice(0, found.length));
    expect(found.length).toBeLessThan(6);
  }
});

test("one thread waits for the sink before it continues", async () => {
  let isFull = false;
  let takenWhileFull = 0;
  const sink: RangeSink = {
    endRange() {
      if (isFull) takenWhileFull++;
    },
    async drain() {
      isFull = true;
      await Bun.sleep(1);
      isFull = false;
    },
  };
  const large = findInputs([put(directory, "large.txt", `${"words ".repeat(1000)}${token}`.repeat(600))]);
  await jobOn(
    1,
    sink,
    [...large, ...large].map((input) => input),
  );
  expect(takenWhileFull).toBe(0);
});

const chunkBytes = 1e6;

function chunkAt(startByte: number, continues: boolean): tasks.ChunkTask {
  const place = {
    inputIndex: 0,
    startByte,
    endByte: startByte + chunkBytes,
    startsInside: continues,
    endsInside: continues,
  };
  return {
    ...place,
    kind: "chunk",
    endsInput: false,
    bytes: new Uint8Array(0),
    continues,
    inputBytes: chunkBytes,
  };
}

async function* given(tasks: readonly Task[]): AsyncGenerator<Task, void> {
  yield* tasks;
}

test("threads resume in the order of the tasks, even if one has to fetch the next task and another already waits", async () => {
  const chunks = [true, false, false, true, true, false, false].map((continues, i) =>
    chunkAt(i * chunkBytes, continues),
  );
  for (const aheadBytes of [1, 1e9]) {
    const queue = new TaskQueue(given(chunks), aheadBytes);
    const order: number[] = [];
    const holders = new Map<number, number>();
    const take = async (taker: number) => {
      for (const task of await queue.next(taker)) {
        order.push(task.startByte);
        holders.set(task.startByte, taker);
      }
    };
    const first = take(0);
    const second = take(1);
    await first;
    await yieldToEventLoop();
    const asks = [take(0), take(1), take(0), take(0), take(1), take(1)];
    await Promise.all([second, ...asks]);
    queue.close();
    expect(order).toEqual(chunks.map(({ startByte }) => startByte));
    expect(holders.get(0)).toBe(holders.get(chunkBytes)!);
  }
});

/** Returns a task for some bytes of a file. */
function rangeOf(startByte: number, sizeBytes: number): tasks.RangeTask {
  const place = { inputIndex: 0, startByte, endByte: startByte + sizeBytes };
  return { ...place, startsInside: false, endsInside: false, kind: "range", endsInput: false };
}

test("a thread that leaves some tasks to others gets the tasks before the first of these; other threads get the rest", async () => {
  const [before, short, long, after] = [rangeOf(0, 10), rangeOf(10, 10), rangeOf(20, 50), rangeOf(70, 10)];
  const leaves = (task: Task) => tasks.mayTakeLong(task, 49);
  for (const aheadBytes of [1, 1e9]) {
    const queue = new TaskQueue(given([before, short, long, after]), aheadBytes, { taker: 7, leaves });
    const first: Task[] = [];
    for (let next = await queue.next(7); next.length > 0; next = await queue.next(7)) first.push(...next);
    expect(first).toEqual([before, short]);
    expect(queue.hasLeft).toBe(true);
    const rest: Task[] = [];
    // A thread that asks again gets the remaining tasks.
    for (let next = await queue.next(7); next.length > 0; next = await queue.next(7)) rest.push(...next);
    expect(rest).toEqual([long, after]);
    queue.close();
  }
  const queue = new TaskQueue(given([before, short]), 1e9, { taker: 7, leaves });
  while ((await queue.next(7)).length > 0);
  expect(queue.hasLeft).toBe(false);
});

test("a task may take long if it is large, contains a large page, or is a part of a stream", () => {
  expect([49, 50, 51].map((size) => tasks.mayTakeLong(rangeOf(5, size), 50))).toEqual([false, false, true]);
  const pages = { ...rangeOf(5, 10), kind: "pages" as const, pageBytesMax: 51 } as unknown as tasks.PagesTask;
  expect(tasks.mayTakeLong(pages, 50)).toBe(true);
  expect(tasks.mayTakeLong(pages, 51)).toBe(false);
  const chunk = { ...chunkAt(0, false), endsInput: true };
  expect(tasks.mayTakeLong(chunk, 50)).toBe(false);
  expect(tasks.mayTakeLong({ ...chunk, endsInput: false }, 50)).toBe(true);
  expect(tasks.mayTakeLong({ ...chunk, startByte: 1 }, 50)).toBe(true);
});

/** A quarter of the largest number of ids that a thread may have sent before some of them are written. */
const idsAtATime = 2 ** 20;

function fill(out: IdBuffer, id: number): void {
  for (let i = 0; i < idsAtATime; i++) out.push(id);
}

test("a thread with too many ids in transit waits until some are written", async () => {
  const out = new IdBuffer(true);
  const posted: Ids[] = [];
  const outbox = new Outbox(new IdsOutput(out), ({ ids }) => posted.push(ids));
  for (let id = 0; id < 4; id++) {
    fill(out, id);
    await outbox.send();
  }
  fill(out, 4);
  let isSent = false;
  const sending = outbox.send().then(() => {
    isSent = true;
  });
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect(isSent).toBe(false);
  expect(posted.length).toBe(4);
  outbox.written(posted[0]!.byteLength, posted[0]!.buffer);
  await sending;
  expect(posted.map((ids) => ids.length)).toEqual(Array.from({ length: 5 }, () => idsAtATime));
});

test("the memory of written output is reused, and its old ids are not sent twice", async () => {
  const out = new IdBuffer(true);
  const posted: Ids[] = [];
  const outbox = new Outbox(new IdsOutput(out), ({ ids }) => posted.push(ids));
  fill(out, 1);
  await outbox.send();
  const [first] = posted;
  outbox.written(first!.byteLength, first!.buffer);
  out.push(2);
  await outbox.send();
  out.push(3);
  await outbox.send();
  expect(posted.slice(1).map((ids) => [...ids])).toEqual([[2], [3]]);
  expect(posted[2]!.buffer).toBe(first!.buffer);
});
