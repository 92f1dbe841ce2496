import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  type Stats,
  statSync,
  writeSync,
} from "node:fs";
import * as host from "#host";
import { UserError } from "./errors.ts";
import { asOption, ifHas, phrase } from "./message.ts";
import * as systemError from "./system-error.ts";

/**
 * Writes all of the bytes, at `offset` if given, although a single system call may write fewer. Waits while a pipe is
 * full.
 */
export function writeAll(fd: number, bytes: Uint8Array, offset?: number): void {
  for (let pos = 0; pos < bytes.length; ) {
    const place = offset === undefined ? null : offset + pos;
    try {
      pos += writeSync(fd, bytes, pos, bytes.length - pos, place);
    } catch (error) {
      if (systemError.codeOf(error) !== "EAGAIN") throw error;
      host.sleepSync(1);
    }
  }
}

// System calls on files that the user named. If the system refuses one, a UserError names the path.

/** Returns the stats of a path, with links followed; undefined if nothing exists there or if a parent is a file. */
export function stat(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch (error) {
    if (systemError.isMissing(error)) return undefined;
    throw readErrorOf(path, error);
  }
}

export const isFile = (path: string) => stat(path)?.isFile() === true;
export const isDirectory = (path: string) => stat(path)?.isDirectory() === true;

/**
 * Opens a file that the user named. Throws a UserError unless it is a regular file. The file is opened without
 * blocking, because a blocking open of a named pipe would wait for a writer.
 */
export function openRegular(path: string): number {
  const fd = tryRead(path, () => openSync(path, constants.O_RDONLY | constants.O_NONBLOCK));
  const stats = fstatSync(fd);
  if (stats.isFile()) return fd;
  closeSync(fd);
  throw stats.isDirectory()
    ? new UserError(`"${path}" is a directory, not a file`, { hint: "name a file" })
    : new UserError(`"${path}" is not a regular file`, {
        hint: "write the data to a file and name that file",
      });
}

/** Opens a regular file, passes it to `read`, and closes it. */
export function withRegular<T>(path: string, read: (fd: number) => T): T {
  const fd = openRegular(path);
  try {
    return tryRead(path, () => read(fd));
  } finally {
    closeSync(fd);
  }
}

/** Runs `read`. If the system refuses, throws the error that `readErrorOf` returns. */
export function tryRead<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw readErrorOf(path, error);
  }
}

/**
 * Returns the UserError for a file that could not be opened or read. If the error is already a UserError, or a bug, it
 * is returned unchanged.
 */
export function readErrorOf(path: string, error: unknown): unknown {
  if (!systemError.isMissing(error)) return systemError.refusal(`${nameOf(path)} cannot be read`, error);
  return missingError(path);
}

/** Returns the UserError for a path at which there is no file. */
export function missingError(path: string): UserError {
  if (hasReplacement(path)) return undecodableNameError(path);
  return new UserError(isLink(path) ? `"${path}" is a broken link` : `"${path}": no such file`);
}

/** An input's name in messages. */
export const nameOf = (path: string) => (path === "-" ? "standard input" : `"${path}"`);

function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    return false;
  }
}

/** Whether a path has the replacement character, which decoding puts into a name that is not valid UTF-8. */
export const hasReplacement = (path: string) => path.includes("\ufffd");

/** @param isListed whether the file was found in a directory that the user named */
export function undecodableNameError(path: string, isListed = false): UserError {
  const orSelect = ifHas("include", phrase`, or select other files with ${asOption("include")}`);
  return new UserError(`the name of "${path}" is not valid UTF-8`, {
    hint: phrase`rename the file${isListed ? orSelect : ""}`,
  });
}

/**
 * The maximum size in bytes of a file that is read as a whole: half of JavaScriptCore's longest string. Files of
 * tokenizers are far smaller.
 */
const wholeBytesMax = 2 ** 30;

/** Reads a whole regular file. */
export const readBytes = (path: string): Buffer =>
  withRegular(path, (fd) => {
    const { size } = fstatSync(fd);
    if (size <= wholeBytesMax) return readFileSync(fd);
    throw new UserError(
      `"${path}" has ${size.toLocaleString("en-US")} bytes; a file of a tokenizer may have at most ${wholeBytesMax.toLocaleString("en-US")}`,
      { hint: "check that the right file is named" },
    );
  });

export const readText = (path: string): string => readBytes(path).toString("utf8");
