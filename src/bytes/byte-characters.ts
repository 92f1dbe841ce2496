/**
 * The byte-to-character form of GPT-2: each byte becomes one printable character. Bytes 33-126, 161-172 and 174-255
 * become the character with the same number; the other 68 bytes, in order, become U+0100 to U+0143.
 *
 * " low\n" is "ĠlowĊ".
 */

export const characters: readonly string[] = [];

/** One more than the largest code point of these characters. */
const codePointLimit = 0x100 + 68;
const notInAlphabet = -1;
const codePointToByte = new Int16Array(codePointLimit).fill(notInAlphabet);

// This runs whenever the module is loaded, so it must be fast.
for (let byte = 0, moved = 0x100; byte < 256; byte++) {
  const keepsItsCodePoint = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
  const codePoint = keepsItsCodePoint ? byte : moved++;
  (characters as string[])[byte] = String.fromCharCode(codePoint);
  codePointToByte[codePoint] = byte;
}

/** Returns bytes in byte-to-character form. */
export function encode(bytes: Uint8Array): string {
  let text = "";
  for (let pos = 0; pos < bytes.length; pos++) text += characters[bytes[pos]!]!;
  return text;
}

/** Returns the byte that a code point represents; -1 if it represents none. */
export const byteOf = (codePoint: number): number =>
  codePoint < codePointLimit ? codePointToByte[codePoint]! : notInAlphabet;

/** Returns the bytes of a text in byte-to-character form; null if some character represents no byte. */
export function decode(text: string): Uint8Array | null {
  const bytes = new Uint8Array(text.length);
  for (let pos = 0; pos < text.length; pos++) {
    const byte = byteOf(text.charCodeAt(pos));
    if (byte === notInAlphabet) return null;
    bytes[pos] = byte;
  }
  return bytes;
}

/** Whether a text has only ASCII characters, which are single bytes in UTF-8. */
export const isAscii = (text: string): boolean => !/[^\0-\x7f]/.test(text);
