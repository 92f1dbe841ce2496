import { closeSync, constants, fstatSync, openSync, statSync } from "node:fs";
import { files, host, UserError } from "#runtime";
import type * as keptField from "./records/kept-fields.ts";

/** An input of the corpus. Bytes appended to a file during the run are not read, unless the file is standard input. */
export type Input = {
  /** The path; `-` for standard input. */
  readonly path: string;
  /** Whether it can be read only once, from front to back. */
  readonly isStream: boolean;
  /**
   * The compression of a file. For a stream it is `none`, because only reading shows whether a stream is compressed.
   */
  readonly compression: Compression;
  readonly format: InputFormat;
  readonly formatFrom: FormatSource;
  /** Whether binary data is accepted as text: `--binary text`. */
  readonly isBinaryText: boolean;
  /** The field, or column, that holds the text of a record, for formats that have fields (`hasFields`). */
  readonly textField: string;
  /** Other fields of a record that are kept next to its text. */
  readonly keptFields?: readonly keptField.Field[] | undefined;
  /** The size of the file on disk, compressed or not; 0 for a stream. */
  readonly sizeBytes: number;
  /** Device and inode identify the file, so that a replacement is noticed; 0 for a stream. */
  readonly device: number;
  readonly inode: number;
  readonly modifiedMs: number;
  /** The state of the file when the run began. Pipes and devices have none. */
  readonly state?: FileState | undefined;
};

/**
 * The state of a file, by which a later change is noticed. It has two times, because a writer can reset the
 * modification time, but not the change time.
 */
export type FileState = {
  readonly device: number;
  readonly inode: number;
  readonly sizeBytes: number;
  readonly modifiedMs: number;
  readonly changedMs: number;
  /** Permissions, owner, and number of links. Changing these also updates the change time. */
  readonly attributes: string;
};

/**
 * The fields of Node's `Stats` that are used. They are listed here because the library's types must not depend on
 * Node's.
 */
type FileStats = {
  readonly dev: number;
  readonly ino: number;
  readonly size: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly nlink: number;
};

export const stateOf = (stats: FileStats): FileState => ({
  device: stats.dev,
  inode: stats.ino,
  sizeBytes: stats.size,
  modifiedMs: stats.mtimeMs,
  changedMs: stats.ctimeMs,
  attributes: [stats.mode, stats.uid, stats.gid, stats.nlink].join(" "),
});

export type Compression = "none" | "gzip" | "zstd";

/**
 * The form of an input's documents: plain text; one JSON object per line (`jsonl`); JSON objects in an array or a
 * sequence (`json`); rows of a Parquet file; or sequences in FASTA.
 */
export type InputFormat = "text" | "jsonl" | "json" | "parquet" | "fasta";

export const inputFormats: readonly InputFormat[] = ["text", "jsonl", "json", "parquet", "fasta"];

export const hasFields = (format: InputFormat) => format !== "text" && format !== "fasta";

/**
 * What an input's format was taken from: an option, the extension of its name, or its first bytes. An input in which no
 * other format is recognized is plain text. That format counts as taken from the name or, for a file whose name denotes
 * JSON (`formatOfName`), from the content.
 */
export type FormatSource = "option" | "name" | "content";

/**
 * Returns the format that the extension of a file's name denotes; undefined for any other extension. The extension of a
 * compression is skipped: `a.jsonl.gz` is `jsonl`.
 */
export function formatOfName(path: string): InputFormat | undefined {
  const [, ending] = /\.([^./]+)(\.(gz|gzip|zst|zstd))?$/.exec(path.toLowerCase()) ?? [];
  if (ending === "jsonl" || ending === "ndjson") return "jsonl";
  return ending === "json" || ending === "parquet" ? ending : undefined;
}

/** Whether the file can be read from any offset. Otherwise it is read once, from start to end. */
export const canSeek = (input: Input) =>
  !input.isStream && input.compression === "none" && input.format !== "json";

/** Whether the file can be cut into byte ranges. Otherwise the whole file is one range. */
export const canBeCutByBytes = (input: Input) => canSeek(input) && input.format !== "parquet";

/**
 * The estimated bytes of text. A compressed or Parquet file counts three times its size. If an input is a stream, whose
 * size is unknown, the estimate is the largest safe integer.
 */
export const expectedTextBytes = (inputs: readonly Input[]) =>
  inputs.reduce((sum, { isStream, compression, format, sizeBytes }) => {
    if (isStream) return Number.MAX_SAFE_INTEGER;
    return Math.min(
      Number.MAX_SAFE_INTEGER,
      sum + (compression === "none" && format !== "parquet" ? 1 : 3) * sizeBytes,
    );
  }, 0);

