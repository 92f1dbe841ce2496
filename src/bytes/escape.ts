import { characterLengthAt } from "./utf8.ts";

/**
 * Bytes as people see them: characters that are valid UTF-8 and visible stay, each other byte becomes `\xNN`.
 *
 * " low\n" is ` low\x0a`; the first two bytes of "€" are `\xe2\x82`. Characters that end a line or change the direction of
 * writing count as invisible: a token must not disturb the line that shows it.
 */
export function escapeBytes(bytes: Uint8Array): string {
  const text = new TextDecoder("utf-8", { ignoreBOM: true });
  let shown = "";
  let pos = 0;
  while (pos < bytes.length) {
    const byte = bytes[pos]!;
    if (byte >= 0x20 && byte < 0x7f) {
      shown += String.fromCharCode(byte);
      pos++;
      continue;
    }
    const lengthBytes = characterLengthAt(bytes, pos, bytes.length);
    const character = lengthBytes === 0 ? "" : text.decode(bytes.subarray(pos, pos + lengthBytes));
    if (lengthBytes > 0 && !isInvisible.test(character)) shown += character;
    else for (let i = 0; i < Math.max(lengthBytes, 1); i++) shown += escapeByte(bytes[pos + i]!);
    pos += Math.max(lengthBytes, 1);
  }
  return shown;
}

/** The same for text, such as a path or a message: it stays on its line and does nothing to the terminal. */
export const escapeText = (text: string) => escapeBytes(new TextEncoder().encode(text));

/** Control characters, line and paragraph separators, and the marks that change the direction of writing. */
const isInvisible = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u;

function escapeByte(byte: number): string {
  return `\\x${byte.toString(16).padStart(2, "0")}`;
}
