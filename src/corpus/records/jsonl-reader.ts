import { isUtf8 } from "node:buffer";
import { beginsWithMark, countLineFeeds, lineFeed } from "../../bytes/ascii.ts";
import { allocateText, type Text } from "../../bytes/text.ts";
import { assert, UserError } from "../../errors.ts";
import { type ByteSource, FileSource } from "../byte-sources.ts";
import type { Input } from "../input.ts";
import type { Range } from "../range.ts";
import { RangeReader } from "../range-reader.ts";
import { TextMemory } from "../text-memory.ts";
import { type FieldName, fieldName, type LineCursor, lineCursor, lineFault, readLine } from "./json-line.ts";
import { RecordBatch } from "./record-batch.ts";

/** A window of lines and the texts made of it should fit into the processor's second cache together. */
const windowSizeBytes = 1 << 19;

/** A range that begins and ends between lines. */
export type LineRange = Range & {
  /** How many lines of the input come before the range; if it is missing they are counted in the file. */
  readonly linesBefore?: number;
};

/** How records are found: in lines (`jsonl`), or in the lines that `JsonLinesStream` makes (`json`). */
export type RecordInput = Pick<Input, "format" | "textField">;

/** Glue: bytes of a range -> lines -> texts of records. */
export class JsonlReader {
  /** Made when it is first needed: most corpora are text. */
  private window: RangeReader | undefined;
  private readonly cursor = lineCursor();

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
   * Reads the lines of a range into `batch`, as many at a time as a window holds; yields how many bytes are done after
   * each time. If the bytes are still arriving it also yields when it has read those that are there; the caller may then
   * set the end of `range` before it goes on.
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
      // The bytes that are kept are the beginning of one line.
      const keptBytes = reader.limit - end;
      reader.endByte = range.endByte;
      // The window before and after it moves, and the texts of its lines.
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
      end = atEnd ? limit : lineStart(text.bytes, keptBytes, limit);
      const validEnd = validLines(text.bytes, end);
      batch.restart(end);
      cursor.pos = reader.baseByte === 0 && beginsWithMark(text.bytes.subarray(0, limit)) ? 3 : 0;
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

/** Where the last line begins that follows a line feed in [from, limit); 0 if there is no line feed. */
function lineStart(bytes: Uint8Array, from: number, limit: number): number {
  const found = Buffer.from(bytes.buffer, from, limit - from).lastIndexOf(lineFeed);
  return found < 0 ? 0 : from + found + 1;
}

/** Appends the records of the lines up to `end`; stops at a line that is wrong. Returns how many lines were right. */
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

/** Where the first line that is not valid UTF-8 begins; `end` if all are valid. */
function validLines(bytes: Uint8Array, end: number): number {
  if (isUtf8(bytes.subarray(0, end))) return end;
  for (let start = 0; ; ) {
    const next = bytes.indexOf(lineFeed, start) + 1;
    if (!isUtf8(bytes.subarray(start, next))) return start;
    assert(next < end, "bytes that are not UTF-8 are in one of their lines");
    start = next;
  }
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
