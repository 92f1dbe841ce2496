import { reserveTable } from "../regions";
import { beginsWithCharacters } from "./first-characters";
import { EncodingModel } from "./model-layout";
import { findPair, mergedBy, noRank } from "./pair-ranks";

/**
 * Merging may begin with a whole character of two or three bytes if its neighbours cannot affect how its bytes merge.
 * Only a merge across an edge of the character could affect that. Such a merge takes either the whole character, or a
 * *fragment*: a token at that edge that has only some of the character's bytes. A merge that takes the whole character
 * comes too late to interfere: its rank is higher than those of the merges that make the character. (`useCharacters`
 * requires a model in which every merge ranks after those that make its halves.) A merge that takes a fragment
 * interferes only if its rank is lower than that of the merge that joins the fragment with more of the character. For
 * each fragment, `rows` has the lowest rank of the merges that take it across the edge, by the byte on the other side
 * of the edge.
 *
 * Example: c3 is a fragment of é, which is c3 a9. If the merge of the letter a and c3 has a lower rank than that of c3
 * and a9, é is merged from its bytes after an a.
 *
 *   ARRAY        TYPE      LENGTH           MEANING
 *   rowOf        u16       fragmentCount    the row of each fragment, by its number (below); 0: no merge across an
 *                                           edge consumes it
 *   rows         u32[64]   fragmentCount+1  row r, element b: the lowest rank of merges that take the fragment, if the
 *                                           byte on the other side of the edge has b as its last six bits. Collisions
 *                                           only cause more characters to be merged from their bytes; no id changes.
 *                                           Row 0 is unused
 *   characters   24 B      characterCount   what is known of a character (below), at its code point if it has three
 *                                           bytes, at 2^16 + its code point if it has two
 *   spaced       24 B      characterCount   likewise for a space and a character at the start of a word: often the
 *                                           first merge joins the space with the character's first byte
 *   symbols      u32,u32   4                scratch while a character is merged: ids, and their lengths in bytes
 *
 *   FRAGMENT               NUMBER
 *   a first byte           the byte
 *   two first bytes        `twoFirst` + their 4 and 6 bits (characters of three bytes)
 *   a last byte            `oneLast` + its 6 bits
 *   two last bytes         `twoLast` + their 6 and 6 bits
 *
 * An element of `characters` or `spaced`:
 *
 *   OFFSET   TYPE   MEANING
 *   0        u64    bit b: a preceding byte whose last six bits are b may take the first bytes before the character is
 *                   whole
 *   8        u64    bit b: likewise for a following byte and the last bytes
 *   16       u32    1 + the id that the bytes merge to; `manyIds`: they must be merged one by one; 0: not computed yet
 */
let rowOf: usize = 0;
let rows: usize = 0;
let rowCount: u32 = 0;
let characters: usize = 0;
let spaced: usize = 0;
let symbols: usize = 0;
let model: EncodingModel = changetype<EncodingModel>(0);

const twoFirst: u32 = 1 << 8;
const oneLast: u32 = twoFirst + (1 << 10);
const twoLast: u32 = oneLast + (1 << 6);
const fragmentCount: u32 = twoLast + (1 << 12);
const rowBytes: u32 = 4 * 64;

const characterCount: u32 = (1 << 16) + (1 << 11);
const characterBytes: u32 = 24;
const manyIds: u32 = u32.MAX_VALUE;

/** Reserves memory for the rows of fragments; returns false if memory runs out. */
export function reserveFragments(): bool {
  rowOf = reserveTable(2 * fragmentCount);
  rows = reserveTable(rowBytes * (fragmentCount + 1));
  rowCount = 0;
  return rows !== 0;
}

/**
 * Records the rank of a merge in the rows of those halves that are fragments. `lasts` is the last bytes of the left
 * half, `firsts` the first bytes of the right half. Each is an *edge*: up to three bytes, the first one highest, plus
 * their number << 24.
 */
