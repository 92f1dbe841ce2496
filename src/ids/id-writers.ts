import { ascii, bytesOf, decimal } from "#bytes";
import type { keptField, tasks } from "#corpus";
import {
  asOption,
  type ByteSink,
  type Message,
  messages,
  phrase,
  scaled,
  UserError,
  usageError,
} from "#runtime";

/**
 * The size of the head of an .npy file, version 1.0. Its text, a Python dict with type and shape, is followed by
 * spaces, so that the ids begin at a multiple of 64.
 */
const headBytes = 128;
export const npyMagic = Uint8Array.of(0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59);

/** The names of the formats in id-formats.ts. */
export const formatNames = [
  "npy",
  "bin",
  "parquet",
  "megatron",
  "olmo",
  "datatrove",
  "llmc",
  "part",
] as const;

export type IdType = "uint16" | "uint32";
export const idBytes = (type: IdType) => (type === "uint16" ? 2 : 4);

/**
 * Returns the requested type. Without one, returns uint16 if every id of the vocabulary fits, whether it occurs or not,
 * and otherwise uint32.
 */
export const typeFor = ({ isNarrow }: { readonly isNarrow: boolean }, asked?: IdType): IdType =>
  asked ?? (isNarrow ? "uint16" : "uint32");

/**
 * Returns the head for `idCount` ids. Its length is constant, so it can be overwritten when the number of ids is known.
 */
export function npyHead(type: IdType, idCount: number): Uint8Array {
  const text = `{'descr': '<u${idBytes(type)}', 'fortran_order': False, 'shape': (${idCount},), }`;
  const head = new Uint8Array(headBytes).fill(0x20);
  head.set(npyMagic);
  head.set([1, 0, headBytes - 10, 0], npyMagic.length);
  new TextEncoder().encodeInto(text, head.subarray(10));
  head[headBytes - 1] = 0x0a;
  return head;
}

/** Receives ids in the order of the inputs, or of the given ranges. */
export type IdSink = {
  /**
   * Receives the next ids, which are valid during the call. For ids of records, also receives the positions in `ids`
   * where records end, and the kept fields of these records.
   */
  write(ids: Uint16Array | Uint32Array, recordEnds?: Uint32Array, kept?: readonly keptField.Value[]): void;
  /** Ends a text that is not a record, such as an input of plain text. */
  endInput(): void;
  /** Called after all ids of a task. */
  endTask?(task: tasks.Task): void;
  /**
   * Returns a promise to await before the next `write`. If it is absent or returns undefined, the caller may continue
   * at once. Errors are thrown by the next `write`.
   */
  drain?(): Promise<void> | undefined;
};

/** Writes ids in a format. `finish` must be called after the last id. */
export type IdWriter = IdSink & { finish(): void; readonly idCount: number };

/**
 * The hint for a document that is too long for a format. A command without `--document-end` reads ids, and has no text
 * that could be divided.
 */
export const shorterDocuments = messages.ifHas(
  "document-end",
  phrase`divide the text into shorter documents: write them as JSON lines, or put a special token between them and name it with ${asOption("document-end")}`,
  "encode the text of this document as several documents, or write the ids as .npy or .bin, which have no documents",
);

/** Whether a file with this name is an `.npy` or `.bin` file, whose ids are binary numbers. */
export const isFileName = (path: string) => /\.(npy|bin)$/.test(path);

/**
 * Throws a usage error if the name of an output file does not end in .npy or .bin. `shown` is the name in the message.
 */
export function checkFileName(path: string, shown: Message, hint?: Message): void {
  if (!isFileName(path)) throw usageError(phrase`${shown} ends in neither .npy nor .bin`, hint);
}

/**
 * Returns the writer for the ending of a path: .npy or .bin. For any other path, and for stdout, the ids are decimal
 * numbers.
 */
export function writerFor(path: string | undefined, type: IdType, out: ByteSink): IdWriter {
  if (path === undefined || !isFileName(path)) return new TextWriter(out);
  return path.endsWith(".npy") ? npyWriter(out, type) : new BinaryWriter(out, type);
}

/** Writes raw little-endian ids, with nothing between inputs. */
export class BinaryWriter implements IdWriter {
  idCount = 0;
  private converted: Uint16Array | Uint32Array = new Uint16Array(0);

  constructor(
    private readonly out: ByteSink,
    private readonly type: IdType,
  ) {}

  write(ids: Uint16Array | Uint32Array): void {
    const typed = this.convert(ids);
    this.out.write(bytesOf(typed));
    this.idCount += ids.length;
  }

  endInput(): void {}

  drain(): Promise<void> | undefined {
    return this.out.drain?.();
  }

  finish(): void {}

