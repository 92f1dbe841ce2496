import { UserError } from "../errors.ts";
import { type Failure, reviveFailure } from "./failure.ts";

/** One worker, as the main thread sees it. */
export type WorkerLink<ToWorker> = {
  readonly workerIndex: number;
  /** What is transferred is the worker's from then on. */
  send(message: ToWorker, transfer?: ArrayBuffer[]): void;
  /** The worker has done its part. */
  finish(): void;
};

/**
 * Starts workers and serves their messages until each has finished. `serve` is called once for each and gives back
 * what takes its messages. The first that fails, says it failed or ends unasked fails the whole with its reason; when
 * the promise settles, none is left running.
 */
export async function runWorkers<ToWorker, FromWorker extends { readonly kind: string }>(
  options: { readonly url: string; readonly name: string; readonly workerCount: number },
  serve: (link: WorkerLink<ToWorker>) => (message: FromWorker) => void | Promise<void>,
): Promise<void> {
  const { url, name, workerCount } = options;
  const workers: Worker[] = [];
  const run = (workerIndex: number) =>
    new Promise<void>((finish, fail) => {
      const worker = new Worker(url);
      workers.push(worker);
      const take = serve({
        workerIndex,
        send: (message, transfer = []) => worker.postMessage(message, transfer),
        finish,
      });
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
    await Promise.all(Array.from({ length: workerCount }, (_, workerIndex) => run(workerIndex)));
  } finally {
    for (const worker of workers) worker.terminate();
  }
}
