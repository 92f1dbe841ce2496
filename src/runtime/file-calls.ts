import { closeSync, constants, fsyncSync, openSync, writeSync } from "node:fs";
import { openLibc } from "./libc.ts";

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

/**
 * Has the device begin to take what was written, and does not wait. To be called for each of many files before the first is
 * flushed: a file gets its place on the device only now, and the journal notes it. Begun together, all are in one commit of it;
 * flushed one after the other, each waits for one of its own.
 */
export function beginFlush(fd: number): void {
  libc ??= openLibc(symbols);
  if (libc === null || libc.sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE) === 0) return;
  const { read } = require("bun:ffi") as typeof import("bun:ffi");
  const code = lossCodes.get(read.i32(libc.__errno_location()!));
  // Subtle: what finds no place here is dropped, and the flush behind may not know of it.
  if (code !== undefined) throw Object.assign(new Error(`${code}: sync_file_range`), { code });
}

const symbols = {
  sync_file_range: { args: ["i32", "i64", "i64", "u32"], returns: "i32" },
  __errno_location: { args: [], returns: "ptr" },
} as const;
let libc: ReturnType<typeof openLibc<typeof symbols>> | undefined;
const SYNC_FILE_RANGE_WRITE = 2;
/** Any other error says that there is no such call for the file: it is flushed all the same. */
const lossCodes = new Map([
  [5, "EIO"],
  [12, "ENOMEM"],
  [28, "ENOSPC"],
  [122, "EDQUOT"],
]);

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
