import { isUtf8 } from "node:buffer";
import { ascii, groupDigits, grow, type Text, textBuffers, utf8 } from "#bytes";
import { asOption, assert, type Message, messages, phrase, scaled, UserError } from "#runtime";
import { type Input, placeIn, type Range, recordSeparator } from "../input.ts";
import { type ByteSource, FileSource, RangeReader, TextMemory } from "../range-reader.ts";
import * as keptField from "./kept-fields.ts";
import { RecordBatch } from "./record-batch.ts";

/** A parser of records that begin at the start of a line. */
type RecordLines = {
  /** The position of the first line: after a byte-order mark, if the format allows one. */
  firstPos(bytes: Uint8Array): number;
  /**
   * Appends the records in text[pos .. end) to the batch; stops at an invalid line. The last line must end with a line
   * feed: the last byte before `end` or, if the file lacks it, the byte at `end`.
   */
  read(text: Text, pos: number, end: number, batch: RecordBatch): LinesRead;
  readonly tooLongHint: string;
};

type LinesRead = {
  readonly lineCount: number;
  readonly fault?: { readonly what: string; readonly hint?: Message };
};

/** The size of a window: its lines and the texts made of them should fit into the L2 cache together. */
const windowSizeBytes = scaled(1 << 19, 16);

export type LineRange = Range & {
  /** The number of lines before the range. If left out, they are counted in the file. */
  readonly linesBefore?: number;
};

/** The settings of an input whose records are read as lines: `jsonl`, `fasta` or `json`. */
export type RecordInput = Pick<Input, "format" | "textField" | "keptFields">;

export class LineReader {
  /** The window for lines, created by the first `read`. */
  private window: RangeReader | undefined;
  private lines: RecordLines = new FastaLines();

  constructor(
    private readonly windowBytes = windowSizeBytes,
    private readonly memory = new TextMemory(),
    readonly batch = new RecordBatch(),
  ) {}

  /** The offset in the input at which the window begins, for errors. */
  get offsetByte(): number {
    return this.window?.baseByte ?? 0;
  }

