import { accessSync, closeSync, constants, fstatSync, type Stats, statSync } from "node:fs";
import { exitCode, UserError } from "../errors.ts";
import { nameOf, unreadable } from "../runtime/named-files.ts";
import { contentOf, headBytesMax, type NotText, notText } from "./content.ts";
import { type FileHead, readHead } from "./file-head.ts";
import {
  type Compression,
  type FileState,
  type FormatSource,
  formatOfName,
  type Input,
  type InputFormat,
  stateOf,
} from "./input.ts";
import { beginsAsJson, jsonShapeOf } from "./json-content.ts";
import { openFile, standardInput } from "./open-input.ts";
import { inLines, openBy, openTextStream, peek } from "./text-stream.ts";

/** How the named inputs are to be read. */
export type InputOptions = {
  /** The format of all inputs, whatever their names and contents are. */
  readonly format?: InputFormat | undefined;
  /** Default: `text`. */
  readonly textField?: string | undefined;
  /** How the texts of a tokenizer's training were read. An input that would be plain text is read so if it looks like them. */
  readonly trained?: Reading | undefined;
  /** Globs of the files of a directory that are meant. */
  readonly include?: readonly string[] | undefined;
  /** `text`: files that are no text are read as text. By default they are an error, or skipped in a directory. */
  readonly binary?: "text" | undefined;
};

export type Reading = { readonly format: InputFormat; readonly textField?: string | undefined };

/** The file or stream that the path names, as it is now. */
export function inspectInput(path: string, options: InputOptions = {}): Input {
  const found = lookAt(path, options);
  if ("what" in found) throw notText(path, found);
  return found;
}

/** The same; or, if the file is no text, what it is. For a stream that is known only once it is read. */
export function lookAt(path: string, options: InputOptions): Input | NotText {
  if (path === "-") return streamAt(path, options);
  let stats: Stats;
  try {
    stats = statSync(path);
  } catch (error) {
    throw unreadable(path, error);
  }
  if (stats.isDirectory()) throw new UserError(`"${path}" is a directory, not a file`);
  if (stats.isSocket()) throw new UserError(`"${path}" is a socket, not a file`);
  if (!stats.isFile()) {
    // A pipe is not opened yet: closing it again would end its writer.
    checkReadable(path);
    return streamAt(path, options);
  }
  const found = lookInto(path, options);
  if ("what" in found) return found;
  const { compression, format, formatFrom, textField = options.textField ?? defaultTextField } = found;
  if (format === "parquet" && compression !== "none") {
    throw new UserError(
      `"${path}" is Parquet packed with ${compression}, of which no part can be read by itself`,
      { hint: "unpack it, and name the file that comes out" },
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

export const defaultTextField = "text";

/** How much of a file that may be JSON is inspected: the first record, unless it is a giant. */
const jsonHeadBytesMax = 1 << 20;

type Inside = Reading & { compression: Compression; formatFrom: FormatSource };

/** How the file is compressed, and the format of what it holds. */
function lookInto(path: string, options: InputOptions): Inside | NotText {
  const fd = openFile(path);
  try {
    let head = readHead(fd, path);
    const { compression } = head;
    const content = options.binary === "text" ? "text" : contentOf(head.bytes, path);
    if (typeof content === "object") return content;
    const { format } = options;
    if (content === "parquet") {
      if (format !== undefined && format !== "parquet") return parquetAs(format);
      return { compression, format: "parquet", formatFrom: sourceOf(format, "parquet", path) };
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
    throw unreadable(path, error);
  } finally {
    closeSync(fd);
  }
}

const sourceOf = (asked: InputFormat | undefined, found: InputFormat, path: string): FormatSource =>
  asked !== undefined ? "option" : formatOfName(path) === found ? "name" : "content";

const parquetAs = (format: InputFormat): NotText => ({
  what: `Parquet, not ${format}`,
  hint: "leave --input-format out; --binary text reads its bytes as they are",
});

/**
 * Which records an input holds, by its beginning. A file named `.json` holds any records; in another file two records must
 * follow each other, and have the text field.
 */
function recordsIn(
  { bytes, isWhole }: Pick<FileHead, "bytes" | "isWhole">,
  isNamedJson: boolean,
  textField: string,
) {
  const { kind, hasField, isSeveral } = jsonShapeOf(bytes, isWhole, textField);
  if (kind !== "jsonl" && kind !== "json") return undefined;
  return isNamedJson || (hasField && isSeveral) ? kind : undefined;
}

/** How an input with this beginning is read, if not as plain text. */
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

/** A sequence of FASTA begins with its name. */
const headerMark = 0x3e; // >

/**
 * The inputs, with the format of the first stream that its content shows, as that of a file: the beginning is read, and kept
 * for whoever reads the stream. Later streams are not touched: who writes them may wait until the first one is read.
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
  openBy(found, () => inLines(whole, found));
  return inputs.with(index, found);
}

/** Refuses a stream whose first bytes show that it is no text, or that it holds records and no format was given. */
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
    `${nameOf(path)} holds records of JSON, and only the first stream is looked at for them`,
    {
      hint: `--input-format ${records} reads their field "${textField}", --input-format text all of it as text`,
    },
  );
}

const parquetInStream: NotText = {
  what: "Parquet, which says at its end what is in it, and cannot be read as a stream",
  hint: "write it to a file and name that",
};

function streamAt(path: string, options: InputOptions): Input {
  const format = options.format ?? formatOfName(path) ?? "text";
  if (format === "parquet") throw noParquetStream(path);
  return {
    path,
    isStream: true,
    compression: "none",
    format,
    formatFrom: options.format === undefined ? "name" : "option",
    isBinaryText: options.binary === "text",
    textField: options.textField ?? defaultTextField,
    ...{ sizeBytes: 0, device: 0, inode: 0, modifiedMs: 0 },
    state: path === "-" ? stateOfStandardInput() : undefined,
  };
}

function stateOfStandardInput(): FileState | undefined {
  try {
    const stats = fstatSync(standardInput);
    return stats.isFile() ? stateOf(stats) : undefined;
  } catch {
    // It is closed, which reading will tell.
    return undefined;
  }
}

export function noParquetStream(path: string): UserError {
  return new UserError(`${nameOf(path)} cannot be read as Parquet, which says at its end what is in it`, {
    hint: "write it to a file and name that",
    exitCode: path === "-" ? exitCode.usage : exitCode.failed,
  });
}

function checkReadable(path: string): void {
  try {
    accessSync(path, constants.R_OK);
  } catch (error) {
    throw unreadable(path, error);
  }
}
