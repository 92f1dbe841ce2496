import { lineFeed, zero } from "../../bytes/text.ts";
import { inspectInput } from "../../corpus/inspect-input.ts";
import { checkUnchanged } from "../../corpus/open-input.ts";
import { openTextStream } from "../../corpus/text-stream.ts";
import { UserError } from "../../errors.ts";
import { type BinaryType, readIds } from "../id-files/id-reader.ts";

/** Ids of an alphabet are below this. */
export const alphabetSizeMax = 2 ** 20;

/** Takes the next ids of a document, valid during the call; then that it ends. */
export type SequenceSink = {
  ids(ids: ArrayLike<number>, count: number): void;
  endDocument(): void;
};

/**
 * Reads documents of ids: a file `.npy` or `.bin` is one document; under any other name each line is one, of decimal numbers
 * with white space between them; `-` is standard input. Without ids it is an empty document. An id that is not below
 * `idLimit` is an error. Yields the bytes or ids read so far, now and then.
 */
export async function* readSequences(
  path: string,
  binaryType: BinaryType,
  sink: SequenceSink,
  idLimit = alphabetSizeMax,
) {
  if (!/\.(npy|bin)$/.test(path)) return yield* readLines(path, sink, idLimit);
  let readCount = 0;
  for await (const ids of readIds(path, binaryType)) {
    const wrong = ids.findIndex((id) => !(id >= 0 && id < idLimit));
    if (wrong >= 0) throw outOfRange(path, `position ${readCount + wrong}`, String(ids[wrong]), idLimit);
    sink.ids(ids, ids.length);
    readCount += ids.length;
    yield readCount * ids.BYTES_PER_ELEMENT;
  }
  sink.endDocument();
}

const windowBytes = 1 << 20;

async function* readLines(path: string, sink: SequenceSink, idLimit: number) {
  const input = inspectInput(path, { format: "text" });
  const stream = await openTextStream(input);
  try {
    const window = new Uint8Array(windowBytes);
    const lines = new DecimalLines(path, sink, idLimit);
    for (let atByte = 0; ; ) {
      const readBytes = await stream.read(window, 0);
      if (readBytes === 0) {
        checkUnchanged(input);
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

/** Numbers of lines, which come in windows. */
class DecimalLines {
  private readonly found = new Uint32Array(windowBytes);
  private foundCount = 0;
  /** The number that is being read; -1 between two. */
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
      const digit = byte - zero;
      if (digit >= 0 && digit <= 9) {
        this.number = 10 * Math.max(this.number, 0) + digit;
        if (this.number >= this.idLimit) {
          throw outOfRange(this.path, this.line, `${this.number}…`, this.idLimit);
        }
      } else if (byte === lineFeed) {
        this.endNumber();
        this.endLine();
      } else if (byte === 0x20 || byte === 0x09 || byte === 0x0d) this.endNumber();
      else throw this.notAnId(bytes, pos);
    }
    this.flush();
    this.isLineStart = bytes[byteCount - 1] === lineFeed;
  }

  /** The last line need not end with a line feed. */
  end(): void {
    this.endNumber();
    if (!this.isLineStart) this.endLine();
  }

  private get line(): string {
    return `line ${this.lineNumber}`;
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
    const [word] = /^\S*/.exec(Buffer.from(bytes.subarray(pos, pos + 40)).toString("latin1"))!;
    return new UserError(`"${this.path}": ${this.line}: ${JSON.stringify(word)} is no id`, {
      hint: "a line is a document: whole numbers in decimal, with spaces between them",
    });
  }
}

function outOfRange(path: string, place: string, id: string, idLimit: number): UserError {
  return new UserError(`"${path}": ${place}: the id ${id} is not below ${idLimit}`, {
    hint:
      idLimit === alphabetSizeMax
        ? "number the symbols of the alphabet from 0 on"
        : "the ids are of another tokenizer",
  });
}

/**
 * Documents of ids, end to end: tokens[starts[d] .. starts[d + 1]) is document d. `grow` is told how many bytes the ids will
 * take before they do.
 */
export class SequenceList implements SequenceSink {
  tokens = new Uint32Array(1 << 16);
  starts: number[] = [0];
  count = 0;
  /** The largest id; -1 without any. */
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
