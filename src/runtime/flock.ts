import { fstatSync, readSync, statSync } from "node:fs";
import { hostname } from "node:os";
import { errnoOf, openLibc } from "./libc.ts";
import { codeOf } from "./system-error.ts";

/** The answer to asking for the lock of a file. */
type Locked = "ours" | "another's" | "unknown to the file system";

/**
 * Takes the lock of an open file, without waiting. The system releases it when the file is closed, so a process that has
 * died, in whatever way, holds none.
 */
export function lockFile(fd: number): Locked {
  const libc = openFlock();
  if (libc === null) return namesLivingProcess(fd) ? "another's" : "unknown to the file system";
  for (;;) {
    if (libc.flock(fd, LOCK_EX | LOCK_NB) === 0) return "ours";
    const errno = errnoOf(libc);
    if (knowsNoLock.has(errno)) return "unknown to the file system";
    if (errno !== EINTR) return "another's";
  }
}

const openFlock = () => openLibc("flock", "__errno_location");

/** Whether this process can lock files at all. The library under Node cannot. */
export const canLock = (): boolean => openFlock() !== null;

/** Whether the lock file names a process of this machine that is alive: all that can be seen without locks. */
function namesLivingProcess(fd: number): boolean {
  const text = Buffer.alloc(1 << 12);
  try {
    const holder = JSON.parse(text.toString("utf8", 0, readSync(fd, text, 0, text.length, 0)));
    if (holder.host !== hostname() || !Number.isSafeInteger(holder.pid) || holder.pid <= 0) return false;
    process.kill(holder.pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === "EPERM";
  }
}

/**
 * Whether the path still names the open file. To be asked after locking it: whoever held the lock before may have removed
 * the file, and then the lock keeps nobody away.
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

const LOCK_EX = 2;
const LOCK_NB = 4;
const EINTR = 4;
/** ENOLCK, ENOSYS, EOPNOTSUPP: the file system, or the server behind it, has no locks. */
const knowsNoLock = new Set([37, 38, 95]);
