import { readFileSync } from "node:fs";
import { checkOpenFiles } from "./system-limits.ts";
import type { JobName, WorkerThread } from "./worker-jobs.ts";

export { availableParallelism, totalmem } from "node:os";

/** Whether this is the executable. */
export const isEmbedded = import.meta.path.startsWith("/$bunfs/") || import.meta.path.startsWith("B:\\~BUN");

// The binary keeps the entry of its workers, and the files that were built into it, beside its own entry, whichever module
// asks. In the source tree that depends on the module, so this one is the only one that asks.

const workerUrl = new URL(isEmbedded ? "./worker.ts" : "../main/worker.ts", import.meta.url).href;

let workerCount = 0;

/** Starts a worker. It loads the code of its job, and then serves the messages that came meanwhile. */
export function startWorker(job: JobName): WorkerThread {
  checkOpenFiles(workerCount + 1);
  const worker = new Worker(workerUrl);
  workerCount++;
  worker.addEventListener("close", () => workerCount--);
  worker.postMessage({ job });
  return worker as WorkerThread;
}

/** Where embedded files are. In the source tree there are none: what they hold is made when it is needed. */
export const embeddedDirectory = import.meta.dir;

const kernelDirectory = isEmbedded ? import.meta.dir : `${import.meta.dir}/../../dist/kernel`;

/** Whether the kernel is the one with assertions, which tests run. */
export const hasKernelAsserts = !isEmbedded && process.env.NODE_ENV === "test";

/** A module of the kernel (scripts/build-kernel.ts); those with assertions are in no program of a release. */
export function readKernel(
  name:
    | "kernel"
    | "kernel-baseline"
    | "kernel-asserts"
    | "kernel-encode"
    | "kernel-encode-baseline"
    | "kernel-text"
    | "kernel-text-baseline"
    | "kernel-small"
    | "kernel-encode-small"
    | "kernel-text-small",
): Uint8Array<ArrayBuffer> {
  const path = `${kernelDirectory}/${name}.wasm`;
  try {
    return new Uint8Array(readFileSync(path));
  } catch (error) {
    throw new Error(`the kernel is not built ("${path}"): npm run build`, { cause: error });
  }
}
