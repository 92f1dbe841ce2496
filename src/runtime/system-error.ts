import { outOfMemory, UserError } from "./errors.ts";
import * as machine from "./machine.ts";
import * as messages from "./message.ts";
import { type Message, phrase } from "./message.ts";

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
  EBUSY: "the system is using it, e.g. as a mount point",
  EEXIST: "there is a file of that name",
  EXDEV: "it cannot be renamed on this file system",
  EMFILE: "too many files are open",
  ENFILE: "too many files are open on this system",
  EPIPE: "the program that read it has closed it",
  ENXIO: "no program reads it, or it is a socket or a closed terminal",
  EINVAL: "it does not allow this operation",
  EILSEQ: "its file system does not allow this name",
};

export function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? "";
}

/**
 * Whether the system refused a call or a path. EBADF without a path does not count, because it means a closed
 * descriptor, which is a bug.
 */
const isSystemError = (error: unknown): error is Error =>
  error instanceof Error && (/^E[A-Z0-9]+$/.test(codeOf(error)) || hasNul(error)) && !isClosed(error);

const isClosed = (error: Error) => codeOf(error) === "EBADF" && !("path" in error);

const hasNul = ({ message }: Error) => message.includes("without null bytes");

/**
 * Returns the reason of an error in words. If we have no words for its code, they are taken from the runtime's message,
 * which is `CODE: words, call 'path'`.
 */
export function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  if (error instanceof Error && hasNul(error)) return "a path cannot contain NUL";
  return reasons[codeOf(error)] ?? text.replace(/^[A-Z0-9]+: (.+?)(, \w+( '.*)?)?$/s, "$1");
}

/** Hints that do not depend on the file. */
const remedies: Readonly<Record<string, string>> = {
  EMFILE: machine.moreFilesHint(),
  ENFILE: "close other programs: the system can open no more files",
};

/** Turns a system error into a UserError with `what` and the system's reason. Returns any other error unchanged. */
export function refusal(what: Message, error: unknown, hint?: Message): unknown {
  if (!isSystemError(error) || error instanceof UserError) return error;
  const hints = [remedies[codeOf(error)], hint].filter((known) => known !== undefined);
  return new UserError(phrase`${what}: ${reasonOf(error)}`, {
    hint: messages.joined(hints, "; ") || undefined,
  });
}

/** Returns the UserError for an error; undefined if it is a bug. */
export function userErrorOf(error: unknown): UserError | undefined {
  if (error instanceof UserError) return error;
  const { path } = error as { path?: unknown };
  const what = typeof path === "string" ? `"${path}"` : "a file";
  const known = outOfMemory(error) ?? refusal(`${what} cannot be used`, error);
  return known instanceof UserError ? known : undefined;
}

export const isMissing = (error: unknown) => ["ENOENT", "ENOTDIR"].includes(codeOf(error));
