import { closeSync, fstatSync, readSync } from "node:fs";
import { ascii, countNoun, escapeBytes } from "#bytes";
import { corpusInputs, type Input, inspection, type keptField, openTextStream } from "#corpus";
import { asOption, files, phrase, scaled, UserError } from "#runtime";
import type { IdType } from "./id-writers.ts";
import * as idWriters from "./id-writers.ts";

const windowBytes = scaled(1 << 20, 64);
const npyHeadBytesMax = 1 << 16;

/** Ids as the file has them. Values such as -1 are kept, so that they are reported and do not wrap around. */
type ReadIds = Float64Array | Uint16Array | Uint32Array;

/** The id type of `.bin` files: `asked`, or else `needed`. */
export type BinaryType = {
  /** The type that the user stated. */
  readonly asked: IdType | undefined;
  /** A type that can represent all ids. */
  readonly needed: IdType;
};

/**
 * Yields the ids of a file. `.npy` and `.bin` are binary. A file with any other name, and standard input (`-`), has
 * decimal numbers separated by whitespace, and may be compressed.
 */
export async function* readIds(path: string, binaryType: BinaryType): AsyncGenerator<ReadIds> {
  if (!idWriters.isFileName(path)) return yield* readDecimals(path);
  // Pipes are refused: their size is unknown, so neither the head of .npy nor the length of .bin can be checked.
  const fd = files.openRegular(path);
  try {
    yield* path.endsWith(".npy") ? readNpy(fd, path) : readBinary(fd, path, binaryType);
  } finally {
    closeSync(fd);
  }
}

function* readNpy(fd: number, path: string): Generator<ReadIds> {
  const head = new Uint8Array(npyHeadBytesMax);
  const headBytes = files.tryRead(path, () => readSync(fd, head, 0, head.length, 0));
  const layout = readNpyHead(head.subarray(0, headBytes), path);
  const { descr, itemBytes, startByte, count } = layout;
  const wantedBytes = startByte + count * itemBytes;
  const { size } = fstatSync(fd);
  if (size < wantedBytes) {
    throw new UserError(
      `"${path}" is damaged: by its header it should have ${wantedBytes} bytes, but it has ${size}`,
      {
        hint: copyHint,
      },
    );
  }
  for (const [buffer, byteCount] of windowsOf(fd, path, startByte, wantedBytes))
    yield numbersOf(buffer, byteCount, descr);
}

/** The layout that the head of an .npy file states. */
type NpyLayout = {
  readonly descr: string;
  readonly itemBytes: number;
  readonly startByte: number;
  readonly count: number;
};

const copyHint = "copy the file again, or save the ids again";

/** Parses the head of an .npy file. `bytes` are the file's first 64 KB, or the whole file. */
export function readNpyHead(bytes: Uint8Array, path: string): NpyLayout {
  const fail = (what: string, hint?: string): never => {
    throw new UserError(`"${path}": ${what}`, hint === undefined ? {} : { hint });
  };
  if (bytes.length < 12 || idWriters.npyMagic.some((byte, i) => bytes[i] !== byte))
    fail("it is not an .npy file", "save the ids with numpy.save, or rename a file of bare ids to .bin");
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const version = bytes[6]!;
  if (version < 1 || version > 3)
    fail(`its .npy version is ${version}, but must be 1, 2 or 3`, "save the ids again with numpy.save");
  const isFirst = version === 1;
  const textStart = isFirst ? 10 : 12;
  const textBytes = isFirst ? view.getUint16(8, true) : view.getUint32(8, true);
  if (textStart + textBytes > bytes.length) fail("its .npy header is cut off", copyHint);
  const text = new TextDecoder("latin1").decode(bytes.subarray(textStart, textStart + textBytes));
  const descr = /'descr':\s*'([^']*)'/.exec(text)?.[1] ?? "";
  const shape = /'shape':\s*\(([^)]*)\)/.exec(text)?.[1];
  if (!/^[<|][iu][1248]$/.test(descr)) {
    fail(
      `its numbers are ${descr === "" ? "of no plain type" : shorten(descr)}, not little-endian whole numbers`,
      "save them as uint32",
    );
  }
  if (shape === undefined || /'fortran_order':\s*True/.test(text))
    fail("its array is not in C order (row-major)", "save numpy.ascontiguousarray(ids) instead");
  // The shape is a tuple in Python's notation: "()", "(3,)", "(3, 4)".
  const isTuple = /^(\d+, *(\d+(, *\d+)*,?)?)?$/.test(shape!.trim());
  const sizes = shape!.split(",").filter((part) => part.trim() !== "");
  const count = sizes.reduce((product, size) => product * Number(size), 1);
  if (!isTuple || !Number.isSafeInteger(count)) fail(`its shape (${shorten(shape!)}) is damaged`, copyHint);
  return { descr, itemBytes: Number(descr[2]), startByte: textStart + textBytes, count };
}

