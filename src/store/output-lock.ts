import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readSync,
  rmdirSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { asOption, host, messages, phrase, systemError, UserError } from "#runtime";
import { isMarked, isResult, keepResult } from "./existing-output.ts";
import { isOnThisMachine, lockFile } from "./file-lock.ts";
import { isSameFile, rename } from "./file-system.ts";
import { retryWhileHeldOpen } from "./held-open.ts";
import { lstatOrNull, namesIn, type Place, pathOf, removeQuietly, statOrNull } from "./output-place.ts";
import * as trustedFiles from "./trusted-files.ts";

/**
 * Hidden names next to an output while it is written:
 *
 *   .NAME.bpe-HOST-RUN.new    the output being written; after an exchange, the old output until it is removed
 *   .NAME.bpe-HOST-RUN.old    the old output, moved aside if the file system has no exchange
 *   .NAME.bpe-HOST-RUN.keep-MARK
 *                             if the old output is to be kept: the complete new output until it is published, then
 *                             the old output. MARK, a hash of the old output's record, tells which of the two it is.
 *
 * HOST is a hash of the host's name, RUN a random number of this process. HOST, RUN and MARK have 8 hexadecimal digits
 * each. The name does not tell whether its run is alive, but the lock of the place (the path of the output) does. While
 * a run holds that lock, all other runs of this host that wrote there are dead. On a file system of this machine, runs
 * with other host names are dead, too, because containers share its locks. Some file servers keep locks per host:
 * there, a run of another host counts as dead if its files have not changed for a day.
 */
export type HiddenKind = "new" | "old" | `keep-${string}`;

const longestKind: HiddenKind = "keep-00000000";

const hash8 = (text: string) => host.xxHash32(text).toString(16).padStart(8, "0");
const hostHash = hash8(hostname());
const runHash = hash8(crypto.randomUUID());

const hiddenName = (place: Place, kind: HiddenKind, ofRun = runHash, ofHost = hostHash) =>
  `.${place.name}.bpe-${ofHost}-${ofRun}.${kind}`;
const hiddenPath = (place: Place, kind: HiddenKind) => join(place.parent, hiddenName(place, kind));

/** The size in bytes of the longest hidden name without NAME. */
const hiddenNameBytes = hiddenName({ typed: "", parent: "", name: "" }, longestKind).length;

const reservedPaths = new Set<string>();

export function reserve(place: Place, kind: HiddenKind): string {
  const path = hiddenPath(place, kind);
  if (reservedPaths.has(path)) throw writtenTwiceError(place);
  reservedPaths.add(path);
  return path;
}

export function release(path: string): void {
  reservedPaths.delete(path);
}

const writtenTwiceError = (place: Place) =>
  new UserError(`"${place.typed}" is already an output of this process`, {
    hint: messages.ifHas(
      "wait",
      "choose another path for one of the outputs",
      "choose another path for one of the outputs, or wait until the first output is written",
    ),
  });

export class HiddenPath {
  path: string;

  constructor(
    private readonly place: Place,
    kind: HiddenKind,
  ) {
    this.path = reserve(place, kind);
  }

  /** Renames the hidden path. If this run dies, the new name tells a later run what this run was doing. */
  moveTo(kind: HiddenKind): void {
    const path = hiddenPath(this.place, kind);
    if (path === this.path) return;
    reserve(this.place, kind);
    rename(this.path, path);
    release(this.path);
    this.path = path;
  }

  release(): void {
    release(this.path);
  }
}

/** Places whose lock this process holds. */
const lockedPaths = new Set<string>();
export const isLockedHere = (place: Place) => lockedPaths.has(pathOf(place));

/**
 * Recovers what dead runs of this user left next to the place. If nothing is at the place, an old output that was moved
 * aside is moved back. This needs no lock: a live run that is just replacing the output tries again. If this process
 * has the lock of the place, an old output that was to be kept gets its kept name (`keepResult`), and other leftovers
 * are removed. On a file server, leftovers of another machine are removed only once they are old (`isOld`). Leftovers
 * of this run itself are recovered in the same way, but even without the lock. Tests pass `isLocal` to simulate a file
 * server.
 */
export function recoverStaleOutputs(place: Place, isLocal = isOnThisMachine): void {
  for (const name of namesIn(place.parent)) {
    const [, ofHost, ofRun, kind] = hiddenNamePattern.exec(name) ?? [];
    if (ofRun === undefined || name !== hiddenName(place, kind as HiddenKind, ofRun, ofHost)) continue;
    const path = join(place.parent, name);
    const stats = lstatOrNull(path);
    if (reservedPaths.has(path) || stats === null || !trustedFiles.isOwn(stats)) continue;
    const isFormer = kind === "old" || (kind !== "new" && isMarked(path));
    if (isFormer && lstatOrNull(pathOf(place)) === null && isResult({ ...place, name })) {
      rename(path, pathOf(place));
    } else if (ofRun !== runHash && !isLockedHere(place)) continue;
    else if (ofHost !== hostHash && !isLocal(place.parent) && !isOld(path, place)) continue;
    else if (isFormer && kind !== "old") keepResult(path, place);
    else removeQuietly(path);
  }
}

