import { closeSync, fdatasync, openSync, type Stats, writeSync } from "node:fs";
import { dirname } from "node:path";
import { type ByteSink, files, scaled, shell, UserError, withForwardSlashes } from "#runtime";
import { flush, flushDirectory, ignoreMissingFlush, rename } from "./file-system.ts";
import { isHeldOpen } from "./held-open.ts";
import * as outputLock from "./output-lock.ts";
import { freePath, type Place, pathOf, placeOf, removeQuietly, statOrNull } from "./output-place.ts";
import * as trustedFiles from "./trusted-files.ts";

const flushAfterBytes = scaled(2 ** 24, 128);

/**
 * Checks that a file may be written at the path, without changing anything. Does not check whether the directory
 * permits writing.
 */
export function checkOutputFile(path: string): void {
  const { place, former } = inspectTarget(path);
  if (former !== null && !former.isFile()) return;
  const parent = statOrNull(place.parent);
  if (parent === null) {
    throw new UserError(`"${path}" cannot be written: there is no directory "${dirname(path)}"`, {
      hint: `create it first: mkdir -p ${shell.quoted(dirname(path))}`,
    });
  }
}

/**
 * Returns the place of an output file. Returns null for a device or a pipe, which is written directly instead of being
 * staged next to its place.
 */
export function placeOfFile(path: string): Place | null {
  const { place, former } = inspectTarget(path);
  return former === null || former.isFile() ? place : null;
}

/** Registers `undo`, which undoes a half-done step if the process stops. Returns a function that unregisters it. */
export type Guard = (undo: () => void) => () => void;
export const noGuard: Guard = () => () => {};

/**
 * Runs `write`, which publishes the staged output at its end. If `write` throws, or if the process stops, discards the
 * staged output.
 */
export async function use<Staged extends { discard(): void }, Made>(
  staged: Staged,
  guard: Guard,
  write: (staged: Staged) => Promise<Made>,
): Promise<Made> {
  const unregister = guard(() => staged.discard());
  try {
    return await write(staged);
  } catch (error) {
    staged.discard();
    throw error;
  } finally {
    unregister();
  }
}

/** Writes a file. A regular file appears under its name only when it is complete. */
export const write = <Made>(
  path: string,
  guard: Guard,
  write: (file: StagedFile) => Promise<Made>,
): Promise<Made> =>
  use(stage(path), guard, async (file) => {
    const made = await write(file);
    await file.settle();
    file.publish();
    return made;
  });

/** Begins a file, which `publish` completes. `discard` may be called at any moment. */
export function stage(path: string): StagedFile {
  checkOutputFile(path);
  return new StagedFile(path);
}

class StagedFile implements ByteSink {
  private readonly typed: string;
  private readonly place: Place;
  /** What is already at the path; null if there is nothing. */
  private readonly former: Stats | null;
  /** Where the bytes are staged; null for a device or a pipe, which is written directly. */
  private readonly path: string | null;
  private fd: number | null = null;
  private unflushedBytes = 0;
  private flushing: Promise<Error | null> | null = null;

  constructor(typed: string) {
    const { place, former } = inspectTarget(typed);
    this.typed = typed;
    this.place = place;
    this.former = former;
    const isRegular = former === null || former.isFile();
    this.path = isRegular ? outputLock.reserve(place, "new") : null;
    outputLock.tryWrite(typed, () => {
      if (this.path === null) {
        this.fd = openSync(typed, "w");
        return;
      }
      outputLock.recoverStaleOutputs(place);
      this.fd = openSync(this.path, "wx", trustedFiles.stagedFileMode);
    });
  }

  write(chunk: Uint8Array): void {
    outputLock.tryWrite(this.typed, () => files.writeAll(this.fd!, chunk));
    this.unflushedBytes += chunk.length;
    if (this.unflushedBytes >= flushAfterBytes && this.flushing === null) this.startFlush();
  }

  /** Starts a flush in the background, so that `publish` waits only for the last bytes. */
  private startFlush(): void {
    this.unflushedBytes = 0;
    this.flushing = new Promise((resolve) => {
      fdatasync(this.fd!, (error) => {
        if (error === null) this.flushing = null;
        resolve(error);
      });
    });
  }

  /** Waits for the background flush. Must be called before `publish`. */
  async settle(): Promise<void> {
    const error = await this.flushing;
    // Subtle: this error must be thrown here. The system reports a failed flush only once, so `publish` would not
    // notice it.
    if (error) outputLock.tryWrite(this.typed, () => ignoreMissingFlush(error));
  }

  /**
   * Overwrites bytes that were already written, such as a header whose content is known only at the end. Throws for a
   * device or a pipe.
   */
  overwrite(chunk: Uint8Array, pos: number): void {
    if (this.path === null) {
      throw new UserError(`"${this.typed}" cannot be written: it is not a regular file`, {
        hint: "name a regular file: the header of this format is written last",
      });
    }
    outputLock.tryWrite(this.typed, () => {
      for (let done = 0; done < chunk.length; ) {
        done += writeSync(this.fd!, chunk, done, chunk.length - done, pos + done);
      }
    });
  }

  publish(): void {
    outputLock.tryWrite(this.typed, () => {
      if (this.path === null) return this.close();
      flush(this.fd!);
      trustedFiles.settlePermissions(
        this.fd!,
        0o666,
        trustedFiles.formerToInherit(this.former, this.place.parent),
      );
      this.close();
      this.takePlace(this.path);
      outputLock.release(this.path);
      flushDirectory(this.place.parent);
    });
  }

  /**
   * Moves the file to its path. If Windows refuses to replace the target, the file is left next to the target, and the
   * error says where.
   */
  private takePlace(path: string): void {
    try {
      rename(path, pathOf(this.place));
    } catch (error) {
      if (!isHeldOpen(error)) throw error;
      const keptPath = freePath(this.place, "new");
      rename(path, keptPath);
      throw new UserError(`"${this.typed}" is not replaced: a program has it open, or it is read-only`, {
        hint: `close that program, or make the file writable, and then put the finished file in its place: "${keptPath}"`,
      });
    }
  }

  /**
   * Removes the staged file, and leaves the target alone. After the file was published, there is nothing left to
   * remove.
   */
  discard(): void {
    this.close();
    if (this.path === null) return;
    removeQuietly(this.path);
    outputLock.release(this.path);
  }

  private close(): void {
    if (this.fd !== null) closeSync(this.fd);
    this.fd = null;
  }
}

/**
 * Finds what is at a path that is to be written (`former`; null if there is nothing), and its place. Links are
 * followed, because the target of a link is written, not the link. Throws a UserError for a directory, for a path that
 * ends with a slash, for a link that another user may have made, and for a pipe or a device of an untrusted owner.
 */
function inspectTarget(path: string): { place: Place; former: Stats | null } {
  const place = placeOf(trustedFiles.followLinks(path));
  // /dev/stdout may lead to a name that is not a path, such as "pipe:[4711]". Then `path` itself is examined.
  const named = statOrNull(pathOf(place), path);
  const isForDirectory = withForwardSlashes(path).endsWith("/");
  const former = named ?? (isForDirectory ? null : statOrNull(path));
  if (former?.isDirectory() || isForDirectory) {
    const why = former?.isDirectory() ? "it is a directory" : "it ends with a slash, so it names a directory";
    throw new UserError(`"${path}" cannot be written: ${why}`, { hint: "name a file" });
  }
  // A pipe or a device would be written directly, so the user who created it could read the data. That user must be
  // trusted.
  if (named !== null && !named.isFile()) trustedFiles.checkOwner(pathOf(place), named);
  return { place: { ...place, typed: path }, former };
}