/** Shortens a part of the head for a message. */
const shorten = (text: string) => (text.length > 40 ? `${text.slice(0, 40)}…` : text);

function* readBinary(fd: number, path: string, { asked, needed }: BinaryType): Generator<ReadIds> {
  const type = asked ?? needed;
  const { size } = fstatSync(fd);
  if (size % idWriters.idBytes(type) !== 0) {
    throw new UserError(
      `"${path}" has ${countNoun(size, "byte")}, not a multiple of ${idWriters.idBytes(type)}, the size of a ${type} id`,
      {
        hint:
          size % idWriters.idBytes("uint16") === 0
            ? phrase`if the ids are uint16, give ${asOption("dtype", "uint16")}; otherwise copy the file again, or encode the text again`
            : "copy the file again, or encode the text again",
      },
    );
  }
  let isFirst = asked === undefined && type === "uint16" && size % 4 === 0;
  for (const ids of readNumbers(fd, path, 0, size, type)) {
    if (isFirst) refuseHalves(ids, path);
    isFirst = false;
    yield ids;
  }
}

/** Yields the ids that are stored in bytes [startByte, endByte) of a file. */
export function* readNumbers(fd: number, path: string, startByte: number, endByte: number, type: IdType) {
  for (const [buffer, byteCount] of windowsOf(fd, path, startByte, endByte))
    yield type === "uint16"
      ? new Uint16Array(buffer, 0, byteCount >> 1)
      : new Uint32Array(buffer, 0, byteCount >> 2);
}

/**
 * Yields bytes [startByte, endByte) of a file, window by window, as a buffer and the number of bytes in it. The buffer
 * is reused for the next window.
 */
function* windowsOf(fd: number, path: string, startByte: number, endByte: number) {
  const window = new Uint8Array(windowBytes);
  for (let atByte = startByte; atByte < endByte; atByte += windowBytes) {
    const byteCount = Math.min(windowBytes, endByte - atByte);
    fill(fd, window, byteCount, atByte, path);
    yield [window.buffer, byteCount] as const;
  }
}

/**
 * Throws a UserError if the 16-bit ids seem to be halves of 32-bit ids. The upper half of an id below 2^20 is below 16.
 * So ids are refused if every second one is below 16, unless all are. A few 16-bit ids may look like halves by chance.
 * So fewer than 8 ids are refused only if every second one is 0, and fewer than 4 ids are never refused.
 */
function refuseHalves(ids: ReadIds, path: string): void {
  const upperMax = ids.length < 8 ? 0 : 15;
  const isUpper = (id: number) => id <= upperMax;
  if (ids.length < 4 || ids.every(isUpper) || !ids.every((id, i) => i % 2 === 0 || isUpper(id))) return;
  const small = upperMax === 0 ? "0" : "below 16";
  throw new UserError(`"${path}" seems to have 32-bit ids: read as uint16, every second id is ${small}`, {
    hint: phrase`give ${asOption("dtype", "uint32")}; if the ids really are 16-bit, give ${asOption("dtype", "uint16")}`,
  });
}

