import type { Stats } from "node:fs";
import { UserError } from "../errors.ts";
import { nameOf } from "../runtime/named-files.ts";

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

export const stateOf = ({ dev, ino, size, mtimeMs, ctimeMs, mode, uid, gid, nlink }: Stats): FileState => ({
  ...{ device: dev, inode: ino, sizeBytes: size, modifiedMs: mtimeMs, changedMs: ctimeMs },
  attributes: [mode, uid, gid, nlink].join(" "),
});

/** How the bytes of an input are compressed, by its first bytes. */
export type Compression = "none" | "gzip" | "zstd";

/**
 * How an input holds its documents: as bytes of text; a JSON object a line; JSON objects in one array or one after the
 * other; a column of a Parquet file; or sequences of FASTA.
 */
export type InputFormat = "text" | "jsonl" | "json" | "parquet" | "fasta";

export const inputFormats: readonly InputFormat[] = ["text", "jsonl", "json", "parquet", "fasta"];

/** Whether the text of a record is one of its fields. */
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

/** The error of inputs that have no text at all. */
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
