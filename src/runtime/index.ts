// This process and its system, errors, and the kernel's memory.

export { embeddedDirectory, isEmbedded, startWorker } from "#embedded";
export {
  collectGarbage,
  createSha1,
  createSha256,
  fromBase64,
  globMatcher,
  openLibc,
  pathsMatching,
  releaseMemory,
  type Sha256,
  sleepSync,
  spareThirdTier,
  toBase64,
  xxHash32,
  xxHash64,
} from "#host";
export { assert, engineRefusal, exitCode, onEngine, shortened, UserError, usageError } from "./errors.ts";
export {
  type ByteSink,
  beginFlush,
  canLock,
  canRenameOntoEmpty,
  canRenameOpen,
  exchange,
  flush,
  flushDirectory,
  isNamed,
  isOnThisMachine,
  lockFile,
  rename,
  throwUnlessNoFlush,
  writeAll,
} from "./file-calls.ts";
export { askForHugePages, FileWindow, giveBack } from "./file-window.ts";
export { nearest, shellLine, shellQuoted } from "./hints.ts";
export {
  adoptKernelModule,
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
export { scaled } from "./scale.ts";
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
  readText,
  reasonOf,
  refusal,
  statOf,
  tryRead,
  undecodable,
  unreadable,
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
export { inTurns, nextTurn, runToEnd } from "./turns.ts";
export { asksVersion, build, codeIdentity, versionLine } from "./version.ts";
export { isHeldOpen, isWindows, slashed, withPatience } from "./windows.ts";
export type { JobName, WorkerThread } from "./worker-jobs.ts";