function fill(fd: number, window: Uint8Array, byteCount: number, atByte: number, path: string): void {
  for (let done = 0; done < byteCount; ) {
    const readBytes = files.tryRead(path, () => readSync(fd, window, done, byteCount - done, atByte + done));
    if (readBytes === 0)
      throw new UserError(`"${path}" shrank while it was read`, {
        hint: "run again when no program writes to the file",
      });
    done += readBytes;
  }
}

function numbersOf(buffer: ArrayBuffer, byteCount: number, descr: string): ReadIds {
  const kind = descr.slice(1);
  if (kind === "u2") return new Uint16Array(buffer, 0, byteCount >> 1);
  if (kind === "u4") return new Uint32Array(buffer, 0, byteCount >> 2);
  if (kind === "u1") return Float64Array.from(new Uint8Array(buffer, 0, byteCount));
  if (kind === "i1") return Float64Array.from(new Int8Array(buffer, 0, byteCount));
  if (kind === "i2") return Float64Array.from(new Int16Array(buffer, 0, byteCount >> 1));
  if (kind === "i4") return Float64Array.from(new Int32Array(buffer, 0, byteCount >> 2));
  const wide = kind === "i8" ? BigInt64Array : BigUint64Array;
  return Float64Array.from(new wide(buffer, 0, byteCount >> 3), Number);
}

const decimalsHint =
  "give ids in a file whose name ends in .npy or .bin, or as decimal numbers separated by white space";

/** Inspects a file of decimal ids. Throws a UserError for a file that is not text. */
function inputOfIds(path: string): Input {
  const found = inspection.inspectContent(path, { inputFormat: "text" });
  if (!("what" in found)) return found;
  throw new UserError(`${files.nameOf(path)} is ${found.what}`, {
    hint: found.isWrapped ? found.hint : decimalsHint,
  });
}

async function* readDecimals(path: string): AsyncGenerator<ReadIds> {
  const input = inputOfIds(path);
  const stream = await openTextStream(input);
  try {
    const window = new Uint8Array(windowBytes);
    let rest = "";
    for (;;) {
      const readBytes = await stream.read(window, 0);
      const text = rest + latin1(window.subarray(0, readBytes));
      // The last number may continue in the next window.
      const end = readBytes === 0 ? text.length : lastWordStart(text);
      rest = text.slice(end);
      if (rest.length > idLengthMax) throw notAnId(path, rest);
      const words = text
        .slice(0, end)
        .split(/[\t-\r ]+/)
        .filter((word) => word !== "");
      const ids = Float64Array.from(words, (word) => (/^\d+$/.test(word) ? Number(word) : Number.NaN));
      const wrong = ids.findIndex(Number.isNaN);
      if (wrong >= 0) throw notAnId(path, words[wrong]!);
      yield ids;
      if (readBytes === 0) return corpusInputs.checkUnchanged(input);
    }
  } finally {
    stream.close();
  }
}

/** The maximum number of characters of a word that are kept for the next window, or shown in a message. */
const idLengthMax = 100;

/** Returns the start of the last word of a text; the text's end if whitespace is last. */
function lastWordStart(text: string): number {
  let pos = text.length;
  while (pos > 0 && /[^\t-\r ]/.test(text[pos - 1]!)) pos--;
  return pos;
}

const latin1 = (bytes: Uint8Array) =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");

/** Shows a word in a message. Its Latin-1 characters are bytes of the file, and are decoded as UTF-8. */
const showWord = (word: string) =>
  escapeBytes(Buffer.from(word.slice(0, idLengthMax), "latin1")) + (word.length > idLengthMax ? "…" : "");

function notAnId(path: string, word: string): UserError {
  return new UserError(`${files.nameOf(path)}: "${showWord(word)}" is not an id`, {
    hint: decimalsHint,
  });
}

/** Ids over which merges are learned (docs/extend.md) are an alphabet. They must be below this limit. */
export const alphabetSizeMax = 2 ** 20;

/**
 * Receives the ids of a document, in any number of calls, and then the end of the document with its kept fields
 * (`--keep-field`). The ids are valid during the call.
 */
