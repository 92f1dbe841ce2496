import {
  accessSync,
  closeSync,
  constants,
  fstatSync,
  openSync,
  readSync,
  type Stats,
  statSync,
} from "node:fs";
import { exitCode, UserError } from "../errors.ts";
import { isMissing, reasonNotRead } from "../system-error.ts";
import { type Compression, checkIsNotUtf16, compressionOf, headBytesMax } from "./content.ts";
import { filesBelow, hasReplacement, inByteOrder, includeFilter, undecodable } from "./directories.ts";
import { formatOfName, type InputFormat } from "./formats.ts";

/** A part of the corpus: a file as it was when the run began (what is appended later is not read), or a stream. */
export type Input = {
  /** `-` is standard input. */
  readonly path: string;
  /** Can be read once and from front to back only: standard input, a pipe, a device. */
  readonly isStream: boolean;
  /** Of a stream that shows when it is read, and stands here as none. */
  readonly compression: Compression;
  readonly format: InputFormat;
  /** The field, or column, that holds the text of a record: what `jsonl` and `parquet` look for. */
  readonly textField: string;
  /** The file as it lies there; 0 of a stream. */
  readonly sizeBytes: number;
  /** Which file the path named, so that another one put in its place is noticed. */
  readonly device: number;
  readonly inode: number;
  readonly modifiedMs: number;
};

/** How what was named is to be read. */
export type InputOptions = {
  /** The format of everything named, whatever its name says. */
  readonly format?: InputFormat | undefined;
  /** Default: `text`. */
  readonly textField?: string | undefined;
  /** Globs that say which files of a directory are meant. */
  readonly include?: readonly string[] | undefined;
};

/**
 * The files that the arguments name, in their order, each checked: a path; or, where no such path exists, a glob
 * (`*`, `?`, `[]`, `**`; hidden files are left out); or a directory, for the files below it. Files of one argument are
 * in byte order of their paths.
 */
export function findInputs(names: readonly string[], options: InputOptions = {}): Input[] {
  checkNames(names, options);
  const include = options.include ?? [];
  if (include.length > 0 && !names.some(isDirectory)) {
    throw new UserError("--include is for the files of a directory, and none is named", {
      hint: "name a directory, or the files themselves",
      exitCode: exitCode.usage,
    });
  }
  const inputs = names.flatMap((name) => pathsOf(name, include).map((path) => inspectInput(path, options)));
  if (inputs.every((input) => input.sizeBytes === 0 && !input.isStream)) throw emptyCorpus(inputs);
  return inputs;
}

/** Refuses what the names alone tell to be wrong. Looks at no file. */
export function checkNames(names: readonly string[], { format }: InputOptions = {}): void {
  if (names.length === 0) {
    throw new UserError("no input", { hint: "name at least one text file", exitCode: exitCode.usage });
  }
  const standardInputs = names.filter((name) => name === standardInput);
  if (standardInputs.length > 1) {
    throw new UserError("standard input (-) is named twice, and can be read once", {
      exitCode: exitCode.usage,
    });
  }
  if (standardInputs.length === 1 && format === "parquet") throw noParquetStream(standardInput);
}

