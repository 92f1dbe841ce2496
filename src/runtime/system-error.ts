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

/** Why a file cannot be read. `reasonOf` speaks of a directory that is missing: for a reader it is the file. */
export const reasonNotRead = (error: unknown) => (isMissing(error) ? "no such file" : reasonOf(error));

export const isMissing = (error: unknown) => ["ENOENT", "ENOTDIR"].includes(codeOf(error));
