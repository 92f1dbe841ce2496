/*
 * In the place of embedded.ts in the libraries for Bun and Node: everything lies beside the module that asks, in the
 * package's directory. Patterns are compiled when they are needed.
 */
import { fileURLToPath } from "node:url";
import type { JobName, WorkerThread } from "./worker-jobs.ts";
import { openWorker } from "./worker-thread.ts";

const kernelPath = (name: string) => fileURLToPath(new URL(`../wasm/${name}`, import.meta.url));

export function startWorker(job: JobName): WorkerThread {
  const worker = openWorker(import.meta.url);
  worker.postMessage({ job });
  return worker;
}

export const embeddedDirectory = "";

export const kernelPaths = {
  path: kernelPath("kernel.wasm"),
  baselinePath: kernelPath("kernel-baseline.wasm"),
  testPath: undefined,
};
