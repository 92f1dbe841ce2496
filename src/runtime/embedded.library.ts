/*
 * Replaces embedded.ts in the libraries for Bun and Node. The kernel's modules and the entry of the workers are files
 * of the package, found from the path of the bundle. Patterns are compiled on first use.
 */

import { readFileSync } from "node:fs";
import * as host from "#host";
import type { JobName, WorkerThread } from "./worker-jobs.ts";

export { availableParallelism, totalmem } from "node:os";

export function startWorker(job: JobName): WorkerThread {
  const worker = host.openWorker(import.meta.url);
  worker.postMessage({ job });
  return worker;
}

export const embeddedDirectory = "";

export const hasKernelAsserts = false;

export const readKernel = (name: string): Uint8Array<ArrayBuffer> =>
  new Uint8Array(readFileSync(new URL(`../wasm/${name}.wasm`, import.meta.url)));

/** Whether this is the executable: never in a library. */
export const isEmbedded = false;
