import { expect, test } from "bun:test";
import * as jobs from "../../../src/jobs/job.ts";
import { UserError } from "../../../src/runtime/errors.ts";
import { yieldToEventLoop } from "../../../src/runtime/slices.ts";
import type { WorkerThread } from "../../../src/runtime/worker-jobs.ts";

/** Returns a job whose `add` reports each request. */
function countingJob(tell: jobs.Tell<string>) {
  let sum = 0;
  let wake = () => {};
  return {
    async add(number: number): Promise<number> {
      tell(`adding ${number}`);
      await yieldToEventLoop();
      sum += number;
      return sum;
    },
    *slices(count: number): Generator<undefined, number> {
      for (let i = 0; i < count; i++) yield;
      return count;
    },
    handOver: (length: number) => {
      const bytes = new Uint8Array(length);
      return new jobs.Transferred(bytes, [bytes.buffer]);
    },
    sleep: () =>
      new Promise<string>((resolve) => {
        wake = () => resolve("awake");
      }),
    wake: (_: null) => wake(),
    refuse(what: string): never {
      throw new UserError(what, { hint: "ask for something else", kind: "memory" });
    },
  };
}

const rejectionOf = (promise: Promise<unknown>) =>
  promise.then(
    () => null,
    (error: Error) => error,
  );

/** Returns a fake thread. Its messages are copied, and delivered in a later turn of the event loop. */
function startThread(hear?: (told: string) => void) {
  const ended: string[] = [];
  let close = () => {};
  const worker: WorkerThread = {
    onmessage: null,
    onerror: null,
    postMessage(message, transfer = []) {
      const data = structuredClone(message, { transfer });
      setImmediate(() => serve(data as never));
    },
    addEventListener: (_type, listener) => {
      close = listener;
    },
    terminate: () => void ended.push("ended"),
    unref() {},
    ref() {},
  };
  const serve = jobs.serve(countingJob, (message, transfer = []) => {
    const data = structuredClone(message, { transfer });
    setImmediate(() => worker.onmessage?.({ data: data as never }));
  });
  const thread = new jobs.Thread<ReturnType<typeof countingJob>, string>("test worker", worker, hear);
  return { thread, worker, ended, close: () => close() };
}

test("requests are processed one after the other, and news are delivered before the answer", async () => {
  const heard: string[] = [];
  const { thread, ended } = startThread((told) => void heard.push(told));
  const answers = [1, 2, 3].map((number) =>
    thread.ask("add", number).then((sum) => {
      heard.push(`sum ${sum}`);
    }),
  );
  await Promise.all(answers);
  expect(heard).toEqual(["adding 1", "sum 1", "adding 2", "sum 3", "adding 3", "sum 6"]);
  expect(await thread.ask("slices", 5)).toBe(5);
  expect((await thread.ask("handOver", 7)).length).toBe(7);
  expect(ended).toEqual([]);
});

test("a note is processed during a request", async () => {
  const { thread } = startThread();
  const slept = thread.ask("sleep", undefined as never);
  const added = thread.ask("add", 1);
  thread.note("wake", null);
  expect(await slept).toBe("awake");
  expect(await added).toBe(1);
});

test("a failure rejects pending and future requests, with its hint, and ends the thread", async () => {
  const { thread, ended, close } = startThread();
  const asked = [thread.ask("refuse", "no"), thread.ask("add", 1)];
  for (const answer of [...asked, asked[0]!.catch(() => thread.ask("add", 2))]) {
    const error = await rejectionOf(answer);
    expect(error).toBeInstanceOf(UserError);
    expect((error as UserError).kind).toBe("memory");
    expect(error).toMatchObject({ message: "no", hint: "ask for something else" });
  }
  expect(ended[0]).toBe("ended");
  close();
  expect((await rejectionOf(thread.ask("add", 3)))?.message).toBe("no");
});

test("a thread that ends early, or whose code throws, fails by name", async () => {
  const { thread, close } = startThread();
  const asked = thread.ask("sleep", undefined as never);
  close();
  expect((await rejectionOf(asked))?.message).toBe(
    'the worker thread "test worker" ended before it had finished',
  );
  const broken = startThread();
  broken.worker.onerror!({ message: "out of reach", preventDefault() {} });
  expect((await rejectionOf(broken.thread.ask("add", 1)))?.message).toBe("test worker: out of reach");
});

test("an error of the listener fails the thread", async () => {
  const { thread } = startThread(() => {
    throw new Error("deaf");
  });
  expect((await rejectionOf(thread.ask("add", 1)))?.message).toBe("deaf");
});
