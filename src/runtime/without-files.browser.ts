// Properties of the host that embedded.browser.ts and embedded.wasm-files.ts share. In both libraries for which these
// files are built, there are neither files nor threads.

export const availableParallelism = (): number => 1;
export const totalmem = (): number => 2 ** 32;

/** Never called: these libraries use one thread. */
export { noSystem as startWorker } from "./no-system.browser.ts";

export const embeddedDirectory = "";

export const hasKernelAsserts = false;

/** Whether this is the executable: never in a library. */
export const isEmbedded = false;
