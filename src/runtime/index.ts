// The process and its system, errors, and the kernel's memory.

export { embeddedDirectory, startWorker } from "#embedded";
export * as host from "#host";
export type { ByteSink } from "./byte-sink.ts";
export { assert, exitCode, shorten, UserError, usageError } from "./errors.ts";
export { FileWindow } from "./file-window.ts";
export * as files from "./files.ts";
export * as kernels from "./kernel.ts";
export * as machine from "./machine.ts";
export * as memoryPages from "./memory-pages.ts";
export * as messages from "./message.ts";
export { asOption, type Message, phrase } from "./message.ts";
export { nearest } from "./nearest.ts";
export { scaled } from "./scale.ts";
export * as shell from "./shell.ts";
export { runSliced, runToEnd, yieldToEventLoop } from "./slices.ts";
export * as systemError from "./system-error.ts";
export * as programVersion from "./version.ts";
export { isWindows, withForwardSlashes } from "./windows.ts";
export type { JobName, WorkerThread } from "./worker-jobs.ts";
