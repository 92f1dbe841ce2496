/**
 * How JSON stands in a file whose beginning is `head`: `jsonl` for lines of objects; `json` for an array of objects, or
 * objects one behind the other that go over several lines; `document` for any other JSON; `none` if it is none.
 *
 * An object alone is a record if it has the field that is asked for, as a string, and else a document.
 */
export function jsonShapeOf(head: Uint8Array, isWhole: boolean, textField: string): JsonShape {
  const start = skipSpace(head, beginsWithMark(head) ? 3 : 0);
  const isArray = head[start] === openBracket;
  const first = isArray ? skipSpace(head, start + 1) : start;
  if (head[first] !== openBrace) {
    return { kind: isArray ? "document" : "none", hasField: false, isSeveral: false };
  }
  const { end, hasLineFeed, hasField } = scanObject(head, first, textField);
  const next = end < 0 ? head.length : skipSpace(head, end);
  if (isArray) return { kind: "json", hasField, isSeveral: head[next] === comma };
  const isSeveral = head[next] === openBrace;
  if (end < 0) {
    // It goes on behind what is seen here, if there is more.
    const kind = isWhole ? "none" : !hasLineFeed ? "jsonl" : hasField ? "json" : "document";
    return { kind, hasField, isSeveral };
  }
  if (next === head.length && !hasField) return { kind: "document", hasField, isSeveral };
  const isLine = !hasLineFeed && (next === head.length || head.subarray(end, next).includes(lineFeed));
  const isJson = isSeveral || next === head.length;
  return { kind: isLine ? "jsonl" : isJson ? "json" : "none", hasField, isSeveral };
}

export type JsonShape = {
  readonly kind: "jsonl" | "json" | "document" | "none";
  /** The first object has the field that is asked for, as a string. */
  readonly hasField: boolean;
  /** Another object follows the first one. */
  readonly isSeveral: boolean;
};

/** Its first character that is no space opens an object or an array. */
export function beginsAsJson(head: Uint8Array): boolean {
  const first = head[skipSpace(head, beginsWithMark(head) ? 3 : 0)];
  return first === openBrace || first === openBracket;
}

const beginsWithMark = (head: Uint8Array) => head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf;

const lineFeed = 0x0a;
const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const openBracket = 0x5b;
const backslash = 0x5c;
const openBrace = 0x7b;

const isSpace = (byte: number | undefined) =>
  byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d;

function skipSpace(bytes: Uint8Array, pos: number): number {
  let at = pos;
  while (isSpace(bytes[at])) at++;
  return at;
}

/**
 * Goes over the object at `start`, without checking it: where it ends (-1: not in these bytes), whether a line feed
 * stands in it, and whether it has the field, as a string.
 */
function scanObject(bytes: Uint8Array, start: number, field: string) {
  let depth = 0;
  let hasLineFeed = false;
  let hasField = false;
  for (let pos = start; pos < bytes.length; pos++) {
    const byte = bytes[pos]!;
    if (byte === lineFeed) hasLineFeed = true;
    else if (byte === openBrace || byte === openBracket) depth++;
    else if (byte === openBrace + 2 || byte === openBracket + 2) {
      depth--;
      if (depth === 0) return { end: pos + 1, hasLineFeed, hasField };
    } else if (byte === quote) {
      const end = stringEnd(bytes, pos);
      if (end < 0) return { end: -1, hasLineFeed, hasField };
      const value = skipSpace(bytes, end);
      if (depth === 1 && bytes[value] === colon && bytes[skipSpace(bytes, value + 1)] === quote) {
        hasField ||= isText(bytes.subarray(pos, end), field);
      }
      pos = end - 1;
    }
  }
  return { end: -1, hasLineFeed, hasField };
}

/** Behind the quote that closes the string at `pos`; -1 if it is not in these bytes. */
function stringEnd(bytes: Uint8Array, pos: number): number {
  for (let at = pos + 1; at < bytes.length; at++) {
    if (bytes[at] === backslash) at++;
    else if (bytes[at] === quote) return at + 1;
  }
  return -1;
}

function isText(json: Uint8Array, text: string): boolean {
  try {
    return JSON.parse(new TextDecoder().decode(json)) === text;
  } catch {
    return false;
  }
}
