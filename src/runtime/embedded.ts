const isEmbedded = import.meta.path.startsWith("/$bunfs/") || import.meta.path.startsWith("B:\\~BUN");

/**
 * Where the binary keeps the entry of its workers and the files that were built into it: beside its own entry, whichever
 * module asks, so this module is the only one that asks.
 */
export const workerUrl = new URL(isEmbedded ? "./worker.ts" : "../pipeline/worker.ts", import.meta.url).href;
/** In the source tree nothing is embedded, and what would be there is made when it is needed. */
export const embeddedDirectory = import.meta.dir;

const kernelDirectory = isEmbedded ? import.meta.dir : `${import.meta.dir}/../../dist/kernel`;
/** The modules of the kernel (scripts/build-kernel.ts); the one for tests only in the source tree. */
export const kernelPaths = {
  path: `${kernelDirectory}/kernel.wasm`,
  baselinePath: `${kernelDirectory}/kernel-baseline.wasm`,
  testPath: isEmbedded ? undefined : `${kernelDirectory}/kernel-asserts.wasm`,
};
