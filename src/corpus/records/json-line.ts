import type { Text } from "../../bytes/text.ts";

/**
 * Reads one line of JSON: checks all of it, as JSON.parse would, and unescapes the text of one top-level field, without
 * making a string of anything. Everything here stops at a line feed, which no JSON text has inside a token, so nothing
 * looks for the end of what it is given: a line feed must stand there.
 */

/** What can be wrong with a line; `none` is nothing. */
export const lineFault = {
  none: 0,
  /** Not JSON, or an escape in the text that is no character (half a surrogate pair). */
  notJson: 1,
  notObject: 2,
  fieldMissing: 3,
  fieldNotString: 4,
  loneSurrogate: 5,
} as const;

export type LineCursor = {
  /** Where the next line begins. */
  pos: number;
  /** Where the text that was unescaped ends; `fieldMissing` and a blank line leave it. */
  outPos: number;
  fault: number;
  /** Nothing but white space. */
  isBlank: boolean;
  /** What is open around the value at hand, outermost first: `{` or `[`. */
  nesting: Uint8Array;
};

export const lineCursor = (): LineCursor => ({
  pos: 0,
  outPos: 0,
  fault: lineFault.none,
  isBlank: false,
  nesting: new Uint8Array(64),
});

/** A top-level field as it is looked for: its name, and the bytes it mostly has in JSON, quotes included. */
export type FieldName = { readonly name: string; readonly quoted: Uint8Array };

export const fieldName = (name: string): FieldName => ({
  name,
  quoted: new TextEncoder().encode(JSON.stringify(name)),
});

const tab = 0x09;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const space = 0x20;
const quote = 0x22;
const comma = 0x2c;
const minus = 0x2d;
const dot = 0x2e;
const colon = 0x3a;
const openBracket = 0x5b;
const backslash = 0x5c;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/** For the letter behind a backslash the byte it stands for; 0: none (`u` has its own way). */
const escapes = new Uint8Array(256);
for (const [letter, byte] of Object.entries({ b: 8, t: tab, n: lineFeed, f: 12, r: carriageReturn })) {
  escapes[letter.charCodeAt(0)] = byte;
}
for (const itself of '"\\/') escapes[itself.charCodeAt(0)] = itself.charCodeAt(0);

/** Values of hexadecimal digits; -1: none. */
const digits = new Int8Array(256).fill(-1);
for (let value = 0; value < 16; value++) {
  const digit = value.toString(16);
  digits[digit.charCodeAt(0)] = value;
  digits[digit.toUpperCase().charCodeAt(0)] = value;
}

/**
 * Reads the line at `cursor.pos` and writes the field's text to `out` from `cursor.outPos` on, with no more bytes than
 * the line has, and three of padding. Of a field that is there twice the last counts. Moves the cursor behind the line,
 * or says in `fault` what is wrong.
 */
export function readLine(text: Text, field: FieldName, out: Text, cursor: LineCursor): void {
  const { bytes } = text;
  const outStart = cursor.outPos;
  cursor.isBlank = false;
  cursor.fault = lineFault.fieldMissing;
  let pos = skipSpace(bytes, cursor.pos);
  if (bytes[pos] === lineFeed) {
    cursor.isBlank = true;
    cursor.fault = lineFault.none;
    cursor.pos = pos + 1;
    return;
  }
  if (bytes[pos] !== openBrace) {
    pos = skipSpace(bytes, skipValue(text, pos, cursor));
    cursor.fault = bytes[pos] === lineFeed ? lineFault.notObject : lineFault.notJson;
    return;
  }
  pos = skipSpace(bytes, pos + 1);
  if (bytes[pos] === closeBrace) pos++;
  else {
    for (;;) {
      pos = skipSpace(bytes, pos);
      const keyStart = pos;
      pos = skipKey(text, pos);
      const isField = pos >= 0 && isKey(bytes, keyStart, field);
      pos = skipSpace(bytes, pos);
      if (isField) {
        if (bytes[pos] === quote) {
          cursor.outPos = outStart;
          cursor.fault = lineFault.none;
          pos = unescapeString(text, pos + 1, out, cursor);
        } else {
          cursor.fault = lineFault.fieldNotString;
          pos = skipValue(text, pos, cursor);
        }
      } else pos = skipValue(text, pos, cursor);
      pos = skipSpace(bytes, pos);
      if (bytes[pos] === comma) pos++;
      else break;
    }
    if (bytes[pos] === closeBrace) pos++;
    else pos = nowhere;
  }
  pos = skipSpace(bytes, pos);
  if (bytes[pos] === lineFeed) cursor.pos = pos + 1;
  else cursor.fault = lineFault.notJson;
}