export function addFragments(rank: u32, lasts: u32, firsts: u32): void {
  const beginning = beginningOf(firsts);
  if (beginning < fragmentCount) lower(beginning, lasts, rank);
  const ending = endingOf(lasts);
  if (ending < fragmentCount) lower(ending, firsts >> (8 * ((firsts >> 24) - 1)), rank);
}

/**
 * Returns the number of the fragment that begins a character and has exactly the bytes of `edge`; `fragmentCount` if
 * they are no such fragment.
 */
function beginningOf(edge: u32): u32 {
  const byteCount = edge >> 24;
  if (byteCount === 1) return (edge & 0xff) >= 0xc0 ? edge & 0xff : fragmentCount;
  return byteCount === 2 && (edge & 0xf0c0) === 0xe080
    ? twoFirst + (((edge & 0xf00) >> 2) | (edge & 63))
    : fragmentCount;
}

/**
 * Returns the number of the fragment that ends a character and has exactly the bytes of `edge`; `fragmentCount` if they
 * are no such fragment.
 */
function endingOf(edge: u32): u32 {
  const byteCount = edge >> 24;
  if (byteCount === 1) return (edge & 0xc0) === 0x80 ? oneLast + (edge & 63) : fragmentCount;
  return byteCount === 2 && (edge & 0xc0c0) === 0x8080
    ? twoLast + (((edge & 0x3f00) >> 2) | (edge & 63))
    : fragmentCount;
}

/**
 * Records the rank of a merge that takes the fragment, unless a lower one is known. `byte` is the byte on the other
 * side of the edge; only its last six bits are used.
 */
function lower(fragment: u32, byte: u32, rank: u32): void {
  let row = <u32>load<u16>(rowOf + (fragment << 1));
  if (row === 0) {
    row = ++rowCount;
    store<u16>(rowOf + (fragment << 1), <u16>row);
    memory.fill(rows + row * rowBytes, 255, rowBytes);
  }
  const at = rows + row * rowBytes + ((byte & 63) << 2);
  store<u32>(at, min(load<u32>(at), rank));
}

/**
 * Sets up the lookup of whole characters if the argument at the top of this file holds for the model, unless merging
 * begins with characters anyway. Returns false if memory runs out.
 */
export function useCharacters(given: EncodingModel): bool {
  model = given;
  const tellsCharacters = given.joins !== 0 && given.isMonotone !== 0 && !beginsWithCharacters(given);
  if (!tellsCharacters) return true;
  characters = reserveTable(characterBytes * characterCount);
  spaced = reserveTable(characterBytes * characterCount);
  symbols = reserveTable(8 * 4);
  return symbols !== 0;
}

export function hasCharacters(): bool {
  return characters !== 0;
}

/**
 * Returns the id of a character of two or three bytes. Returns a number below 0 if there is no such character, or if
 * its bytes must be merged. `around` is eight bytes of text, the first one lowest: the byte before the character, the
 * character, and the bytes after it. `isInside`: the byte before the character is in the same word. `left`: how many
 * bytes the word has from the character on.
 */
export function characterIn(around: u64, isInside: bool, left: u32): i32 {
  return idIn(characters, around, isInside, left);
}

/**
 * Does the same as `characterIn` for a character after the space that starts a word. The id is that of the space and
 * the character together.
 */
export function spacedCharacterIn(around: u64, left: u32): i32 {
  return idIn(spaced, around, false, left);
}

