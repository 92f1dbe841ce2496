import { closeSync, constants, fstatSync, fsyncSync, openSync, renameSync, statSync } from "node:fs";
import { host, isWindows, systemError } from "#runtime";
import { isHeldOpen, retryWhileHeldOpen } from "./held-open.ts";

/** Flushes an open file to the device. Does nothing if the file system has no flush. */
export function flush(fd: number): void {
  try {
    fsyncSync(fd);
  } catch (error) {
    ignoreMissingFlush(error as Error);
  }
}

/**
 * Starts writing a file to the device, without waiting; does nothing where the system cannot. Call it for each of many
 * files before the first is flushed: then one commit of the journal covers them all. Otherwise each flush waits for a
 * commit of its own.
 */
export function beginFlush(fd: number): void {
  const libc = host.openLibc("sync_file_range", "__errno_location");
  if (libc === null || libc.sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE) === 0) return;
  const code = lossCodes.get(host.errnoOf(libc));
  // Subtle: the system drops data that it cannot write here, and a later flush may not report the loss. So the loss is
  // an error now.
  if (code !== undefined) throw Object.assign(new Error(`${code}: sync_file_range`), { code });
}

const SYNC_FILE_RANGE_WRITE = 2;
/**
 * Errors, by number, after which data is lost. Any other error means that the call is unsupported, so a later flush
 * does all the work.
 */
const lossCodes = new Map([
  [5, "EIO"],
  [12, "ENOMEM"],
  [28, "ENOSPC"],
  [122, "EDQUOT"],
]);

/**
 * Renames a path. A file replaces a file at `newPath`; a directory can replace only an empty one
 * (`canRenameOntoEmpty`). Windows refuses while a program has either path open, so the renaming is tried again for a
 * second.
 */
export const rename = (path: string, newPath: string): void =>
  retryWhileHeldOpen(() => renameSync(path, newPath));

/** Whether a directory can be renamed while files in it are open; false on Windows. */
export const canRenameOpen = !isWindows;

/**
 * Whether renaming a directory can replace an empty directory. On Windows it cannot, so the empty directory must be
 * removed first.
 */
export const canRenameOntoEmpty = !isWindows;

/** Rethrows an error unless it says that the file system has no flush. */
export function ignoreMissingFlush(error: Error): void {
  if (!flushUnsupportedCodes.has((error as NodeJS.ErrnoException).code ?? "")) throw error;
}

/**
 * Flushes the entries of a directory to the device. Does nothing if the directory cannot be opened, or if Windows
 * refuses to flush it.
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

/** Errors that mean that the file system has no flush. */
const flushUnsupportedCodes = new Set(["EINVAL", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EBADF"]);

/**
 * Exchanges two absolute paths atomically, so at every instant both paths exist. Returns false if the system or the
 * file system cannot do that, or refuses.
 */
export function exchange(path: string, otherPath: string): boolean {
  const number = callNumbers[process.arch];
  // `renameat2` is called through `syscall`, because glibc before 2.28 and musl before 1.2.6 have no function for it.
  const call = number === undefined ? undefined : host.openLibc("syscall")?.syscall;
  if (number === undefined || call === undefined) return false;
  const [from, to] = [cString(path), cString(otherPath)];
  return call(number, ignoredDirectory, from, ignoredDirectory, to, RENAME_EXCHANGE) === 0n;
}

/** The system call number of renameat2 on each processor. */
const callNumbers: Readonly<Record<string, bigint>> = { x64: 316n, arm64: 276n };
const RENAME_EXCHANGE = 2;
/** A value for the directory argument, which the system ignores for absolute paths. */
const ignoredDirectory = -1;

const cString = (text: string) => Buffer.from(`${text}\0`);

/**
 * Whether the path still names the open file. Check this after locking the file: if the file was removed meanwhile, a
 * lock on it excludes no other process.
 */
export function isSameFile(fd: number, path: string): boolean {
  // Windows uses all 64 bits of an inode number, which a plain number would round.
  const { dev, ino } = fstatSync(fd, { bigint: true });
  try {
    const named = statSync(path, { bigint: true });
    return named.dev === dev && named.ino === ino;
  } catch (error) {
    // On Windows, a removed file keeps its name while it is open, and stat of that name fails as if the file were held
    // open.
    if (systemError.codeOf(error) !== "ENOENT" && !isHeldOpen(error)) throw error;
    return false;
  }
}
