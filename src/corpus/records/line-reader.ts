import {
  allocateText,
  carriageReturn,
  countLineFeeds,
  lineFeed,
  space,
  type Text,
  tab,
} from "../../bytes/text.ts";
import { assert, UserError } from "../../errors.ts";
import { type Input, type Range, recordSeparator } from "../input.ts";
import { type ByteSource, FileSource, RangeReader, TextMemory } from "../range-reader.ts";
import { JsonLines } from "./json-lines.ts";
import { type LinesRead, RecordBatch, type RecordLines } from "./record-batch.ts";

/** A window of lines and the texts made of it should fit into the processor's second cache together. */
const windowSizeBytes = 1 << 19;

/** A range that begins and ends between records. */
export type LineRange = Range & {
  /** How many lines of the input come before the range; if it is missing they are counted in the file. */
  readonly linesBefore?: number;
};

/** How records are found: in lines (`jsonl`, `fasta`), or in the lines that `JsonLinesStream` makes (`json`). */
export type RecordInput = Pick<Input, "format" | "textField">;

/** Glue: bytes of a range -> lines -> texts of records. */
export class LineReader {
  /** Made when it is first needed: most corpora are text. */
  private window: RangeReader | undefined;
  private lines: RecordLines = new FastaLines();

  constructor(
    private readonly windowBytes = windowSizeBytes,
    private readonly memory = new TextMemory(),
    /** The texts of the lines that were read last. */
    readonly batch = new RecordBatch(),
  ) {}

  /** How far the text has been read: the place of an error. */
  get offsetByte(): number {
    return this.window?.baseByte ?? 0;
  }

  /**
   * Reads the records of a range into `batch`, as many at a time as a window holds; yields how many bytes are done after
   * each time. If the bytes are still arriving it also yields when it has read those that are there; the caller may then
   * set the end of `range` before it goes on.
   */
  *read(source: ByteSource, range: LineRange, input: RecordInput): Generator<number, void> {
    const { format, textField } = input;
    const lines = format === "fasta" ? new FastaLines() : new JsonLines(textField);
    this.lines = lines;
    this.window ??= new RangeReader(this.windowBytes, allocateText, (keptBytes, place) =>
      recordTooLong(keptBytes, place, this.lines),
    );
    const { window: reader, batch } = this;
    const separator = recordSeparator(format);
    const nameOf = (number: number) => `${format === "json" ? "record" : "line"} ${number}`;
    let lineCount = 0;
    reader.open(source, range.startByte, range.endByte);
    for (let end = 0; ; ) {
      // The bytes that are kept are the beginning of one record.
      const keptBytes = reader.limit - end;
      reader.endByte = range.endByte;
      // The window before and after it moves, and the texts of its records.
      const wantedBytes = reader.bytesAfter(end);
      const neededBytes = (wantedBytes > reader.text.bytes.length ? 2.5 : 2) * wantedBytes;
      const nameLine = () => `"${source.path}" ${nameOf(linesBefore(source, range) + lineCount + 1)}`;
      if (this.memory.claim(neededBytes, nameLine)) {
        batch.restart(0);
        yield reader.baseByte + end - range.startByte;
      }
      reader.advance(end);
      const { text, limit, atEnd } = reader;
      // The last line of a file may lack its line feed. The bytes after `limit` are not text.
      if (atEnd && text.bytes[limit - 1] !== lineFeed) text.bytes[limit] = lineFeed;
      end = atEnd ? limit : recordStart(text.bytes, keptBytes, limit, separator);
      batch.restart(end);
      const pos = reader.baseByte === 0 ? lines.firstPos(text.bytes.subarray(0, limit)) : 0;
      const found = lines.read(text, pos, end, batch);
      lineCount += found.lineCount;
      if (found.fault !== undefined) {
        const { what, hint } = found.fault;
        throw new UserError(`${nameLine()}: ${what}`, hint === undefined ? {} : { hint });
      }
      yield reader.baseByte + end - range.startByte;
      if (atEnd) return;
    }
  }
}

