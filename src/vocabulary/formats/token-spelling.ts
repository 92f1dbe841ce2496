import { byteToCharacter } from "../../bytes/byte-characters.ts";
import { forEachPart, notKept, type TokenBytes } from "../token-bytes.ts";
import type { Chunk } from "./output-file.ts";

/**
 * Spelling: how each of the 256 bytes is written in a file, as UTF-8.
 *
 *   BITS     MEANING
 *   0-7      the first byte written
 *   8-15     the second one, or 0
 *   16-31    how many they are: 1 or 2
 *
 * Byte 97 is "a", 0x10061; byte 32 is "Ġ" = C4 A0, 0x2a0c4.
 */
export type Spelling = Uint32Array;

/** In byte-to-character form, as merges.txt has it. */
export const plainSpelling: Spelling = makeSpelling([]);

/** The same inside a JSON string. Only the quote and the backslash need escaping: no character here is a control. */
export const jsonSpelling: Spelling = makeSpelling(['"', "\\"]);

/** Appends a token in the spelling given. */
export function appendToken(chunk: Chunk, tokens: TokenBytes, token: number, spelling: Spelling): void {
  chunk.reserve(2 * tokens.lengths[token]!);
  const start = tokens.starts[token]!;
  if (start !== notKept) {
    const end = start + tokens.lengths[token]!;
    chunk.length = spell(tokens.kept, start, end, spelling, chunk.bytes, chunk.length);
    return;
  }
  forEachPart(tokens, token, (partStart, partEnd) => {
    chunk.length = spell(tokens.kept, partStart, partEnd, spelling, chunk.bytes, chunk.length);
  });
}

function spell(
  from: Uint8Array,
  start: number,
  end: number,
  spelling: Spelling,
  to: Uint8Array,
  toPos: number,
): number {
  for (let pos = start; pos < end; pos++) {
    const written = spelling[from[pos]!]!;
    to[toPos] = written;
    // The next byte overwrites it if this one is written as one.
    to[toPos + 1] = written >> 8;
    toPos += written >> 16;
  }
  return toPos;
}

/** Every character is below U+0800: one or two bytes of UTF-8. */
function makeSpelling(escaped: readonly string[]): Spelling {
  const spelling = new Uint32Array(byteToCharacter.length);
  byteToCharacter.forEach((character, byte) => {
    const codePoint = character.charCodeAt(0);
    if (escaped.includes(character)) spelling[byte] = two("\\".charCodeAt(0), codePoint);
    else if (codePoint < 0x80) spelling[byte] = codePoint | (1 << 16);
    else spelling[byte] = two(0xc0 | (codePoint >> 6), 0x80 | (codePoint & 63));
  });
  return spelling;
}

function two(first: number, second: number): number {
  return first | (second << 8) | (2 << 16);
}