export function emptyCorpusError(inputs: readonly Input[]): UserError {
  const emptiness = ({ format, sizeBytes }: Input) =>
    format === "text" || sizeBytes === 0 ? "is empty" : "has no record with text in it";
  const areTexts = inputs.every(({ path, isStream }) => isStream && path === "texts");
  const what = areTexts
    ? "texts contains no text"
    : inputs.length === 1
      ? `${files.nameOf(inputs[0]!.path)} ${emptiness(inputs[0]!)}`
      : `none of the ${inputs.length} inputs has text in it`;
  return new UserError(`the corpus is empty: ${what}`, {
    hint: areTexts ? "give a text that is not empty" : "name at least one file that contains text",
  });
}

/**
 * Bytes [startByte, endByte) of one input. No pretoken crosses the edges of a range.
 *
 * If a range ends at a safe cut, its document continues in the next range. The reader of the first range then also
 * reads the character at `endByte`, which shows where the last pretoken ends.
 */
export type Range = {
  readonly inputIndex: number;
  readonly startByte: number;
  readonly endByte: number;
  /** Whether the range begins at a safe cut inside a document. */
  readonly startsInside: boolean;
  /** Whether the range ends at a safe cut inside a document. */
  readonly endsInside: boolean;
};

export const wholeRange = (input: Input, inputIndex: number): Range => ({
  inputIndex,
  startByte: 0,
  endByte: input.sizeBytes,
  startsInside: false,
  endsInside: false,
});

export const sizeOfRanges = (ranges: readonly Range[]) =>
  ranges.reduce((sum, { startByte, endByte }) => sum + endByte - startByte, 0);

/** Names a line or a record of an input in messages. */
export const placeIn = (path: string, place: string) => `${place} of ${files.nameOf(path)}`;

/** How many bytes are to be read, before any decompression; null if there is a stream, because its size is unknown. */
export const totalBytesOf = (inputs: readonly Input[], ranges: readonly Range[] = inputs.map(wholeRange)) =>
  inputs.some((input) => input.isStream) ? null : sizeOfRanges(ranges);

/**
 * Returns the bytes that separate two records of JSON lines or FASTA. The next record begins after the first of these
 * bytes.
 */
export const recordSeparator = (format: InputFormat): Uint8Array =>
  format === "fasta" ? beforeHeader : afterLine;

const afterLine = Buffer.from("\n");
const beforeHeader = Buffer.from("\n>");

/** Opens the file of `input`. Throws a UserError if it cannot be opened, was replaced or became shorter. */
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
 * Throws a UserError if the file has changed since the run began. New permissions, owners and hard links are allowed,
 * and so are appended bytes: a file that became longer is not checked for other changes, and one with new permissions,
 * owners or links only by its modification time.
 */
export function checkUnchanged(input: Input): void {
  const { path, state } = input;
  if (state === undefined) return;
  const look = () => (path === "-" ? fstatSync(standardInput) : statSync(path));
  let now: FileStats;
  try {
    now = look();
  } catch {
    throw changedError(input, "was removed");
  }
  checkSame(input, now);
  const { sizeBytes, modifiedMs, changedMs, attributes } = stateOf(now);
  if (sizeBytes !== state.sizeBytes) return;
  if (modifiedMs === state.modifiedMs && (changedMs === state.changedMs || attributes !== state.attributes))
    return;
  // A file that is being truncated gets its new time before its new size. So this looks at the size again after a
  // while, to report that the file shrank.
  for (let i = 0; i < furtherLooks; i++) {
    host.sleepSync(furtherLookMs);
    checkSame(input, path === "-" ? look() : (files.stat(path) ?? now));
  }
  throw changedError(input, "was changed");
}

export const standardInput = 0;
// On a busy machine, a file's new size may come much later than its new time.
const furtherLooks = 5;
const furtherLookMs = 50;

/** Throws a UserError if a file is not the one that the run began with, or is shorter now. */
export function checkSame(input: Input, now: FileStats): void {
  const { device, inode } = input.state ?? input;
  if (now.dev !== device || now.ino !== inode) throw changedError(input, "was replaced");
  if (now.size < sizeOf(input)) throw shrunkError(input, now.size);
}

/** Returns the error for a file that now ends at `endByte`, before the size that it had when the run began. */
export function shrunkError(input: Input, endByte: number): UserError {
  return changedError(input, `shrank (it ended at byte ${endByte} of ${sizeOf(input)})`);
}

/** Returns the size of an input when the run began, even if its file is read as a stream. */
const sizeOf = ({ isStream, sizeBytes, state }: Input) => (isStream && state ? state.sizeBytes : sizeBytes);

function changedError(input: Input, what: string): UserError {
  return new UserError(`${files.nameOf(input.path)} ${what} while it was read`, {
    hint: "run again while no other program changes it",
  });
}

/** Opens a file without blocking, because it may have become a pipe since it was inspected. */
export const openFile = (path: string): number =>
  files.tryRead(path, () => openSync(path, constants.O_RDONLY | constants.O_NONBLOCK));
