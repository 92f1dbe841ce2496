import { closeSync, constants, openSync, readdirSync, rmdirSync, unlinkSync } from "node:fs";
import { codeOf } from "../runtime/system-error.ts";

/**
 * Removes something of ours, a directory with what is in it. What cannot be removed is left to the next run: whoever
 * discards has another error to tell, or a signal to obey. No link is followed, and what is in a directory is removed
 * by its descriptor, so that nothing else can be put in its way meanwhile.
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

/** A path to what is in an open directory, whatever has the directory's name by now. */
export const insideOf = (fd: number, path: string) =>
  process.platform === "linux" ? `/proc/self/fd/${fd}` : path;

/** Null for what is no directory. */
export function openDirectory(path: string): number | null {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  } catch (error) {
    if (!["ENOTDIR", "ELOOP"].includes(codeOf(error))) throw error;
    return null;
  }
}
