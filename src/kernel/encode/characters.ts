import { reserveTable } from "../regions";
import { beginsWithCharacters } from "./first-characters";
import { EncodingModel } from "./model-layout";
import { findPair, mergedBy, noRank } from "./pair-ranks";

/**
 * Merging may begin with a whole character of two or three bytes if nothing outside affects how its bytes merge. A merge across
 * one of its edges consumes all of it, or a *fragment*: one of the tokens at the edge before the character is whole. A fragment
 * disappears once it merges inside the character, so a merge across matters only if its rank is lower than that. The byte on the
 * other side of the edge limits which merges these may be. If ranks only rise, every merge that consumes the character has a
 * higher rank than those that make it, so it does not matter that it is whole from the beginning.
 *
 *   ARRAY        TYPE      LENGTH           MEANING
 *   rowOf        u16       fragmentCount    the row of a fragment, by its number below; 0: no merge across the edge consumes it
 *   rows         u32[64]   fragmentCount    the lowest rank of merges that consume the fragment, by the last six bits of the byte
 *                                           on the other side of the edge. Collisions make more characters be merged from their
 *                                           bytes, and change no id
 *   characters   24 B      characterCount   by the 16 bits of a character of three bytes, or 2^16 and the 11 bits of one of two
 *   spaced       24 B      characterCount   likewise for a character with the space before it at the start of a word: often the
 *                                           space merges with the first byte first
 *   symbols      u32,u32   4                while a character is merged: ids, and their numbers of bytes
 *
 *   FRAGMENT               NUMBER
 *   a first byte           the byte
 *   two first bytes        `twoFirst` and their 4 and 6 bits, of characters of three bytes
 *   a last byte            `oneLast` and its 6 bits
 *   two last bytes         `twoLast` and their 6 and 6 bits
 *
 * A character:
 *
 *   OFFSET   TYPE   MEANING
 *   0        u64    a bit for the last six bits of the byte before: the first bytes may merge with it
 *   8        u64    likewise for the last bytes and the byte after
 *   16       u32    the id + 1 that its bytes merge to, `manyIds` if these are several ids; 0: not known yet
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

/** Makes room for the rows of fragments; returns false if there is none. */
export function reserveFragments(): bool {
  rowOf = reserveTable(2 * fragmentCount);
  rows = reserveTable(rowBytes * (fragmentCount + 1));
  rowCount = 0;
  return rows !== 0;
}

/**
 * Adds a merge, by the last bytes of its left half and the first bytes of the right one (`edges` of never-merged.ts).
 */
export function addFragments(rank: u32, lasts: u32, firsts: u32): void {
  const beginning = beginningOf(firsts);
  if (beginning < fragmentCount) lower(beginning, lasts, rank);
  const ending = endingOf(lasts);
  if (ending < fragmentCount) lower(ending, firsts >> (8 * ((firsts >> 24) - 1)), rank);
}

/** The number of the fragment that equals a right half, or `fragmentCount`. */
function beginningOf(edge: u32): u32 {
  const byteCount = edge >> 24;
  if (byteCount === 1) return (edge & 0xff) >= 0xc0 ? edge & 0xff : fragmentCount;
  return byteCount === 2 && (edge & 0xf0c0) === 0xe080
    ? twoFirst + (((edge & 0xf00) >> 2) | (edge & 63))
    : fragmentCount;
}

/** The number of the fragment that equals a left half, or `fragmentCount`. */
function endingOf(edge: u32): u32 {
  const byteCount = edge >> 24;
  if (byteCount === 1) return (edge & 0xc0) === 0x80 ? oneLast + (edge & 63) : fragmentCount;
  return byteCount === 2 && (edge & 0xc0c0) === 0x8080
    ? twoLast + (((edge & 0x3f00) >> 2) | (edge & 63))
    : fragmentCount;
}

/** Records that a merge of this rank consumes the fragment next to this byte. */
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

/** Whether merging begins with characters: if cuts distinguish them, and ranks only rise. False if there is no room. */
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
 * The id of a character of two or three bytes, or -1 if its bytes must be merged. `around` has the byte before it lowest, then its
 * own, and the following ones; the byte before is in the same word if `isInside`, and the word has `left` bytes from the character
 * on.
 */
export function characterIn(around: u64, isInside: bool, left: u32): i32 {
  return idIn(characters, around, isInside, left);
}

/** Likewise for a character with the space before it, at the start of a word. */
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

/** Merges the bytes of a character, and finds the neighbouring bytes that may merge with some of them first. */
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
    // Until this merge its halves are fragments, if they are at an edge.
    if (at === symbols && !isSpaced)
      before |= takers(
        beginningOf(load<u32>(at, 4) === 1 ? (1 << 24) | first : (2 << 24) | (first << 8) | second),
        best,
      );
    if (at + 8 === symbols + ((count - 1) << 3)) {
      // The space merges with the whole character: no row has the merges that consume it before.
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

/** Bits for the neighbouring bytes with which a merge of a lower rank may consume the fragment. */
function takers(fragment: u32, rank: i32): u64 {
  const row = <u32>load<u16>(rowOf + (fragment << 1));
  let bits: u64 = 0;
  if (row === 0) return bits;
  for (let i: u32 = 0; i < 64; i++) bits |= u64(load<u32>(rows + row * rowBytes + (i << 2)) < <u32>rank) << i;
  return bits;
}
