/**
 * Places in a JSON text: where a value begins and ends, and how the file is laid out there. So rows can be put into a file
 * that stays as it is otherwise. The text is valid JSON: it was parsed before.
 */
export type Span = { readonly start: number; readonly end: number };

/** Where the value of `keys`, one in the other, stands; undefined if there is none. Of a key that is there twice the last counts. */
export function spanOf(json: string, keys: readonly string[]): Span | undefined {
  let pos = skipSpace(json, 0);
  for (const key of keys) {
    const found = json[pos] === "{" ? valueAt(json, pos, key) : undefined;
    if (found === undefined) return undefined;
    pos = found;
  }
  return { start: pos, end: valueEnd(json, pos) };
}

/** Where the value of a key begins in the object at `pos`. */
function valueAt(json: string, object: number, key: string): number | undefined {
  let found: number | undefined;
  let pos = skipSpace(json, object + 1);
  while (json[pos] !== "}") {
    const keyEnd = skipString(json, pos);
    const value = skipSpace(json, skipSpace(json, keyEnd) + 1);
    if (JSON.parse(json.slice(pos, keyEnd)) === key) found = value;
    pos = skipSpace(json, valueEnd(json, value));
    if (json[pos] === ",") pos = skipSpace(json, pos + 1);
  }
  return found;
}

function skipSpace(json: string, from: number): number {
  let pos = from;
  while (isSpace(json.charCodeAt(pos))) pos++;
  return pos;
}

const isSpace = (code: number) => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;

/** Behind the string that begins at `from`. */
function skipString(json: string, from: number): number {
  for (let pos = from + 1; ; pos++) {
    const code = json.charCodeAt(pos);
    if (code === quote) return pos + 1;
    if (code === backslash) pos++;
  }
}

const quote = 0x22;
const backslash = 0x5c;

/** Behind the value that begins at `from`. */
export function valueEnd(json: string, from: number): number {
  let depth = 0;
  for (let pos = from; ; ) {
    const code = json.charCodeAt(pos);
    if (code === quote) pos = skipString(json, pos);
    else if (code === openBrace || code === openBracket) {
      depth++;
      pos++;
    } else if (code === closeBrace || code === closeBracket) {
      depth--;
      pos++;
    } else if (depth === 0) return skipScalar(json, pos);
    else pos++;
    if (depth === 0) return pos;
  }
}

const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;

/** Behind a number, `true`, `false` or `null`. */
function skipScalar(json: string, from: number): number {
  let pos = from;
  while (pos < json.length && !",]}".includes(json[pos]!) && !isSpace(json.charCodeAt(pos))) pos++;
  return pos;
}

/** White space before the first element of an object or array, and before its end. */
export function layoutOf(
  json: string,
  { start, end }: Span,
): { readonly before: string; readonly atEnd: string } {
  const first = skipSpace(json, start + 1);
  let last = end - 1;
  while (isSpace(json.charCodeAt(last - 1))) last--;
  return { before: json.slice(start + 1, first), atEnd: json.slice(Math.max(last, first), end - 1) };
}

/** White space between a key's colon and its value, in the object at `start`; that of most files if it is empty. */
export function afterColon(json: string, { start }: Span): string {
  const key = skipSpace(json, start + 1);
  if (json[key] !== '"') return " ";
  const colon = skipSpace(json, skipString(json, key));
  return json.slice(colon + 1, skipSpace(json, colon + 1));
}
