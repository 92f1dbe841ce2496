/** Length of the valid UTF-8 character at `pos` of a text that ends at `limit`, or 0: overlong, surrogate, too large, cut. */
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

/** The code point of the valid character at `pos`. */
export function codePointOf(bytes: Uint8Array, pos: number): number {
  const lead = bytes[pos]!;
  if (lead < 0x80) return lead;
  const second = bytes[pos + 1]! & 63;
  if (lead < 0xe0) return ((lead & 31) << 6) | second;
  const third = bytes[pos + 2]! & 63;
  if (lead < 0xf0) return ((lead & 15) << 12) | (second << 6) | third;
  return ((lead & 7) << 18) | (second << 12) | (third << 6) | (bytes[pos + 3]! & 63);
}