/** What a function answers that did not find what must stand there. Every function here passes it on. */
const nowhere = -1;

function skipSpace(bytes: Uint8Array, pos: number): number {
  if (pos < 0) return nowhere;
  for (let at = pos; ; at++) {
    const byte = bytes[at]!;
    if (byte !== space && byte !== tab && byte !== carriageReturn) return at;
  }
}

/** A key and its colon. */
function skipKey(text: Text, pos: number): number {
  if (text.bytes[pos] !== quote) return nowhere;
  const end = skipSpace(text.bytes, skipString(text, pos + 1));
  return text.bytes[end] === colon ? end + 1 : nowhere;
}

/** Whether the key at `pos`, known to be one, names the field. */
function isKey(bytes: Uint8Array, pos: number, { name, quoted }: FieldName): boolean {
  let same = 0;
  while (same < quoted.length && bytes[pos + same] === quoted[same]) same++;
  if (same === quoted.length) return true;
  // A key with escapes may be the name spelled differently.
  let end = pos + 1;
  for (; bytes[end] !== quote; end++) if (bytes[end] === backslash) end++;
  const key = bytes.subarray(pos, end + 1);
  return key.includes(backslash) && JSON.parse(new TextDecoder().decode(key)) === name;
}

/** Any value; what is nested is kept in an array and not on the call stack. */
function skipValue(text: Text, start: number, cursor: LineCursor): number {
  const { bytes } = text;
  let pos = start;
  let depth = 0;
  for (;;) {
    pos = skipSpace(bytes, pos);
    const first = bytes[pos];
    if (first === quote) pos = skipString(text, pos + 1);
    else if (first === openBrace || first === openBracket) {
      const inside = skipSpace(bytes, pos + 1);
      if (bytes[inside] === first + 2) pos = inside + 1;
      else {
        if (depth === cursor.nesting.length) cursor.nesting = doubled(cursor.nesting);
        cursor.nesting[depth++] = first;
        pos = first === openBrace ? skipKey(text, inside) : inside;
        if (pos < 0) return nowhere;
        continue;
      }
    } else pos = skipScalar(bytes, pos);

    // A value has ended: what is around it goes on, or ends too.
    for (;;) {
      if (pos < 0 || depth === 0) return pos;
      pos = skipSpace(bytes, pos);
      const opened = cursor.nesting[depth - 1]!;
      const next = bytes[pos++];
      if (next === comma) {
        if (opened === openBrace) pos = skipKey(text, skipSpace(bytes, pos));
        break;
      }
      if (next !== opened + 2) return nowhere;
      depth--;
    }
  }
}

function doubled(array: Uint8Array): Uint8Array {
  const longer = new Uint8Array(2 * array.length);
  longer.set(array);
  return longer;
}

const literals = ["true", "false", "null"].map((word) => new TextEncoder().encode(word));

