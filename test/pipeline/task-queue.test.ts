import { expect, test } from "bun:test";
import {
  type ChunkTask,
  mayTakeLong,
  type PagesTask,
  type RangeTask,
  type Task,
} from "../../src/corpus/task.ts";
import { TaskQueue } from "../../src/pipeline/task-queue.ts";
import { nextTurn } from "../../src/runtime/turns.ts";

/** More than what is handed out at a time. */
const chunkBytes = 1e6;

function chunkAt(startByte: number, continues: boolean): ChunkTask {
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

test("takers go on in the order of the tasks, also where one has to get the next and another waits already", async () => {
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
    await nextTurn();
    const asks = [take(0), take(1), take(0), take(0), take(1), take(1)];
    await Promise.all([second, ...asks]);
    queue.close();
    expect(order).toEqual(chunks.map(({ startByte }) => startByte));
    expect(holders.get(0)).toBe(holders.get(chunkBytes)!);
  }
});

/** Bytes of a file, few enough for a batch with others. */
function rangeOf(startByte: number, sizeBytes: number): RangeTask {
  const place = { inputIndex: 0, startByte, endByte: startByte + sizeBytes };
  return { ...place, startsInside: false, endsInside: false, kind: "range", endsInput: false };
}

test("who is picky gets the tasks before the first one that it leaves, and none after; that one goes to others", async () => {
  const [before, short, long, after] = [rangeOf(0, 10), rangeOf(10, 10), rangeOf(20, 50), rangeOf(70, 10)];
  const leaves = (task: Task) => mayTakeLong(task, 49);
  for (const aheadBytes of [1, 1e9]) {
    const queue = new TaskQueue(given([before, short, long, after]), aheadBytes, { taker: 7, leaves });
    const first: Task[] = [];
    for (let next = await queue.next(7); next.length > 0; next = await queue.next(7)) first.push(...next);
    expect(first).toEqual([before, short]);
    expect(queue.hasLeft).toBe(true);
    const rest: Task[] = [];
    // The place of the picky one is another's now.
    for (let next = await queue.next(7); next.length > 0; next = await queue.next(7)) rest.push(...next);
    expect(rest).toEqual([long, after]);
    queue.close();
  }
  const queue = new TaskQueue(given([before, short]), 1e9, { taker: 7, leaves });
  while ((await queue.next(7)).length > 0);
  expect(queue.hasLeft).toBe(false);
});

test("a task may take long if it is large, holds a large page, or is a part of a stream", () => {
  expect([49, 50, 51].map((size) => mayTakeLong(rangeOf(5, size), 50))).toEqual([false, false, true]);
  const pages = { ...rangeOf(5, 10), kind: "pages" as const, pageBytesMax: 51 } as unknown as PagesTask;
  expect(mayTakeLong(pages, 50)).toBe(true);
  expect(mayTakeLong(pages, 51)).toBe(false);
  const chunk = { ...chunkAt(0, false), endsInput: true };
  expect(mayTakeLong(chunk, 50)).toBe(false);
  expect(mayTakeLong({ ...chunk, endsInput: false }, 50)).toBe(true);
  expect(mayTakeLong({ ...chunk, startByte: 1 }, 50)).toBe(true);
});
