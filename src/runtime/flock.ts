import { fstatSync, statSync } from "node:fs";
import { openLibc } from "./libc.ts";
import { codeOf } from "./system-error.ts";

/** What came of asking for the lock of a file. */
type Locked = "ours" | "another's" | "unknown to the file system";

/**
 * Takes the lock of an open file, without waiting. The kernel gives it back when the file is closed, so a process that
 * dies, in whatever way, holds none: nothing has to be known of process ids.
 */
export function lockFile(fd: number): Locked {
  const libc = openLibc(symbols);
  if (libc === null) return "unknown to the file system";
  const { read } = require("bun:ffi") as typeof import("bun:ffi");
  for (;;) {
    if (libc.flock(fd, LOCK_EX | LOCK_NB) === 0) return "ours";
    const errno = read.i32(libc.__errno_location()!);
    if (knowsNoLock.has(errno)) return "unknown to the file system";
    if (errno !== EINTR) return "another's";
  }
}

/**
 * Whether the name still leads to the open file. To be asked when its lock is had: whoever had it before may have
 * removed the name, and then the lock keeps nobody away.
 */
export function isNamed(fd: number, path: string): boolean {
  const { dev, ino } = fstatSync(fd);
  try {
    const named = statSync(path);
    return named.dev === dev && named.ino === ino;
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
    return false;
  }
}

const symbols = {
  flock: { args: ["i32", "i32"], returns: "i32" },
  __errno_location: { args: [], returns: "ptr" },
} as const;
const LOCK_EX = 2;
const LOCK_NB = 4;
const EINTR = 4;
/** ENOLCK, ENOSYS, EOPNOTSUPP: the file system, or the server behind it, has no locks. */
const knowsNoLock = new Set([37, 38, 95]);
