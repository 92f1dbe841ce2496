import { isUtf8 } from "node:buffer";
import { beginsWithMark, lineFeed, type Text } from "../../bytes/text.ts";
import { assert } from "../../errors.ts";
import { type FieldName, fieldName, type LineCursor, lineCursor, lineFault, readLine } from "./json-line.ts";
import type { RecordBatch } from "./record-batch.ts";
import type { LinesRead, RecordLines } from "./record-lines.ts";

/** JSON lines: each line is an object of its own, and the text of its record is one of its fields. */
export class JsonLines implements RecordLines {
  readonly tooLongHint = "each line has to be a JSON object of its own";
  private readonly cursor = lineCursor();
  private readonly field: FieldName;

  constructor(private readonly textField: string) {
    this.field = fieldName(textField);
  }

  firstPos(bytes: Uint8Array): number {
    return beginsWithMark(bytes) ? 3 : 0;
  }

  read(text: Text, pos: number, end: number, batch: RecordBatch): LinesRead {
    const { cursor } = this;
    const validEnd = validLines(text.bytes, end);
    cursor.pos = pos;
    const lineCount = readLines(text, validEnd, this.field, batch, cursor);
    if (cursor.fault === lineFault.none && validEnd === end) return { lineCount };
    return {
      lineCount,
      fault: { what: faultText(cursor.fault, this.textField), ...faultHint(cursor.fault) },
    };
  }
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
