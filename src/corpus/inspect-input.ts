import { accessSync, closeSync, constants, fstatSync, readSync, statSync } from "node:fs";
import { asOption, exitCode, files, messages, phrase, UserError } from "#runtime";
import {
  type Codec,
  compressionOf,
  contentOf,
  decompressionError,
  headBytesMax,
  type NotText,
  notText,
  zlib,
  zlibWithZstd,
  zstdUnpacked,
} from "./content.ts";
import {
  type Compression,
  type FileState,
  type FormatSource,
  formatOfName,
  type Input,
  type InputFormat,
  openFile,
  standardInput,
  stateOf,
} from "./input.ts";
import { beginsAsJson, defaultTextField, jsonHeadBytesMax, jsonShapeOf, recordsIn } from "./json-shape.ts";
import { inLines, openTextStream, peek, registerOpener } from "./text-stream.ts";

/** The beginning of a file, decompressed. */
type FileHead = {
  readonly compression: Compression;
  /** The bytes are valid until the next head is read into the same memory. */
  readonly bytes: Uint8Array;
  readonly isWhole: boolean;
};

/** Reads the first `bytesMax` bytes of the file's content. Throws a UserError if they cannot be decompressed. */
export function readHead(fd: number, path: string, bytesMax = headBytesMax): FileHead {
  const read = readBytes(fd, bytesMax);
  const compression = compressionOf(read);
  const bytes = compression === "none" ? read : decompressHead(fd, path, compression, bytesMax);
  return { compression, bytes, isWhole: bytes.length < bytesMax };
}

let memory = new Uint8Array(headBytesMax);

function readBytes(fd: number, byteCount: number): Uint8Array {
  if (byteCount > memory.length) memory = new Uint8Array(byteCount);
  return memory.subarray(0, readSync(fd, memory, 0, byteCount, 0));
}

/** The number of compressed bytes that are tried first: usually enough for a head. */
const firstTryBytes = 1 << 12;
/**
 * The most compressed bytes that are read for a head. Without this limit, a file of empty gzip members, which
 * decompress to nothing, would be read whole.
 */
const compressedBytesMax = 1 << 24;
/** The most bytes that a prefix may decompress to. Without this limit, a few bytes of zstd could become gigabytes. */
const decompressedBytesMax = 1 << 24;

/**
 * Decompresses the beginning of a file. It tries prefixes of various lengths, until one gives enough bytes but not far
 * too many, or has all bytes that may be read.
 */
function decompressHead(fd: number, path: string, compression: Codec, bytesMax: number): Uint8Array {
  let tooFewBytes = 0;
  let tooManyBytes = Number.POSITIVE_INFINITY;
  for (let triedBytes = firstTryBytes; ; ) {
    const compressed = readBytes(fd, triedBytes);
    const head = decompressBeginning(compressed, path, compression);
    if (head === undefined) tooManyBytes = triedBytes;
    else {
      const isAll = compressed.length < triedBytes || triedBytes >= compressedBytesMax;
      if (head.length >= bytesMax || isAll) return head.subarray(0, bytesMax);
      tooFewBytes = triedBytes;
    }
    // One more byte completes at most one block of zstd, which decompresses to at most 128 KB; a byte of gzip
    // decompresses to about 1 KB at most. Both are less than `decompressedBytesMax - bytesMax`. So some length between
    // `tooFewBytes` and `tooManyBytes` gives enough bytes and not too many.
    triedBytes = Number.isFinite(tooManyBytes) ? (tooFewBytes + tooManyBytes) >> 1 : 4 * triedBytes;
  }
}

/** Decompresses a prefix of a file; undefined if the result has more than `decompressedBytesMax`. */
function decompressBeginning(bytes: Uint8Array, path: string, compression: Codec): Uint8Array | undefined {
  const { constants, gunzipSync, zstdDecompressSync } =
    compression === "gzip" ? zlib() : zlibWithZstd(zstdUnpacked(path));
  const maxOutputLength = decompressedBytesMax;
  try {
    // A prefix may end anywhere, so a truncated end is not an error.
    return compression === "gzip"
      ? gunzipSync(bytes, { maxOutputLength, finishFlush: constants.Z_SYNC_FLUSH })
      : zstdDecompressSync(bytes, { maxOutputLength, finishFlush: constants.ZSTD_e_flush });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") return undefined;
    throw decompressionError(path, compression, error);
  }
}

