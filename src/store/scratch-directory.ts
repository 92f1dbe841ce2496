import { closeSync, constants, fstatSync, mkdtempSync, openSync, renameSync, rmdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemError, UserError } from "#runtime";
import { canLock, lockFile } from "./file-lock.ts";
import { canRenameOpen, isSameFile } from "./file-system.ts";
import { isHeldOpen } from "./held-open.ts";
import { lstatOrNull, namesIn, removeQuietly } from "./output-place.ts";
import * as trustedFiles from "./trusted-files.ts";

type Problem = { readonly message: string; readonly hint: string };

/**
 * A hidden directory for temporary files of a run, under the given parent or else under the system's directory for such
 * files ($TMPDIR, or usually /tmp):
 *
 *   .bpe-XXXXXX/lock     locked by the run (flock) while the run is alive
 *   .bpe-XXXXXX/…        the run's files
 *
 * A later run that can lock this file takes the run that made it for dead, and removes the directory. Only the lock
 * tells whether a run is alive, because the run may be in another container or on another machine. If the file system
 * has no locks, the files of a dead run stay. If this process cannot lock, its files are in .bpe-unlocked-XXXXXX, which
 * only the run itself removes.
 *
 * The directory is created on first use. `remove` may be called at any time.
 */
export class ScratchDirectory {
  readonly parent: string;
  private created: Created | null = null;
  private isRemoved = false;

  /** Removes the directories of dead runs under the parent. */
  constructor(parent = tmpdir()) {
    this.parent = parent;
    removeStaleDirectories(parent);
  }

  /**
   * Returns the path of the directory. If the directory cannot be created, returns the parent and the problem instead
   * of throwing.
   */
  open(): { readonly directory: string; readonly problem: Problem | null } {
    try {
      return { directory: this.path, problem: null };
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      return { directory: this.parent, problem: { message: error.message, hint: error.hint ?? "" } };
    }
  }

  get path(): string {
    if (this.isRemoved) throw new Error("a scratch directory is used after its removal");
    try {
      this.created ??= createDirectory(this.parent);
      return this.created.path;
    } catch (error) {
      const what = `no directory for temporary files can be made in "${this.parent}"`;
      throw systemError.refusal(what, error, "set TMPDIR to a writable directory with free space");
    }
  }

  remove(): void {
    this.isRemoved = true;
    if (this.created === null) return;
    const { path, fd } = this.created;
    this.created = null;
    if (!canRenameOpen) {
      removeLocked(path, fd);
      return;
    }
    // Subtle: workers may still be writing. Once the directory has another name, they cannot create new files in it.
    const going = `${path}-gone`;
    try {
      renameSync(path, going);
      removeQuietly(going);
    } catch {
      // Perhaps someone else has removed it.
    }
    closeSync(fd);
  }
}

type Created = { readonly path: string; readonly fd: number };

const lockName = "lock";
const namePattern = /^\.bpe-\w{6}(-gone)?$/;

function createDirectory(parent: string): Created {
  for (let attempt = 1; ; attempt++) {
    // Other runs would remove an unlocked directory with the usual name as a leftover.
    const path = mkdtempSync(join(parent, canLock() ? ".bpe-" : ".bpe-unlocked-"));
    try {
      const fd = lockIn(path);
      if (fd !== null) return { path, fd };
    } catch (error) {
      if (!(systemError.codeOf(error) === "ENOENT" || isHeldOpen(error)) || attempt === attemptsMax) {
        removeQuietly(path);
        throw error;
      }
    }
    // Another run has removed the directory as a leftover, or is doing so, because this run did not have the lock yet.
    // So the next attempt creates another directory.
  }
}

const attemptsMax = 100;

/**
 * Locks the lock file of a directory, and returns its descriptor. Returns null in three cases: the lock is already
 * held; the file was replaced or removed meanwhile, or is not a regular file; files cannot be locked, and another run
 * may have left the directory (`isLeftOver`).
 */
function lockIn(directory: string, isLeftOver = false): number | null {
  const path = join(directory, lockName);
  const { O_RDWR, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;
  const fd = openSync(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600);
  const locked = lockFile(fd);
  const isTaken = locked === "acquired" ? isSameFile(fd, path) : locked !== "held" && !isLeftOver;
  if (isTaken && fstatSync(fd).isFile()) return fd;
  closeSync(fd);
  return null;
}

/** Removes this user's scratch directories whose lock nobody holds. */
function removeStaleDirectories(parent: string): void {
  for (const name of namesIn(parent)) {
    if (!namePattern.test(name)) continue;
    const path = join(parent, name);
    try {
      const stats = lstatOrNull(path);
      if (stats === null || !stats.isDirectory() || !trustedFiles.isOwn(stats)) continue;
      const fd = lockIn(path, true);
      if (fd === null) continue;
      removeLocked(path, fd);
    } catch {
      // For example, another run is removing the directory, or this run may not write to it. This run then leaves it
      // alone.
    }
  }
}

/** Removes a scratch directory. `fd` is its lock file, which this run has locked. */
function removeLocked(path: string, fd: number): void {
  removeQuietly(path);
  closeSync(fd);
  if (canRenameOpen) return;
  // On Windows, the directory could not be removed while its lock file was open.
  try {
    rmdirSync(path);
  } catch {}
}
