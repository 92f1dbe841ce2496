import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  openSync,
  readSync,
  renameSync,
  statfsSync,
  statSync,
  writeSync,
} from "node:fs";
import { hostname } from "node:os";
import { errnoOf, openLibc, openWindows, sleepSync } from "#host";
import { codeOf } from "./system-error.ts";
import { isHeldOpen, isWindows, lockOnWindows, retryWhileHeldOpen } from "./windows.ts";

/** Takes bytes: a file, or a stream. */
export type ByteSink = {
  write(chunk: Uint8Array): void;
  /** Overwrites bytes, for a head that is known at the end. A stream cannot. */
  overwrite?(chunk: Uint8Array, pos: number): void;
  /** What to wait for before more is written; undefined or absent: nothing. Errors come out of the next `write`. */
  drain?(): Promise<void> | undefined;
};

/** Writes all of the bytes, at `offset` if it is given: a single call may write fewer. A pipe that is full is waited for. */
export function writeAll(fd: number, bytes: Uint8Array, offset?: number): void {
  for (let pos = 0; pos < bytes.length; ) {
    const place = offset === undefined ? null : offset + pos;
    try {
      pos += writeSync(fd, bytes, pos, bytes.length - pos, place);
    } catch (error) {
      if (codeOf(error) !== "EAGAIN") throw error;
      sleepSync(1);
    }
  }
}

/** Returns when what was written is on the device; at once where the file system has no such call. */
export function flush(fd: number): void {
  try {
    fsyncSync(fd);
  } catch (error) {
    ignoreMissingFlush(error as Error);
  }
}

/**
 * Starts writing a file to the device, without waiting. To be called for each of many files before the first is flushed: a
 * file gets its place on the device only now, and the journal records that. Started together, all are in one commit of the
 * journal; flushed one after the other, each waits for a commit of its own.
 */
export function beginFlush(fd: number): void {
  const libc = openLibc("sync_file_range", "__errno_location");
  if (libc === null || libc.sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE) === 0) return;
  const code = lossCodes.get(errnoOf(libc));
  // Subtle: data that cannot be written here is dropped, and a later flush may not report it.
  if (code !== undefined) throw Object.assign(new Error(`${code}: sync_file_range`), { code });
}

const SYNC_FILE_RANGE_WRITE = 2;
/** Errors that lose data. Any other says that the file has no such call: it is flushed all the same. */
const lossCodes = new Map([
  [5, "EIO"],
  [12, "ENOMEM"],
  [28, "ENOSPC"],
  [122, "EDQUOT"],
]);

/** Renames, and replaces what has the new name. Windows refuses it while a program has either open; it is tried for a second. */
export const rename = (path: string, newPath: string): void =>
  retryWhileHeldOpen(() => renameSync(path, newPath));

/** Windows renames no directory while a file in it is open, by whomever. */
export const canRenameOpen = !isWindows;

/** A directory takes the place of an empty one in one step. On Windows the empty one has to be removed first. */
export const canRenameOntoEmpty = !isWindows;

export function ignoreMissingFlush(error: Error): void {
  if (!flushUnsupportedCodes.has((error as NodeJS.ErrnoException).code ?? "")) throw error;
}

/**
 * Flushes a directory's list of names. One that may not be listed is left to the system. So is every one that Windows does
 * not flush; where it does, it asks for a descriptor that may write.
 */
export function flushDirectory(path: string): void {
  let fd: number;
  try {
    fd = openSync(path, isWindows ? constants.O_RDWR : constants.O_RDONLY | constants.O_DIRECTORY);
  } catch {
    return;
  }
  try {
    flush(fd);
  } catch (error) {
    if (!isHeldOpen(error)) throw error;
  } finally {
    closeSync(fd);
  }
}

/** The file system has no flush. */
const flushUnsupportedCodes = new Set(["EINVAL", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EBADF"]);

/**
 * Exchanges what two absolute paths name, in one step: at every instant each path names one of the two. False where the
 * system or the file system has no such call, or refuses; the caller's other way then meets the reason.
 *
 * `renameat2` is called through `syscall`, which every C library has, because glibc before 2.28 and musl before 1.2.6
 * lack a function of its own.
 */
export function exchange(path: string, otherPath: string): boolean {
  const number = callNumbers[process.arch];
  const call = number === undefined ? undefined : openLibc("syscall")?.syscall;
  if (number === undefined || call === undefined) return false;
  const [from, to] = [cString(path), cString(otherPath)];
  return call(number, ignoredDirectory, from, ignoredDirectory, to, RENAME_EXCHANGE) === 0n;
}

/** The number of renameat2, from the kernel's tables for each processor. */
const callNumbers: Readonly<Record<string, bigint>> = { x64: 316n, arm64: 276n };
const RENAME_EXCHANGE = 2;
/** Absolute paths are looked up without a directory. */
const ignoredDirectory = -1;

const cString = (text: string) => Buffer.from(`${text}\0`);

type LockResult = "ours" | "another's" | "unknown to the file system";

/**
 * Takes the lock of an open file, without waiting. The system releases it when the file is closed, so a process that has
 * died, in whatever way, holds none.
 */
export function lockFile(fd: number): LockResult {
  const locked = lockOnWindows(fd);
  if (locked !== null) return locked;
  const libc = openFlock();
  if (libc === null) return namesLivingProcess(fd) ? "another's" : "unknown to the file system";
  for (;;) {
    if (libc.flock(fd, LOCK_EX | LOCK_NB) === 0) return "ours";
    const errno = errnoOf(libc);
    if (lockUnsupportedErrnos.has(errno)) return "unknown to the file system";
    if (errno !== EINTR) return "another's";
  }
}

const openFlock = () => openLibc("flock", "__errno_location");

/** Whether this process can lock files at all. The library under Node cannot. */
export const canLock = (): boolean => openFlock() !== null || openWindows() !== null;

/**
 * Whether a path is on a file system of this machine alone: what is locked there is locked for every process that can reach
 * it, in whatever container. False where that is not known, as for servers and FUSE.
 */
export function isOnThisMachine(path: string): boolean {
  try {
    return process.platform === "linux" && localFileSystems.has(statfsSync(path).type >>> 0);
  } catch {
    return false;
  }
}

/** The system's numbers of ext2 to ext4, XFS, Btrfs, tmpfs, overlayfs, F2FS, ZFS, bcachefs. */
const localFileSystems = new Set([
  0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0xf2f52010, 0x2fc12fc1, 0xca451a4e,
]);

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
export function isSameFile(fd: number, path: string): boolean {
  // Windows uses all 64 bits of an inode's number, which a plain number would round.
  const { dev, ino } = fstatSync(fd, { bigint: true });
  try {
    const named = statSync(path, { bigint: true });
    return named.dev === dev && named.ino === ino;
  } catch (error) {
    // What is removed while it is open keeps its name on Windows until it is closed, and cannot be looked at.
    if (codeOf(error) !== "ENOENT" && !isHeldOpen(error)) throw error;
    return false;
  }
}

const LOCK_EX = 2;
const LOCK_NB = 4;
const EINTR = 4;
/** ENOLCK, ENOSYS, EOPNOTSUPP: the file system, or the server behind it, has no locks. */
const lockUnsupportedErrnos = new Set([37, 38, 95]);
