import { closeSync, constants, openSync, readdirSync, rmdirSync, unlinkSync } from "node:fs";
import { codeOf } from "../runtime/system-error.ts";

/**
 * Removes a file or directory of ours, with its content. Never throws: the caller has another error to report, or a
 * signal to obey, and the next run removes what is left. No link is followed. The content of a directory is removed by the
 * directory's descriptor, so nobody can put another directory in its way.
 */
export function removeQuietly(path: string): void {
  try {
    remove(path);
  } catch {}
}

function remove(path: string): void {
  const fd = openDirectory(path);
  if (fd === null) {
    unlinkSync(path);
    return;
  }
  try {
    const inside = insideOf(fd, path);
    for (const name of readdirSync(inside)) removeQuietly(`${inside}/${name}`);
  } finally {
    closeSync(fd);
  }
  rmdirSync(path);
}

/** A path to an open directory, whatever has its name by now. */
export const insideOf = (fd: number, path: string) =>
  process.platform === "linux" ? `/proc/self/fd/${fd}` : path;

/** Opens a directory; null for anything else. */
export function openDirectory(path: string): number | null {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  } catch (error) {
    if (!["ENOTDIR", "ELOOP"].includes(codeOf(error))) throw error;
    return null;
  }
}
