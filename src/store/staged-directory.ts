import { closeSync, mkdirSync, openSync, rmdirSync, type Stats, unlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { assert, files, systemError, UserError } from "#runtime";
import { findKeptPlaces, inspectOutput, keepResult, recordMark } from "./existing-output.ts";
import {
  beginFlush,
  canRenameOntoEmpty,
  canRenameOpen,
  exchange,
  flush,
  flushDirectory,
  rename,
} from "./file-system.ts";
import { isHeldOpen } from "./held-open.ts";
import * as outputLock from "./output-lock.ts";
import {
  freePath,
  insideOf,
  openDirectory,
  type Place,
  pathOf,
  placeOf,
  removeQuietly,
} from "./output-place.ts";
import * as trustedFiles from "./trusted-files.ts";

/** The errors of a rename if the target has changed since it was examined. */
const changedTargetCodes = new Set(["ENOTEMPTY", "EEXIST", "ENOTDIR", "ENOENT"]);
/**
 * The maximum number of attempts to publish. An attempt is repeated if the target changed after it was examined, but
 * this many changes in a row are no coincidence.
 */
const attemptsMax = 100;

/**
 * Replaces what is at the path by two renames, where two paths cannot be exchanged. Between the renames, nothing is at
 * the path.
 */
function replaceInTwoSteps(staged: string, place: Place, formerKind: outputLock.HiddenKind): string {
  const path = pathOf(place);
  const aside = outputLock.reserve(place, formerKind);
  try {
    rename(path, aside);
    try {
      rename(staged, path);
    } catch (error) {
      rename(aside, path);
      throw error;
    }
  } finally {
    outputLock.release(aside);
  }
  return aside;
}

export type FormerResults = {
  /** Where the rest of the replaced result is, if it could not be removed completely; otherwise null. */
  readonly leftPath: string | null;
  /** Where the replaced result is, if it was to be kept; otherwise null. */
  readonly keptPath: string | null;
};

/**
 * Keeps or removes the replaced result, then removes the oldest kept results until `keepCount` are left. Without
 * `keepCount`, the replaced result is removed, and all results that were kept before stay.
 */
function settleFormer(former: string | null, place: Place, keepCount: number | undefined): FormerResults {
  const isKept = former !== null && keepCount !== undefined && keepCount > 0;
  const keptPath = isKept ? keepResult(former, place) : null;
  const leftPath = isKept || former === null ? null : removeFormer(former, place);
  if (keepCount !== undefined)
    for (const old of findKeptPlaces(place).slice(keepCount)) removeKept(old, place);
  return { leftPath, keptPath };
}

/**
 * Removes a kept result. It gets a hidden name before its files are removed. So if this run dies, no kept result is
 * incomplete, and the next run removes what is left under the hidden name.
 */
function removeKept(old: Place, place: Place): void {
  const hidden = outputLock.reserve(place, "new");
  try {
    rename(pathOf(old), hidden);
    removeFormer(hidden, place);
  } finally {
    outputLock.release(hidden);
  }
}

/**
 * Removes a former result, file by file. If that fails, for example because someone added a file, the rest is left next
 * to the place, and its path is returned; otherwise null.
 */
function removeFormer(former: string, place: Place): string | null {
  try {
    const existing = inspectOutput({ ...place, parent: dirname(former), name: basename(former) });
    if (existing.kind === "result") removeFiles(former, existing.names);
    rmdirSync(former);
    return null;
  } catch {
    const leftPath = freePath(place, "old");
    rename(former, leftPath);
    return leftPath;
  }
}

function removeFiles(directory: string, names: readonly string[]): void {
  const fd = openDirectory(directory);
  if (fd === null) return;
  try {
    const inside = insideOf(fd, directory);
    const inner = names
      .filter((name) => name.includes("/"))
      .map((name) => name.split("/") as [string, string]);
    for (const name of names) if (!name.includes("/")) unlinkSync(join(inside, name));
    for (const each of new Set(inner.map(([first]) => first))) {
      const innerNames = inner.filter(([first]) => first === each).map(([, name]) => name);
      removeFiles(join(inside, each), innerNames);
      rmdirSync(join(inside, each));
    }
  } finally {
    closeSync(fd);
  }
}

/** Begins a result next to its place. Creates the place's missing parents. */
export function stageDirectory(path: string): StagedDirectory {
  return new StagedDirectory(placeOf(path));
}

type PublishOptions = {
  readonly keepCount?: number | undefined;
  readonly exchangePaths?: typeof exchange;
};

/**
 * A result that is being written next to its place, on the same file system. `publish` moves the complete result to its
 * path; `discard` removes it and leaves the path untouched. Every call is synchronous, so signals are handled between
 * calls, and `discard` may follow any call.
 */
class StagedDirectory {
  private readonly place: Place;
  private readonly staged: outputLock.HiddenPath;
  private readonly removeParents: () => void;
  private fd: number | null = null;
  private readonly openFiles = new Map<string, number>();
  private readonly openDirectories = new Map<string, number>();
  /** Whether `discard` still has to remove `staged`. */
  private isStaged = true;

  constructor(place: Place) {
    this.place = place;
    // Leftovers are recovered before the hidden name is taken, because a result that this process failed to publish may
    // still have that name.
    outputLock.tryWrite(place.typed, () => outputLock.recoverStaleOutputs(place));
    this.removeParents = outputLock.tryWrite(place.typed, () => outputLock.makeParents(place));
    this.staged = new outputLock.HiddenPath(place, "new");
    try {
      outputLock.tryWrite(place.typed, () => mkdirSync(this.staged.path, trustedFiles.stagedDirectoryMode));
      this.fd = outputLock.tryWrite(place.typed, () => openDirectory(this.staged.path));
    } catch (error) {
      this.discard();
      throw error;
    }
  }

  /** The path of the result until it is published, for checks of what was written. */
  get stagedPath(): string {
    return this.staged.path;
  }

  /** Writes one file of the result: `NAME`, or `DIRECTORY/NAME`. */
  write(name: string, chunks: Iterable<Uint8Array>): void {
    const steps = this.writeInSteps(name, chunks);
    while (!steps.next().done);
  }

  /** Like `write`, but yields after each chunk, so that the caller can handle signals. */
  *writeInSteps(name: string, chunks: Iterable<Uint8Array>): Generator<undefined, void> {
    const parts = name.split("/");
    assert(parts.length <= 2 && !this.openFiles.has(name), `"${name}" is one level deep, written once`);
    if (parts.length === 2) this.makeDirectory(parts[0]!);
    const typed = join(this.place.typed, name);
    const fd = outputLock.tryWrite(typed, () => openSync(join(this.staged.path, name), "wx"));
    this.openFiles.set(name, fd);
    for (const chunk of chunks) {
      outputLock.tryWrite(typed, () => files.writeAll(fd, chunk));
      yield;
    }
    // Starts flushing, so that the device writes while the next files are created.
    outputLock.tryWrite(typed, () => beginFlush(fd));
  }

  /**
   * Flushes the result to the device, then moves it to its place. The move takes one step. It takes two if it replaces a
   * former result and the two paths cannot be exchanged, or, on Windows, an empty directory.
   */
  publish({ keepCount, exchangePaths = exchange }: PublishOptions = {}): FormerResults {
    outputLock.tryWrite(this.place.typed, () => this.flushFiles());
    if (!canRenameOpen) this.closeFiles();
    const former = this.takePlaceOrKeep(keepCount !== undefined && keepCount > 0, exchangePaths);
    this.isStaged = false;
    this.closeFiles();
    return outputLock.tryWrite(this.place.typed, () => {
      // The new result is in place and on the device before anything of the old one is removed.
      flushDirectory(this.place.parent);
      this.staged.release();
      return settleFormer(former, this.place, keepCount);
    });
  }

  /**
   * Removes what was written, and parents that were created for it, if they are empty. Keeps what is at the path, and a
   * result that `publish` has kept because it could not move it there. Does nothing after a successful `publish`.
   */
  discard(): void {
    this.closeFiles();
    if (!this.isStaged) return;
    this.isStaged = false;
    removeQuietly(this.staged.path);
    this.staged.release();
    this.removeParents();
  }

  private makeDirectory(name: string): void {
    if (this.openDirectories.has(name)) return;
    const path = join(this.staged.path, name);
    outputLock.tryWrite(join(this.place.typed, name), () => mkdirSync(path));
    this.openDirectories.set(name, openDirectory(path)!);
  }

  private flushFiles(): void {
    for (const fd of this.openFiles.values()) flush(fd);
    for (const name of this.openDirectories.keys()) flushDirectory(join(this.staged.path, name));
    flushDirectory(this.staged.path);
  }

  private settlePermissions(former: Stats | null): void {
    // On Windows, the directory is already closed, and there are no permissions to settle.
    if (this.fd === null) return;
    const innerFds = [...this.openDirectories.values(), ...this.openFiles.values()];
    trustedFiles.settlePermissions(
      this.fd,
      0o777,
      trustedFiles.formerToInherit(former, this.place.parent),
      innerFds,
    );
  }

  private closeFiles(): void {
    if (this.fd !== null) closeSync(this.fd);
    this.fd = null;
    for (const open of [this.openFiles, this.openDirectories]) {
      for (const fd of open.values()) closeSync(fd);
      open.clear();
    }
  }

  private takePlaceOrKeep(keepsFormer: boolean, exchangePaths: typeof exchange): string | null {
    try {
      return this.takePlace(keepsFormer, exchangePaths);
    } catch (error) {
      const held = isHeldOpen(error) ? " is not replaced: a program has it, or a file in it, open" : "";
      const refused = systemError.refusal(`"${this.place.typed}"${held}`, error);
      if (!(refused instanceof UserError)) throw error;
      this.settlePermissions(null);
      throw new UserError(refused.message, { hint: `the finished tokenizer is in ${this.keepAside()}` });
    }
  }

  /**
   * Moves the result to its place. Returns the path of the former result, or null if there was none. Tries again if
   * another run publishes meanwhile.
   */
  private takePlace(keepsFormer: boolean, exchangePaths: typeof exchange): string | null {
    const { staged, place } = this;
    const path = pathOf(place);
    for (let attempt = 1; ; attempt++) {
      try {
        const existing = inspectOutput(place);
        this.settlePermissions(existing.kind === "absent" ? null : existing.stats);
        if (existing.kind === "result") {
          const formerKind: outputLock.HiddenKind = keepsFormer ? `keep-${recordMark(path)}` : "old";
          // If the former result is to be kept, the staged result gets a `keep-…` name first. The exchange gives this
          // name to the former result, so a later run can recover it even if this run dies.
          if (keepsFormer) staged.moveTo(formerKind);
          if (exchangePaths(staged.path, path)) return staged.path;
          staged.moveTo("new");
          return replaceInTwoSteps(staged.path, place, formerKind);
        }
        if (existing.kind === "empty" && !canRenameOntoEmpty) rmdirSync(path);
        // The rename is atomic. The system refuses it if anything but an empty directory has appeared at the path
        // meanwhile.
        rename(staged.path, path);
        return null;
      } catch (error) {
        if (attempt === attemptsMax || !changedTargetCodes.has(systemError.codeOf(error))) throw error;
      }
    }
  }

  private keepAside(): string {
    try {
      const keptPath = freePath(this.place, "new");
      rename(this.staged.path, keptPath);
      return `"${keptPath}"`;
    } catch {
      // Not even this rename succeeds, so the result stays where it is.
      this.isStaged = false;
      this.staged.release();
      return `"${this.staged.path}", until the next run with this output removes it`;
    }
  }
}