/** `true`, `false`, `null` or a number. */
function skipScalar(bytes: Uint8Array, pos: number): number {
  if (pos < 0) return nowhere;
  for (const word of literals) {
    if (bytes[pos] !== word[0]) continue;
    for (let i = 1; i < word.length; i++) if (bytes[pos + i] !== word[i]) return nowhere;
    return pos + word.length;
  }
  const integer = bytes[pos] === minus ? pos + 1 : pos;
  let end = skipDigits(bytes, integer);
  if (end === integer || (bytes[integer] === 0x30 && end > integer + 1)) return nowhere;
  if (bytes[end] === dot) {
    const fraction = end + 1;
    end = skipDigits(bytes, fraction);
    if (end === fraction) return nowhere;
  }
  if ((bytes[end]! | 0x20) === 0x65) {
    const sign = bytes[end + 1];
    const exponent = sign === 0x2b || sign === minus ? end + 2 : end + 1;
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
 * Whether one of four bytes ends a run of characters that stand for themselves: a quote, a backslash, a control
 * character. `x - 0x01..` and not `x` has the top bit where x is 0, and `w - 0x20..` where w is below 0x20.
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

/** From behind the quote that opens a string to behind the one that closes it. */
function skipString({ bytes, view }: Text, start: number): number {
  for (let pos = start; ; ) {
    while (!hasSpecial(view.getInt32(pos, true))) pos += 4;
    let byte = bytes[pos]!;
    while (byte !== quote && byte !== backslash && byte >= space) byte = bytes[++pos]!;
    if (byte === quote) return pos + 1;
    if (byte !== backslash) return nowhere;
    if (bytes[pos + 1] === 0x75) {
      if (hexadecimal(bytes, pos + 2) < 0) return nowhere;
      pos += 6;
    } else if (escapes[bytes[pos + 1]!] !== 0) pos += 2;
    else return nowhere;
  }
}

/** As `skipString`, and writes what it says to `out` from `cursor.outPos` on. */
function unescapeString({ bytes, view }: Text, start: number, out: Text, cursor: LineCursor): number {
  let { outPos } = cursor;
  for (let pos = start; ; ) {
    for (let word = view.getInt32(pos, true); !hasSpecial(word); word = view.getInt32(pos, true)) {
      out.view.setInt32(outPos, word, true);
      pos += 4;
      outPos += 4;
    }
    let byte = bytes[pos]!;
    while (byte !== quote && byte !== backslash && byte >= space) {
      out.bytes[outPos++] = byte;
      byte = bytes[++pos]!;
    }
    if (byte === quote) {
      cursor.outPos = outPos;
      return pos + 1;
    }
    if (byte !== backslash) return nowhere;
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
      const low = bytes[pos] === backslash && bytes[pos + 1] === 0x75 ? hexadecimal(bytes, pos + 2) : 0;
      if (codePoint >= 0xdc00 || low >>> 10 !== 0x37) {
        cursor.fault = lineFault.loneSurrogate;
        continue;
      }
      codePoint = 0x10000 + ((codePoint & 0x3ff) << 10) + (low & 0x3ff);
      pos += 6;
    }
    outPos = putCharacter(out.bytes, outPos, codePoint);
  }
}

/** Four hexadecimal digits, or a negative number. */
function hexadecimal(bytes: Uint8Array, pos: number): number {
  const high = (digits[bytes[pos]!]! << 12) | (digits[bytes[pos + 1]!]! << 8);
  return high | (digits[bytes[pos + 2]!]! << 4) | digits[bytes[pos + 3]!]!;
}

function putCharacter(bytes: Uint8Array, pos: number, codePoint: number): number {
  let end = pos;
  if (codePoint < 0x80) bytes[end++] = codePoint;
  else if (codePoint < 0x800) {
    bytes[end++] = 0xc0 | (codePoint >> 6);
    bytes[end++] = 0x80 | (codePoint & 0x3f);
  } else {
    if (codePoint < 0x10000) bytes[end++] = 0xe0 | (codePoint >> 12);
    else {
      bytes[end++] = 0xf0 | (codePoint >> 18);
      bytes[end++] = 0x80 | ((codePoint >> 12) & 0x3f);
    }
    bytes[end++] = 0x80 | ((codePoint >> 6) & 0x3f);
    bytes[end++] = 0x80 | (codePoint & 0x3f);
  }
  return end;
}
