import { openWindows, sleepSync } from "#host";
import { codeOf } from "./system-error.ts";

/*
 * What is different on Windows. Elsewhere nothing here calls the system.
 */

export const isWindows = process.platform === "win32";

/**
 * A path as it was typed, with "/" where Windows also takes "\": then globs, and the order of paths, are what they are on
 * other systems. Paths that the system takes letter by letter (`\\?\C:\…`, `\\.\pipe\…`) stay as they are.
 */
export const withForwardSlashes = (path: string): string =>
  isWindows && !/^\\\\[?.]\\/.test(path) ? path.replaceAll("\\", "/") : path;

/**
 * Whether Windows refuses to rename, replace or open something because a program has it open, or a file in it. Its code for
 * that is also the one for a lack of permission.
 */
export const isHeldOpen = (error: unknown): boolean =>
  isWindows && ["EPERM", "EACCES", "EBUSY"].includes(codeOf(error));

/** Does something that is refused while a program holds a file open: tries again for a second, as scanners and indexers take less. */
export function retryWhileHeldOpen<T>(attempt: () => T): T {
  for (let left = retryCount; ; left--) {
    try {
      return attempt();
    } catch (error) {
      if (left === 0 || !isHeldOpen(error)) throw error;
      sleepSync(retryDelayMs);
    }
  }
}

const retryCount = 20;
const retryDelayMs = 50;

/**
 * Takes the lock of an open file, without waiting: see `lockFile` in file-calls.ts. Null on other systems.
 *
 * Others can neither read nor write what is locked, so it is a byte behind every content.
 */
export function lockOnWindows(fd: number): "ours" | "another's" | "unknown to the file system" | null {
  const windows = openWindows();
  if (windows === null) return null;
  const isLocked = windows.LockFileEx(
    windows.uv_get_osfhandle(fd),
    LOCKFILE_FAIL_IMMEDIATELY | LOCKFILE_EXCLUSIVE_LOCK,
    0,
    1,
    0,
    overlappedAt(lockedByteHigh),
  );
  if (isLocked !== 0) return "ours";
  return lockUnsupportedErrors.has(windows.GetLastError()) ? "unknown to the file system" : "another's";
}

/** The system's structure OVERLAPPED, 32 bytes; its fifth and sixth number are the offset in the file. */
const overlappedAt = (offsetHigh: number) => Uint32Array.of(0, 0, 0, 0, 0, offsetHigh, 0, 0);

const LOCKFILE_FAIL_IMMEDIATELY = 1;
const LOCKFILE_EXCLUSIVE_LOCK = 2;
/** The upper half of 2^62. */
const lockedByteHigh = 1 << 30;
/** ERROR_INVALID_FUNCTION, ERROR_NOT_SUPPORTED: the file system, or the server behind it, has no locks. */
const lockUnsupportedErrors = new Set([1, 50]);
