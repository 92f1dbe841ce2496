/**
 * Bytes as people see them: text where they are valid UTF-8 and can be seen, `\xNN` for each other byte.
 *
 * " low\n" is ` low\x0a`; the first two bytes of "€" are `\xe2\x82`. What turns the direction of writing or ends a line counts as
 * unseen too: a token must not disturb the line that shows it.
 */
export function escapeBytes(bytes: Uint8Array): string {
  const text = new TextDecoder("utf-8", { ignoreBOM: true });
  let shown = "";
  let pos = 0;
  while (pos < bytes.length) {
    const lengthBytes = characterLength(bytes, pos);
    const character = lengthBytes === 0 ? "" : text.decode(bytes.subarray(pos, pos + lengthBytes));
    if (lengthBytes > 0 && !isUnseen.test(character)) shown += character;
    else for (let i = 0; i < Math.max(lengthBytes, 1); i++) shown += escapeByte(bytes[pos + i]!);
    pos += Math.max(lengthBytes, 1);
  }
  return shown;
}

/** The same of text, as a path or a message is: it stays on its line, and does nothing to the terminal. */
export const escapeText = (text: string) => escapeBytes(new TextEncoder().encode(text));

/** Control characters, line and paragraph separators, and the marks that turn the direction of writing. */
const isUnseen = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u;

function escapeByte(byte: number): string {
  return `\\x${byte.toString(16).padStart(2, "0")}`;
}

/** Bytes of the valid UTF-8 character that begins at `pos`, or 0 if none does. */
function characterLength(bytes: Uint8Array, pos: number): number {
  const lead = bytes[pos]!;
  if (lead < 0x80) return 1;
  const lengthBytes = lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
  if (pos + lengthBytes > bytes.length) return 0;
  for (let i = 1; i < lengthBytes; i++) if ((bytes[pos + i]! & 0xc0) !== 0x80) return 0;
  const second = bytes[pos + 1]!;
  const isOverlong = (lead === 0xe0 && second < 0xa0) || (lead === 0xf0 && second < 0x90);
  const isSurrogate = lead === 0xed && second >= 0xa0;
  const isBeyondUnicode = lead === 0xf4 && second >= 0x90;
  return isOverlong || isSurrogate || isBeyondUnicode ? 0 : lengthBytes;
}
