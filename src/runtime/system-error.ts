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
import { moreFilesHint } from "./system-limits.ts";

/** What the system's error codes mean to the person who reads the message. */
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
  EBADF: "it is a device or a pipe, and no file",
  EBUSY: "the system uses it, e.g. as a mount point",
  EEXIST: "there is a file of that name",
  EXDEV: "it cannot be renamed on this file system",
  EMFILE: "too many files are open",
  ENFILE: "too many files are open on this system",
  EPIPE: "the reader has gone",
  ENXIO: "no program reads it, or it is a socket or a terminal that is gone",
  EINVAL: "it does not allow this operation",
  EILSEQ: "its file system does not allow this name",
};

export function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? "";
}

/**
 * Whether the system refused something, or takes no such path. A descriptor that is not open is a bug, but Windows also says
 * so of a path: that of a console or a pipe.
 */
const isSystemError = (error: unknown): error is Error =>
  error instanceof Error && (/^E[A-Z0-9]+$/.test(codeOf(error)) || hasNul(error)) && !isClosed(error);

const isClosed = (error: Error) => codeOf(error) === "EBADF" && !("path" in error);

const hasNul = ({ message }: Error) => message.includes("without null bytes");

/** Why, in words. The runtime's own text is `CODE: words, call 'path'`. */
export function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  if (error instanceof Error && hasNul(error)) return "a path cannot contain NUL";
  return reasons[codeOf(error)] ?? text.replace(/^[A-Z0-9]+: (.+?)(, \w+( '.*)?)?$/s, "$1");
}

/** What mends it, whatever the file is. */
const remedies: Readonly<Record<string, string>> = {
  EMFILE: moreFilesHint,
  ENFILE: "close other programs: the system can open no more files",
};

/** An error for the user: `what`, and why the system refused it. A UserError or a bug is returned as it is. */
export function refusal(what: string, error: unknown, hint?: string): unknown {
  if (!isSystemError(error) || error instanceof UserError) return error;
  const hints = [remedies[codeOf(error)], hint].filter((known) => known !== undefined);
  return new UserError(`${what}: ${reasonOf(error)}`, { hint: hints.join("; ") || undefined });
}

/** The error as one for the user; undefined if it is a bug. */
export function userErrorOf(error: unknown): UserError | undefined {
  if (error instanceof UserError) return error;
  const { path } = error as { path?: unknown };
  const what = typeof path === "string" ? `"${path}"` : "a file";
  const known = outOfMemory(error) ?? refusal(`${what} cannot be used`, error);
  return known instanceof UserError ? known : undefined;
}

/**
 * What a reader of a library threw about data that is not as it should be, in words for people: an error of its own has them, but
 * where it met what it does not expect, the engine's message quotes its code.
 */
export const faultOf = (error: unknown): string =>
  error instanceof Error && error.constructor === Error
    ? error.message
    : "its parts are not where it says they are";

export const isMissing = (error: unknown) => ["ENOENT", "ENOTDIR"].includes(codeOf(error));

// Calls for files that the user named. If the system refuses, they throw a UserError that names the path.

/** What is there, links followed; undefined if nothing is, also below a file. */
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
 * Opens a file that the user named. It must be a regular file: any other is an error that names it. In particular a pipe
 * is not waited for: it may never get a writer, and no signal would be served meanwhile.
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

/** Opens it in the same way, reads from it, and closes it. */
export function withRegularFile<T>(path: string, read: (fd: number) => T): T {
  const fd = openRegularFile(path);
  try {
    return tryRead(path, () => read(fd));
  } finally {
    closeSync(fd);
  }
}

/** Runs `read`. What the system refuses is the error of `unreadable`. */
export function tryRead<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw readErrorOf(path, error);
  }
}

/** The error of a file that could not be opened or read. What is told already, and a bug, stays as it is. */
export function readErrorOf(path: string, error: unknown): unknown {
  if (!isMissing(error)) return refusal(`${nameOf(path)} cannot be read`, error);
  if (hasReplacement(path)) return undecodableNameError(path);
  return new UserError(isLink(path) ? `"${path}" is a broken link` : `"${path}": no such file`);
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

export function undecodableNameError(path: string): UserError {
  return new UserError(`"${path}": this name is not valid UTF-8`, {
    hint: "rename it, or select other files with --include",
  });
}

/** The runtime's longest text has twice as many characters, and no file that is read as a whole comes near it. */
const wholeBytesMax = 2 ** 30;

/** A regular file, read as a whole. */
export const readBytes = (path: string): Buffer =>
  withRegularFile(path, (fd) => {
    const { size } = fstatSync(fd);
    if (size <= wholeBytesMax) return readFileSync(fd);
    throw new UserError(`"${path}" has ${size} bytes; a file of a tokenizer has at most ${wholeBytesMax}`);
  });

export const readText = (path: string): string => readBytes(path).toString("utf8");
