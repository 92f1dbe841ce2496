import {
  accessSync,
  closeSync,
  constants,
  mkdirSync,
  openSync,
  renameSync,
  type Stats,
  statSync,
} from "node:fs";
import { join } from "node:path";
import { assert, UserError } from "../errors.ts";
import { beginFlush, type exchange, flush, flushDirectory, writeAll } from "../runtime/file-calls.ts";
import { codeOf, reasonOf } from "../runtime/system-error.ts";
import { type FormerResults, freePath, settleFormer } from "./former-results.ts";
import { nextGeneration } from "./kept-results.ts";
import { makeParents, onPath } from "./output-parent.ts";
import { inherited, settlePermissions, stagedDirectoryMode } from "./output-permissions.ts";
import { type Place, pathOf, placeOf } from "./output-place.ts";
import { openDirectory, removeQuietly } from "./remove-quietly.ts";
import { HiddenPath, mendLeftOvers } from "./staging-names.ts";
import { whatStands } from "./standing-result.ts";
import { type TakePlaceOptions, takePlace } from "./take-place.ts";

/**
 * Finds out, before any work and touching nothing, whether a result may be put at the path: it is absent, empty, or
 * holds only what its own record lists. Whether its parent can be written is found out with the lock.
 */
export function checkOutputDirectory(path: string): void {
  const place = placeOf(path);
  const standing = whatStands(place);
  if (standing.kind !== "absent") checkReplaceable(place, standing.stats);
}

/** The mode bit that lets only owners rename. */
const stickyBit = 0o1000;

/** Renaming a directory asks more than a writable parent: to empty it, and in a sticky parent such as /tmp, to own it. */
function checkReplaceable(place: Place, { uid }: Stats): void {
  const parent = statSync(place.parent);
  const user = process.getuid?.() ?? 0;
  const isSticky = (parent.mode & stickyBit) !== 0;
  if (isSticky && user !== 0 && ![parent.uid, uid].includes(user)) {
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

type PublishOptions = {
  /** How many former results stay beside the new one. */
  readonly keepCount?: number | undefined;
  readonly exchangePaths?: typeof exchange;
};

/**
 * A result being written beside its place, on the same file system. Nothing is seen at its path until `publish` puts
 * it there whole; `discard` leaves the path as it was. Every call is synchronous, so a signal is served before or
 * after one, and `discard` may follow any of them.
 */
class StagedDirectory {
  private readonly place: Place;
  private readonly staged: HiddenPath;
  /** A discarded result takes back the parents that were made for it. */
  private readonly removeParents: () => void;
  /** Of the staged directory, where it is to take its place. */
  private fd: number | null = null;
  private readonly openFiles = new Map<string, number>();
  /** Whether what stands at `staged` is still ours to remove. */
  private isStaged = true;

  constructor(place: Place) {
    this.place = place;
    // Before this one has its name, which one that this process could not put in its place may have still.
    onPath(place.typed, () => mendLeftOvers(place));
    this.removeParents = onPath(place.typed, () => makeParents(place));
    this.staged = new HiddenPath(place, "new");
    try {
      onPath(place.typed, () => mkdirSync(this.staged.path, stagedDirectoryMode));
      this.fd = onPath(place.typed, () => openDirectory(this.staged.path));
    } catch (error) {
      this.discard();
      throw error;
    }
  }

  /** What the result's record is to say: its place in the order of those that replaced each other. */
  get generation(): number {
    return nextGeneration(this.place);
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
    const fd = onPath(typed, () => openSync(join(this.staged.path, name), "wx"));
    this.openFiles.set(name, fd);
    for (const chunk of chunks) {
      onPath(typed, () => writeAll(fd, chunk));
      yield;
    }
  }

  /**
   * Puts the result in its place, in one step, when it is on the device. If something else came to stand there since
   * the check, or the step is refused, the result is left beside it and the error says where.
   *
   * `keepCount` of the former results stay beside it, this one's predecessor the first of them; without it the
   * predecessor goes and kept ones are left alone. Tests give an exchange that refuses, as some file systems do.
   */
  publish({ keepCount, exchangePaths }: PublishOptions = {}): FormerResults {
    onPath(this.place.typed, () => this.flushFiles());
    const keepsFormer = keepCount !== undefined && keepCount > 0;
    const settle = (former: Stats | null) => this.settlePermissions(former);
    const former = this.takePlaceOrKeep({ keepsFormer, settle, ...(exchangePaths && { exchangePaths }) });
    this.isStaged = false;
    this.closeFiles();
    return onPath(this.place.typed, () => {
      // The new one is in its place on the device before anything of the old one goes.
      flushDirectory(this.place.parent);
      this.staged.release();
      return settleFormer(former, this.place, keepCount);
    });
  }

  /** Removes what was written. The path, whatever it names, is left alone. After `publish` there is nothing to do. */
  discard(): void {
    this.closeFiles();
    if (!this.isStaged) return;
    this.isStaged = false;
    removeQuietly(this.staged.path);
    this.staged.release();
    this.removeParents();
  }

  private flushFiles(): void {
    // All are written, and begun, before the first is waited for: the device takes them together.
    for (const fd of this.openFiles.values()) beginFlush(fd);
    for (const fd of this.openFiles.values()) flush(fd);
    flushDirectory(this.staged.path);
  }

  private settlePermissions(former: Stats | null): void {
    const innerFds = [...this.openFiles.values()];
    settlePermissions(this.fd!, 0o777, inherited(former, this.place.parent), innerFds);
  }

  private closeFiles(): void {
    if (this.fd !== null) closeSync(this.fd);
    this.fd = null;
    for (const fd of this.openFiles.values()) closeSync(fd);
    this.openFiles.clear();
  }

  private takePlaceOrKeep(options: TakePlaceOptions): string | null {
    try {
      return takePlace(this.staged, this.place, options);
    } catch (error) {
      const isBug = !(error instanceof UserError) && codeOf(error) === "";
      if (isBug) throw error;
      this.settlePermissions(null);
      const reason = error instanceof UserError ? error.message : `"${this.place.typed}": ${reasonOf(error)}`;
      throw new UserError(reason, { hint: `the finished tokenizer is in ${this.keepAside()}` });
    }
  }

  /** Where the result is left when it cannot take its place. */
  private keepAside(): string {
    try {
      const keptPath = freePath(this.place, "new");
      renameSync(this.staged.path, keptPath);
      return `"${keptPath}"`;
    } catch {
      // The parent takes no names any more, not even this one.
      this.isStaged = false;
      this.staged.release();
      return `"${this.staged.path}", until the next run to this output removes it`;
    }
  }
}
