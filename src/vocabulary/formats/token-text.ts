import { assert } from "../../errors.ts";
import { byteToCharacter } from "../byte-characters.ts";
import { forEachPiece, notKept, type TokenBytes } from "../token-bytes.ts";
import type { Chunk } from "./chunk.ts";

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
export const plainSpelling: Spelling = makeSpelling((character) => character);

/** The same inside a JSON string. Only the quote and the backslash need escaping: no character here is a control. */
export const jsonSpelling: Spelling = makeSpelling((character) => JSON.stringify(character).slice(1, -1));

/** Appends a token in the spelling given. */
export function appendToken(chunk: Chunk, tokens: TokenBytes, token: number, spelling: Spelling): void {
  chunk.reserve(2 * tokens.lengths[token]!);
  const start = tokens.starts[token]!;
  if (start !== notKept) {
    const end = start + tokens.lengths[token]!;
    chunk.length = spell(tokens.kept, start, end, spelling, chunk.bytes, chunk.length);
    return;
  }
  forEachPiece(tokens, token, (pieceStart, pieceEnd) => {
    chunk.length = spell(tokens.kept, pieceStart, pieceEnd, spelling, chunk.bytes, chunk.length);
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
    // Written over by the next byte where there is one only.
    to[toPos + 1] = written >> 8;
    toPos += written >> 16;
  }
  return toPos;
}

function makeSpelling(spellCharacter: (character: string) => string): Spelling {
  const encoder = new TextEncoder();
  return Uint32Array.from(byteToCharacter, (character) => {
    const [first = 0, second = 0, ...more] = encoder.encode(spellCharacter(character));
    assert(more.length === 0, "a byte is written as one byte or two");
    return first | (second << 8) | ((second === 0 ? 1 : 2) << 16);
  });
}
