import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  mkdirSync,
  openSync,
  renameSync,
  rmdirSync,
  statSync,
  unlinkSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { assert, UserError } from "../errors.ts";
import { checkParent } from "./check-parent.ts";
import { flush, flushDirectory, writeAll } from "./durable.ts";
import { exchange } from "./exchange.ts";
import { makeParents } from "./parents.ts";
import { lstatOrNull, type Place, pathOf, placeOf } from "./place.ts";
import { whatStands } from "./result.ts";
import { release, removeQuietly, removeStale, reserve } from "./staging-names.ts";
import { codeOf, onPath, reasonOf } from "./system-error.ts";

/**
 * Finds out, before any work and touching nothing, whether a result can be put at the path: it is absent, empty, or
 * holds only what its own record lists, and its parent, or the part of it that exists, can be written.
 */
export function checkOutputDirectory(path: string): void {
  const place = placeOf(path);
  const standing = whatStands(place);
  checkParent(place);
  if (standing.kind !== "absent") checkReplaceable(place);
}

/** The mode bit that lets only owners rename. */
const stickyBit = 0o1000;

/** Renaming a directory asks more than a writable parent: to empty it, and in a sticky parent such as /tmp, to own it. */
function checkReplaceable(place: Place): void {
  const parent = statSync(place.parent);
  const user = process.getuid?.() ?? 0;
  const isSticky = (parent.mode & stickyBit) !== 0;
  if (isSticky && user !== 0 && ![parent.uid, statSync(pathOf(place)).uid].includes(user)) {
    throw new UserError(`"${place.typed}" cannot be replaced: it is another user's`);
  }
  try {
    accessSync(pathOf(place), constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new UserError(`"${place.typed}" cannot be replaced: ${reasonOf(error)}`);
  }
}

/** Begins a result beside its place. Parents that do not exist are made. */
export function stageDirectory(path: string): StagedDirectory {
  return new StagedDirectory(placeOf(path));
}

/**
 * A result being written beside its place, on the same file system. Nothing is seen at its path until `publish` puts
 * it there whole; `discard` leaves the path as it was. Every call is synchronous, so a signal is served before or
 * after one, and `discard` may follow any of them.
 */
export class StagedDirectory {
  private readonly place: Place;
  private readonly path: string;
  /** A discarded result takes back the parents that were made for it. */
  private readonly removeParents: () => void;
  private readonly openFiles = new Map<string, number>();
  /** Whether `path` is still ours to remove. */
  private isStaged = true;

  constructor(place: Place) {
    this.place = place;
    this.removeParents = makeParents(place);
    this.path = reserve(place, "new");
    try {
      onPath(place.typed, () => {
        removeStale(place);
        mkdirSync(this.path);
      });
    } catch (error) {
      this.discard();
      throw error;
    }
  }

  /** Writes one file of the result. */
  write(name: string, chunks: Iterable<Uint8Array>): void {
    const steps = this.writeInSteps(name, chunks);
    while (!steps.next().done);
  }

  /** The same, yielding after each chunk, so that the caller can serve signals while a large file is written. */
  *writeInSteps(name: string, chunks: Iterable<Uint8Array>): Generator<undefined, void> {
    assert(!name.includes("/") && !this.openFiles.has(name), `"${name}" is a plain name, written once`);
    const typed = join(this.place.typed, name);
    const fd = onPath(typed, () => openSync(join(this.path, name), "wx"));
    this.openFiles.set(name, fd);
    for (const chunk of chunks) {
      onPath(typed, () => writeAll(fd, chunk));
      yield;
    }
  }

  /**
   * Puts the result in its place, in one step, when it is on the device. If something else came to stand there since
   * the check, or the step is refused, the result is kept beside it and the error says where.
   *
   * Returns where the former result was left, if someone wrote into it while it was replaced; else null. Tests give
   * an exchange that refuses, as some file systems do.
   */
  publish(exchangePaths = exchange): string | null {
    onPath(this.place.typed, () => this.flushFiles());
    const former = this.takePlaceOrKeep(exchangePaths);
    this.isStaged = false;
    release(this.path);
    return onPath(this.place.typed, () => {
      flushDirectory(this.place.parent);
      return former === null ? null : removeFormer(former, this.place);
    });
  }

  /** Removes what was written. The path, whatever it names, is left alone. After `publish` there is nothing to do. */
  discard(): void {
    if (!this.isStaged) return;
    this.isStaged = false;
    this.closeFiles();
    removeQuietly(this.path);
    release(this.path);
    this.removeParents();
  }

  private flushFiles(): void {
    // All are written before the first is waited for, so that the device takes them together.
    for (const fd of this.openFiles.values()) flush(fd);
    this.closeFiles();
    flushDirectory(this.path);
  }

  private closeFiles(): void {
    for (const fd of this.openFiles.values()) closeSync(fd);
    this.openFiles.clear();
  }

  private takePlaceOrKeep(exchangePaths: typeof exchange): string | null {
    try {
      return takePlace(this.path, this.place, exchangePaths);
    } catch (error) {
      const isBug = !(error instanceof UserError) && codeOf(error) === "";
      if (isBug) throw error;
      const reason = error instanceof UserError ? error.message : `"${this.place.typed}": ${reasonOf(error)}`;
      const keptPath = freePath(this.place, "new");
      renameSync(this.path, keptPath);
      throw new UserError(reason, { hint: `the finished tokenizer is in "${keptPath}"` });
    }
  }
}

/**
 * Makes the place name what stands at `staged`. Returns where the former result is now, or null if there was none.
 * Others may publish at the same time: each sees a whole result of someone's, and so the loop looks anew.
 */
function takePlace(staged: string, place: Place, exchangePaths: typeof exchange): string | null {
  const path = pathOf(place);
  for (let attempt = 1; ; attempt++) {
    try {
      const standing = whatStands(place);
      if (standing.kind !== "absent") chmodSync(staged, standing.mode & 0o7777);
      if (standing.kind === "result") {
        return exchangePaths(staged, path) ? staged : replaceInTwoSteps(staged, place);
      }
      // Atomic over nothing and over an empty directory; refused over anything else that came meanwhile.
      renameSync(staged, path);
      return null;
    } catch (error) {
      if (attempt === attemptsMax || !hasChanged.has(codeOf(error))) throw error;
    }
  }
}

/** What a rename says when the place is not what it was a moment ago. */
const hasChanged = new Set(["ENOTEMPTY", "EEXIST", "ENOTDIR", "ENOENT"]);
/** Each attempt fails only if another process published in between; so many in a row are no accident. */
const attemptsMax = 100;

/** Where there is no exchange: for the instant between two renames the path names nothing. */
function replaceInTwoSteps(staged: string, place: Place): string {
  const path = pathOf(place);
  const aside = reserve(place, "old");
  try {
    renameSync(path, aside);
    try {
      renameSync(staged, path);
    } catch (error) {
      renameSync(aside, path);
      throw error;
    }
  } finally {
    release(aside);
  }
  return aside;
}

/** Removes the former result, file by file, so that what anyone put into it since is not lost. */
function removeFormer(former: string, place: Place): string | null {
  try {
    const standing = whatStands({
      ...place,
      parent: dirname(former),
      name: former.slice(dirname(former).length + 1),
    });
    if (standing.kind === "result") for (const name of standing.names) unlinkSync(join(former, name));
    rmdirSync(former);
    return null;
  } catch {
    const leftPath = freePath(place, "old");
    renameSync(former, leftPath);
    return leftPath;
  }
}

/** The first of NAME.new, NAME.new-2, … that names nothing. */
function freePath(place: Place, ending: string): string {
  const path = `${pathOf(place)}.${ending}`;
  if (lstatOrNull(path) === null) return path;
  for (let n = 2; ; n++) if (lstatOrNull(`${path}-${n}`) === null) return `${path}-${n}`;
}
