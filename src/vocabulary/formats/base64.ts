import type { Chunk } from "./chunk.ts";

/** Appends bytes[start .. end) in base64, padded. For tokens, which are so short that a call to the runtime costs more. */
export function appendBase64(chunk: Chunk, bytes: Uint8Array, start: number, end: number): void {
  chunk.reserve(4 * Math.ceil((end - start) / 3));
  const to = chunk.bytes;
  let pos = chunk.length;
  let from = start;
  for (; from + 3 <= end; from += 3, pos += 4) {
    const triple = (bytes[from]! << 16) | (bytes[from + 1]! << 8) | bytes[from + 2]!;
    to[pos] = base64Digits[triple >> 18]!;
    to[pos + 1] = base64Digits[(triple >> 12) & 63]!;
    to[pos + 2] = base64Digits[(triple >> 6) & 63]!;
    to[pos + 3] = base64Digits[triple & 63]!;
  }
  const restCount = end - from;
  if (restCount > 0) {
    const triple = (bytes[from]! << 16) | (restCount === 2 ? bytes[from + 1]! << 8 : 0);
    to[pos] = base64Digits[triple >> 18]!;
    to[pos + 1] = base64Digits[(triple >> 12) & 63]!;
    to[pos + 2] = restCount === 2 ? base64Digits[(triple >> 6) & 63]! : padding;
    to[pos + 3] = padding;
    pos += 4;
  }
  chunk.length = pos;
}

export const base64Digits = new TextEncoder().encode(
  "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
);
const padding = 61;
