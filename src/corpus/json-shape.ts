import { ascii, json, utf8 } from "#bytes";

/** The default name of the field with a record's text. */
export const defaultTextField = "text";

/** The number of bytes of a file that are inspected for JSON: enough for nearly every first record. */
export const jsonHeadBytesMax = 1 << 20;

/**
 * Classifies the JSON of a file whose beginning is `head`, by its first object and what directly follows: `jsonl` for
 * one object per line; `json` for an array of objects, or any other sequence of objects; `document` for any other array
 * or single object; `none` for anything else. A single object is a record (`jsonl` or `json`) if it has the text field,
 * as a string.
 */
export function jsonShapeOf(head: Uint8Array, isWhole: boolean, textField: string): JsonShape {
  const start = json.skipSpace(head, utf8.startsWithBom(head) ? 3 : 0);
  const isArray = head[start] === ascii.openBracket;
  const first = isArray ? json.skipSpace(head, start + 1) : start;
  if (head[first] !== ascii.openBrace) {
    return { kind: isArray ? "document" : "none", hasField: false, isSeveral: false };
  }
  const { end, hasLineFeed, hasField } = scanObject(head, first, textField);
  const next = end < 0 ? head.length : json.skipSpace(head, end);
  if (isArray) return { kind: "json", hasField, isSeveral: head[next] === ascii.comma };
  const isSeveral = head[next] === ascii.openBrace;
  if (end < 0) {
    // The end of the object is not in the head. If the head is the whole file, the object is incomplete. Otherwise it
    // is taken for a line if it has no line feed so far.
    const kind = isWhole ? "none" : !hasLineFeed ? "jsonl" : hasField ? "json" : "document";
    return { kind, hasField, isSeveral };
  }
  // A single object without the text field is a document.
  if (next === head.length && !hasField) return { kind: "document", hasField, isSeveral };
  const isLine = !hasLineFeed && (next === head.length || head.subarray(end, next).includes(ascii.lineFeed));
  const isJson = isSeveral || next === head.length;
  return { kind: isLine ? "jsonl" : isJson ? "json" : "none", hasField, isSeveral };
}

export type JsonShape = {
  readonly kind: "jsonl" | "json" | "document" | "none";
  readonly hasField: boolean;
  readonly isSeveral: boolean;
};

/** Whether the first byte after any byte-order mark and white space begins a JSON object or array. */
export function beginsAsJson(head: Uint8Array): boolean {
  const first = head[json.skipSpace(head, utf8.startsWithBom(head) ? 3 : 0)];
  return first === ascii.openBrace || first === ascii.openBracket;
}

/**
 * Scans the object at `start` without checking it. Returns its end (-1 if these bytes do not contain it), whether it
 * has a line feed, and whether it has the field, as a string.
 */
function scanObject(bytes: Uint8Array, start: number, field: string) {
  let depth = 0;
  let hasLineFeed = false;
  let hasField = false;
  for (let pos = start; pos < bytes.length; pos++) {
    const byte = bytes[pos]!;
    if (byte === ascii.lineFeed) hasLineFeed = true;
    else if (byte === ascii.openBrace || byte === ascii.openBracket) depth++;
    else if (byte === ascii.closeBrace || byte === ascii.closeBracket) {
      depth--;
      if (depth === 0) return { end: pos + 1, hasLineFeed, hasField };
    } else if (byte === ascii.quote) {
      const end = stringEnd(bytes, pos);
      if (end < 0) return { end: -1, hasLineFeed, hasField };
      const value = json.skipSpace(bytes, end);
      if (
        depth === 1 &&
        bytes[value] === ascii.colon &&
        bytes[json.skipSpace(bytes, value + 1)] === ascii.quote
      ) {
        hasField ||= isText(bytes.subarray(pos, end), field);
      }
      pos = end - 1;
    }
  }
  return { end: -1, hasLineFeed, hasField };
}

/** Returns the position after the closing quote of the string at `pos`; -1 if these bytes do not contain that quote. */
function stringEnd(bytes: Uint8Array, pos: number): number {
  for (let at = pos + 1; at < bytes.length; at++) {
    if (bytes[at] === ascii.backslash) at++;
    else if (bytes[at] === ascii.quote) return at + 1;
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

/**
 * Returns the format of an input's records, judged by its first bytes; undefined if it is not taken for records. A file
 * named `.json` may hold any records. In any other file, the first record must have the text field, and a second one
 * must follow.
 */
export function recordsIn(
  { bytes, isWhole }: { readonly bytes: Uint8Array; readonly isWhole: boolean },
  isNamedJson: boolean,
  textField: string,
) {
  const { kind, hasField, isSeveral } = jsonShapeOf(bytes, isWhole, textField);
  if (kind !== "jsonl" && kind !== "json") return undefined;
  return isNamedJson || (hasField && isSeveral) ? kind : undefined;
}
