/**
 * Where the counting worker's code is. In a module of its own at the top of `src`, because a compiled binary keeps the
 * worker beside its entry: only from here is "./worker.ts" the right place in the source tree and in the binary.
 */
export const workerUrl = new URL("./worker.ts", import.meta.url).href;
