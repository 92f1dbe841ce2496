import type { JobName, WorkerThread } from "./worker-jobs.ts";

const isEmbedded = import.meta.path.startsWith("/$bunfs/") || import.meta.path.startsWith("B:\\~BUN");

// The binary keeps the entry of its workers, and the files that were built into it, beside its own entry, whichever module
// asks. In the source tree that depends on the module, so this one is the only one that asks.

const entryUrl = (room: string, name: string) =>
  new URL(isEmbedded ? `./${name}` : `../${room}/${name}`, import.meta.url).href;
const workerUrl = entryUrl("pipeline", "worker.ts");

/** Starts a worker. It loads the code of its job, and then serves the messages that came meanwhile. */
export function startWorker(job: JobName): WorkerThread {
  const worker = new Worker(workerUrl) as WorkerThread;
  worker.postMessage({ job });
  return worker;
}

/** Starts a worker of the command line. The libraries have none. */
export const startCliWorker = (name: "report-worker.ts" | "serve-worker.ts") =>
  new Worker(entryUrl("cli", name)) as WorkerThread;

/** Where embedded files are. In the source tree there are none: what they hold is made when it is needed. */
export const embeddedDirectory = import.meta.dir;

const kernelDirectory = isEmbedded ? import.meta.dir : `${import.meta.dir}/../../dist/kernel`;
/** The modules of the kernel (scripts/build-kernel.ts); the one for tests only in the source tree. */
export const kernelPaths = {
  path: `${kernelDirectory}/kernel.wasm`,
  baselinePath: `${kernelDirectory}/kernel-baseline.wasm`,
  testPath: isEmbedded ? undefined : `${kernelDirectory}/kernel-asserts.wasm`,
};