/** Where the last record begins that the bytes show, of which the first `knownBytes` show none; 0 if there is none. */
function recordStart(bytes: Uint8Array, knownBytes: number, limit: number, separator: Uint8Array): number {
  const from = Math.max(0, knownBytes - separator.length + 1);
  const found = Buffer.from(bytes.buffer, from, limit - from).lastIndexOf(separator);
  return found < 0 ? 0 : from + found + 1;
}

/** How many lines of the input come before the range. */
function linesBefore(source: ByteSource, range: LineRange): number {
  if (range.linesBefore !== undefined) return range.linesBefore;
  assert(source instanceof FileSource, "an input that is read only once comes with its line numbers");
  const window = new Uint8Array(1 << 20);
  let count = 0;
  for (let offset = 0; offset < range.startByte; ) {
    const wantedBytes = Math.min(window.length, range.startByte - offset);
    const readBytes = source.read(window, 0, wantedBytes, offset);
    count += countLineFeeds(window.subarray(0, readBytes));
    offset += readBytes;
  }
  return count;
}

function recordTooLong(keptBytes: number, place: string, { tooLongHint }: RecordLines): UserError {
  return new UserError(`a record is longer than ${keptBytes} bytes ${place}`, { hint: tooLongHint });
}

const headerMark = 0x3e; // >
const commentMark = 0x3b; // ;

/** What is done with a byte of a sequence: letters and signs stay, blanks go, anything else is no sequence. */
const isKept = new Uint8Array(256).fill(1, 0x21, 0x7f);
const isBlank = new Uint8Array(256);
for (const blank of [space, tab, carriageReturn]) isBlank[blank] = 1;

/**
 * FASTA: a line that begins with `>` opens a record and names it; the lines up to the next one are its sequence. The text
 * of the record is the sequence alone, without line ends and blanks, in the case in which it is written.
 */
class FastaLines implements RecordLines {
  readonly tooLongHint = "split the sequence into shorter records";

  firstPos(): number {
    return 0;
  }

  read({ bytes }: Text, start: number, end: number, batch: RecordBatch): LinesRead {
    let lineCount = 0;
    let isOpen = false;
    let outPos = batch.byteCount;
    for (let pos = start; pos < end; lineCount++) {
      const first = bytes[pos]!;
      if (first === headerMark) {
        if (isOpen) batch.endRecord(outPos);
        isOpen = true;
        pos = bytes.indexOf(lineFeed, pos) + 1;
        continue;
      }
      const lineStart = pos;
      const out = batch.text.bytes;
      let byte = first;
      for (; byte !== lineFeed; byte = bytes[++pos]!) {
        if (isKept[byte] === 1) out[outPos++] = byte;
        else if (isBlank[byte] === 0) return { lineCount, fault: faultOf(byte) };
      }
      pos++;
      const fault =
        first === commentMark ? comment : isOpen || isBlankLine(bytes, lineStart) ? undefined : noHeader;
      if (fault !== undefined) return { lineCount, fault };
    }
    if (isOpen) batch.endRecord(outPos);
    return { lineCount };
  }
}

function isBlankLine(bytes: Uint8Array, start: number): boolean {
  let pos = start;
  while (isBlank[bytes[pos]!] === 1) pos++;
  return bytes[pos] === lineFeed;
}

const faultOf = (byte: number) => ({
  what: `byte 0x${byte.toString(16).padStart(2, "0")} is no letter of a sequence`,
  hint: "a sequence of FASTA is ASCII; text is read without --input-format fasta",
});

const noHeader = {
  what: "a sequence without a header: a record of FASTA begins with a line >NAME",
  hint: "text is read without --input-format fasta",
};

const comment = {
  what: "a comment of old FASTA (;), which is no sequence",
  hint: "remove such lines, e.g. with grep -v '^;'",
};
