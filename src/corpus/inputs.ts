import { closeSync, constants, fstatSync, openSync, type Stats, statSync } from "node:fs";
import { exitCode, UserError } from "../errors.ts";
import { filesBelow, hasReplacement, inByteOrder, includeFilter, undecodable } from "./directories.ts";
import { formatOfName, type InputFormat } from "./formats.ts";

/** What the bytes of an input are packed in, as its first bytes tell. */
export type Compression = "none" | "gzip" | "zstd";

/** A part of the corpus: a file as it was when the run began (what is appended later is not read), or a stream. */
export type Input = {
  readonly path: string;
  /** Can be read once and from front to back only: standard input, a pipe, a device. */
  readonly isStream: boolean;
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
  if (names.length === 0) {
    throw new UserError("no input", { hint: "name at least one text file", exitCode: exitCode.usage });
  }
  const include = options.include ?? [];
  if (include.length > 0 && !names.some(isDirectory)) {
    throw new UserError("--include is for the files of a directory, and none is named", {
      hint: "name a directory, or the files themselves",
      exitCode: exitCode.usage,
    });
  }
  const inputs = names.flatMap((name) => pathsOf(name, include).map((path) => inspectInput(path, options)));
  if (inputs.every((input) => input.sizeBytes === 0)) {
    const what =
      inputs.length === 1 ? `"${inputs[0]!.path}" is empty` : `all ${inputs.length} files are empty`;
    throw new UserError(`the corpus is empty: ${what}`, {
      hint: "train on at least one file with text in it",
    });
  }
  return inputs;
}

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

function checkSame(input: Input, now: Stats): void {
  if (now.dev !== input.device || now.ino !== input.inode) throw changed(input, "was replaced");
  if (now.size < input.sizeBytes) throw shrank(input, now.size);
}

function changed(input: Input, what: string): UserError {
  return new UserError(`"${input.path}" ${what} while it was read`, {
    hint: "run again when nothing writes to the corpus",
  });
}

function pathsOf(name: string, include: readonly string[]): string[] {
  if (name === "-") throw notYet("standard input");
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

/** The file that the path names, as it is now. */
export function inspectInput(path: string, options: InputOptions = {}): Input {
  let stats: Stats;
  try {
    stats = statSync(path);
  } catch (error) {
    throw unreadable(path, error);
  }
  if (stats.isFIFO()) throw notYet(`"${path}" (a pipe)`);
  if (!stats.isFile()) throw new UserError(`"${path}" is not a regular file`);
  closeSync(openFile(path));
  const format = options.format ?? formatOfName(path);
  if (format === "parquet") throw notYet(`"${path}" (Parquet)`);
  return {
    path,
    isStream: false,
    compression: "none",
    format,
    textField: options.textField ?? "text",
    sizeBytes: stats.size,
    device: stats.dev,
    inode: stats.ino,
    modifiedMs: stats.mtimeMs,
  };
}

function openFile(path: string): number {
  try {
    // Non-blocking, because the file may have become a pipe since it was looked at.
    return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    throw unreadable(path, error);
  }
}

function notYet(what: string): UserError {
  return new UserError(`reading ${what} is not supported yet`, {
    hint: "write the text to a regular file and name that",
    exitCode: exitCode.usage,
  });
}

const isMissing = (error: unknown) =>
  ["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "");

function unreadable(path: string, error: unknown): UserError {
  if (isMissing(error) && hasReplacement(path)) return undecodable(path);
  if (isMissing(error)) return new UserError(`"${path}": no such file`);
  const { code, message } = error as NodeJS.ErrnoException;
  const reason = code === "EACCES" ? "permission denied" : (code ?? message);
  return new UserError(`"${path}" cannot be read: ${reason}`);
}
