import { characterLengthAt, codePointOf } from "./utf8.ts";

// Characters of a text in bytes, looked at one by one.

const noCodePoint = -1;

/** The code point of the character at `pos` of a text that ends at `limit`, or -1: none that is valid and whole. */
export function codePointAt(bytes: Uint8Array, pos: number, limit: number): number {
  return pos < limit && characterLengthAt(bytes, pos, limit) > 0 ? codePointOf(bytes, pos) : noCodePoint;
}

/** The code point of the character that ends at `end`, or -1. */
export function codePointBefore(bytes: Uint8Array, end: number): number {
  let start = end - 1;
  while (start > 0 && end - start < 4 && (bytes[start]! & 0xc0) === 0x80) start--;
  const codePoint = codePointAt(bytes, Math.max(0, start), end);
  return codePoint !== noCodePoint && start + byteCountOf(codePoint) === end ? codePoint : noCodePoint;
}

export function byteCountOf(codePoint: number): number {
  return codePoint < 0x80 ? 1 : codePoint < 0x800 ? 2 : codePoint < 0x10000 ? 3 : 4;
}

/** Whether the bytes at `pos` may become a character when there are more of them. */
export function isUnfinished(bytes: Uint8Array, pos: number, limit: number): boolean {
  return limit - pos < 4 && bytes[pos]! >= 0xc2 && codePointAt(bytes, pos, limit) === noCodePoint;
}
