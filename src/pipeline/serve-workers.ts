import { UserError } from "../errors.ts";
import { type JobName, startWorker } from "../runtime/job-worker.ts";
import { type Failure, reviveFailure } from "./thread-failure.ts";

/** One worker, as the main thread sees it. */
export type WorkerLink<ToWorker> = {
  readonly workerIndex: number;
  /** What is in `transfer` is the worker's from then on. */
  send(message: ToWorker, transfer?: ArrayBuffer[]): void;
  /** The worker has done its part. */
  finish(): void;
};

/** Workers that run before it is known what they shall do. */
export type StartedWorkers = {
  readonly name: JobName;
  readonly workers: readonly Worker[];
  /** Ends all of them. */
  terminate(): void;
};

/** Starts workers; until `serveWorkers`, no message of theirs is served, nor is noticed that one ends. */
export function startWorkers(name: JobName, workerCount: number): StartedWorkers {
  const workers = Array.from({ length: workerCount }, () => startWorker(name));
  return {
    name,
    workers,
    terminate: () => {
      for (const worker of workers) worker.terminate();
    },
  };
}

type Serve<ToWorker, FromWorker> = (
  link: WorkerLink<ToWorker>,
) => (message: FromWorker) => void | Promise<void>;

/**
 * Serves the messages of workers until each has finished. `serve` is called once for each and gives back what takes its
 * messages. The first that fails, says it failed or ends unasked fails the whole with its reason; when the promise
 * settles, none is left running.
 */
export async function serveWorkers<ToWorker, FromWorker extends { readonly kind: string }>(
  started: StartedWorkers,
  serve: Serve<ToWorker, FromWorker>,
): Promise<void> {
  const { name, workers } = started;
  const run = (worker: Worker, workerIndex: number) =>
    new Promise<void>((finish, fail) => {
      const send = (message: ToWorker, transfer: ArrayBuffer[] = []) => worker.postMessage(message, transfer);
      const take = serve({ workerIndex, send, finish });
      const receive = async (message: FromWorker | { kind: "failed"; failure: Failure }) => {
        if ("failure" in message) throw reviveFailure(message.failure);
        await take(message);
      };
      worker.onmessage = ({ data }) => void receive(data).catch(fail);
      worker.onerror = (event) => fail(new Error(`${name} worker ${workerIndex}: ${event.message}`));
      worker.addEventListener("close", () =>
        fail(new UserError(`${name} worker ${workerIndex} ended early`, { hint: "try fewer workers: -w 1" })),
      );
    });
  try {
    await Promise.all(workers.map(run));
  } finally {
    started.terminate();
  }
}