  /**
   * Reads the records of a range into `batch`, window by window. After each window, yields how many bytes are done. It
   * also yields, with an empty batch, before it allocates much memory (`TextMemory`).
   */
  *read(source: ByteSource, range: LineRange, input: RecordInput): Generator<number, void> {
    const { format, textField, keptFields } = input;
    const unit = format === "json" ? "record" : "line";
    const lines = format === "fasta" ? new FastaLines() : new JsonLines(textField, keptFields, unit);
    this.lines = lines;
    this.window ??= new RangeReader(this.windowBytes, textBuffers.allocate, (keptBytes, place) =>
      recordTooLong(keptBytes, place, this.lines),
    );
    const { window: reader, batch } = this;
    const separator = recordSeparator(format);
    let lineCount = 0;
    reader.open(source, range.startByte, range.endByte);
    for (let end = 0; ; ) {
      // The kept bytes are the beginning of one record.
      const keptBytes = reader.limit - end;
      // While a stream is still arriving, its end is unknown. The caller sets `range.endByte` during one of the yields.
      reader.endByte = range.endByte;
      // Memory is needed for the new window and for the texts of its records. If the new window replaces the old one,
      // the old one still needs memory, too.
      const wantedBytes = reader.bytesAfter(end);
      const neededBytes = (wantedBytes > reader.text.bytes.length ? 2.5 : 2) * wantedBytes;
      const nameLine = () => placeIn(source.path, `${unit} ${linesBefore(source, range) + lineCount + 1}`);
      if (this.memory.claim(neededBytes, nameLine)) {
        batch.restart(0);
        yield reader.baseByte + end - range.startByte;
      }
      reader.advance(end);
      const { text, limit, atEnd } = reader;
      // The last line of a file may lack its line feed, so one is put after it. The bytes after `limit` are not text.
      if (atEnd && text.bytes[limit - 1] !== ascii.lineFeed) text.bytes[limit] = ascii.lineFeed;
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

/**
 * Returns the position after the first byte of the last separator before `limit`; 0 if there is none. Records before
 * that position are complete. The first `knownBytes` bytes are known to contain no separator.
 */
function recordStart(bytes: Uint8Array, knownBytes: number, limit: number, separator: Uint8Array): number {
  const from = Math.max(0, knownBytes - separator.length + 1);
  const found = Buffer.from(bytes.buffer, from, limit - from).lastIndexOf(separator);
  return found < 0 ? 0 : from + found + 1;
}

function linesBefore(source: ByteSource, range: LineRange): number {
  if (range.linesBefore !== undefined) return range.linesBefore;
  assert(source instanceof FileSource, "an input that is read only once comes with its line numbers");
  const window = new Uint8Array(1 << 20);
  let count = 0;
  for (let offset = 0; offset < range.startByte; ) {
    const wantedBytes = Math.min(window.length, range.startByte - offset);
    const readBytes = source.read(window, 0, wantedBytes, offset);
    count += ascii.countLineFeeds(window.subarray(0, readBytes));
    offset += readBytes;
  }
  return count;
}

function recordTooLong(keptBytes: number, place: string, { tooLongHint }: RecordLines): UserError {
  return new UserError(`a record ${place} is longer than ${groupDigits(keptBytes)} bytes`, {
    hint: tooLongHint,
  });
}

class JsonLines implements RecordLines {
  readonly tooLongHint: string;
  private readonly cursor: LineCursor;
  private readonly field: FieldName;

  constructor(
    private readonly textField: string,
    private readonly keptFields: readonly keptField.Field[] = [],
    private readonly unit: "line" | "record" = "line",
  ) {
    this.tooLongHint = `${unit === "line" ? "write each JSON object on a line of its own, and " : ""}split a text that is too long into several objects`;
    this.field = fieldName(textField);
    this.cursor = lineCursor(keptFields.map(({ name }) => fieldName(name)));
  }

  firstPos(bytes: Uint8Array): number {
    return utf8.startsWithBom(bytes) ? 3 : 0;
  }

  read(text: Text, pos: number, end: number, batch: RecordBatch): LinesRead {
    const { cursor } = this;
    const validEnd = validLines(text.bytes, end);
    cursor.pos = pos;
    const { lineCount, keptFault } = readLines(text, validEnd, this.field, batch, cursor, this.keptFields);
    if (keptFault !== undefined) return { lineCount, fault: keptFault };
    if (cursor.fault === lineFault.none && validEnd === end) return { lineCount };
    return {
      lineCount,
      fault: {
        what: faultText(cursor.fault, this.textField),
        ...faultHint(cursor.fault, this.unit, this.textField, () => lineBefore(text.bytes, cursor.pos)),
      },
    };
  }
}

/**
 * Appends the records of the lines up to `end`; stops at an invalid line. Returns the number of valid lines, and the
 * reason if a field cannot be kept.
 */
function readLines(
  text: Text,
  end: number,
  field: FieldName,
  batch: RecordBatch,
  cursor: LineCursor,
  keptFields: readonly keptField.Field[],
): { lineCount: number; keptFault?: LinesRead["fault"] } {
  let lineCount = 0;
  cursor.fault = lineFault.none;
  while (cursor.pos < end) {
    cursor.outPos = batch.byteCount;
    readLine(text, field, batch.text, cursor);
    if (cursor.fault !== lineFault.none) break;
    if (!cursor.isBlank) {
      batch.endRecord(cursor.outPos);
      const keptFault = keepFields(text.bytes, keptFields, cursor.keptSpans, batch);
      if (keptFault !== undefined) return { lineCount, keptFault };
    }
    lineCount++;
  }
  return { lineCount };
}

/** Appends the kept fields of a record to the batch. Returns the reason if a field cannot be kept. */
function keepFields(
  bytes: Uint8Array,
  fields: readonly keptField.Field[],
  spans: Int32Array,
  batch: RecordBatch,
): LinesRead["fault"] {
  for (const [k, field] of fields.entries()) {
    const start = spans[2 * k]!;
    if (start < 0) {
      const hint = phrase`add the field to each record, if need be with the value null, or leave it out of ${asOption("keep-field")}`;
      return { what: `no field "${field.name}"`, hint };
    }
    const value = keptField.keptValue(decoder.decode(bytes.subarray(start, spans[2 * k + 1])), field);
    if (value === undefined)
      return { what: faultText(lineFault.loneSurrogate, field.name), hint: surrogateHint };
    batch.kept.push(value);
  }
  return undefined;
}

const decoder = new TextDecoder();

/** Returns the start of the first line that is not valid UTF-8; `end` if all lines are valid. */
function validLines(bytes: Uint8Array, end: number): number {
  if (isUtf8(bytes.subarray(0, end))) return end;
  for (let start = 0; ; ) {
    const next = bytes.indexOf(ascii.lineFeed, start) + 1;
    if (!isUtf8(bytes.subarray(start, next))) return start;
    assert(next < end, "if bytes are not valid UTF-8, one of their lines is not");
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
      return `the field "${textField}" has half of a surrogate pair (\\ud800 to \\udfff), which is not a character`;
    default:
      return "not valid UTF-8";
  }
}

/** Returns the line that ends at `end`, including its line feed. */
const lineBefore = (bytes: Uint8Array, end: number) =>
  bytes.subarray(end < 2 ? 0 : bytes.lastIndexOf(ascii.lineFeed, end - 2) + 1, end);

/** Returns the hint for a fault. `line` returns the line with the fault; it is called only if the hint needs it. */
function faultHint(
  fault: number,
  unit: string,
  textField: string,
  line: () => Uint8Array,
): { hint?: Message } {
  if (fault === lineFault.fieldMissing || fault === lineFault.fieldNotString) {
    const fields = textFields(line());
    const asText = asOption("input-format", "text");
    const [named, listed] = [asOption("text-field"), `(${fields})`];
    return {
      hint:
        fields === noStrings
          ? phrase`correct or remove this record: ${noStrings}${ifText(phrase`; to read JSON as plain text, use ${asText}`)}`
          : messages.ifHas(
              "input-format",
              phrase`use ${named} to name the field that contains the text ${listed}, or correct this record${ifText(phrase`; to read JSON as plain text, use ${asText}`)}`,
              messages.ifHas(
                "ranges",
                phrase`make a new plan with bpe plan ${asOption("text-field", "NAME")}, where NAME is the field that contains the text ${listed}; or correct this record, and make a new plan`,
                phrase`correct this record: its field "${textField}" must be a string that contains the text ${listed}`,
              ),
            ),
    };
  }
  if (fault === lineFault.loneSurrogate) return { hint: surrogateHint };
  if (fault !== lineFault.notJson && fault !== lineFault.notObject)
    return { hint: "convert the file to UTF-8, e.g. with iconv" };
  return {
    hint: phrase`correct this ${unit}: it must be one JSON object${ifText(phrase`; if the file is plain text, use ${asOption("input-format", "text")}`)}`,
  };
}

/**
 * Returns a part of a hint that suggests reading the file as plain text. The part is left out if that is impossible,
 * because a plan, or an option that needs records, determines the format.
 */
const ifText = (text: Message) => messages.ifHas("input-format text", text);

const surrogateHint = "correct the record, e.g. write \\ufffd in place of the half pair";

const [namedMax, namedLineBytesMax] = [20, 1 << 24];

const noStrings = "none of its fields is a string";

/** Lists, for a message, the fields of a record that are strings. */
function textFields(line: Uint8Array): string {
  if (line.length > namedLineBytesMax) return "this record is too long to list its fields";
  const fields = Object.entries(JSON.parse(new TextDecoder().decode(line)));
  const names = fields.filter(([, value]) => typeof value === "string").map(([name]) => name);
  if (names.length === 0) return noStrings;
  const more = names.length > namedMax ? `, and ${names.length - namedMax} more` : "";
  return `fields of this record that are strings: ${names.slice(0, namedMax).join(", ")}${more}`;
}

// The functions from here to `hexadecimal` parse one line of JSON. They stop at a line feed, which no JSON token
// contains. They do not check for the end of the bytes, so a line feed must follow the last line.

export const lineFault = {
  none: 0,
  notJson: 1,
  notObject: 2,
  fieldMissing: 3,
  fieldNotString: 4,
  /** The text has an escape of a lone surrogate, which is not a character. */
  loneSurrogate: 5,
} as const;

type LineCursor = {
  pos: number;
  /** Before a line is read: where its text is to begin in `out`. Afterwards: where the text ends. */
  outPos: number;
  fault: number;
  isBlank: boolean;
  /** While a value is skipped: the open objects and arrays in it, outermost first, as `{` or `[`. */
  nesting: Uint8Array;
  /** The names of the top-level fields that are kept. */
  readonly kept: readonly FieldName[];
  /** The start and the end of the raw value of each kept field; -1 if the field is missing. */
  readonly keptSpans: Int32Array;
};

export const lineCursor = (kept: readonly FieldName[] = []): LineCursor => ({
  pos: 0,
  outPos: 0,
  fault: lineFault.none,
  isBlank: false,
  nesting: new Uint8Array(64),
  kept,
  keptSpans: new Int32Array(2 * kept.length),
});

/** The name of a top-level field, and its usual form in JSON, quotes included. */
type FieldName = { readonly name: string; readonly quoted: Uint8Array };

export const fieldName = (name: string): FieldName => ({
  name,
  quoted: new TextEncoder().encode(JSON.stringify(name)),
});

/**
 * The byte that an escape represents, by the byte after the backslash; 0 if the escape is invalid. `u` is handled
 * separately.
 */
const escapes = new Uint8Array(256);
for (const [letter, byte] of Object.entries({
  b: 8,
  t: ascii.tab,
  n: ascii.lineFeed,
  f: 12,
  r: ascii.carriageReturn,
})) {
  escapes[letter.charCodeAt(0)] = byte;
}
for (const itself of '"\\/') escapes[itself.charCodeAt(0)] = itself.charCodeAt(0);

/** The values of hexadecimal digits; -1 for other bytes. */
const digits = new Int8Array(256).fill(-1);
for (let value = 0; value < 16; value++) {
  const digit = value.toString(16);
  digits[digit.charCodeAt(0)] = value;
  digits[digit.toUpperCase().charCodeAt(0)] = value;
}

/**
 * Reads the line at `cursor.pos`, and writes the text of the field to `out` from `cursor.outPos` on. If the field
 * occurs twice, the last one counts. Sets `cursor.fault`. Moves the cursor to the next line, unless the line is not
 * valid JSON or not an object.
 */
export function readLine(text: Text, field: FieldName, out: Text, cursor: LineCursor): void {
  const { bytes } = text;
  const outStart = cursor.outPos;
  const { kept, keptSpans } = cursor;
  if (kept.length > 0) keptSpans.fill(-1);
  cursor.isBlank = false;
  cursor.fault = lineFault.fieldMissing;
  let pos = skipBlanks(bytes, cursor.pos);
  if (bytes[pos] === ascii.lineFeed) {
    cursor.isBlank = true;
    cursor.fault = lineFault.none;
    cursor.pos = pos + 1;
    return;
  }
  if (bytes[pos] !== ascii.openBrace) {
    pos = skipBlanks(bytes, skipValue(text, pos, cursor));
    cursor.fault = bytes[pos] === ascii.lineFeed ? lineFault.notObject : lineFault.notJson;
    return;
  }
  pos = skipBlanks(bytes, pos + 1);
  if (bytes[pos] === ascii.closeBrace) pos++;
  else {
    for (;;) {
      pos = skipBlanks(bytes, pos);
      const keyStart = pos;
      pos = skipKey(text, pos);
      const isField = pos >= 0 && isKey(bytes, keyStart, field);
      pos = skipBlanks(bytes, pos);
      const valueStart = pos;
      if (isField) {
        if (bytes[pos] === ascii.quote) {
          cursor.outPos = outStart;
          cursor.fault = lineFault.none;
          pos = unescapeString(text, pos + 1, out, cursor);
        } else {
          cursor.fault = lineFault.fieldNotString;
          pos = skipValue(text, pos, cursor);
        }
      } else pos = skipValue(text, pos, cursor);
      for (let k = 0; k < kept.length; k++)
        if (pos >= 0 && isKey(bytes, keyStart, kept[k]!)) keptSpans.set([valueStart, pos], 2 * k);
      pos = skipBlanks(bytes, pos);
      if (bytes[pos] === ascii.comma) pos++;
      else break;
    }
    if (bytes[pos] === ascii.closeBrace) pos++;
    else pos = nowhere;
  }
  pos = skipBlanks(bytes, pos);
  if (bytes[pos] === ascii.lineFeed) cursor.pos = pos + 1;
  else cursor.fault = lineFault.notJson;
}

/** Returned in place of a position if the line is not valid JSON. */
const nowhere = -1;

function skipBlanks(bytes: Uint8Array, pos: number): number {
  if (pos < 0) return nowhere;
  for (let at = pos; ; at++) {
    const byte = bytes[at]!;
    if (byte !== ascii.space && byte !== ascii.tab && byte !== ascii.carriageReturn) return at;
  }
}

function skipKey(text: Text, pos: number): number {
  if (text.bytes[pos] !== ascii.quote) return nowhere;
  const end = skipBlanks(text.bytes, skipString(text, pos + 1));
  return text.bytes[end] === ascii.colon ? end + 1 : nowhere;
}

/** Whether the valid key at `pos` is the name of the field. */
function isKey(bytes: Uint8Array, pos: number, { name, quoted }: FieldName): boolean {
  let same = 0;
  while (same < quoted.length && bytes[pos + same] === quoted[same]) same++;
  if (same === quoted.length) return true;
  // A key with escapes may be another spelling of the name.
  let end = pos + 1;
  for (; bytes[end] !== ascii.quote; end++) if (bytes[end] === ascii.backslash) end++;
  const key = bytes.subarray(pos, end + 1);
  return key.includes(ascii.backslash) && JSON.parse(new TextDecoder().decode(key)) === name;
}

/** Skips any value. The nesting is recorded in an array instead of the call stack. */
function skipValue(text: Text, start: number, cursor: LineCursor): number {
  const { bytes } = text;
  let pos = start;
  let depth = 0;
  for (;;) {
    pos = skipBlanks(bytes, pos);
    const first = bytes[pos];
    if (first === ascii.quote) pos = skipString(text, pos + 1);
    else if (first === ascii.openBrace || first === ascii.openBracket) {
      const inside = skipBlanks(bytes, pos + 1);
      if (bytes[inside] === first + 2) pos = inside + 1;
      else {
        if (depth === cursor.nesting.length) cursor.nesting = grow(cursor.nesting);
        cursor.nesting[depth++] = first;
        pos = first === ascii.openBrace ? skipKey(text, inside) : inside;
        if (pos < 0) return nowhere;
        continue;
      }
    } else pos = skipScalar(bytes, pos);

    // A value has ended: the object or array around it continues or ends.
    for (;;) {
      if (pos < 0 || depth === 0) return pos;
      pos = skipBlanks(bytes, pos);
      const opened = cursor.nesting[depth - 1]!;
      const next = bytes[pos++];
      if (next === ascii.comma) {
        if (opened === ascii.openBrace) pos = skipKey(text, skipBlanks(bytes, pos));
        break;
      }
      if (next !== opened + 2) return nowhere;
      depth--;
    }
  }
}

const literals = ["true", "false", "null"].map((word) => new TextEncoder().encode(word));

function skipScalar(bytes: Uint8Array, pos: number): number {
  if (pos < 0) return nowhere;
  for (const word of literals) {
    if (bytes[pos] !== word[0]) continue;
    for (let i = 1; i < word.length; i++) if (bytes[pos + i] !== word[i]) return nowhere;
    return pos + word.length;
  }
  const integer = bytes[pos] === ascii.minus ? pos + 1 : pos;
  let end = skipDigits(bytes, integer);
  if (end === integer || (bytes[integer] === 0x30 && end > integer + 1)) return nowhere;
  if (bytes[end] === ascii.dot) {
    const fraction = end + 1;
    end = skipDigits(bytes, fraction);
    if (end === fraction) return nowhere;
  }
  if ((bytes[end]! | 0x20) === 0x65) {
    const sign = bytes[end + 1];
    const exponent = sign === 0x2b || sign === ascii.minus ? end + 2 : end + 1;
    end = skipDigits(bytes, exponent);
    if (end === exponent) return nowhere;
  }
  return end;
}

function skipDigits(bytes: Uint8Array, pos: number): number {
  let end = pos;
  while (bytes[end]! >= 0x30 && bytes[end]! <= 0x39) end++;
  return end;
}

/**
 * Whether at least one of the word's four bytes is a quote, a backslash or below 0x20. A byte x is 0 if `(x - 1) & ~x`
 * has the top bit, and below 0x20 if `(x - 0x20) & ~x` has the top bit.
 */
function hasSpecial(word: number): boolean {
  const quotes = word ^ 0x22222222;
  const backslashes = word ^ 0x5c5c5c5c;
  const found =
    ((quotes - 0x01010101) & ~quotes) |
    ((backslashes - 0x01010101) & ~backslashes) |
    ((word - 0x20202020) & ~word);
  return (found & 0x80808080) !== 0;
}

/**
 * Returns the position after a string's closing quote, or `nowhere`. `start` is the position after its opening quote.
 */
function skipString({ bytes, view }: Text, start: number): number {
  for (let pos = start; ; ) {
    while (!hasSpecial(view.getInt32(pos, true))) pos += 4;
    let byte = bytes[pos]!;
    while (byte !== ascii.quote && byte !== ascii.backslash && byte >= ascii.space) byte = bytes[++pos]!;
    if (byte === ascii.quote) return pos + 1;
    if (byte !== ascii.backslash) return nowhere;
    if (bytes[pos + 1] === 0x75) {
      if (hexadecimal(bytes, pos + 2) < 0) return nowhere;
      pos += 6;
    } else if (escapes[bytes[pos + 1]!] !== 0) pos += 2;
    else return nowhere;
  }
}

/**
 * Skips a string like `skipString`, and writes its text to `out` from `cursor.outPos` on. For a lone surrogate, sets
 * `cursor.fault` and continues.
 */
function unescapeString({ bytes, view }: Text, start: number, out: Text, cursor: LineCursor): number {
  let { outPos } = cursor;
  for (let pos = start; ; ) {
    for (let word = view.getInt32(pos, true); !hasSpecial(word); word = view.getInt32(pos, true)) {
      out.view.setInt32(outPos, word, true);
      pos += 4;
      outPos += 4;
    }
    let byte = bytes[pos]!;
    while (byte !== ascii.quote && byte !== ascii.backslash && byte >= ascii.space) {
      out.bytes[outPos++] = byte;
      byte = bytes[++pos]!;
    }
    if (byte === ascii.quote) {
      cursor.outPos = outPos;
      return pos + 1;
    }
    if (byte !== ascii.backslash) return nowhere;
    const escaped = escapes[bytes[pos + 1]!]!;
    if (escaped !== 0) {
      out.bytes[outPos++] = escaped;
      pos += 2;
      continue;
    }
    if (bytes[pos + 1] !== 0x75) return nowhere;
    let codePoint = hexadecimal(bytes, pos + 2);
    if (codePoint < 0) return nowhere;
    pos += 6;
    if (codePoint >>> 11 === 0x1b) {
      const low = bytes[pos] === ascii.backslash && bytes[pos + 1] === 0x75 ? hexadecimal(bytes, pos + 2) : 0;
      if (codePoint >= 0xdc00 || low >>> 10 !== 0x37) {
        cursor.fault = lineFault.loneSurrogate;
        continue;
      }
      codePoint = 0x10000 + ((codePoint & 0x3ff) << 10) + (low & 0x3ff);
      pos += 6;
    }
    outPos = utf8.putCharacter(out.bytes, outPos, codePoint);
  }
}

function hexadecimal(bytes: Uint8Array, pos: number): number {
  const high = (digits[bytes[pos]!]! << 12) | (digits[bytes[pos + 1]!]! << 8);
  return high | (digits[bytes[pos + 2]!]! << 4) | digits[bytes[pos + 3]!]!;
}

const headerMark = 0x3e; // >
const commentMark = 0x3b; // ;

/** 1 for a byte that is part of a sequence: printable ASCII without the space. */
const isKept = new Uint8Array(256).fill(1, 0x21, 0x7f);
/** 1 for a byte that is dropped from a sequence. A byte of a sequence that is neither kept nor dropped is an error. */
const isBlank = new Uint8Array(256);
for (const blank of [ascii.space, ascii.tab, ascii.carriageReturn]) isBlank[blank] = 1;

/**
 * Parses FASTA: a line that begins with `>` starts a record, and the lines up to the next such line are its sequence. A
 * record's text is the sequence without line ends and blanks.
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
        pos = bytes.indexOf(ascii.lineFeed, pos) + 1;
        continue;
      }
      const lineStart = pos;
      const out = batch.text.bytes;
      let byte = first;
      for (; byte !== ascii.lineFeed; byte = bytes[++pos]!) {
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
  return bytes[pos] === ascii.lineFeed;
}

const orReadAsText = messages.ifHas(
  "input-format text",
  phrase`; if the file is plain text, use ${asOption("input-format", "text")}`,
  messages.ifHas(
    "ranges",
    phrase`; if the file is plain text, make a plan with ${asOption("input-format", "text")}`,
  ),
);

const faultOf = (byte: number) => ({
  what: `byte 0x${byte.toString(16).padStart(2, "0")} is not a letter of a sequence`,
  hint: phrase`correct the sequence${orReadAsText}`,
});

const noHeader = {
  what: "the sequence has no header; a FASTA record begins with a line >NAME",
  hint: phrase`write a header line before the sequence${orReadAsText}`,
};

const comment = {
  what: "a line that begins with ; is an old FASTA comment, not a sequence",
  hint: "remove such lines, e.g. with grep -v '^;'",
};
