import { closeSync, constants, fsyncSync, openSync, writeSync } from "node:fs";

/** Writes all of the bytes, at `offset` if it is given: a single call may write fewer. */
export function writeAll(fd: number, bytes: Uint8Array, offset?: number): void {
  for (let pos = 0; pos < bytes.length; ) {
    const place = offset === undefined ? null : offset + pos;
    pos += writeSync(fd, bytes, pos, bytes.length - pos, place);
  }
}

/** Returns when what was written is on the device, or where the file system knows no such thing, at once. */
export function flush(fd: number): void {
  try {
    fsyncSync(fd);
  } catch (error) {
    throwUnlessNoFlush(error as Error);
  }
}

export function throwUnlessNoFlush(error: Error): void {
  if (!knowsNoFlush.has((error as NodeJS.ErrnoException).code ?? "")) throw error;
}

/** The same for a directory's list of names. One that may not be listed is left to the system's own pace. */
export function flushDirectory(path: string): void {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY);
  } catch {
    return;
  }
  try {
    flush(fd);
  } finally {
    closeSync(fd);
  }
}

const knowsNoFlush = new Set(["EINVAL", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EBADF"]);
