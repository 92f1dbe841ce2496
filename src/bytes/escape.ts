import { characterLengthAt } from "./text.ts";

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
export const escapeText = (text: string) =>
  isPlain.test(text) ? text : escapeBytes(new TextEncoder().encode(text));

/** Most text has nothing to escape, and a table of files has many lines. */
const isPlain = /^[\x20-\x7e]*$/;

/** JSON on one line, for a screen too: what is invisible is `\uNNNN` in its strings, which programs read as the same. */
export const jsonLine = (value: unknown) =>
  JSON.stringify(value).replace(new RegExp(isInvisible, "gu"), (character) =>
    Array.from({ length: character.length }, (_, i) => escapeUnit(character.charCodeAt(i))).join(""),
  );

/**
 * Control characters, line and paragraph separators, the marks that change the direction of writing, and what shows nothing,
 * as U+200B. Joiners and variation selectors show in the characters beside them.
 */
const isInvisible =
  /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]|(?!\p{Join_Control}|\p{Variation_Selector})\p{Default_Ignorable_Code_Point}/u;

/** Spaces that look like others have signs: ‿ where no line may break, ▫ for any other kind but the one of ASCII. */
export const spacesWithSigns = (text: string) =>
  text.replace(/[^\P{Zs} ]|\u2800/gu, (space) => (/[\u00a0\u2007\u202f]/.test(space) ? "‿" : "▫"));

const escapeUnit = (unit: number) => `\\u${unit.toString(16).padStart(4, "0")}`;

function escapeByte(byte: number): string {
  return `\\x${byte.toString(16).padStart(2, "0")}`;
}