export type InputOptions = {
  /**
   * The format of all inputs. It takes precedence over their names and content, but does not let binary data pass as
   * text.
   */
  readonly inputFormat?: InputFormat | undefined;
  readonly textField?: string | undefined;
  /**
   * How texts were read when the tokenizer was trained. This decides the format of an input if options, name and
   * content do not show it. The input is read as JSON records if its first object has the training's text field. It is
   * read as FASTA if the training's texts were FASTA and the input begins with `>`.
   */
  readonly trained?: Reading | undefined;
  /** Globs that select files in directories. */
  readonly include?: readonly string[] | undefined;
  /** `text` reads binary files as text. By default they are errors, or skipped in a directory. */
  readonly binary?: "text" | undefined;
  /** Whether a corpus without any text is allowed. */
  readonly mayBeEmpty?: boolean;
};

export type Reading = { readonly format: InputFormat; readonly textField?: string | undefined };

/**
 * Inspects the file or stream at a path. Throws a UserError in all cases in which `inspectContent` throws one or
 * returns a description of the file.
 */
export function inspectInput(path: string, options: InputOptions = {}): Input {
  const found = inspectContent(path, options);
  if ("what" in found) throw notText(path, found);
  return found;
}

/**
 * Inspects the file or stream at a path. If the content of a file is neither text nor Parquet, or is Parquet although
 * the options name another format, returns a description of the file, unless `options.binary` is set.
 *
 * Throws a UserError for a directory, a socket, a path that cannot be read, a file that cannot be decompressed, Parquet
 * that was compressed as a whole, and a stream that is named as Parquet. The content of a stream is checked only when it
 * is read.
 */
export function inspectContent(path: string, options: InputOptions): Input | NotText {
  if (path === "-") return streamAt(path, options);
  const stats = files.tryRead(path, () => statSync(path));
  if (stats.isDirectory())
    throw new UserError(`"${path}" is a directory, not a file`, { hint: "name a file" });
  if (stats.isSocket())
    throw new UserError(`"${path}" is a socket, not a file`, { hint: "name a file or a pipe" });
  if (!stats.isFile()) {
    // The pipe is not opened yet, because closing it would end its writer.
    files.tryRead(path, () => accessSync(path, constants.R_OK));
    return streamAt(path, options);
  }
  const found = inspectFile(path, options);
  if ("what" in found) return found;
  const { compression, format, formatFrom, textField = options.textField ?? defaultTextField } = found;
  if (format === "parquet" && compression !== "none") {
    throw new UserError(
      `"${path}" is a Parquet file that was compressed as a whole with ${compression}, and bpe cannot read such files`,
      { hint: "unpack the file, and name the unpacked one" },
    );
  }
  return {
    path,
    isStream: false,
    compression,
    format,
    formatFrom,
    isBinaryText: options.binary === "text",
    textField,
    sizeBytes: stats.size,
    device: stats.dev,
    inode: stats.ino,
    modifiedMs: stats.mtimeMs,
    state: stateOf(stats),
  };
}

type Inside = Reading & { compression: Compression; formatFrom: FormatSource };

/** Finds the compression of a file, and the format of its content. */
function inspectFile(path: string, options: InputOptions): Inside | NotText {
  const fd = openFile(path);
  try {
    let head = readHead(fd, path);
    const { compression } = head;
    const content = options.binary === "text" ? "text" : contentOf(head.bytes, path, compression);
    if (typeof content === "object") return content;
    const { inputFormat: format } = options;
    if (content === "parquet") {
      if (format !== undefined && format !== "parquet") {
        const hint = phrase`leave out ${asOption("input-format")}${messages.ifHas("input-format text", phrase`; to read its bytes as text, give ${asOption("input-format", "text")} and ${asOption("binary", "text")}`)}`;
        return { what: `Parquet, not ${format}`, hint };
      }
      const formatFrom =
        format !== undefined ? "option" : formatOfName(path) === "parquet" ? "name" : "content";
      return { compression, format: "parquet", formatFrom };
    }
    if (format !== undefined) return { compression, format, formatFrom: "option" };
    const named = formatOfName(path);
    if (named === "jsonl" || named === "parquet") return { compression, format: named, formatFrom: "name" };
    const isNamedJson = named === "json";
    if (!head.isWhole && beginsAsJson(head.bytes)) head = readHead(fd, path, jsonHeadBytesMax);
    const reading = readingOf(head, isNamedJson, options);
    if (reading !== undefined) return { compression, ...reading, formatFrom: "content" };
    return { compression, format: "text", formatFrom: isNamedJson ? "content" : "name" };
  } catch (error) {
    throw files.readErrorOf(path, error);
  } finally {
    closeSync(fd);
  }
}