const hiddenNamePattern = /\.bpe-([0-9a-f]{8})-([0-9a-f]{8})\.(new|old|keep-[0-9a-f]{8})$/;

/**
 * Whether everything at a path is more than a day older than our lock file. The two times can be compared, because the
 * clock of the same file system has set both.
 */
function isOld(path: string, place: Place): boolean {
  const lock = lstatOrNull(lockPath(place));
  return lock !== null && lock.mtimeMs - lastChangeMs(path) > oldMs;
}

const oldMs = 24 * 3_600_000;

function lastChangeMs(path: string): number {
  const stats = lstatOrNull(path);
  const inside = stats?.isDirectory() ? namesIn(path).map((name) => lastChangeMs(join(path, name))) : [];
  return Math.max(stats?.mtimeMs ?? Number.POSITIVE_INFINITY, ...inside);
}

/** Creates the missing parents of a place. Returns a function that removes those of them that are still empty. */
export function makeParents(place: Place): () => void {
  const outermost = mkdirSync(place.parent, { recursive: true });
  if (outermost === undefined) return () => {};
  return () => {
    try {
      for (let path = place.parent; path.length >= outermost.length; path = dirname(path)) rmdirSync(path);
    } catch {
      // Usually, a directory is not empty.
    }
  };
}

/**
 * Checks, before hours of work, that an entry can be created in the parent: creates one with the longest name that will
 * be needed, and removes it. Permissions alone do not reveal quotas, read-only mounts and names that are too long. The
 * caller must hold the lock of the place, because otherwise a run with the lock could remove the entry as a leftover.
 * Where files cannot be locked, no run removes leftovers of others.
 */
function checkParent(place: Place): void {
  const probe = reserve(place, longestKind);
  try {
    mkdirSync(probe);
    rmdirSync(probe);
  } catch (error) {
    throw notWritable(place, error);
  } finally {
    release(probe);
  }
}

/**
 * Returns a UserError that names the place and its parent if the error is the system's. Returns other errors unchanged.
 */
function notWritable(place: Place, error: unknown): unknown {
  const hint =
    systemError.codeOf(error) === "ENAMETOOLONG"
      ? `choose a shorter name: while the output is written, it has a hidden name that is ${hiddenNameBytes} bytes longer`
      : "choose a place in a writable directory: an output is written next to its destination, and then renamed";
  // Virtual file systems such as /proc report ENOENT when they accept no new file.
  if (systemError.codeOf(error) === "ENOENT" && statOrNull(place.parent) !== null) {
    return new UserError(`"${place.typed}" cannot be written: no file can be created in "${place.parent}"`, {
      hint,
    });
  }
  return systemError.refusal(`"${place.typed}" cannot be written: "${place.parent}"`, error, hint);
}

/** Runs `write`. A system error becomes a UserError that names the path and the reason. */
export function tryWrite<T>(path: string, write: () => T): T {
  try {
    return write();
  } catch (error) {
    throw systemError.refusal(`"${path}" cannot be written`, error);
  }
}

/**
 * One run at a time writes an output. It holds a lock on a hidden file next to the place:
 *
 *   .NAME.bpe-lock     {"host":"web1","pid":4711,"since":"2026-11-20T02:00:00.000Z"}
 *
 * Only the system's lock on the file (flock; on Windows LockFileEx) matters, not the file's existence: a killed run
 * holds no lock, and the next run takes over the file. The file's content is for messages, and for processes that
 * cannot lock files, such as those of Node.
 */
export type Lock = {
  /** Whether the lock was taken. If not, files cannot be locked at this place, so a second run is not excluded. */
  readonly isHeld: boolean;
  /** Releases the lock. May be called at any time, and more than once. */
  release(): void;
};

/** The process that holds a lock. Unreadable fields are undefined. */
export type Holder = {
  readonly host?: string;
  readonly pid?: number;
  readonly since?: string;
};

export const isLock = (got: Lock | Holder): got is Lock => "release" in got;

/**
 * Takes the lock of a place, or returns the process that holds it. After taking the lock, recovers what dead runs left
 * next to the place, and checks that the output can be written there. If that fails, releases the lock and throws.
 */
export function take(place: Place): Lock | Holder {
  const path = lockPath(place);
  const got = takeLockFile(place);
  if (!("fd" in got)) return got;
  const { fd, removeParents } = got;
  let isReleased = false;
  const release = () => {
    if (isReleased) return;
    isReleased = true;
    lockedPaths.delete(pathOf(place));
    // The name is removed while the file is still locked, so a run that opened the file meanwhile finds the name
    // removed, and starts over.
    removeName(path);
    if (fd !== null) closeSync(fd);
    removeParents();
  };
  if (fd !== null) lockedPaths.add(pathOf(place));
  try {
    tryWrite(place.typed, () => recoverStaleOutputs(place));
    checkParent(place);
  } catch (error) {
    release();
    throw error;
  }
  return { isHeld: fd !== null, release };
}

/** Like `take`, but throws a UserError if this or another process already has the lock. */
export function takeNow(place: Place): Lock {
  const got = take(place);
  if (isLock(got)) return got;
  throw heldError(place, got);
}

