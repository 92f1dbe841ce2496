import { outOfMemory, UserError } from "../errors.ts";

/** What the system's error codes mean to the person who reads the message. */
const reasons: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EPERM: "operation not permitted",
  EROFS: "the file system is read-only",
  ENOSPC: "no space left on the device",
  EDQUOT: "the disk quota is used up",
  EFBIG: "the file would be larger than is allowed",
  EIO: "the device failed (input/output error)",
  ENOENT: "no such directory",
  ENOTDIR: "a part of the path is a file",
  EISDIR: "it is a directory",
  ENAMETOOLONG: "the name is too long",
  ELOOP: "too many symbolic links",
  EBUSY: "it is in use by the system, as a mount point is",
  EEXIST: "there is a file of that name",
  EXDEV: "it cannot be renamed on this file system",
  EMFILE: "too many files are open",
  EPIPE: "the reader has gone",
  ENXIO: "nobody reads it, or it is a socket or a terminal that is not there",
  EINVAL: "it does not allow that",
  EILSEQ: "its file system does not take this name",
};

export function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? "";
}

/** Whether the system refused something, or takes no such path. A descriptor that is not open is a bug. */
const isOfSystem = (error: unknown): error is Error =>
  error instanceof Error && (/^E(?!BADF$)[A-Z0-9]+$/.test(codeOf(error)) || hasNul(error));

const hasNul = ({ message }: Error) => message.includes("without null bytes");

/** Why, in words. The runtime's own text is `CODE: words, call 'path'`. */
export function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  if (error instanceof Error && hasNul(error)) return "no path holds a NUL";
  return reasons[codeOf(error)] ?? text.replace(/^[A-Z0-9]+: (.+?)(, \w+( '.*)?)?$/s, "$1");
}

/** `what`, and why the system refused it, for the user. What is told already, and a bug, stays as it is. */
export const refusal = (what: string, error: unknown, hint?: string): unknown =>
  isOfSystem(error) && !(error instanceof UserError)
    ? new UserError(`${what}: ${reasonOf(error)}`, { hint })
    : error;

/** The error for the user if it is none of ours; undefined for a bug. */
export function userErrorOf(error: unknown): UserError | undefined {
  if (error instanceof UserError) return error;
  const { path } = error as { path?: unknown };
  const what = typeof path === "string" ? `"${path}"` : "a file";
  const told = outOfMemory(error) ?? refusal(`${what} cannot be used`, error);
  return told instanceof UserError ? told : undefined;
}

export const isMissing = (error: unknown) => ["ENOENT", "ENOTDIR"].includes(codeOf(error));
