import { mkdtempSync, renameSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { UserError } from "../errors.ts";
import { reasonOf } from "../system-error.ts";
import { namesIn } from "./place.ts";
import { isAlive, owner, removeQuietly } from "./staging-names.ts";

export type Problem = { readonly message: string; readonly hint: string };

/**
 * Files that a run needs for itself stand in one hidden directory, named after its process, so that a later run can
 * tell what a dead one left:
 *
 *   .bpe-HOST-PID-XXXXXX    under the parent given, else under $TMPDIR, else under /tmp
 *
 * It is made when it is first asked for. `remove` is safe at any moment.
 */
export class ScratchDirectory {
  readonly parent: string;
  private made: string | null = null;
  private isRemoved = false;

  /** Removes what dead processes left there. */
  constructor(parent = tmpdir()) {
    this.parent = parent;
    removeStaleScratch(parent);
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
    if (this.made !== null) return this.made;
    try {
      this.made = mkdtempSync(join(this.parent, `.${owner(process.pid)}-`));
      live.add(this.made);
      return this.made;
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
    const going = `${this.made}-gone`;
    try {
      renameSync(this.made, going);
    } catch {
      return;
    }
    removeQuietly(going);
    live.delete(this.made);
    this.made = null;
  }
}

/** Those of this process: its id alone does not tell them from those of a dead one that had the same. */
const live = new Set<string>();

function removeStaleScratch(parent: string): void {
  const before = `.${owner("")}`;
  for (const name of namesIn(parent)) {
    if (!name.startsWith(before)) continue;
    const pid = /^(\d+)-\w{6}(-gone)?$/.exec(name.slice(before.length))?.[1];
    if (pid === undefined) continue;
    const path = join(parent, name);
    const isInUse = Number(pid) === process.pid ? live.has(path) : isAlive(Number(pid));
    if (!isInUse) removeQuietly(path);
  }
}
