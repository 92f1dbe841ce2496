/* What differs on Windows. */

export const isWindows = process.platform === "win32";

/** Paths that the system takes literally (`\\?\C:\…`, `\\.\pipe\…`) are unchanged. */
export const withForwardSlashes = (path: string): string =>
  isWindows && !/^\\\\[?.]\\/.test(path) ? path.replaceAll("\\", "/") : path;
