import { readSync, statfsSync } from "node:fs";
import { hostname } from "node:os";
import { host, systemError } from "#runtime";

type LockResult = "acquired" | "held" | "unsupported";

/**
 * Locks an open file, without waiting. The system releases the lock when the file is closed or its process ends, so a
 * process that has ended holds no lock.
 */
export function lockFile(fd: number): LockResult {
  const locked = lockOnWindows(fd);
  if (locked !== null) return locked;
  const libc = openFlock();
  if (libc === null) return isHolderAlive(fd) ? "held" : "unsupported";
  for (;;) {
    if (libc.flock(fd, LOCK_EX | LOCK_NB) === 0) return "acquired";
    const errno = host.errnoOf(libc);
    if (lockUnsupportedErrnos.has(errno)) return "unsupported";
    if (errno !== EINTR) return "held";
  }
}

const openFlock = () => host.openLibc("flock", "__errno_location");

/** Whether this process can lock files. The library under Node cannot. */
export const canLock = (): boolean => openFlock() !== null || host.openWindows() !== null;

/**
 * Whether a path is on a local file system. There, a lock holds for every process that can reach the file, also in
 * other containers. False if that is unknown, as for network file systems, and on all systems but Linux.
 */
export function isOnThisMachine(path: string): boolean {
  try {
    return process.platform === "linux" && localFileSystems.has(statfsSync(path).type >>> 0);
  } catch {
    return false;
  }
}

/** The magic numbers of ext2 to ext4, XFS, Btrfs, tmpfs, overlayfs, F2FS, ZFS, bcachefs. */
const localFileSystems = new Set([
  0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0xf2f52010, 0x2fc12fc1, 0xca451a4e,
]);

/** Whether the lock file names a live process of this machine. This is the best check where files cannot be locked. */
function isHolderAlive(fd: number): boolean {
  const text = Buffer.alloc(1 << 12);
  try {
    const holder = JSON.parse(text.toString("utf8", 0, readSync(fd, text, 0, text.length, 0)));
    if (holder.host !== hostname() || !Number.isSafeInteger(holder.pid) || holder.pid <= 0) return false;
    process.kill(holder.pid, 0);
    return true;
  } catch (error) {
    return systemError.codeOf(error) === "EPERM";
  }
}

const LOCK_EX = 2;
const LOCK_NB = 4;
const EINTR = 4;
/** ENOLCK, ENOSYS, EOPNOTSUPP: the file system or its server does not support locks. */
const lockUnsupportedErrnos = new Set([37, 38, 95]);

/**
 * Locks an open file on Windows, without waiting (see `lockFile`). Returns null on other systems, and under Node. Other
 * processes can neither read nor write a locked byte, so the locked byte is far past the end of any content.
 */
export function lockOnWindows(fd: number): "acquired" | "held" | "unsupported" | null {
  const windows = host.openWindows();
  if (windows === null) return null;
  const isLocked = windows.LockFileEx(
    windows.uv_get_osfhandle(fd),
    LOCKFILE_FAIL_IMMEDIATELY | LOCKFILE_EXCLUSIVE_LOCK,
    0,
    1,
    0,
    overlappedAt(lockedByteHigh),
  );
  if (isLocked !== 0) return "acquired";
  return lockUnsupportedErrors.has(windows.GetLastError()) ? "unsupported" : "held";
}

/** The system's structure OVERLAPPED, 32 bytes; its fifth and sixth numbers are the offset in the file. */
const overlappedAt = (offsetHigh: number) => Uint32Array.of(0, 0, 0, 0, 0, offsetHigh, 0, 0);

const LOCKFILE_FAIL_IMMEDIATELY = 1;
const LOCKFILE_EXCLUSIVE_LOCK = 2;
/** The upper half of 2^62. */
const lockedByteHigh = 1 << 30;
/** ERROR_INVALID_FUNCTION, ERROR_NOT_SUPPORTED: the file system or its server has no locks. */
const lockUnsupportedErrors = new Set([1, 50]);
