import {
  backslash,
  carriageReturn,
  closeBrace,
  closeBracket,
  colon,
  comma,
  lineFeed,
  openBrace,
  openBracket,
  quote,
  space,
  tab,
} from "./text.ts";

// Finds values in the bytes of a JSON text by their positions. The values are not checked: the caller parses those it
// needs.

/** Returned in place of a position if the JSON is not valid. */
export const invalidJson = -1;

/** Whether a byte is JSON's whitespace. */
export const isSpace = (byte: number) =>
  byte === space || byte === lineFeed || byte === carriageReturn || byte === tab;

/** Returns the first position from `pos` on that is not whitespace; the length if there is none. */
export function skipSpace(json: Uint8Array, pos: number): number {
  for (; pos < json.length; pos++) if (!isSpace(json[pos]!)) break;
  return pos;
}

/**
 * Returns the end of the value at `pos`, or `invalidJson`. A number, true, false or null must be followed by another
 * byte.
 */
export function skipValue(json: Uint8Array, pos: number): number {
  let depth = 0;
  while (pos < json.length) {
    const byte = json[pos]!;
    if (byte === quote) {
      for (pos++; pos < json.length && json[pos] !== quote; pos++) if (json[pos] === backslash) pos++;
    } else if (byte === openBrace || byte === openBracket) depth++;
    else if (byte === closeBrace || byte === closeBracket) {
      if (depth === 0) return pos;
      depth--;
    } else if (depth === 0 && (byte === comma || isSpace(byte))) return pos;
    pos++;
    if (depth === 0 && (byte === quote || byte === closeBrace || byte === closeBracket)) return pos;
  }
  return invalidJson;
}

/**
 * Calls `member` for each member of the object or array at `pos`, with the key or index, the position of its value, and
 * the bounds of the key. `member` returns the end of the value. Returns the end of the object or array, or
 * `invalidJson`. Throws a SyntaxError for a key that is not a JSON string.
 */
export function walkMembers(
  json: Uint8Array,
  pos: number,
  member: (key: string | number, pos: number, keyStart: number, keyEnd: number) => number,
): number {
  const isObject = json[pos] === openBrace;
  if (!isObject && json[pos] !== openBracket) return invalidJson;
  const close = isObject ? closeBrace : closeBracket;
  pos = skipSpace(json, pos + 1);
  if (json[pos] === close) return pos + 1;
  for (let index = 0; ; index++) {
    let key: string | number = index;
    const keyStart = pos;
    let keyEnd = pos;
    if (isObject) {
      if (json[pos] !== quote) return invalidJson;
      keyEnd = skipValue(json, pos);
      if (keyEnd === invalidJson) return invalidJson;
      key = JSON.parse(decodeText(json, pos, keyEnd)) as string;
      pos = skipSpace(json, keyEnd);
      if (json[pos] !== colon) return invalidJson;
      pos = skipSpace(json, pos + 1);
    }
    pos = member(key, pos, keyStart, keyEnd);
    if (pos === invalidJson) return invalidJson;
    pos = skipSpace(json, pos);
    if (json[pos] === close) return pos + 1;
    if (json[pos] !== comma) return invalidJson;
    pos = skipSpace(json, pos + 1);
  }
}

/** Decodes bytes [start, end) as UTF-8. */
export const decodeText = (json: Uint8Array, start: number, end?: number): string =>
  Buffer.from(json.subarray(start, end)).toString("utf8");
