// The process and its system, errors, and the kernel's memory. They are one module because all of them depend on the
// host and on no other module of ours. A refused allocation, a missing file and a kernel without memory end in the same
// kind of error.

export { embeddedDirectory, startWorker } from "#embedded";
export {
  type Crc32,
  collectGarbage,
  crc32,
  createSha1,
  createSha256,
  disableFtl,
  fromBase64,
  globMatcher,
  openLibc,
  pathsMatching,
  releaseMemory,
  type Sha256,
  sleepSync,
  toBase64,
  xxHash32,
  xxHash64,
} from "#host";
export {
  assert,
  engineRefusal,
  exitCode,
  shorten,
  UserError,
  usageError,
  withEngineErrors,
} from "./errors.ts";
export {
  type ByteSink,
  beginFlush,
  canLock,
  canRenameOntoEmpty,
  canRenameOpen,
  exchange,
  flush,
  flushDirectory,
  ignoreMissingFlush,
  isOnThisMachine,
  isSameFile,
  lockFile,
  rename,
  writeAll,
} from "./file-calls.ts";
export { FileWindow, releasePages, requestHugePages } from "./file-window.ts";
export { nearest, shellLine, shellQuoted } from "./hints.ts";
export {
  adoptKernelModule,
  type CountIds,
  createEncodingKernel,
  createKernel,
  createRegionKernel,
  createTextKernel,
  createWholeMemory,
  growMemory,
  type Kernel,
  kernelModule,
  pageBytes,
  prepareKernel,
  putArray,
  readNativeKernels,
  type TextKernel,
  wholeMemoryBytes,
} from "./kernel.ts";
export type { KernelExports } from "./kernel-exports.ts";
export {
  asOption,
  asTyped,
  joined,
  type Message,
  type NamedOption,
  phrase,
  type Spelling,
  spell,
  withValue,
} from "./message.ts";
export { scaled } from "./scale.ts";
export { runSliced, runToEnd, yieldToEventLoop } from "./slices.ts";
export {
  codeOf,
  faultOf,
  hasReplacement,
  isDirectory,
  isFile,
  isMissing,
  nameOf,
  openRegularFile,
  readBytes,
  readErrorOf,
  readText,
  reasonOf,
  refusal,
  statOf,
  tryRead,
  undecodableNameError,
  userErrorOf,
  withRegularFile,
} from "./system-error.ts";
export {
  allowedCores,
  defaultWorkerCount,
  limitText,
  MemoryBudget,
  openFilesMax,
  peakMemoryBytes,
  workerBytes,
  workersFor,
} from "./system-limits.ts";
export { build, codeIdentity, isVersionRequest, versionLine } from "./version.ts";
export { isHeldOpen, isWindows, retryWhileHeldOpen, withForwardSlashes } from "./windows.ts";
export type { JobName, WorkerThread } from "./worker-jobs.ts";
