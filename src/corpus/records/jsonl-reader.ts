import { isUtf8 } from "node:buffer";
import { allocateText, type Text } from "../../bytes/text.ts";
import { assert, UserError } from "../../errors.ts";
import { type ByteSource, FileSource } from "../byte-sources.ts";
import { countLines } from "../file-cuts.ts";
import type { Input } from "../input.ts";
import type { Range } from "../range.ts";
import { RangeReader } from "../range-reader.ts";
import { TextRoom } from "../text-room.ts";
import { type FieldName, fieldName, type LineCursor, lineCursor, lineFault, readLine } from "./json-line.ts";
import { RecordBatch } from "./record-batch.ts";

/** The lines in a window and the texts made of them are gone through together: both should fit the second cache. */
const windowSizeBytes = 1 << 19;
const lineFeed = 0x0a;

/** A range that begins and ends between lines. */
export type LineRange = Range & {
  /** How many lines of the input come before it; where it is not said, the file can be asked. */
  readonly linesBefore?: number;
};

/** How records are looked for: in lines, or in what `JsonLinesStream` makes lines of. */
export type RecordInput = Pick<Input, "format" | "textField">;

/** Glue: bytes of a range -> lines -> texts of records. */
export class JsonlReader {
  /** Made when it is needed: most corpora are text. */
  private window: RangeReader | undefined;
  private readonly cursor = lineCursor();

  constructor(
    private readonly windowBytes = windowSizeBytes,
    private readonly room = new TextRoom(),
    /** The texts of the lines read last. */
    readonly batch = new RecordBatch(),
  ) {}

  /** Where in the text the work stands: the place of an error. */
  get offsetByte(): number {
    return this.window?.baseByte ?? 0;
  }

  /**
   * Reads the lines of a range into `batch`, as many at a time as a window holds; yields the bytes done after each
   * time. Where bytes are still coming it yields when it has done with them, and `range` may say where it ends before
   * it goes on.
   */
  *read(source: ByteSource, range: LineRange, input: RecordInput): Generator<number, void> {
    this.window ??= new RangeReader(this.windowBytes, allocateText, lineTooLong);
    const { window: reader, batch, cursor } = this;
    const { format, textField } = input;
    const field = fieldName(textField);
    const nameOf = (number: number) => `${format === "json" ? "record" : "line"} ${number}`;
    let lineCount = 0;
    reader.open(source, range.startByte, range.endByte);
    for (let end = 0; ; ) {
      // What was kept is the beginning of one line.
      const keptBytes = reader.limit - end;
      reader.endByte = range.endByte;
      // The window as it was and as it will be, and the texts of what is in it.
      const wantedBytes = reader.bytesAfter(end);
      const neededBytes = (wantedBytes > reader.text.bytes.length ? 2.5 : 2) * wantedBytes;
      const nameLine = () => `"${source.path}" ${nameOf(linesBefore(source, range) + lineCount + 1)}`;
      if (this.room.claim(neededBytes, nameLine)) {
        batch.restart(0);
        yield reader.baseByte + end - range.startByte;
      }
      reader.advance(end);
      const { text, limit, atEnd } = reader;
      // The last line of a file may lack its line feed: what stands behind `limit` is not text.
      if (atEnd && text.bytes[limit - 1] !== lineFeed) text.bytes[limit] = lineFeed;
      end = atEnd ? limit : lineStart(text.bytes, keptBytes, limit);
      const validEnd = validLines(text.bytes, end);
      batch.restart(end);
      cursor.pos = reader.baseByte === 0 && beginsWithMark(text.bytes, limit) ? 3 : 0;
      lineCount += readLines(text, validEnd, field, batch, cursor);
      if (cursor.fault !== lineFault.none || validEnd < end) {
        const what = faultText(cursor.fault, textField);
        throw new UserError(`${nameLine()}: ${what}`, faultHint(cursor.fault));
      }
      yield reader.baseByte + end - range.startByte;
      if (atEnd) return;
    }
  }
}

/** Where the last line begins that begins in [from, limit), behind a line feed there; 0 if none does. */
function lineStart(bytes: Uint8Array, from: number, limit: number): number {
  const found = Buffer.from(bytes.buffer, from, limit - from).lastIndexOf(lineFeed);
  return found < 0 ? 0 : from + found + 1;
}

/** Appends the records of the lines up to `end`; returns how many lines were right, and stops at one that is not. */
function readLines(
  text: Text,
  end: number,
  field: FieldName,
  batch: RecordBatch,
  cursor: LineCursor,
): number {
  let lineCount = 0;
  cursor.fault = lineFault.none;
  while (cursor.pos < end) {
    cursor.outPos = batch.byteCount;
    readLine(text, field, batch.text, cursor);
    if (cursor.fault !== lineFault.none) break;
    if (!cursor.isBlank) batch.endRecord(cursor.outPos);
    lineCount++;
  }
  return lineCount;
}

/** Where the first line begins that is not valid UTF-8, or `end`. */
function validLines(bytes: Uint8Array, end: number): number {
  if (isUtf8(bytes.subarray(0, end))) return end;
  for (let start = 0; ; ) {
    const next = bytes.indexOf(lineFeed, start) + 1;
    if (!isUtf8(bytes.subarray(start, next))) return start;
    assert(next < end, "bytes that are not UTF-8 stand in one of their lines");
    start = next;
  }
}

const beginsWithMark = (bytes: Uint8Array, limit: number) =>
  limit >= 3 && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;

function linesBefore(source: ByteSource, range: LineRange): number {
  if (range.linesBefore !== undefined) return range.linesBefore;
  assert(source instanceof FileSource, "what is read only once comes with its line number");
  return countLines(source, range.startByte);
}

function faultText(fault: number, textField: string): string {
  switch (fault) {
    case lineFault.notJson:
      return "not valid JSON";
    case lineFault.notObject:
      return "not a JSON object";
    case lineFault.fieldMissing:
      return `no field "${textField}"`;
    case lineFault.fieldNotString:
      return `the field "${textField}" is not a string`;
    case lineFault.loneSurrogate:
      return `the field "${textField}" has half a surrogate pair (\\ud800 to \\udfff), which is no character`;
    default:
      return "not valid UTF-8";
  }
}

function faultHint(fault: number): { hint?: string } {
  if (fault === lineFault.fieldMissing)
    return {
      hint: "--text-field names the field that holds the text; --input-format text reads JSON as text",
    };
  if (fault !== lineFault.notJson && fault !== lineFault.notObject) return {};
  return { hint: "each line has to be a JSON object of its own; plain text is --input-format text" };
}

function lineTooLong(keptBytes: number, place: string): UserError {
  return new UserError(`a line is longer than ${keptBytes} bytes ${place}`, {
    hint: "each line has to be a JSON object of its own",
  });
}
