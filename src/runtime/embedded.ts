import { readFileSync } from "node:fs";
import { basename } from "node:path";
import * as machine from "./machine.ts";
import type { JobName, WorkerThread } from "./worker-jobs.ts";

export { availableParallelism, totalmem } from "node:os";

/** Whether this is the executable. */
export const isEmbedded = import.meta.path.startsWith("/$bunfs/") || import.meta.path.startsWith("B:\\~BUN");

// In the executable, `import.meta.dir` is the same in all modules: the directory with the entry of the workers and the
// embedded files. In the source tree it is the directory of the module, so only this module resolves paths of such
// files.

const workerUrl = new URL(isEmbedded ? "./worker.ts" : "../main/worker.ts", import.meta.url).href;

let workerCount = 0;

/**
 * Starts a worker for a job. The worker loads the code of the job, then handles the messages that arrived in the
 * meantime.
 */
export function startWorker(job: JobName): WorkerThread {
  machine.checkOpenFiles(workerCount + 1);
  const worker = new Worker(workerUrl);
  workerCount++;
  worker.addEventListener("close", () => workerCount--);
  worker.postMessage({ job });
  return worker as WorkerThread;
}

/** The directory of embedded files, such as precompiled patterns. The source tree has no precompiled patterns. */
export const embeddedDirectory = import.meta.dir;

/**
 * Reads an embedded file, given its path in the source tree. The executable stores each file compressed, under its base
 * name.
 */
export const readEmbedded = (path: string): Uint8Array =>
  isEmbedded
    ? Bun.zstdDecompressSync(readFileSync(`${import.meta.dir}/${basename(path)}.zst`))
    : readFileSync(`${import.meta.dir}/../../${path}`);

/** Whether the kernel at usual scale is the module with assertions, which tests run. */
export const hasKernelAsserts = !isEmbedded && process.env.NODE_ENV === "test";

/** Reads a module of the kernel (scripts/build-kernel.ts). Releases contain no module with assertions. */
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
  const path = `dist/kernel/${name}.wasm`;
  try {
    return new Uint8Array(readEmbedded(path));
  } catch (error) {
    throw new Error(`the kernel is not built ("${path}"): npm run build`, { cause: error });
  }
}