type SequenceSink = {
  ids(ids: ArrayLike<number>, count: number): void;
  endDocument(kept?: readonly keptField.Value[]): void;
};

/** Ids, the ends of documents among them, and the kept fields of these documents, in order. */
export type IdDocuments = {
  readonly ids: Uint16Array | Uint32Array;
  readonly ends: Uint32Array;
  readonly kept: readonly keptField.Value[];
};

/** Passes the documents of a formatted file to `sink`. Yields the number of ids read so far, at intervals. */
export function* readDocuments(
  path: string,
  { format, read }: { readonly format: { readonly hasDocuments?: boolean }; read(): Iterable<IdDocuments> },
  sink: SequenceSink,
  idLimit: number,
) {
  let readCount = 0;
  // A file of a format that stores documents may contain no document.
  let isOpen = format.hasDocuments !== true;
  for (const { ids, ends, kept } of read()) {
    checkLimit(ids, path, readCount, idLimit);
    const width = ends.length === 0 ? 0 : kept.length / ends.length;
    let from = 0;
    for (const [d, end] of ends.entries()) {
      if (end > from) sink.ids(ids.subarray(from, end), end - from);
      sink.endDocument(kept.slice(d * width, (d + 1) * width));
      from = end;
    }
    if (ids.length > from) sink.ids(ids.subarray(from), ids.length - from);
    isOpen = ids.length > from || (isOpen && ends.length === 0);
    readCount += ids.length;
    yield readCount;
  }
  // Ids after the last end form one more document. Bare ids have no ends, so they are a single document.
  if (isOpen) sink.endDocument();
}

function checkLimit(ids: ReadIds, path: string, readCount: number, idLimit: number): void {
  const wrong = findOutOfRange(ids, idLimit);
  if (wrong < ids.length)
    throw outOfRange(path, `at position ${readCount + wrong}`, String(ids[wrong]), idLimit);
}

/**
 * Passes documents of ids to `sink`. A `.npy` or `.bin` file is one document. In a file with any other name, and in
 * standard input (`-`), each line of decimal numbers is a document, which may be empty. Throws an error for an id that
 * is not below `idLimit`. At intervals, yields the number of bytes read so far. For text, these are bytes after
 * decompression; for a binary file, the bytes of the ids in memory.
 */
export async function* readSequences(
  path: string,
  binaryType: BinaryType,
  sink: SequenceSink,
  idLimit = alphabetSizeMax,
) {
  if (!idWriters.isFileName(path)) return yield* readLines(path, sink, idLimit);
  let readCount = 0;
  for await (const ids of readIds(path, binaryType)) {
    checkLimit(ids, path, readCount, idLimit);
    sink.ids(ids, ids.length);
    readCount += ids.length;
    yield readCount * ids.BYTES_PER_ELEMENT;
  }
  sink.endDocument();
}

/**
 * Returns the position of the first number outside [0, idLimit); the length if there is none. `findIndex` would take
 * ten times as long.
 */
function findOutOfRange(ids: ReadIds, idLimit: number): number {
  let pos = 0;
  while (pos < ids.length && ids[pos]! >= 0 && ids[pos]! < idLimit) pos++;
  return pos;
}

async function* readLines(path: string, sink: SequenceSink, idLimit: number) {
  const input = inputOfIds(path);
  const stream = await openTextStream(input);
  try {
    const window = new Uint8Array(windowBytes);
    const lines = new DecimalLines(path, sink, idLimit);
    for (let atByte = 0; ; ) {
      const readBytes = await stream.read(window, 0);
      if (readBytes === 0) {
        corpusInputs.checkUnchanged(input);
        return lines.end();
      }
      lines.take(window, readBytes);
      atByte += readBytes;
      yield atByte;
    }
  } finally {
    stream.close();
  }
}

/** Parses lines of numbers. They arrive in windows, which may end anywhere. */
class DecimalLines {
  private readonly found = new Uint32Array(windowBytes);
  private foundCount = 0;
  /** The value so far of the number that is being parsed; -1 between numbers. */
  private number = -1;
  private lineNumber = 1;
  private isLineStart = true;

