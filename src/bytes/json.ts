import { UserError } from "#runtime";
import * as ascii from "./ascii.ts";
import { isInvisible } from "./escape.ts";
import * as utf8 from "./utf8-characters.ts";
import { showValue } from "./values.ts";

// Parses JSON, or finds where values begin and end in its bytes. A value that is only found is not checked: a caller
// that needs it has to parse it.

/** A JSON object whose members have not been checked. */
export type JsonObject = { readonly [name: string]: unknown };

/** Returned in place of a position if the JSON is not valid. */
export const invalid = -1;

/** Whether a byte is JSON's whitespace. */
export const isSpace = (byte: number) =>
  byte === ascii.space || byte === ascii.lineFeed || byte === ascii.carriageReturn || byte === ascii.tab;

/** Returns the first position from `pos` on that is not whitespace; the length if there is none. */
export function skipSpace(json: Uint8Array, pos: number): number {
  for (; pos < json.length; pos++) if (!isSpace(json[pos]!)) break;
  return pos;
}

/**
 * Returns the end of the value at `pos`. If the bytes do not contain that end, returns `invalid` or a position beyond
 * the bytes. The end of a number, true, false or null is recognized only by the byte that follows it.
 */
export function skipValue(json: Uint8Array, pos: number): number {
  let depth = 0;
  while (pos < json.length) {
    const byte = json[pos]!;
    if (byte === ascii.quote) {
      for (pos++; pos < json.length && json[pos] !== ascii.quote; pos++)
        if (json[pos] === ascii.backslash) pos++;
    } else if (byte === ascii.openBrace || byte === ascii.openBracket) depth++;
    else if (byte === ascii.closeBrace || byte === ascii.closeBracket) {
      if (depth === 0) return pos;
      depth--;
    } else if (depth === 0 && (byte === ascii.comma || isSpace(byte))) return pos;
    pos++;
    if (depth === 0 && (byte === ascii.quote || byte === ascii.closeBrace || byte === ascii.closeBracket))
      return pos;
  }
  return invalid;
}

/**
 * Calls `member` for each member of the object or array at `pos`, with its key or index, the position of its value, and
 * the bounds of the key. `member` returns the end of the value, or `invalid`. Returns the end of the object or array,
 * or `invalid`. Throws a SyntaxError for a key in quotes that is not a valid JSON string.
 */
export function walkMembers(
  json: Uint8Array,
  pos: number,
  member: (key: string | number, pos: number, keyStart: number, keyEnd: number) => number,
): number {
  const isObject = json[pos] === ascii.openBrace;
  if (!isObject && json[pos] !== ascii.openBracket) return invalid;
  const close = isObject ? ascii.closeBrace : ascii.closeBracket;
  pos = skipSpace(json, pos + 1);
  if (json[pos] === close) return pos + 1;
  for (let index = 0; ; index++) {
    let key: string | number = index;
    const keyStart = pos;
    let keyEnd = pos;
    if (isObject) {
      if (json[pos] !== ascii.quote) return invalid;
      keyEnd = skipValue(json, pos);
      if (keyEnd === invalid) return invalid;
      key = JSON.parse(utf8.decode(json, pos, keyEnd)) as string;
      pos = skipSpace(json, keyEnd);
      if (json[pos] !== ascii.colon) return invalid;
      pos = skipSpace(json, pos + 1);
    }
    pos = member(key, pos, keyStart, keyEnd);
    if (pos === invalid) return invalid;
    pos = skipSpace(json, pos);
    if (json[pos] === close) return pos + 1;
    if (json[pos] !== ascii.comma) return invalid;
    pos = skipSpace(json, pos + 1);
  }
}

/**
 * The deepest nesting of lists and objects, in levels, that serde_json reads. HF reads `tokenizer.json` with that
 * library.
 */
const jsonLevelsMax = 127;

/** Whether plain data has more levels of lists and objects than `levels`. */
export const isTooDeep = (value: unknown, levels = jsonLevelsMax): boolean =>
  typeof value === "object" &&
  value !== null &&
  (levels === 0 || Object.values(value).some((inner) => isTooDeep(inner, levels - 1)));

/** Parses JSON. `path` is the file's name in messages, as in `objectAt`. */
export function parse(text: string, path: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new UserError(`"${path}" is not JSON: ${(error as Error).message}`, { hint: correctHint });
  }
  if (!isTooDeep(value)) return value;
  throw new UserError(
    `"${path}" has lists and objects nested more than ${jsonLevelsMax} levels deep, the most that can be read`,
    { hint: correctHint },
  );
}

/** The hint for a file with wrong content. */
export const correctHint = "correct the file, or copy it again";

/**
 * Returns the value as a JSON object, or throws a UserError. `what` says where in the file the value is. It is left out
 * if the value is the whole content of the file.
 */
export function objectAt(value: unknown, path: string, what?: string): Record<string, unknown> {
  if (typeof value === "object" && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  const problem = value === undefined ? "is missing" : `is ${showValue(value)}, but must be an object`;
  throw new UserError(
    what === undefined
      ? `"${path}" contains ${showValue(value)}, but must contain a JSON object`
      : `"${path}": ${what} ${problem}`,
    { hint: correctHint },
  );
}

/** JSON on one line, safe for a terminal: characters that match `isInvisible` are escaped. */
export const line = (value: unknown) =>
  JSON.stringify(value).replace(new RegExp(isInvisible, "gu"), (character) =>
    Array.from({ length: character.length }, (_, i) => escapeUnit(character.charCodeAt(i))).join(""),
  );

const escapeUnit = (unit: number) => `\\u${unit.toString(16).padStart(4, "0")}`;
