import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { UserError } from "../errors.ts";
import { isNamed, lockFile } from "../runtime/flock.ts";
import { sleepSync } from "../runtime/host.ts";
import { codeOf } from "../runtime/system-error.ts";
import { checkParent, makeParents, notWritable, onPath } from "./output-parent.ts";
import type { Place } from "./output-place.ts";
import { isLockedHere, markLocked, mendLeftOvers, unmarkLocked, writtenTwice } from "./staging-names.ts";
import { isMine, openFound } from "./trusted-files.ts";

/**
 * One run at a time writes an output. While it works, a hidden file stands beside the place and is locked by it:
 *
 *   .NAME.bpe-lock     {"host":"web1","pid":4711,"since":"2026-11-20T02:00:00.000Z"}
 *
 * Only the system's lock on the file (flock) matters, not that the file exists. A run that was killed holds no lock, and
 * the next one takes over its file. The text in the file is only for messages.
 */
export type Lock = {
  /** False where the file system has no locks: then nothing keeps a second run away. */
  readonly isHeld: boolean;
  /** Frees the place. May be called at any moment, and more than once. */
  release(): void;
};

/** The process that holds a lock. Fields that cannot be read are undefined. */
export type Holder = {
  readonly host?: string;
  readonly pid?: number;
  readonly since?: string;
};

export const isLock = (got: Lock | Holder): got is Lock => "release" in got;

/**
 * Takes the lock of a place, or returns its holder. Then it removes what dead runs left beside the place, and checks that
 * the output can be written there.
 */
export function takeLock(place: Place): Lock | Holder {
  const path = lockPath(place);
  const got = takeLockFile(place);
  if (!("fd" in got)) return got;
  const { fd, removeParents } = got;
  let isReleased = false;
  const release = () => {
    if (isReleased) return;
    isReleased = true;
    unmarkLocked(place);
    // While it is still locked: a run that opened the file meanwhile finds the name gone, and begins anew.
    removeName(path);
    if (fd !== null) closeSync(fd);
    removeParents();
  };
  if (fd !== null) markLocked(place);
  try {
    onPath(place.typed, () => mendLeftOvers(place));
    checkParent(place);
  } catch (error) {
    release();
    throw error;
  }
  return { isHeld: fd !== null, release };
}

/** The same. If another process holds the lock, throws a UserError that names it. */
export function takeLockNow(place: Place): Lock {
  const got = takeLock(place);
  if (isLock(got)) return got;
  throw heldError(place, got);
}

const lockPath = (place: Place) => join(place.parent, `.${place.name}.bpe-lock`);

export function heldError(place: Place, holder: Holder): UserError {
  if (isLockedHere(place)) return writtenTwice(place);
  return new UserError(`"${place.typed}" is being written by ${describeHolder(holder)}`, {
    hint: "--wait waits for its end; or choose another output",
  });
}

export function describeHolder({ host, pid, since }: Holder): string {
  const elsewhere = host === undefined || host === hostname() ? "" : ` on ${host}`;
  const name = pid === undefined ? "another process" : `process ${pid}`;
  return `${name}${elsewhere}${since === undefined ? "" : `, since ${since}`}`;
}

/** `fd` is null where the file system has no locks. */
type LockFile = { readonly fd: number | null; readonly removeParents: () => void };

function takeLockFile(place: Place): LockFile | Holder {
  for (let attempt = 1; ; attempt++) {
    let removeParents = () => {};
    try {
      removeParents = makeParents(place);
      const got = tryLockFile(lockPath(place));
      if (got !== "changed") return "fd" in got ? { ...got, removeParents } : got;
      if (attempt === attemptsMax) return {};
    } catch (error) {
      removeParents();
      // Another run ended, and removed the parent or its lock file.
      if (attempt === attemptsMax || codeOf(error) !== "ENOENT") throw notWritable(place, error);
    }
  }
}

/** An attempt fails only if another run ends in between. So many in a row are no accident. */
const attemptsMax = 1000;

function tryLockFile(path: string): { fd: number | null } | Holder | "changed" {
  const opened = openLockFile(path);
  if (opened === "changed") return "changed";
  const { fd, isReusable } = opened;
  let isKept = false;
  try {
    const locked = lockFile(fd);
    if (locked === "another's") return readHolder(fd);
    if (locked === "unknown to the file system") {
      removeName(path);
      return { fd: null };
    }
    if (!isNamed(fd, path)) return "changed";
    if (!isReusable) {
      // Another user's, whose run is dead. A user who may not remove it may not replace the output either.
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

/** Opens the lock file. It is reusable only if it is this user's alone; otherwise it is never written to. */
function openLockFile(path: string): { fd: number; isReusable: boolean } | "changed" {
  const { O_CREAT, O_EXCL, O_NOFOLLOW, O_RDWR } = constants;
  try {
    return { fd: openSync(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0o644), isReusable: true };
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
  }
  try {
    const fd = openForLocking(path);
    const stats = fstatSync(fd);
    return { fd, isReusable: isMine(stats) && stats.nlink === 1 };
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
    return "changed";
  }
}

/** For writing, where that is allowed: file servers require it for a lock. */
function openForLocking(path: string): number {
  try {
    return openFound(path, constants.O_RDWR);
  } catch (error) {
    if (codeOf(error) !== "EACCES") throw error;
    return openFound(path);
  }
}

function writeHolder(fd: number): void {
  const holder: Holder = { host: hostname(), pid: process.pid, since: new Date().toISOString() };
  try {
    const sizeBytes = writeSync(fd, `${JSON.stringify(holder)}\n`, 0);
    // Subtle: never truncated to 0. ext4 flushes such a file when it is closed, 1.2 ms at the end of a run.
    ftruncateSync(fd, sizeBytes);
  } catch {
    // The disk is full. The lock holds, but its holder cannot be named.
  }
}

function readHolder(fd: number): Holder {
  const text = Buffer.alloc(holderBytesMax);
  for (let attempt = 0; attempt < readAttempts; attempt++) {
    try {
      return holderOf(JSON.parse(text.toString("utf8", 0, readSync(fd, text, 0, text.length, 0))));
    } catch {
      // Locked but not written yet.
      sleepSync(1);
    }
  }
  return {};
}

/** Takes only what a holder writes: the text may be anyone's. */
function holderOf(told: unknown): Holder {
  const { host, pid, since } = Object(told) as Record<string, unknown>;
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