/** Returns how to read an input with this head; undefined for plain text. */
function readingOf(
  head: Pick<FileHead, "bytes" | "isWhole">,
  isNamedJson: boolean,
  { textField = defaultTextField, trained }: InputOptions,
): Reading | undefined {
  const records = recordsIn(head, isNamedJson, textField);
  if (records !== undefined) return { format: records };
  if (trained?.format === "fasta") return head.bytes[0] === headerMark ? trained : undefined;
  if (trained?.textField === undefined) return undefined;
  const { kind, hasField } = jsonShapeOf(head.bytes, head.isWhole, trained.textField);
  return (kind === "jsonl" || kind === "json") && hasField ? { ...trained, format: kind } : undefined;
}

/** The byte with which FASTA begins. */
const headerMark = 0x3e; // >

/**
 * Detects the format of the first stream, unless an option (`--binary text` included) or the stream's name decides it.
 * Returns all inputs, with this format filled in for the first stream. Later streams are not opened, because their
 * writers may wait until the first one is read.
 */
export async function inspectFirstStream(
  inputs: readonly Input[],
  options: InputOptions,
): Promise<readonly Input[]> {
  const index = inputs.findIndex(({ isStream }) => isStream);
  const input = inputs[index];
  if (input === undefined || input.isBinaryText || input.formatFrom === "option" || input.format !== "text")
    return inputs;
  const stream = await openTextStream(input);
  const isEnough = (head: Uint8Array) =>
    head.length >= (beginsAsJson(head) ? jsonHeadBytesMax : headBytesMax);
  const { head, isWhole, whole } = await peek(stream, jsonHeadBytesMax, isEnough).catch((error) => {
    stream.close();
    throw error;
  });
  const reading = readingOf({ bytes: head, isWhole }, false, options);
  const found: Input =
    reading === undefined
      ? input
      : { ...input, ...reading, textField: reading.textField ?? input.textField, formatFrom: "content" };
  registerOpener(found, () => inLines(whole, found));
  return inputs.with(index, found);
}

/**
 * Refuses a stream if its first bytes are not text. Also refuses a stream that begins with JSON records but would be
 * read as plain text, unless an option asks for plain text. If binary data is to be read as text, refuses nothing.
 */
export function checkStream(head: Uint8Array, input: Input): void {
  const { path, format, formatFrom, isBinaryText, textField } = input;
  if (isBinaryText) return;
  const content = contentOf(head.subarray(0, headBytesMax), path);
  if (content === "parquet") throw notText(path, parquetInStream);
  if (typeof content === "object") throw notText(path, content);
  if (format !== "text" || formatFrom === "option") return;
  const records = recordsIn({ bytes: head, isWhole: false }, false, textField);
  if (records === undefined) return;
  throw new UserError(
    `${files.nameOf(path)} seems to contain JSON records, but bpe detects the format of the first pipe only`,
    {
      hint: phrase`if all inputs have such records, use ${asOption("input-format", records)}${messages.ifHas("input-format text", phrase`; to read everything as plain text, use ${asOption("input-format", "text")}`)}`,
    },
  );
}

const parquetInStream: NotText = {
  what: "Parquet, but Parquet cannot be read from a pipe, because its index is at the end",
  hint: "write the data to a file and name that file",
};

function streamAt(path: string, options: InputOptions): Input {
  const format = options.inputFormat ?? formatOfName(path) ?? "text";
  if (format === "parquet") throw parquetStreamError(path);
  return {
    path,
    isStream: true,
    compression: "none",
    format,
    formatFrom: options.inputFormat === undefined ? "name" : "option",
    isBinaryText: options.binary === "text",
    textField: options.textField ?? defaultTextField,
    sizeBytes: 0,
    device: 0,
    inode: 0,
    modifiedMs: 0,
    state: path === "-" ? stateOfStandardInput() : undefined,
  };
}

function stateOfStandardInput(): FileState | undefined {
  try {
    const stats = fstatSync(standardInput);
    return stats.isFile() ? stateOf(stats) : undefined;
  } catch {
    // The stream is closed. Reading it will report that.
    return undefined;
  }
}

export function parquetStreamError(path: string): UserError {
  return new UserError(
    `Parquet cannot be read from ${path === "-" ? "standard input" : `"${path}", which is not a regular file`}: a Parquet file is read from its end, where its index is`,
    {
      hint: "write the data to a file and name that file",
      exitCode: path === "-" ? exitCode.usage : exitCode.failed,
    },
  );
}
