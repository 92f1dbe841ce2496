// ASCII characters as bytes, for code that reads or writes lines, JSON and numbers byte by byte.

export const tab = 0x09;
export const lineFeed = 0x0a;
export const carriageReturn = 0x0d;
export const space = 0x20;
export const quote = 0x22;
export const comma = 0x2c;
export const minus = 0x2d;
export const dot = 0x2e;
export const zero = 0x30;
export const colon = 0x3a;
export const openBracket = 0x5b;
export const backslash = 0x5c;
export const closeBracket = 0x5d;
export const openBrace = 0x7b;
export const closeBrace = 0x7d;

/** JSON's white space. */
export const isSpace = (byte: number | undefined) =>
  byte === space || byte === lineFeed || byte === carriageReturn || byte === tab;

/** The first position from `pos` on that holds no white space; the length if there is none. */
export function skipSpace(bytes: Uint8Array, pos: number): number {
  let at = pos;
  while (isSpace(bytes[at])) at++;
  return at;
}

/** How many line feeds there are among the bytes. */
export function countLineFeeds(bytes: Uint8Array): number {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  let count = 0;
  for (let pos = buffer.indexOf(lineFeed); pos >= 0; pos = buffer.indexOf(lineFeed, pos + 1)) count++;
  return count;
}

/** Whether the bytes begin with UTF-8's byte-order mark, three bytes long. */
export const beginsWithMark = (bytes: Uint8Array) =>
  bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;

/** Writes a whole number from 0 to 2^53 in decimal at `pos`; returns where it ends. */
export function putDecimal(number: number, into: Uint8Array, pos: number): number {
  let digitCount = 1;
  for (let limit = 10; limit <= number; limit *= 10) digitCount++;
  let rest = number;
  for (let at = pos + digitCount - 1; at >= pos; at--) {
    const tenth = Math.floor(rest / 10);
    // Subtle: the parentheses keep the sum below 2^53.
    into[at] = zero + (rest - 10 * tenth);
    rest = tenth;
  }
  return pos + digitCount;
}

/** How many digits a number up to 2^53 has at most. */
export const decimalDigitsMax = 16;
