import { closeSync, constants, fstatSync, lstatSync, openSync, type Stats, statSync } from "node:fs";
import { UserError } from "../errors.ts";
import { sleepSync } from "../runtime/host.ts";
import { isMissing, reasonNotRead } from "../runtime/system-error.ts";
import { hasReplacement, undecodable } from "./directories.ts";
import { type Input, nameOf } from "./input.ts";

/** Opens the file that `input` describes. Another file in its place, or a shorter one, is an error. */
export function openInput(input: Input): number {
  const fd = openFile(input.path);
  try {
    checkSame(input, fstatSync(fd));
  } catch (error) {
    closeSync(fd);
    throw error;
  }
  return fd;
}

/** Called after everything was read: the file must still be what it was when the run began, appended bytes aside. */
export function checkUnchanged(input: Input): void {
  if (input.isStream) return;
  let now: Stats;
  try {
    now = statSync(input.path);
  } catch {
    throw changed(input, "was removed");
  }
  checkSame(input, now);
  if (now.size === input.sizeBytes && now.mtimeMs !== input.modifiedMs) {
    // A file that is cut gets its new time before its new size: a second look tells what happened.
    sleepSync(secondLookMs);
    checkSame(input, statSync(input.path, { throwIfNoEntry: false }) ?? now);
    throw changed(input, "was changed");
  }
}

const secondLookMs = 10;

/** Checks that an open file is the one that the run began with, and not shorter. */
export function checkSame(input: Input, now: Stats): void {
  if (now.dev !== input.device || now.ino !== input.inode) throw changed(input, "was replaced");
  if (now.size < input.sizeBytes) throw shrank(input, now.size);
}

/** The error of a file that now ends at `endByte`, before the size it had when the run began. */
export function shrank(input: Input, endByte: number): UserError {
  return changed(input, `shrank (it ended at byte ${endByte} of ${input.sizeBytes})`);
}

function changed(input: Input, what: string): UserError {
  return new UserError(`"${input.path}" ${what} while it was read`, {
    hint: "run again when nothing writes to the corpus",
  });
}

export function openFile(path: string): number {
  try {
    // Non-blocking, because the file may have become a pipe since it was inspected.
    return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    throw unreadable(path, error);
  }
}

/** The error of a file that could not be opened or read. */
export function unreadable(path: string, error: unknown): UserError {
  if (error instanceof UserError) return error;
  if (isMissing(error) && hasReplacement(path)) return undecodable(path);
  if (isMissing(error) && isLink(path)) return new UserError(`"${path}" is a link that leads nowhere`);
  if (isMissing(error)) return new UserError(`"${path}": no such file`);
  return new UserError(`${nameOf(path)} cannot be read: ${reasonNotRead(error)}`);
}

const isLink = (path: string) => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
