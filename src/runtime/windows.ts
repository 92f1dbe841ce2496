/* What differs on Windows. */

export const isWindows = process.platform === "win32";

/**
 * Replaces "\" by "/" in a path on Windows, so that globs and the order of paths are the same on all systems. Paths
 * that the system takes literally (`\\?\C:\…`, `\\.\pipe\…`) are unchanged.
 */
export const withForwardSlashes = (path: string): string =>
  isWindows && !/^\\\\[?.]\\/.test(path) ? path.replaceAll("\\", "/") : path;
