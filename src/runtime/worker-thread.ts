import type { WorkerThread } from "./worker-jobs.ts";

/**
 * A worker of the library; its entry lies beside the module at `base`. This is how Bun opens one. In the library for Node,
 * worker-thread.node.ts is in this file's place.
 */
export const openWorker = (base: string): WorkerThread =>
  new Worker(new URL("./worker.js", base).href) as WorkerThread;
