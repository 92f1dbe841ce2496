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
import {
  codeOf,
  isOnThisMachine,
  isSameFile,
  lockFile,
  refusal,
  rename,
  retryWhileHeldOpen,
  sleepSync,
  UserError,
  xxHash32,
} from "#runtime";
import { isMarked, isResult, keepResult } from "./existing-output.ts";
import { lstatOrNull, namesIn, type Place, pathOf, removeQuietly, statOrNull } from "./output-place.ts";
import { isOwn, openFound } from "./trusted-files.ts";

/**
 * Hidden names beside an output while it is written:
 *
 *   .NAME.bpe-HOST-RUN.new    the output that is being written; after an exchange, the old one that is being removed
 *   .NAME.bpe-HOST-RUN.old    the old one, set aside where the file system has no exchange
 *   .NAME.bpe-HOST-RUN.keep-MARK
 *                             if the old one is to be kept: the new one, complete, until it takes its place; then the
 *                             old one. MARK is made from the old one's record and tells which of the two it is.
 *
 * HOST is a hash of the host's name, RUN a random number of this process. Like MARK they have 8 hexadecimal digits. The
 * name does not say whether its run lives, but the lock of the place does: its holder knows that all other runs of this
 * host are dead. Of a run with another host's name it knows that on a file system of this machine, which all of its
 * containers lock together. Some file servers keep locks per host: there such a run is dead if what it left has not
 * changed for a day.
 */
export type Kind = "new" | "old" | `keep-${string}`;

const longestKind: Kind = "keep-00000000";

const hash8 = (text: string) => xxHash32(text).toString(16).padStart(8, "0");
const host = hash8(hostname());
const run = hash8(crypto.randomUUID());

const hiddenName = (place: Place, kind: Kind, ofRun = run, ofHost = host) =>
  `.${place.name}.bpe-${ofHost}-${ofRun}.${kind}`;
const hiddenPath = (place: Place, kind: Kind) => join(place.parent, hiddenName(place, kind));

/** How much longer than NAME a hidden name is, in bytes. */
const hiddenNameBytes = hiddenName({ typed: "", parent: "", name: "" }, longestKind).length;

const live = new Set<string>();

export function reserve(place: Place, kind: Kind): string {
  const path = hiddenPath(place, kind);
  if (live.has(path)) throw writtenTwice(place);
  live.add(path);
  return path;
}

export function release(path: string): void {
  live.delete(path);
}

const writtenTwice = (place: Place) => new UserError(`"${place.typed}" would be written twice by one run`);

export class HiddenPath {
  path: string;

  constructor(
    private readonly place: Place,
    kind: Kind,
  ) {
    this.path = reserve(place, kind);
  }

  /** Renames it. The name tells a later run what this one was about to do, should it die. */
  moveTo(kind: Kind): void {
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
const locked = new Set<string>();
export const isLockedHere = (place: Place) => locked.has(pathOf(place));

/**
 * Mends what dead runs of this user left beside the place. If a run died between moving the old output aside and putting
 * the new one in its place, nothing is at the path: the old one is put back, which harms no run that lives. The rest needs
 * the lock of the place, except for what this run left itself: an old output that was to be kept gets its name, and
 * everything else is removed. Tests say that a file system is a server's.
 */
export function recoverStaleOutputs(place: Place, isLocal = isOnThisMachine): void {
  for (const name of namesIn(place.parent)) {
    const [, ofHost, ofRun, kind] = leftOver.exec(name) ?? [];
    if (ofRun === undefined || name !== hiddenName(place, kind as Kind, ofRun, ofHost)) continue;
    const path = join(place.parent, name);
    const stats = lstatOrNull(path);
    if (live.has(path) || stats === null || !isOwn(stats)) continue;
    const isFormer = kind === "old" || (kind !== "new" && isMarked(path));
    if (isFormer && lstatOrNull(pathOf(place)) === null && isResult({ ...place, name })) {
      rename(path, pathOf(place));
    } else if (ofRun !== run && !isLockedHere(place)) continue;
    else if (ofHost !== host && !isLocal(place.parent) && !isOld(path, place)) continue;
    else if (isFormer && kind !== "old") keepResult(path, place);
    else removeQuietly(path);
  }
}

const leftOver = /\.bpe-([0-9a-f]{8})-([0-9a-f]{8})\.(new|old|keep-[0-9a-f]{8})$/;

/** Whether nothing in it has changed for a day. The clock is that of the file system, which set the time of our lock. */
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

/** Makes the parents that a place lacks. The function returned removes those of them that are still empty. */
export function makeParents(place: Place): () => void {
  const outermost = mkdirSync(place.parent, { recursive: true });
  if (outermost === undefined) return () => {};
  return () => {
    try {
      for (let path = place.parent; path.length >= outermost.length; path = dirname(path)) rmdirSync(path);
    } catch {
      // Something else is in it.
    }
  };
}

/**
 * Checks before hours of work that the parent can take a new entry. It makes one, with the longest name that will be
 * needed, and removes it: permissions alone do not tell of quotas, read-only mounts and names that are too long.
 *
 * The caller holds the lock of the place. Without it another run would take the entry for a dead run's.
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

/** An error of the system as a UserError that names the place and its parent; other errors as they are. */
function notWritable(place: Place, error: unknown): unknown {
  const hint =
    codeOf(error) === "ENAMETOOLONG"
      ? `choose a shorter one: a hidden name with ${hiddenNameBytes} bytes more stands beside it while it is written`
      : "an output is written beside its place and then renamed, so its parent directory must be writable";
  // A file system of the kernel's says so where it takes nothing new.
  if (codeOf(error) === "ENOENT" && statOrNull(place.parent) !== null) {
    return new UserError(`"${place.typed}" cannot be written: no file can be created in "${place.parent}"`, {
      hint,
    });
  }
  return refusal(`"${place.typed}" cannot be written: "${place.parent}"`, error, hint);
}

/** Runs `write`. An error of the system becomes a UserError that names the path and the reason. */
export function tryWrite<T>(path: string, write: () => T): T {
  try {
    return write();
  } catch (error) {
    throw refusal(`"${path}" cannot be written`, error);
  }
}

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
    locked.delete(pathOf(place));
    // While it is still locked: a run that opened the file meanwhile finds the name gone, and begins anew.
    removeName(path);
    if (fd !== null) closeSync(fd);
    removeParents();
  };
  if (fd !== null) locked.add(pathOf(place));
  try {
    tryWrite(place.typed, () => recoverStaleOutputs(place));
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
    hint: "wait for its end with --wait, or choose another output",
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
    if (locked === "held") return readHolder(fd);
    if (locked === "unsupported") {
      removeName(path);
      return { fd: null };
    }
    if (!isSameFile(fd, path)) return "changed";
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
    return { fd, isReusable: isOwn(stats) && stats.nlink === 1 };
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
