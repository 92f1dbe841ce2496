import { closeSync, constants, fstatSync, lstatSync, openSync, type Stats, statSync } from "node:fs";
import { UserError } from "../errors.ts";
import { isMissing, refusal } from "./system-error.ts";

// Files that the user named, for whoever reads them. What the system refuses is a UserError that names the path.

/** What is there, links followed; undefined if nothing is, also below a file. */
export function statOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw unreadable(path, error);
  }
}

export const isFile = (path: string) => statOf(path)?.isFile() === true;
export const isDirectory = (path: string) => statOf(path)?.isDirectory() === true;

/**
 * Opens a file that the user named. It must be a regular file: any other is an error that names it. In particular a pipe
 * is not waited for: it may never get a writer, and no signal would be served meanwhile.
 */
export function openRegularFile(path: string): number {
  const fd = onRead(path, () => openSync(path, constants.O_RDONLY | constants.O_NONBLOCK));
  const stats = fstatSync(fd);
  if (stats.isFile()) return fd;
  closeSync(fd);
  throw new UserError(`"${path}" is ${stats.isDirectory() ? "a directory, not a file" : "no regular file"}`);
}

/** Opens it in the same way, reads from it, and closes it. */
export function withRegularFile<T>(path: string, read: (fd: number) => T): T {
  const fd = openRegularFile(path);
  try {
    return onRead(path, () => read(fd));
  } finally {
    closeSync(fd);
  }
}

/** Runs `read`. What the system refuses is the error of `unreadable`. */
export function onRead<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw unreadable(path, error);
  }
}

/** The error of a file that could not be opened or read. What is told already, and a bug, stays as it is. */
export function unreadable(path: string, error: unknown): unknown {
  if (!isMissing(error)) return refusal(`${nameOf(path)} cannot be read`, error);
  if (hasReplacement(path)) return undecodable(path);
  return new UserError(isLink(path) ? `"${path}" is a link that leads nowhere` : `"${path}": no such file`);
}

/** An input as messages name it. */
export const nameOf = (path: string) => (path === "-" ? "standard input" : `"${path}"`);

function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    return false;
  }
}

/** Whether a path has the replacement character, as a name that is not valid UTF-8 has once it is a string. */
export const hasReplacement = (path: string) => path.includes("\ufffd");

export function undecodable(path: string): UserError {
  return new UserError(`"${path}": this name is not valid UTF-8`, {
    hint: "rename it, or leave it out (--include says which files of a directory are meant)",
  });
}
