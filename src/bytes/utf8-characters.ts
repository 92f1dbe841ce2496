// Reads and writes UTF-8 in byte arrays, one character at a time.

/**
 * Returns the length of the UTF-8 character at `pos`; 0 if it is invalid, or cut off by `limit`, where the text ends.
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

const noCodePoint = -1;

/**
 * Returns the code point of the character at `pos`; -1 if it is invalid, or cut off by `limit`, where the text ends.
 */
export function codePointAt(bytes: Uint8Array, pos: number, limit: number): number {
  return pos < limit && characterLengthAt(bytes, pos, limit) > 0 ? codePointOf(bytes, pos) : noCodePoint;
}

/** Returns the code point of the character that ends at `end`; -1 if no valid character ends there. */
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
 * Whether the bytes from `pos` to `limit` may be the beginning of a character that `limit` cuts off. This is also true
 * of some invalid bytes, because only the first byte is checked: it must be at least 0xc2.
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

/** Whether the bytes begin with UTF-8's byte-order mark, which has three bytes. */
export const startsWithBom = (bytes: Uint8Array) =>
  bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;

/** Decodes bytes [start, end) as UTF-8. */
export const decode = (bytes: Uint8Array, start = 0, end?: number): string =>
  Buffer.from(bytes.subarray(start, end)).toString("utf8");

/**
 * Returns the first position from `position` on that does not follow a high surrogate, so that no surrogate pair is
 * split; at most the length of the text.
 */
export function skipSplitPair(text: string, position: number): number {
  let end = Math.min(text.length, position);
  while (end < text.length && (text.charCodeAt(end - 1) & 0xfc00) === 0xd800) end++;
  return end;
}

const encoder = new TextEncoder();

/**
 * Returns the UTF-8 of positions [start, end) of a text. In a string, half a surrogate pair becomes a replacement
 * character.
 */
export function encodeRange(text: string | Uint8Array, start: number, end: number): Uint8Array {
  if (typeof text === "string") return encoder.encode(text.slice(start, end));
  return start === 0 && end === text.length ? text : text.subarray(start, end);
}
