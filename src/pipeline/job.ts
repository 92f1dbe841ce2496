import { exitCode, UserError } from "../errors.ts";
import { PatternLimit } from "../pattern/pattern.ts";
import { startWorker } from "../runtime/embedded.ts";
import { userErrorOf } from "../runtime/system-error.ts";
import type { JobName, WorkerThread } from "../runtime/worker-jobs.ts";

/** One worker, as the main thread sees it. */
export type WorkerLink<ToWorker> = {
  readonly workerIndex: number;
  /** The memory in `transfer` is the worker's from then on. */
  send(message: ToWorker, transfer?: ArrayBuffer[]): void;
  /** The worker is done. */
  finish(): void;
};

/** Workers that run before their work is known. */
export type StartedWorkers = {
  /** What their errors call them. */
  readonly name: JobName | "report" | "serving";
  readonly workers: readonly WorkerThread[];
  /** Ends all of them. */
  terminate(): void;
};

/** Starts workers. Before `serveWorkers` their messages are not served, and nobody notices if one ends. */
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
 * Serves the messages of workers until all are done. `serve` is called once for each worker, and returns the function that
 * takes its messages. The first worker that fails or ends early fails the whole, with its reason. When the promise settles,
 * no worker is running.
 */
export async function serveWorkers<ToWorker, FromWorker extends { readonly kind: string }>(
  started: StartedWorkers,
  serve: Serve<ToWorker, FromWorker>,
): Promise<void> {
  const { name, workers } = started;
  const run = (worker: WorkerThread, workerIndex: number) =>
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

/** An error as it crosses threads. */
export type Failure = {
  readonly isUserError: boolean;
  readonly message: string;
  readonly hint: string | undefined;
  readonly exitCode: number;
};

/** @param place where the error was thrown, for bugs and limits of the pattern; a user's error names its place itself */
export function describeFailure(error: unknown, place: string): Failure {
  const told = userErrorOf(error);
  if (told !== undefined) {
    const message =
      told instanceof PatternLimit ? `${told.message},${place.replace(/^ at/, " from")} on` : told.message;
    return { isUserError: true, message, hint: told.hint, exitCode: told.exitCode };
  }
  const reason = error instanceof Error ? error.message : String(error);
  return { isUserError: false, message: `${reason}${place}`, hint: undefined, exitCode: exitCode.failed };
}

export function reviveFailure({ isUserError, message, hint, exitCode }: Failure): Error {
  if (!isUserError) return new Error(message);
  return new UserError(message, hint === undefined ? { exitCode } : { hint, exitCode });
}