  private convert(ids: Uint16Array | Uint32Array): Uint16Array | Uint32Array {
    const width = this.type === "uint16" ? Uint16Array : Uint32Array;
    if (ids instanceof width) return ids;
    if (this.converted.length < ids.length) this.converted = new width(ids.length);
    if (this.type === "uint16") checkNarrow(ids, this.idCount);
    this.converted.set(ids);
    return this.converted.subarray(0, ids.length);
  }
}

function checkNarrow(ids: Uint16Array | Uint32Array, idsBefore: number): void {
  for (let i = 0; i < ids.length; i++) {
    if (ids[i]! > 0xffff) {
      throw new UserError(
        `the id ${ids[i]} at position ${idsBefore + i} does not fit into uint16, whose largest number is 65535`,
        {
          hint: phrase`leave out ${asOption("dtype")}`,
        },
      );
    }
  }
}

/** Writes raw ids after a head of constant length, which is overwritten when the number of ids is known. */
export class HeadedWriter extends BinaryWriter {
  constructor(
    private readonly file: ByteSink,
    type: IdType,
    private readonly headOf: (idCount: number) => Uint8Array,
  ) {
    super(file, type);
    file.write(headOf(0));
  }

  override finish(): void {
    this.file.overwrite!(this.headOf(this.idCount), 0);
  }
}

/** Returns a writer of raw ids after numpy's head. */
export const npyWriter = (out: ByteSink, type: IdType) =>
  new HeadedWriter(out, type, (idCount) => npyHead(type, idCount));

const noEnds = new Uint32Array(0);

/** The maximum number of bytes of an id as text: ten digits after a space. */
const textBytesMax = 11;

/** Writes decimal ids separated by spaces, in a line for each input, or for each record. */
export class TextWriter implements IdWriter {
  idCount = 0;
  private isLineStart = true;
  private chunk = new Uint8Array(scaled(1 << 16, 64));

  constructor(private readonly out: ByteSink) {}

  write(ids: Uint16Array | Uint32Array, recordEnds: Uint32Array = noEnds): void {
    let start = 0;
    for (const end of recordEnds) {
      this.writePart(ids.subarray(start, end));
      this.endInput();
      start = end;
    }
    if (start < ids.length) this.writePart(ids.subarray(start));
  }

  private writePart(ids: Uint16Array | Uint32Array): void {
    if (this.chunk.length < ids.length * textBytesMax) this.chunk = new Uint8Array(ids.length * textBytesMax);
    const skip = this.isLineStart && ids.length > 0 ? 1 : 0;
    const length = writeDecimals(ids, this.chunk);
    this.out.write(this.chunk.subarray(skip, length));
    if (ids.length > 0) this.isLineStart = false;
    this.idCount += ids.length;
  }

  endInput(): void {
    this.out.write(Uint8Array.of(ascii.lineFeed));
    this.isLineStart = true;
  }

  drain(): Promise<void> | undefined {
    return this.out.drain?.();
  }

  finish(): void {}
}

/** Writes a space and the digits of each id. Returns the number of bytes written. */
function writeDecimals(ids: Uint16Array | Uint32Array, out: Uint8Array): number {
  let pos = 0;
  for (let i = 0; i < ids.length; i++) {
    out[pos] = ascii.space;
    pos = decimal.put(ids[i]!, out, pos + 1);
  }
  return pos;
}

/** Returns the position after each occurrence of an id. */
export function endsAfter(ids: Uint16Array | Uint32Array, id: number | undefined): Uint32Array {
  const ends: number[] = [];
  if (id === undefined) return Uint32Array.from(ends);
  for (let at = ids.indexOf(id); at >= 0; at = ids.indexOf(id, at + 1)) ends.push(at + 1);
  return Uint32Array.from(ends);
}

/** Returns a sink that appends an id to each input, or to each record. */
export function appendToDocuments(writer: IdSink, id: number): IdSink {
  const ids = Uint32Array.of(id);
  return {
    write(written, recordEnds, kept) {
      if (recordEnds === undefined) writer.write(written);
      else
        writer.write(
          insertAtEnds(written, recordEnds, id),
          recordEnds.map((end, r) => end + r + 1),
          kept,
        );
    },
    endInput() {
      writer.write(ids);
      writer.endInput();
    },
    endTask: (task) => writer.endTask?.(task),
    drain: () => writer.drain?.(),
  };
}

function insertAtEnds(ids: Uint16Array | Uint32Array, recordEnds: Uint32Array, id: number): typeof ids {
  if (recordEnds.length === 0) return ids;
  const longer = new (ids instanceof Uint16Array ? Uint16Array : Uint32Array)(ids.length + recordEnds.length);
  let start = 0;
  for (const [r, end] of recordEnds.entries()) {
    longer.set(ids.subarray(start, end), start + r);
    longer[end + r] = id;
    start = end;
  }
  longer.set(ids.subarray(start), start + recordEnds.length);
  return longer;
}
