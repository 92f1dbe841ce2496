import { releaseMemory } from "#runtime";

/**
 * Text: bytes in memory, with two views of one buffer. Hot loops load several bytes at a time and may read past the end
 * of the text, so the buffer is longer than the text by `paddingBytes`. The bytes there are not text.
 *
 *   VIEW     TYPE         MEANING
 *   bytes    Uint8Array   the whole buffer
 *   view     DataView     the whole buffer, for unaligned four-byte loads
 *
 * Positions are offsets into `bytes`. A `Text` does not record how much of it is filled: functions that read it receive
 * where the valid bytes end (`limit`).
 */
export type Text = { readonly bytes: Uint8Array; readonly view: DataView };

/** The number of bytes that a loop may read past `limit`. */
export const paddingBytes = 64;

/** Allocates a text with a capacity of `capacityBytes` bytes plus padding, all zero. */
export function allocateText(capacityBytes: number): Text {
  const buffer = new ArrayBuffer(capacityBytes + paddingBytes);
  return { bytes: new Uint8Array(buffer), view: new DataView(buffer) };
}

/**
 * Returns the text if its capacity is at least `byteCount` bytes; otherwise a copy with a capacity of twice that
 * number.
 */
export function growText(text: Text, byteCount: number): Text {
  if (byteCount + paddingBytes <= text.bytes.length) return text;
  const longer = allocateText(byteCount * 2);
  longer.bytes.set(text.bytes);
  return longer;
}

/**
 * Makes a text with a capacity of `capacityBytes` bytes plus padding. It may reuse the memory of the previous text that
 * it made, which must not be used afterwards.
 */
export type TextMaker = (capacityBytes: number) => Text;

/**
 * Frees the memory of an unused array at once, because the next garbage collection may be far away. Shared and small
 * memory is left to the collector.
 */
export function releaseText({ buffer, byteLength }: Uint8Array | Int32Array): void {
  if (byteLength > releasedBytesLeast && buffer instanceof ArrayBuffer) releaseMemory(buffer);
}

const releasedBytesLeast = 1 << 18;

/** Copies bytes into a padded text: for tests, examples and small inputs. */
export function textOf(content: string | Uint8Array): Text {
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  const text = allocateText(bytes.length);
  text.bytes.set(bytes);
  return text;
}

// Reads and writes UTF-8 in byte arrays, one character at a time.

/**
 * Returns the length of the UTF-8 character at `pos` of a text that ends at `limit`. 0 if it is invalid: overlong, a
 * surrogate, too large, or truncated.
 */
export function characterLengthAt(bytes: Uint8Array, pos: number, limit: number): number {
  const lead = bytes[pos]!;
  if (lead < 0x80) return 1;
  const length = lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
  if (length === 0 || pos + length > limit) return 0;
  for (let i = 1; i < length; i++) if ((bytes[pos + i]! & 0xc0) !== 0x80) return 0;
  const second = bytes[pos + 1]!;
  if ((lead === 0xe0 && second < 0xa0) || (lead === 0xf0 && second < 0x90)) return 0; // overlong
  if ((lead === 0xed && second >= 0xa0) || (lead === 0xf4 && second >= 0x90)) return 0; // surrogate, beyond U+10FFFF
  return length;
}

/** Returns the code point of the valid character at `pos`. */
export function codePointOf(bytes: Uint8Array, pos: number): number {
  const lead = bytes[pos]!;
  if (lead < 0x80) return lead;
  const second = bytes[pos + 1]! & 63;
  if (lead < 0xe0) return ((lead & 31) << 6) | second;
  const third = bytes[pos + 2]! & 63;
  if (lead < 0xf0) return ((lead & 15) << 12) | (second << 6) | third;
  return ((lead & 7) << 18) | (second << 12) | (third << 6) | (bytes[pos + 3]! & 63);
}

/** Returns the first position in a string, at or after `position`, that does not split a surrogate pair. */
export function skipSplitPair(text: string, position: number): number {
  let end = Math.min(text.length, position);
  while (end < text.length && (text.charCodeAt(end - 1) & 0xfc00) === 0xd800) end++;
  return end;
}

const noCodePoint = -1;

/**
 * Returns the code point of the character at `pos` of a text that ends at `limit`; -1 if it is invalid or truncated.
 */
export function codePointAt(bytes: Uint8Array, pos: number, limit: number): number {
  return pos < limit && characterLengthAt(bytes, pos, limit) > 0 ? codePointOf(bytes, pos) : noCodePoint;
}

/** Returns the code point of the character that ends at `end`, or -1. */
export function codePointBefore(bytes: Uint8Array, end: number): number {
  let start = end - 1;
  while (start > 0 && end - start < 4 && (bytes[start]! & 0xc0) === 0x80) start--;
  const codePoint = codePointAt(bytes, Math.max(0, start), end);
  return codePoint !== noCodePoint && start + byteCountOf(codePoint) === end ? codePoint : noCodePoint;
}

/** Returns the length of a code point in UTF-8. */
export function byteCountOf(codePoint: number): number {
  return codePoint < 0x80 ? 1 : codePoint < 0x800 ? 2 : codePoint < 0x10000 ? 3 : 4;
}

/**
 * Whether the invalid bytes at `pos` may be a character cut off by `limit`. Only the lower bound of the first byte and
 * the number of bytes left are checked, so it is also true for some bytes that no continuation can complete.
 */
export function isUnfinished(bytes: Uint8Array, pos: number, limit: number): boolean {
  return limit - pos < 4 && bytes[pos]! >= 0xc2 && codePointAt(bytes, pos, limit) === noCodePoint;
}

/** Writes a character at `pos` and returns where it ends. */
export function putCharacter(bytes: Uint8Array, pos: number, codePoint: number): number {
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

// The ASCII characters that lines, JSON and numbers consist of, as bytes.

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

export function countLineFeeds(bytes: Uint8Array): number {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  let count = 0;
  for (let pos = buffer.indexOf(lineFeed); pos >= 0; pos = buffer.indexOf(lineFeed, pos + 1)) count++;
  return count;
}

/** Whether the bytes begin with UTF-8's byte-order mark, which has three bytes. */
export const startsWithBom = (bytes: Uint8Array) =>
  bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;

/** Writes a whole number from 0 to 2^53 in decimal at `pos`; returns where it ends. */
export function putDecimal(number: number, into: Uint8Array, pos: number): number {
  let digitCount = 1;
  for (let limit = 10; limit <= number; limit *= 10) digitCount++;
  let rest = number;
  for (let at = pos + digitCount - 1; at >= pos; at--) {
    const tenth = Math.floor(rest / 10);
    // Without the parentheses, `zero + rest` could exceed 2^53 and be rounded.
    into[at] = zero + (rest - 10 * tenth);
    rest = tenth;
  }
  return pos + digitCount;
}

export const decimalDigitsMax = 16;