function idIn(table: usize, around: u64, isInside: bool, left: u32): i32 {
  const lead = <u32>(around >> 8) & 0xff;
  const second = <u32>(around >> 16) & 0xff;
  const isThree = lead >= 0xe0;
  if (isThree) {
    if (lead >= 0xf0 || left < 3 || (around & 0xc0c00000) !== 0x80800000) return -1;
  } else if (left < 2 || (second & 0xc0) !== 0x80) return -1;
  const number = isThree
    ? ((lead & 15) << 12) | ((second & 63) << 6) | (<u32>(around >> 24) & 63)
    : (1 << 16) | ((lead & 31) << 6) | (second & 63);
  const character = table + number * characterBytes;
  if (load<u32>(character, 16) === 0) learn(character, around, isThree, table === spaced);
  const after = isThree ? around >> 32 : around >> 24;
  const isTakenBefore = (load<u64>(character) >> (around & 63)) & u64(isInside);
  const isTakenAfter = (load<u64>(character, 8) >> (after & 63)) & u64(left > (isThree ? 3 : 2));
  return (isTakenBefore | isTakenAfter) !== 0 ? -1 : <i32>(load<u32>(character, 16) - 1);
}

/**
 * Fills in the element of a character: merges its bytes, and finds the neighbouring bytes that may merge with some of
 * these before the character is whole.
 */
function learn(character: usize, around: u64, isThree: bool, isSpaced: bool): void {
  const byteCount: u32 = isThree ? 3 : 2;
  let count = byteCount + u32(isSpaced);
  for (let i: u32 = 0, bytes = isSpaced ? around : around >> 8; i < count; i++, bytes >>= 8) {
    store<u32>(symbols + (i << 3), load<u32>(model.byteIds + ((<u32>bytes & 0xff) << 2)));
    store<u32>(symbols + (i << 3), 1, 4);
  }
  const first = <u32>(around >> 8) & 0xff;
  const second = <u32>(around >> 16) & 0xff;
  const third = <u32>(around >> 24) & 0xff;
  store<u32>(character, manyIds, 16);
  let before: u64 = 0;
  let after: u64 = 0;
  for (; count > 1; count--) {
    let best = noRank;
    let at: usize = 0;
    for (let symbol = symbols; symbol < symbols + ((count - 1) << 3); symbol += 8) {
      const rank = findPair(load<u32>(symbol), load<u32>(symbol, 8));
      if (rank >= best) continue;
      best = rank;
      at = symbol;
    }
    if (best === noRank) return;
    // If a half of this merge is at an edge of the character, that half is a fragment. Notes the neighbouring bytes
    // that could have taken the fragment before this merge.
    if (at === symbols && !isSpaced)
      before |= takers(
        beginningOf(load<u32>(at, 4) === 1 ? (1 << 24) | first : (2 << 24) | (first << 8) | second),
        best,
      );
    if (at + 8 === symbols + ((count - 1) << 3)) {
      // The space merges with the whole character. The whole character is no fragment, so no row says which following
      // byte could have merged with it before the space. The element stays `manyIds`, so that such words are merged
      // from their bytes.
      if (load<u32>(at, 12) === byteCount) return;
      const last = isThree ? third : second;
      after |= takers(
        endingOf(load<u32>(at, 12) === 1 ? (1 << 24) | last : (2 << 24) | (second << 8) | last),
        best,
      );
    }
    store<u32>(at, mergedBy(best));
    store<u32>(at, load<u32>(at, 4) + load<u32>(at, 12), 4);
    memory.copy(at + 8, at + 16, symbols + (count << 3) - (at + 16));
  }
  store<u64>(character, before);
  store<u64>(character, after, 8);
  store<u32>(character, load<u32>(symbols) + 1, 16);
}

/**
 * Returns 64 bits, one for each value of the last six bits of the byte on the other side of the edge. A bit is 1 if a
 * merge of a rank below `rank` may join such a byte with the fragment.
 */
function takers(fragment: u32, rank: i32): u64 {
  const row = <u32>load<u16>(rowOf + (fragment << 1));
  let bits: u64 = 0;
  if (row === 0) return bits;
  for (let i: u32 = 0; i < 64; i++) bits |= u64(load<u32>(rows + row * rowBytes + (i << 2)) < <u32>rank) << i;
  return bits;
}