/** The error of inputs that all have no text in them. */
export function emptyCorpus(inputs: readonly Input[]): UserError {
  const nameOf = ({ path }: Input) => (path === standardInput ? "standard input" : `"${path}"`);
  const emptiness = ({ format, sizeBytes }: Input) =>
    format === "text" || sizeBytes === 0 ? "is empty" : "has no record with text in it";
  const what =
    inputs.length === 1
      ? `${nameOf(inputs[0]!)} ${emptiness(inputs[0]!)}`
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
export const canSeek = (input: Input) => !input.isStream && input.compression === "none";

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

function pathsOf(name: string, include: readonly string[]): string[] {
  if (name === standardInput) return [name];
  if (isDirectory(name)) return pathsBelow(name, include);
  if (name === "" || exists(name)) return [name];
  if (!/[*?[]/.test(name)) return [name];
  const pattern = new Bun.Glob(name);
  const root = name.startsWith("/") ? "/" : ".";
  const paths = [
    ...pattern.scanSync({ cwd: root, absolute: name.startsWith("/"), onlyFiles: true, dot: false }),
  ];
  if (paths.length === 0) {
    throw new UserError(`"${name}": no such file, and no file matches it as a glob`, {
      hint: "hidden files are not matched; quote the glob so that the shell leaves it alone",
    });
  }
  return inByteOrder(paths);
}

function pathsBelow(directory: string, include: readonly string[]): string[] {
  const paths = filesBelow(directory, includeFilter(include));
  if (paths.length > 0) return paths;
  const what =
    include.length === 0 ? "no file" : `no file that --include ${include.join(", --include ")} describes`;
  throw new UserError(`there is ${what} below "${directory}"`, {
    hint: "hidden files, and what links lead to, are not looked at",
  });
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

function exists(path: string): boolean {
  try {
    statSync(path);
    return true;
  } catch (error) {
    return !isMissing(error);
  }
}

/** The file, or the stream, that the path names, as it is now. */
export function inspectInput(path: string, options: InputOptions = {}): Input {
  const format = options.format ?? formatOfName(path);
  const textField = options.textField ?? defaultTextField;
  if (path === standardInput) return streamAt(path, format, textField);
  let stats: Stats;
  try {
    stats = statSync(path);
  } catch (error) {
    throw unreadable(path, error);
  }
  if (stats.isDirectory()) throw new UserError(`"${path}" is a directory, not a file`);
  if (stats.isSocket()) throw new UserError(`"${path}" is a socket, not a file`);
  if (!stats.isFile()) {
    // A pipe is not opened yet: whoever writes to it would be told that nobody reads when it is closed again.
    checkReadable(path);
    return streamAt(path, format, textField);
  }
  const compression = lookInto(path);
  if (format === "parquet" && compression !== "none") {
    throw new UserError(
      `"${path}" is Parquet packed with ${compression}, of which no part can be read by itself`,
      {
        hint: "unpack it, and name the file that comes out",
      },
    );
  }
  return {
    path,
    isStream: false,
    compression,
    format,
    textField,
    sizeBytes: stats.size,
    device: stats.dev,
    inode: stats.ino,
    modifiedMs: stats.mtimeMs,
  };
}

const standardInput = "-";
export const defaultTextField = "text";

function streamAt(path: string, format: InputFormat, textField: string): Input {
  if (format === "parquet") throw noParquetStream(path);
  const none = { sizeBytes: 0, device: 0, inode: 0, modifiedMs: 0 };
  return { path, isStream: true, compression: "none", format, textField, ...none };
}

function noParquetStream(path: string): UserError {
  const isNamed = path !== standardInput;
  const name = isNamed ? `"${path}"` : "standard input";
  return new UserError(`${name} cannot be read as Parquet, which says at its end what is in it`, {
    hint: "write it to a file and name that",
    exitCode: isNamed ? exitCode.failed : exitCode.usage,
  });
}

/** What the file is packed in. A text that can be told at once to be none of ours is an error. */
function lookInto(path: string): Compression {
  const fd = openFile(path);
  try {
    const head = headBuffer.subarray(0, readSync(fd, headBuffer, 0, headBytesMax, 0));
    const compression = compressionOf(head, path);
    if (compression === "none") checkIsNotUtf16(head, path);
    return compression;
  } catch (error) {
    throw unreadable(path, error);
  } finally {
    closeSync(fd);
  }
}

const headBuffer = new Uint8Array(headBytesMax);

function checkReadable(path: string): void {
  try {
    accessSync(path, constants.R_OK);
  } catch (error) {
    throw unreadable(path, error);
  }
}

function openFile(path: string): number {
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
  if (isMissing(error)) return new UserError(`"${path}": no such file`);
  const name = path === standardInput ? "standard input" : `"${path}"`;
  return new UserError(`${name} cannot be read: ${reasonNotRead(error)}`);
}
