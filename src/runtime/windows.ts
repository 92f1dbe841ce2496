import { openWindows, sleepSync } from "#host";
import { codeOf } from "./system-error.ts";

/* What differs on Windows. On other systems, nothing here calls the system. */

export const isWindows = process.platform === "win32";

/**
 * Replaces "\" by "/" in a path on Windows, so that globs and the order of paths are the same on all systems. Paths
 * that the system takes literally (`\\?\C:\…`, `\\.\pipe\…`) are unchanged.
 */
export const withForwardSlashes = (path: string): string =>
  isWindows && !/^\\\\[?.]\\/.test(path) ? path.replaceAll("\\", "/") : path;

/**
 * Whether Windows refused to rename, replace or open something because a program has it, or a file in it, open. The
 * same error codes also mean a lack of permission.
 */
export const isHeldOpen = (error: unknown): boolean =>
  isWindows && ["EPERM", "EACCES", "EBUSY"].includes(codeOf(error));

/** Retries for a second while another program holds the file open; virus scanners and indexers release it sooner. */
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
 * Locks an open file, without waiting: see `lockFile` in file-calls.ts. Returns null where `openWindows` does.
 *
 * Locked bytes can be neither read nor written by others, so the locked byte is far past the end of any content.
 */
export function lockOnWindows(fd: number): "acquired" | "held" | "unsupported" | null {
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
  if (isLocked !== 0) return "acquired";
  return lockUnsupportedErrors.has(windows.GetLastError()) ? "unsupported" : "held";
}

/** The system's structure OVERLAPPED, 32 bytes; its fifth and sixth numbers are the offset in the file. */
const overlappedAt = (offsetHigh: number) => Uint32Array.of(0, 0, 0, 0, 0, offsetHigh, 0, 0);

const LOCKFILE_FAIL_IMMEDIATELY = 1;
const LOCKFILE_EXCLUSIVE_LOCK = 2;
/** The upper half of 2^62. */
const lockedByteHigh = 1 << 30;
/** ERROR_INVALID_FUNCTION, ERROR_NOT_SUPPORTED: the file system or its server has no locks. */
const lockUnsupportedErrors = new Set([1, 50]);
