import { closeSync, constants, fstatSync, lstatSync, openSync, type Stats, statSync } from "node:fs";
import { UserError } from "../errors.ts";
import { isMissing, reasonNotRead } from "../runtime/system-error.ts";
import { type Compression, nameOf } from "./content.ts";
import { hasReplacement, undecodable } from "./directories.ts";
import type { FormatSource, InputFormat } from "./input-formats.ts";

/** A part of the corpus: a file as it was when the run began (what is appended later is not read), or a stream. */
export type Input = {
  /** `-` is standard input. */
  readonly path: string;
  /** Can be read once and from front to back only: standard input, a pipe, a device. */
  readonly isStream: boolean;
  /** Of a stream that shows when it is read, and stands here as none. */
  readonly compression: Compression;
  readonly format: InputFormat;
  readonly formatFrom: FormatSource;
  /** Whatever bytes it has are text: it was said so, and is not looked into. */
  readonly isBinaryText: boolean;
  /** The field, or column, that holds the text of a record: what all formats but `text` look for. */
  readonly textField: string;
  /** The file as it lies there; 0 of a stream. */
  readonly sizeBytes: number;
  /** Which file the path named, so that another one put in its place is noticed. */
  readonly device: number;
  readonly inode: number;
  readonly modifiedMs: number;
};

/** The error of inputs that all have no text in them. */
export function emptyCorpus(inputs: readonly Input[]): UserError {
  const emptiness = ({ format, sizeBytes }: Input) =>
    format === "text" || sizeBytes === 0 ? "is empty" : "has no record with text in it";
  const what =
    inputs.length === 1
      ? `${nameOf(inputs[0]!.path)} ${emptiness(inputs[0]!)}`
      : `all ${inputs.length} inputs are empty`;
  return new UserError(`the corpus is empty: ${what}`, {
    hint: "name at least one file with text in it",
  });
}

/**
 * About how many bytes of text the inputs have, to decide how they are read: text is compressed to a third or less, and
 * a stream may be of any length.
 */
export const expectedTextBytes = (inputs: readonly Input[]) =>
  inputs.reduce((sum, { isStream, compression, format, sizeBytes }) => {
    if (isStream) return Number.MAX_SAFE_INTEGER;
    return Math.min(
      Number.MAX_SAFE_INTEGER,
      sum + (compression === "none" && format !== "parquet" ? 1 : 3) * sizeBytes,
    );
  }, 0);

/** Whether any part of the text can be read at any time: else it is read once and in order. */
export const canSeek = (input: Input) =>
  !input.isStream && input.compression === "none" && input.format !== "json";

/** Opens the file that `input` describes; another file in its place, or a shorter one, is an error. */
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

/** Called when everything is read: the corpus must still be what the run began with, appended bytes aside. */
export function checkUnchanged(input: Input): void {
  if (input.isStream) return;
  let now: Stats;
  try {
    now = statSync(input.path);
  } catch {
    throw changed(input, "was removed");
  }
  checkSame(input, now);
  if (now.size === input.sizeBytes && now.mtimeMs !== input.modifiedMs) throw changed(input, "was changed");
}

/** The error of a file that ends before the size it had when the run began. */
export function shrank(input: Input, offset: number): UserError {
  return changed(input, `shrank (it ended at byte ${offset} of ${input.sizeBytes})`);
}

/** The file that is open is the one that the run began with. */
export function checkSame(input: Input, now: Stats): void {
  if (now.dev !== input.device || now.ino !== input.inode) throw changed(input, "was replaced");
  if (now.size < input.sizeBytes) throw shrank(input, now.size);
}

function changed(input: Input, what: string): UserError {
  return new UserError(`"${input.path}" ${what} while it was read`, {
    hint: "run again when nothing writes to the corpus",
  });
}

export function openFile(path: string): number {
  try {
    // Non-blocking, because the file may have become a pipe since it was looked at.
    return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    throw unreadable(path, error);
  }
}

export function unreadable(path: string, error: unknown): UserError {
  if (error instanceof UserError) return error;
  if (isMissing(error) && hasReplacement(path)) return undecodable(path);
  if (isMissing(error) && isLink(path)) return new UserError(`"${path}" is a link that leads nowhere`);
  if (isMissing(error)) return new UserError(`"${path}": no such file`);
  return new UserError(`${nameOf(path)} cannot be read: ${reasonNotRead(error)}`);
}

const isLink = (path: string) => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
