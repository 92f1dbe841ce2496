// What both libraries without files and threads say of their host (embedded.browser.ts, embedded.wasm-files.ts).

export const availableParallelism = (): number => 1;
export const totalmem = (): number => 2 ** 32;

/** One thread merges. */
export { noSystem as startWorker } from "./no-system.browser.ts";

export const embeddedDirectory = "";

export const hasKernelAsserts = false;

/** Whether this is the executable. */
export const isEmbedded = false;
