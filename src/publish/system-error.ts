import { UserError } from "../errors.ts";

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
};

export function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? "";
}

export function reasonOf(error: unknown): string {
  return reasons[codeOf(error)] ?? (error instanceof Error ? error.message : String(error));
}

/** Does what may fail at the system's will, and says of which path it failed and why. */
export function onPath<T>(path: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (error instanceof UserError || codeOf(error) === "") throw error;
    throw new UserError(`"${path}" cannot be written: ${reasonOf(error)}`);
  }
}
