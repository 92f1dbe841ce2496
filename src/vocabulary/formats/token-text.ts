import { byteToCharacter } from "../byte-characters.ts";
import { forEachPiece, notKept, type TokenBytes } from "../token-bytes.ts";
import type { Chunk } from "./chunk.ts";

/**
 * Spelling: how each of the 256 bytes is written in a file, as UTF-8.
 *
 *   ARRAY    TYPE         LENGTH   MEANING
 *   units    Uint8Array   512      byte b is written as units[2 b], or as units[2 b] and units[2 b + 1]
 *   lengths  Uint8Array   256      1 or 2
 *
 * Byte 97 is "a", so units[194] = 97, lengths[97] = 1; byte 32 is "Ġ" = C4 A0, so units[64 .. 66) = C4 A0, lengths[32] = 2.
 */
type Spelling = { readonly units: Uint8Array; readonly lengths: Uint8Array };

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
  const { units, lengths } = spelling;
  for (let pos = start; pos < end; pos++) {
    const byte = from[pos]!;
    to[toPos] = units[2 * byte]!;
    // Written over by the next byte where the character is a single unit.
    to[toPos + 1] = units[2 * byte + 1]!;
    toPos += lengths[byte]!;
  }
  return toPos;
}

function makeSpelling(spellCharacter: (character: string) => string): Spelling {
  const units = new Uint8Array(2 * byteToCharacter.length);
  const lengths = new Uint8Array(byteToCharacter.length);
  const encoder = new TextEncoder();
  byteToCharacter.forEach((character, byte) => {
    lengths[byte] = encoder.encodeInto(spellCharacter(character), units.subarray(2 * byte)).written;
  });
  return { units, lengths };
}
