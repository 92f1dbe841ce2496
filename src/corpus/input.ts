import { closeSync, constants, fstatSync, openSync, statSync } from "node:fs";
import { nameOf, sleepSync, statOf, tryRead, UserError } from "#runtime";
import type { KeptField } from "./records/kept-fields.ts";

/** A part of the corpus: a file as it was when the run began (bytes appended later are not read), or a stream. */
export type Input = {
  /** `-` is standard input. */
  readonly path: string;
  /** Can be read only once and from front to back: standard input, a pipe, a device. */
  readonly isStream: boolean;
  /** For a stream this is known only once it is read; until then it is `none`. */
  readonly compression: Compression;
  readonly format: InputFormat;
  readonly formatFrom: FormatSource;
  /** `--binary text`: its bytes are text, whatever they are. */
  readonly isBinaryText: boolean;
  /** The field, or column, that holds the text of a record. Formats other than `text` need it. */
  readonly textField: string;
  /** Other fields that stay beside the text. */
  readonly keptFields?: readonly KeptField[] | undefined;
  /** The file as it is on disk, compressed or not; 0 for a stream. */
  readonly sizeBytes: number;
  /** Which file the path named: another file put in its place is noticed. */
  readonly device: number;
  readonly inode: number;
  readonly modifiedMs: number;
  /** Of a file, and of the file that standard input was redirected from: it must not change while it is read. */
  readonly state?: FileState | undefined;
};

/** What tells that nobody wrote to a file. Who writes may put the time of the last write back, but not that of change. */
export type FileState = {
  readonly device: number;
  readonly inode: number;
  readonly sizeBytes: number;
  readonly modifiedMs: number;
  readonly changedMs: number;
  /** Rights, owner and links. They change the time of change, too. */
  readonly attributes: string;
};

/** What a look at a file finds, without the name that Node has for it: the library's own types ask for none of Node's. */
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
 * How an input holds its documents: as bytes of text; a JSON object a line; JSON objects in one array or one after the
 * other; a column of a Parquet file; or sequences of FASTA.
 */
export type InputFormat = "text" | "jsonl" | "json" | "parquet" | "fasta";

export const inputFormats: readonly InputFormat[] = ["text", "jsonl", "json", "parquet", "fasta"];

export const hasFields = (format: InputFormat) => format !== "text" && format !== "fasta";

/** What decided the format of an input: an option, the ending of its name, or its first bytes. */
export type FormatSource = "option" | "name" | "content";

/** The format that a name stands for; in a compressed file's name it comes before the ending of the compression. */
export function formatOfName(path: string): InputFormat | undefined {
  const [, ending] = /\.([^./]+)(\.(gz|gzip|zst|zstd))?$/.exec(path.toLowerCase()) ?? [];
  if (ending === "jsonl" || ending === "ndjson") return "jsonl";
  return ending === "json" || ending === "parquet" ? ending : undefined;
}

/** Whether any part of the text can be read at any time; if not, it is read once and in order. */
export const canSeek = (input: Input) =>
  !input.isStream && input.compression === "none" && input.format !== "json";

/** Whether the file can be cut into ranges of bytes. If not, it is one range. */
export const canBeCutByBytes = (input: Input) => canSeek(input) && input.format !== "parquet";

/**
 * About how many bytes of text the inputs have, for choosing the number of workers: compressed text is a third of its
 * length or less, and a stream may have any length.
 */
export const expectedTextBytes = (inputs: readonly Input[]) =>
  inputs.reduce((sum, { isStream, compression, format, sizeBytes }) => {
    if (isStream) return Number.MAX_SAFE_INTEGER;
    return Math.min(
      Number.MAX_SAFE_INTEGER,
      sum + (compression === "none" && format !== "parquet" ? 1 : 3) * sizeBytes,
    );
  }, 0);

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
 * Who reads what: bytes [startByte, endByte) of one input. No pretoken crosses the end of a range: it is the end of the
 * file, the beginning of a special token, or a safe cut of the pattern.
 *
 * At a safe cut the document continues in the next range. The left range looks at the character at `endByte` to settle
 * its last pretoken and does not count that character; the right range starts afresh. A range is plain data, so threads
 * or other machines can read it.
 */
export type Range = {
  readonly inputIndex: number;
  readonly startByte: number;
  readonly endByte: number;
  /** The range begins (ends) at a safe cut inside a document, not at the edge of one. */
  readonly startsInside: boolean;
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

/** How many bytes will be read, before any decompression; null if a stream makes that unknown. */
export const totalBytesOf = (inputs: readonly Input[], ranges: readonly Range[] = inputs.map(wholeRange)) =>
  inputs.some((input) => input.isStream) ? null : sizeOfRanges(ranges);

/**
 * What is between two records of a format in lines; the next record begins behind its first byte. In JSON lines every line
 * is a record, in FASTA one that begins with `>` opens it.
 */
export const recordSeparator = (format: InputFormat): Uint8Array =>
  format === "fasta" ? beforeHeader : afterLine;

const afterLine = Buffer.from("\n");
const beforeHeader = Buffer.from("\n>");

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
 * Called after everything was read: the file must still be what it was when the run began, appended bytes aside. A new time
 * of change is ignored if rights, owner or links explain it: a backup that makes links must not end a night's run.
 */
export function checkUnchanged(input: Input): void {
  const { path, state } = input;
  if (state === undefined) return;
  const look = () => (path === "-" ? fstatSync(standardInput) : statSync(path));
  let now: FileStats;
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
const secondLookMs = 50;

/** Checks that an open file is the one that the run began with, and not shorter. */
export function checkSame(input: Input, now: FileStats): void {
  const { device, inode } = input.state ?? input;
  if (now.dev !== device || now.ino !== inode) throw changed(input, "was replaced");
  if (now.size < sizeOf(input)) throw shrunk(input, now.size);
}

/** The error of a file that now ends at `endByte`, before the size it had when the run began. */
export function shrunk(input: Input, endByte: number): UserError {
  return changed(input, `shrank (it ended at byte ${endByte} of ${sizeOf(input)})`);
}

/** What a file had when the run began, also one that is read as a stream. */
const sizeOf = ({ isStream, sizeBytes, state }: Input) => (isStream && state ? state.sizeBytes : sizeBytes);

function changed(input: Input, what: string): UserError {
  return new UserError(`${nameOf(input.path)} ${what} while it was read`, {
    hint: "run again when no program writes to the corpus",
  });
}

/** Non-blocking, because the file may have become a pipe since it was inspected. */
export const openFile = (path: string): number =>
  tryRead(path, () => openSync(path, constants.O_RDONLY | constants.O_NONBLOCK));