  constructor(
    private readonly path: string,
    private readonly sink: SequenceSink,
    private readonly idLimit: number,
  ) {}

  take(bytes: Uint8Array, byteCount: number): void {
    for (let pos = 0; pos < byteCount; pos++) {
      const byte = bytes[pos]!;
      const digit = byte - ascii.zero;
      if (digit >= 0 && digit <= 9) {
        this.number = 10 * Math.max(this.number, 0) + digit;
        if (this.number >= this.idLimit) {
          const [rest] = /^\d*/.exec(
            latin1(bytes.subarray(pos + 1, Math.min(byteCount, pos + idLengthMax))),
          )!;
          throw outOfRange(this.path, `on line ${this.lineNumber}`, `${this.number}${rest}`, this.idLimit);
        }
      } else if (byte === ascii.lineFeed) {
        this.endNumber();
        this.endLine();
      } else if (byte === 0x20 || byte === 0x09 || byte === 0x0d) this.endNumber();
      else throw this.notAnId(bytes.subarray(0, byteCount), pos);
    }
    this.flush();
    this.isLineStart = bytes[byteCount - 1] === ascii.lineFeed;
  }

  /** Ends the input. The last line may lack its line feed. */
  end(): void {
    this.endNumber();
    if (!this.isLineStart) this.endLine();
  }

  private endNumber(): void {
    if (this.number < 0) return;
    this.found[this.foundCount++] = this.number;
    this.number = -1;
  }

  private endLine(): void {
    this.flush();
    this.sink.endDocument();
    this.lineNumber++;
  }

  private flush(): void {
    if (this.foundCount > 0) this.sink.ids(this.found, this.foundCount);
    this.foundCount = 0;
  }

  private notAnId(bytes: Uint8Array, pos: number): UserError {
    const [word] = /^[^\t-\r ]*/.exec(latin1(bytes.subarray(pos, pos + 40)))!;
    const place = corpusInputs.placeIn(this.path, `line ${this.lineNumber}`);
    return new UserError(`${place} has "${showWord(word)}", which is not an id`, {
      hint: "write each document on a line of its own, as decimal integers separated by spaces",
    });
  }
}

function outOfRange(path: string, place: string, id: string, idLimit: number): UserError {
  const type = path.endsWith(".bin") ? phrase`, or give the right ${asOption("dtype")}` : "";
  return new UserError(
    `${files.nameOf(path)}: the id ${place} is ${id}, but must be from 0 to ${idLimit - 1}`,
    {
      hint:
        idLimit === alphabetSizeMax
          ? phrase`number the ids from 0 without gaps${type}`
          : phrase`give the tokenizer that the ids were made with${type}`,
    },
  );
}

/**
 * Documents of ids, end to end: document d is tokens[starts[d] .. starts[d + 1]). Before ids are copied to a larger
 * array, `grow` is called with the total size of the old and the new array in bytes.
 */
export class SequenceList implements SequenceSink {
  tokens = new Uint32Array(1 << 16);
  starts: number[] = [0];
  count = 0;
  /** The largest id; -1 if there are none. */
  idMax = -1;

  constructor(private readonly grow: (byteCount: number) => void = () => {}) {}

  get documentCount(): number {
    return this.starts.length - 1;
  }

  ids(ids: ArrayLike<number>, count: number): void {
    if (this.count + count > this.tokens.length) {
      const longer = new Uint32Array(Math.max(2 * this.tokens.length, this.count + count));
      this.grow(longer.byteLength + this.tokens.byteLength);
      longer.set(this.tokens.subarray(0, this.count));
      this.tokens = longer;
    }
    for (let i = 0; i < count; i++) {
      const id = ids[i]!;
      this.tokens[this.count++] = id;
      if (id > this.idMax) this.idMax = id;
    }
  }

  endDocument(): void {
    this.starts.push(this.count);
  }
}
