import { closeSync, constants, fstatSync, openSync, type Stats, statSync } from "node:fs";
import { UserError } from "../errors.ts";
import { sleepSync } from "../runtime/host.ts";
import { nameOf, onRead, statOf } from "../runtime/named-files.ts";
import { type Input, stateOf } from "./input.ts";

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

/**
 * Called after everything was read: the file must still be what it was when the run began, appended bytes aside. A time of
 * change that rights, owner or links explain is none: a backup may link files, and that is no reason to end a night's run.
 */
export function checkUnchanged(input: Input): void {
  const { path, state } = input;
  if (state === undefined) return;
  const look = () => (path === "-" ? fstatSync(standardInput) : statSync(path));
  let now: Stats;
  try {
    now = look();
  } catch {
    throw changed(input, "was removed");
  }
  checkSame(input, now);
  const { sizeBytes, modifiedMs, changedMs, attributes } = stateOf(now);
  if (sizeBytes !== state.sizeBytes) return;
  if (modifiedMs === state.modifiedMs && (changedMs === state.changedMs || attributes !== state.attributes))
    return;
  // A file that is cut gets its new time before its new size: a second look tells what happened.
  sleepSync(secondLookMs);
  checkSame(input, path === "-" ? look() : (statOf(path) ?? now));
  throw changed(input, "was changed");
}

export const standardInput = 0;
const secondLookMs = 10;

/** Checks that an open file is the one that the run began with, and not shorter. */
export function checkSame(input: Input, now: Stats): void {
  const { device, inode } = input.state ?? input;
  if (now.dev !== device || now.ino !== inode) throw changed(input, "was replaced");
  if (now.size < sizeOf(input)) throw shrank(input, now.size);
}

/** The error of a file that now ends at `endByte`, before the size it had when the run began. */
export function shrank(input: Input, endByte: number): UserError {
  return changed(input, `shrank (it ended at byte ${endByte} of ${sizeOf(input)})`);
}

/** What a file had when the run began, also one that is read as a stream. */
const sizeOf = ({ isStream, sizeBytes, state }: Input) => (isStream && state ? state.sizeBytes : sizeBytes);

function changed(input: Input, what: string): UserError {
  return new UserError(`${nameOf(input.path)} ${what} while it was read`, {
    hint: "run again when nothing writes to the corpus",
  });
}

/** Non-blocking, because the file may have become a pipe since it was inspected. */
export const openFile = (path: string): number =>
  onRead(path, () => openSync(path, constants.O_RDONLY | constants.O_NONBLOCK));