const lockPath = (place: Place) => join(place.parent, `.${place.name}.bpe-lock`);

export function heldError(place: Place, holder: Holder): UserError {
  if (isLockedHere(place)) return writtenTwiceError(place);
  return new UserError(`"${place.typed}" is being written by ${describeHolder(holder)}`, {
    hint: messages.ifHas(
      "wait",
      phrase`wait for it with ${asOption("wait")}, or choose another output`,
      "try again when it has ended, or choose another output",
    ),
  });
}

export function describeHolder({ host, pid, since }: Holder): string {
  const elsewhere = host === undefined || host === hostname() ? "" : ` on ${host}`;
  const name = pid === undefined ? "another process" : `process ${pid}`;
  return `${name}${elsewhere}${since === undefined ? "" : `, since ${since}`}`;
}

type LockFile = { readonly fd: number | null; readonly removeParents: () => void };

function takeLockFile(place: Place): LockFile | Holder {
  for (let attempt = 1; ; attempt++) {
    let removeParents = () => {};
    try {
      removeParents = makeParents(place);
      const got = retryWhileHeldOpen(() => tryLockFile(lockPath(place)));
      if (got !== "changed") return "fd" in got ? { ...got, removeParents } : got;
      if (attempt === attemptsMax) return {};
    } catch (error) {
      removeParents();
      // ENOENT: another run ended and removed the parent or its lock file. Try again.
      if (attempt === attemptsMax || systemError.codeOf(error) !== "ENOENT") throw notWritable(place, error);
    }
  }
}

/**
 * The maximum number of attempts to take a lock file. An attempt usually fails because another run ended in between,
 * but this many failures in a row are no coincidence.
 */
const attemptsMax = 1000;

function tryLockFile(path: string): { fd: number | null } | Holder | "changed" {
  const opened = openLockFile(path);
  if (opened === "changed") return "changed";
  const { fd, isReusable } = opened;
  let isKept = false;
  try {
    const locked = lockFile(fd);
    if (locked === "held") return readHolder(fd);
    if (locked === "unsupported") {
      removeName(path);
      return { fd: null };
    }
    if (!isSameFile(fd, path)) return "changed";
    if (!isReusable) {
      // The file is another user's, or has a second name (a hard link). So it is never written to: it is removed, and
      // the next attempt creates a new one.
      unlinkSync(path);
      return "changed";
    }
    writeHolder(fd);
    isKept = true;
    return { fd };
  } finally {
    if (!isKept) closeSync(fd);
  }
}

/**
 * Opens the lock file, or creates it. The file is reusable if it belongs to this user and has no second name; otherwise
 * it must not be written to.
 */
function openLockFile(path: string): { fd: number; isReusable: boolean } | "changed" {
  const { O_CREAT, O_EXCL, O_NOFOLLOW, O_RDWR } = constants;
  try {
    return { fd: openSync(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0o644), isReusable: true };
  } catch (error) {
    if (systemError.codeOf(error) !== "EEXIST") throw error;
  }
  try {
    const fd = openForLocking(path);
    const stats = fstatSync(fd);
    return { fd, isReusable: trustedFiles.isOwn(stats) && stats.nlink === 1 };
  } catch (error) {
    if (systemError.codeOf(error) !== "ENOENT") throw error;
    return "changed";
  }
}

/**
 * Opens the lock file for writing, which file servers require for a lock. If this user may not write it, opens it for
 * reading.
 */
function openForLocking(path: string): number {
  try {
    return trustedFiles.open(path, constants.O_RDWR);
  } catch (error) {
    if (systemError.codeOf(error) !== "EACCES") throw error;
    return trustedFiles.open(path);
  }
}

function writeHolder(fd: number): void {
  const holder: Holder = { host: hostname(), pid: process.pid, since: new Date().toISOString() };
  try {
    const sizeBytes = writeSync(fd, `${JSON.stringify(holder)}\n`, 0);
    // Subtle: the file is never truncated to 0, because ext4 would flush it when it is closed. That takes 1.2 ms.
    ftruncateSync(fd, sizeBytes);
  } catch {
    // For example, the disk is full. The lock is held, but messages cannot name its holder.
  }
}

function readHolder(fd: number): Holder {
  const text = Buffer.alloc(holderBytesMax);
  for (let attempt = 0; attempt < readAttempts; attempt++) {
    try {
      return holderOf(JSON.parse(text.toString("utf8", 0, readSync(fd, text, 0, text.length, 0))));
    } catch {
      // Perhaps the holder has not written the content yet.
      host.sleepSync(1);
    }
  }
  return {};
}

/** Accepts only what a holder writes: the text may come from anyone. */
function holderOf(content: unknown): Holder {
  const { host, pid, since } = Object(content) as Record<string, unknown>;
  return {
    ...(typeof host === "string" && { host }),
    ...(Number.isSafeInteger(pid) && { pid: pid as number }),
    ...(typeof since === "string" && { since }),
  };
}

const holderBytesMax = 4096;
const readAttempts = 20;

function removeName(path: string): void {
  try {
    unlinkSync(path);
  } catch {}
}
