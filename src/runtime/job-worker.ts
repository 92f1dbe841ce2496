import { workerUrl } from "./embedded.ts";

/** What a worker can be started for; pipeline/worker.ts says which code that is. */
export type JobName = "counting" | "encoding" | "planning" | "loading" | "merging";

/** Starts a worker. It loads the code for its job at once, and serves messages that come meanwhile when it has it. */
export function startWorker(job: JobName): Worker {
  const worker = new Worker(workerUrl);
  worker.postMessage({ job });
  return worker;
}
