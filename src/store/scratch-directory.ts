import { closeSync, constants, fstatSync, mkdtempSync, openSync, renameSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { UserError } from "../errors.ts";
import { isNamed, lockFile } from "../runtime/flock.ts";
import { codeOf, reasonOf } from "../runtime/system-error.ts";
import { lstatOrNull, namesIn } from "./output-place.ts";
import { removeQuietly } from "./remove-quietly.ts";
import { isMine } from "./trusted-files.ts";

export type Problem = { readonly message: string; readonly hint: string };

/**
 * Files that a run needs for itself stand in one hidden directory under the parent given, else under $TMPDIR, else
 * under /tmp:
 *
 *   .bpe-XXXXXX/lock     locked by the run (flock) as long as it lives
 *   .bpe-XXXXXX/…        its files
 *
 * A later run removes it if it gets the lock: the kernel alone knows whether a run lives that may be in another container
 * or on another machine. Where the file system has no locks, what a dead run left stays.
 *
 * The directory is made when it is first asked for. `remove` is safe at any moment.
 */
export class ScratchDirectory {
  readonly parent: string;
  private made: Made | null = null;
  private isRemoved = false;

  /** Removes what dead runs left there. */
  constructor(parent = tmpdir()) {
    this.parent = parent;
    removeLeftOvers(parent);
  }

  /** Where the directory is, or why there is none: for who may never need it. */
  open(): { readonly directory: string; readonly problem: Problem | null } {
    try {
      return { directory: this.path, problem: null };
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      return { directory: this.parent, problem: { message: error.message, hint: error.hint ?? "" } };
    }
  }

  /** Where the directory is. */
  get path(): string {
    if (this.isRemoved) throw new Error("a scratch directory is used after its removal");
    try {
      this.made ??= make(this.parent);
      return this.made.path;
    } catch (error) {
      throw new UserError(
        `no directory for temporary files can be made in "${this.parent}": ${reasonOf(error)}`,
        {
          hint: "set TMPDIR to a directory that can be written and has room",
        },
      );
    }
  }

  /**
   * Subtle: renamed before it is emptied, because workers may still be writing: what they would make there has no
   * parent any more.
   */
  remove(): void {
    this.isRemoved = true;
    if (this.made === null) return;
    const { path, fd } = this.made;
    this.made = null;
    const going = `${path}-gone`;
    try {
      renameSync(path, going);
      removeQuietly(going);
    } catch {
      // Someone else has taken it away.
    }
    closeSync(fd);
  }
}

type Made = { readonly path: string; readonly fd: number };

const lockName = "lock";
const names = /^\.bpe-\w{6}(-gone)?$/;

function make(parent: string): Made {
  for (let attempt = 1; ; attempt++) {
    const path = mkdtempSync(join(parent, ".bpe-"));
    try {
      const fd = lockIn(path);
      if (fd !== null) return { path, fd };
    } catch (error) {
      if (codeOf(error) !== "ENOENT" || attempt === attemptsMax) {
        removeQuietly(path);
        throw error;
      }
    }
    // Another run took it for a dead one's before it was locked: it goes, and the next one may stay.
  }
}

const attemptsMax = 100;

/** The open lock of a scratch directory; null if a run has it, or had it and removed it. */
function lockIn(directory: string, isLeftOver = false): number | null {
  const path = join(directory, lockName);
  const { O_RDWR, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;
  const fd = openSync(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600);
  const locked = lockFile(fd);
  const isOurs = locked === "ours" ? isNamed(fd, path) : locked !== "another's" && !isLeftOver;
  if (isOurs && fstatSync(fd).isFile()) return fd;
  closeSync(fd);
  return null;
}

/** Those of this user whose lock nobody has. */
function removeLeftOvers(parent: string): void {
  for (const name of namesIn(parent)) {
    if (!names.test(name)) continue;
    const path = join(parent, name);
    try {
      const stats = lstatOrNull(path);
      if (stats === null || !stats.isDirectory() || !isMine(stats)) continue;
      const fd = lockIn(path, true);
      if (fd === null) continue;
      removeQuietly(path);
      closeSync(fd);
    } catch {
      // Another run removes it at this moment, or it cannot be written: then it stays.
    }
  }
}
