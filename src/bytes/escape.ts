import * as utf8 from "./utf8-characters.ts";

/**
 * Escapes bytes for display, so that a token does not disturb the line that shows it. Characters in valid UTF-8 are
 * unchanged unless they match `isInvisible`; every other byte becomes `\xNN`. " low\n" becomes ` low\x0a`.
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
    const lengthBytes = utf8.characterLengthAt(bytes, pos, bytes.length);
    const character = lengthBytes === 0 ? "" : text.decode(bytes.subarray(pos, pos + lengthBytes));
    if (lengthBytes > 0 && !isInvisible.test(character)) shown += character;
    else for (let i = 0; i < Math.max(lengthBytes, 1); i++) shown += escapeByte(bytes[pos + i]!);
    pos += Math.max(lengthBytes, 1);
  }
  return shown;
}

/** Escapes text so that it stays on its line and has no control sequences for the terminal. */
export const escapeText = (text: string) =>
  isPlain.test(text) ? text : escapeBytes(new TextEncoder().encode(text));

/**
 * Matches printable ASCII, which needs no escapes. `escapeText` tests this first, because most text is printable ASCII.
 */
const isPlain = /^[\x20-\x7e]*$/;

/**
 * Matches control characters, line separators, marks that change the writing direction, and ignorable characters such
 * as U+200B. U+200C, U+200D (the join controls) and variation selectors do not match, because they change how their
 * neighbours look.
 */
export const isInvisible =
  /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]|(?!\p{Join_Control}|\p{Variation_Selector})\p{Default_Ignorable_Code_Point}/u;

/**
 * Replaces the blank Braille pattern and each space other than U+0020 with a visible sign: ‿ for a no-break space, ▫
 * for any other of these characters.
 */
export const spacesWithSigns = (text: string) =>
  text.replace(/[^\P{Zs} ]|\u2800/gu, (space) => (/[\u00a0\u2007\u202f]/.test(space) ? "‿" : "▫"));

function escapeByte(byte: number): string {
  return `\\x${byte.toString(16).padStart(2, "0")}`;
}
