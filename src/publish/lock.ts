import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  statSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { UserError } from "../errors.ts";
import { codeOf } from "../system-error.ts";
import { lockFile } from "./flock.ts";
import { onPath } from "./on-path.ts";
import { makeParents } from "./parents.ts";
import type { Place } from "./place.ts";
import { markLocked, removeStale, unmarkLocked } from "./staging-names.ts";

/**
 * One run at a time writes an output. While it works, a hidden file stands beside the place and is locked by it:
 *
 *   .NAME.bpe-lock     {"host":"web1","pid":4711,"since":"2026-11-20T02:00:00.000Z"}
 *
 * What counts is the kernel's lock on the file (flock), not that the file is there: a run that was killed holds no
 * lock, and the next one takes its file over. The text in it is for messages alone.
 */
export type Lock = {
  /** False where the file system has no locks: then nothing keeps a second run away. */
  readonly isHeld: boolean;
  /** Gives the place free. Safe at any moment, and more than once. */
  release(): void;
};

/** Who holds a lock; fields that cannot be read are undefined. */
export type Holder = {
  readonly host?: string;
  readonly pid?: number;
  readonly since?: string;
};

export const isLock = (got: Lock | Holder): got is Lock => "release" in got;

/** The lock of the place, or who has it. What dead runs left beside the place is removed. */
export function takeLock(place: Place): Lock | Holder {
  const path = lockPath(place);
  const got = onPath(place.typed, () => takeLockFile(place));
  if (!("fd" in got)) return got;
  const { fd, removeParents } = got;
  let isReleased = false;
  const release = () => {
    if (isReleased) return;
    isReleased = true;
    unmarkLocked(place);
    // While it is still locked: whoever opened the file meanwhile finds that the name is gone, and begins anew.
    removeName(path);
    if (fd !== null) closeSync(fd);
    removeParents();
  };
  if (fd !== null) markLocked(place);
  try {
    onPath(place.typed, () => removeStale(place));
  } catch (error) {
    release();
    throw error;
  }
  return { isHeld: fd !== null, release };
}

/** The same; if another has it, a UserError that names it. */
export function takeLockNow(place: Place): Lock {
  const got = takeLock(place);
  if (isLock(got)) return got;
  throw heldError(place, got);
}

const lockPath = (place: Place) => join(place.parent, `.${place.name}.bpe-lock`);

/** Whether the holder is this process itself: there is nothing to wait for. */
export const isOurs = ({ host, pid }: Holder) => pid === process.pid && host === hostname();

export function heldError(place: Place, holder: Holder): UserError {
  if (isOurs(holder)) return new UserError(`"${place.typed}" would be written twice by one run`);
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
    const removeParents = makeParents(place);
    try {
      const got = tryLockFile(lockPath(place));
      if (got !== "changed") return "fd" in got ? { ...got, removeParents } : got;
      if (attempt === attemptsMax) return {};
    } catch (error) {
      removeParents();
      // Another run's end took the parent, or its own file, away.
      if (attempt === attemptsMax || codeOf(error) !== "ENOENT") throw error;
    }
  }
}

/** Each attempt fails only if another run ended in between; so many in a row are no accident. */
const attemptsMax = 1000;

function tryLockFile(path: string): { fd: number | null } | Holder | "changed" {
  const { fd, canWrite } = openLockFile(path);
  let isKept = false;
  try {
    const locked = lockFile(fd);
    if (locked === "another's") return readHolder(fd);
    if (locked === "unknown to the file system") {
      removeName(path);
      return { fd: null };
    }
    if (!isNamed(fd, path)) return "changed";
    if (!canWrite) {
      // Another user's, whose run is dead. Whoever may not remove it may not replace the output either.
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

function openLockFile(path: string): { fd: number; canWrite: boolean } {
  const { O_CREAT, O_NOFOLLOW, O_RDONLY, O_RDWR } = constants;
  try {
    return { fd: openSync(path, O_RDWR | O_CREAT | O_NOFOLLOW, 0o644), canWrite: true };
  } catch (error) {
    if (codeOf(error) !== "EACCES") throw error;
  }
  return { fd: openSync(path, O_RDONLY | O_NOFOLLOW), canWrite: false };
}

/** Whether the name still leads to the open file: a run that ended removed its own. */
function isNamed(fd: number, path: string): boolean {
  const { dev, ino } = fstatSync(fd);
  const named = statSync(path);
  return named.dev === dev && named.ino === ino;
}

function writeHolder(fd: number): void {
  const holder: Holder = { host: hostname(), pid: process.pid, since: new Date().toISOString() };
  try {
    ftruncateSync(fd);
    writeSync(fd, `${JSON.stringify(holder)}\n`, 0);
  } catch {
    // A full disk: the lock holds all the same, its holder cannot be named.
  }
}

function readHolder(fd: number): Holder {
  const text = Buffer.alloc(holderBytesMax);
  for (let attempt = 0; attempt < readAttempts; attempt++) {
    try {
      return JSON.parse(text.toString("utf8", 0, readSync(fd, text, 0, text.length, 0))) as Holder;
    } catch {
      // Locked but not written yet.
      Bun.sleepSync(1);
    }
  }
  return {};
}

const holderBytesMax = 4096;
const readAttempts = 20;

function removeName(path: string): void {
  try {
    unlinkSync(path);
  } catch {}
}
