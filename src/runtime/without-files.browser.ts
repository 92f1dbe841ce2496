// Shared by the two libraries without files and threads.

export const availableParallelism = (): number => 1;
export const totalmem = (): number => 2 ** 32;

/** Never called: these libraries use one thread. */
export { noSystem as startWorker } from "./no-system.browser.ts";

export const embeddedDirectory = "";

export const hasKernelAsserts = false;

/** Whether this is the executable: never in a library. */
export const isEmbedded = false;
