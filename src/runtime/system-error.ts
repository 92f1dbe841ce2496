import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  type Stats,
  statSync,
} from "node:fs";
import { outOfMemory, UserError } from "./errors.ts";
import { asOption, joined, type Message, phrase } from "./message.ts";
import { moreFilesHint } from "./system-limits.ts";

/** What the system's error codes mean, for users. */
const reasons: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EPERM: "operation not permitted",
  EROFS: "the file system is read-only",
  ENOSPC: "no space left on the device",
  EDQUOT: "the disk quota is full",
  EFBIG: "the file would be larger than allowed",
  EIO: "the device failed (input/output error)",
  ENOENT: "no such directory",
  ENOTDIR: "a part of the path is a file",
  EISDIR: "it is a directory",
  ENAMETOOLONG: "the name is too long",
  ELOOP: "too many symbolic links",
  EBADF: "it is a device or a pipe, not a file",
  EBUSY: "the system uses it, e.g. as a mount point",
  EEXIST: "there is a file of that name",
  EXDEV: "it cannot be renamed on this file system",
  EMFILE: "too many files are open",
  ENFILE: "too many files are open on this system",
  EPIPE: "the reader has closed it",
  ENXIO: "no program reads it, or it is a socket or a closed terminal",
  EINVAL: "it does not allow this operation",
  EILSEQ: "its file system does not allow this name",
};

export function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? "";
}

/**
 * Whether the system refused a call or a path. EBADF without a path means a closed descriptor, which is a bug; Windows
 * also reports EBADF for paths of consoles and pipes.
 */
const isSystemError = (error: unknown): error is Error =>
  error instanceof Error && (/^E[A-Z0-9]+$/.test(codeOf(error)) || hasNul(error)) && !isClosed(error);

const isClosed = (error: Error) => codeOf(error) === "EBADF" && !("path" in error);

const hasNul = ({ message }: Error) => message.includes("without null bytes");

/** Returns the reason of an error in words. The runtime's own text would be `CODE: words, call 'path'`. */
export function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  if (error instanceof Error && hasNul(error)) return "a path cannot contain NUL";
  return reasons[codeOf(error)] ?? text.replace(/^[A-Z0-9]+: (.+?)(, \w+( '.*)?)?$/s, "$1");
}

/** Hints that do not depend on the file. */
const remedies: Readonly<Record<string, string>> = {
  EMFILE: moreFilesHint,
  ENFILE: "close other programs: the system can open no more files",
};

/**
 * Turns a system error into a UserError with `what` and the system's reason. Returns a UserError, or an error that is
 * not the system's, unchanged.
 */
export function refusal(what: Message, error: unknown, hint?: Message): unknown {
  if (!isSystemError(error) || error instanceof UserError) return error;
  const hints = [remedies[codeOf(error)], hint].filter((known) => known !== undefined);
  return new UserError(phrase`${what}: ${reasonOf(error)}`, { hint: joined(hints, "; ") || undefined });
}

/** Returns the UserError for an error; undefined if it is a bug. */
export function userErrorOf(error: unknown): UserError | undefined {
  if (error instanceof UserError) return error;
  const { path } = error as { path?: unknown };
  const what = typeof path === "string" ? `"${path}"` : "a file";
  const known = outOfMemory(error) ?? refusal(`${what} cannot be used`, error);
  return known instanceof UserError ? known : undefined;
}

/**
 * The message of an error that a library threw for malformed data. An error that the library made itself has a readable
 * message. The engine's own errors, such as a TypeError, quote the library's code, so their messages are replaced.
 */
export const faultOf = (error: unknown): string =>
  error instanceof Error && error.constructor === Error
    ? error.message
    : "its content contradicts the positions or sizes that it states";

export const isMissing = (error: unknown) => ["ENOENT", "ENOTDIR"].includes(codeOf(error));

// Calls for files that the user named. If the system refuses, they throw a UserError that names the path.

/** Returns the stats of a path, with links followed; undefined if nothing exists there or if a parent is a file. */
export function statOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw readErrorOf(path, error);
  }
}

export const isFile = (path: string) => statOf(path)?.isFile() === true;
export const isDirectory = (path: string) => statOf(path)?.isDirectory() === true;

/**
 * Opens a file that the user named, without blocking. Throws a UserError unless it is a regular file. A blocking open
 * of a named pipe would wait for a writer, and no signal would be handled meanwhile.
 */
export function openRegularFile(path: string): number {
  const fd = tryRead(path, () => openSync(path, constants.O_RDONLY | constants.O_NONBLOCK));
  const stats = fstatSync(fd);
  if (stats.isFile()) return fd;
  closeSync(fd);
  throw new UserError(
    `"${path}" is ${stats.isDirectory() ? "a directory, not a file" : "not a regular file"}`,
  );
}

/** Opens a regular file, passes it to `read`, and closes it. */
export function withRegularFile<T>(path: string, read: (fd: number) => T): T {
  const fd = openRegularFile(path);
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

/** Returns the UserError for a file that could not be opened or read. A UserError or a bug is returned unchanged. */
export function readErrorOf(path: string, error: unknown): unknown {
  if (!isMissing(error)) return refusal(`${nameOf(path)} cannot be read`, error);
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

/** Whether a path has the replacement character: a name that is not valid UTF-8 has one once it is decoded. */
export const hasReplacement = (path: string) => path.includes("\ufffd");

export function undecodableNameError(path: string): UserError {
  return new UserError(`"${path}": this name is not valid UTF-8`, {
    hint: phrase`rename it, or select other files with ${asOption("include")}`,
  });
}

/**
 * The largest file that is read as a whole: half of JavaScriptCore's longest string. Files of tokenizers are far
 * smaller.
 */
const wholeBytesMax = 2 ** 30;

/** Reads a whole regular file. */
export const readBytes = (path: string): Buffer =>
  withRegularFile(path, (fd) => {
    const { size } = fstatSync(fd);
    if (size <= wholeBytesMax) return readFileSync(fd);
    throw new UserError(
      `"${path}" has ${size} bytes; a file of a tokenizer may have at most ${wholeBytesMax} bytes`,
    );
  });

export const readText = (path: string): string => readBytes(path).toString("utf8");
