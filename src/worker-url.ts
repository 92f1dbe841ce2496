/**
 * Where the code of the workers is. In a module of its own at the top of `src`, because a compiled binary keeps the
 * workers beside its entry: only from here is "./worker.ts" the right place in the source tree and in the binary.
 */
export const workerUrl = new URL("./worker.ts", import.meta.url).href;
export const encodeWorkerUrl = new URL("./encode-worker.ts", import.meta.url).href;
