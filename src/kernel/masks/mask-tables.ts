import * as o from "./mask-operators";

// The tables of a pattern that the mask loops use.
//
//   BYTES        MEANING
//   0            u32: the family of patterns, by the order of the five in src/pattern/mask-formulas.ts; plus 5 if a
//                document ends after each line feed
//   4            u32: the options that are on, a bit each
//   8            u32: digitCount: a run of digits is cut after each group of this many; 0: it is not cut
//   12           mainKinds, two bytes
//   16           lowNibbles, 16 bytes
//   32           highNibbles, 16 bytes. A lead byte b has the bits lowNibbles[b & 15] & highNibbles[b >> 4]. If they
//                are not 0, all characters that begin with b and a second byte of at least firstSeconds[b & 15] are of
//                one kind: mainKinds[0] if the bits are among bits 0 to 3, mainKinds[1] if among bits 4 to 7
//   48           firstSeconds, 16 bytes
//   64           kindOfColumn, 256 bytes: kind of the characters of each column of src/pattern/scan-tables.ts;
//                `noKind`: only the automaton can classify them
//   320          kindMasks, 8 u64: scratch: for each kind, a mask of its characters' bytes in the current block
//   384          kindOfTwo, 2048 bytes: kind of each character of two bytes, at (first & 31) << 6 | second & 63
//   2432         kindOfCell: kind of each element of `columns` (also in scan-tables.ts)

const noKind: u32 = 255;

const optionsAt: usize = 4;
const digitCountAt: usize = 8;
const lowNibblesAt: usize = 16;
const highNibblesAt: usize = 32;
const mainKindsAt: usize = 12;
const firstSecondsAt: usize = 48;
const kindOfColumnAt: usize = 64;
const kindMasksAt: usize = 320;
const kindOfTwoAt: usize = 384;
const kindOfCellAt: usize = 2432;

let tables: usize = 0;
let columnBlocks: usize = 0;

/** Returns the size in bytes of the tables of a pattern with this many elements of `columns`. */
export function maskTablesBytes(columnsLength: u32): u32 {
  return <u32>kindOfCellAt + columnsLength;
}

/**
 * Uses the tables at `address`; if it is 0, no masks are used. The caller has filled in the first 320 bytes of the
 * tables, and this function fills in the kinds of characters. `blocks` and `columns` are arrays of the automaton
 * (src/pattern/scan-tables.ts).
 */
export function useMaskTables(address: usize, blocks: usize, columns: usize, columnsLength: u32): void {
  tables = address;
  columnBlocks = blocks;
  if (address === 0) return;
  for (let i: usize = 0; i < columnsLength; i++) {
    store<u8>(address + kindOfCellAt + i, load<u8>(address + kindOfColumnAt + <usize>load<u8>(columns + i)));
  }
  for (let i: usize = 0; i < 2048; i++) {
    store<u8>(address + kindOfTwoAt + i, kindOfCell(i >> 6, i & 63));
  }
}

/** Returns the kind of a character, given its block of 64 characters and its index in that block. */
function kindOfCell(block: usize, place: usize): u8 {
  return load<u8>(tables + kindOfCellAt + (<usize>load<u16>(columnBlocks + (block << 1)) | place));
}

function kindOfTwo(index: usize): u8 {
  return load<u8>(tables + kindOfTwoAt + index);
}

export function hasMasks(): bool {
  return tables !== 0;
}

export function family(): u32 {
  return load<u32>(tables);
}

/** Returns a mask of all ones if the option is on, else of zeros. */
export function isOn(option: u32): u64 {
  return -(<u64>((load<u32>(tables, optionsAt) >> option) & 1));
}

export function digitCountOf(): u32 {
  return load<u32>(tables, digitCountAt);
}

function lowNibbles(): v128 {
  return v128.load(tables, lowNibblesAt);
}

function highNibbles(): v128 {
  return v128.load(tables, highNibblesAt);
}

function firstSeconds(): v128 {
  return v128.load(tables, firstSecondsAt);
}

/** Returns the main kind with the index `which`: 0 or 1. */
function mainKind(which: usize): u32 {
  return load<u8>(tables + which, mainKindsAt);
}

/** Returns the address of a kind's mask. */
function kindMaskAt(kind: u32): usize {
  return tables + kindMasksAt + ((<usize>kind) << 3);
}

// The rest of this file classifies the non-ASCII characters of a block of 64 bytes by kind. Characters whose kind
// follows from the lead byte and a limit for the second byte are classified all at once, other characters one by one.
// Invalid UTF-8 is left to the automaton.

/** The continuation bytes (0x80 to 0xBF) of the block that was classified last. */
export let continuationBytes: u64 = 0;

// A character may begin in one block and continue in the next. `spill` is a mask of its bytes in the next block, and
// `spillKind` its kind.
let spill: u64 = 0;
let spillKind: u32 = 0;

export function forgetSpill(): void {
  spill = 0;
}

/** Returns a mask of those bytes of the block classified last that belong to characters of a kind. */
export function kindMask(kind: u32): u64 {
  return load<u64>(kindMaskAt(kind));
}

function addToKind(kind: u32, bytes: u64): void {
  const at = kindMaskAt(kind);
  store<u64>(at, load<u64>(at) | bytes);
}

/**
 * Writes the kind masks of a block. `wide` is a mask of its non-ASCII bytes, at least one. Reads up to three bytes
 * after the block. Returns false if only the automaton can read the block.
 */
export function classifyWide(block: usize, wide: u64): bool {
  const masks = kindMaskAt(0);
  const zero = i64x2.splat(0);
  v128.store(masks, zero);
  v128.store(masks, zero, 16);
  v128.store(masks, zero, 32);
  v128.store(masks, zero, 48);
  const v0 = v128.load(block),
    v1 = v128.load(block, 16),
    v2 = v128.load(block, 32),
    v3 = v128.load(block, 48);
  const limit = i8x16.splat(-64);
  const continuation = o.topBits(
    i8x16.lt_s(v0, limit),
    i8x16.lt_s(v1, limit),
    i8x16.lt_s(v2, limit),
    i8x16.lt_s(v3, limit),
  );
  continuationBytes = continuation;
  let leads = wide & ~spill;
  if (spill) addToKind(spillKind, spill);
  spill = 0;

  const s0 = leadBits(v0, v128.load(block, 1)),
    s1 = leadBits(v1, v128.load(block, 17)),
    s2 = leadBits(v2, v128.load(block, 33)),
    s3 = leadBits(v3, v128.load(block, 49));
  const uniform = o.topBits(notZero(s0), notZero(s1), notZero(s2), notZero(s3)) & leads;
  if (uniform) {
    const three = uniform & ~o.topBits(isTwo(v0), isTwo(v1), isTwo(v2), isTwo(v3));
    const following = (uniform << 1) | (three << 2);
    if (following & ~continuation) return false;
    const second = o.topBits(isSecond(s0), isSecond(s1), isSecond(s2), isSecond(s3)) & uniform;
    addUniform(mainKind(0), uniform & ~second, three);
    if (second) addUniform(mainKind(1), second, three);
    leads &= ~(uniform | following);
    const over = <u32>(three >> 63 ? 2 : (uniform >> 63) | (three >> 62) ? 1 : 0);
    if (over) {
      if ((<u32>load<u8>(block, 64) & 0xc0) !== 0x80) return false;
      if (over === 2 && (<u32>load<u8>(block, 65) & 0xc0) !== 0x80) return false;
      spill = ((<u64>1) << over) - 1;
      spillKind = (second >> 63) | ((second & three) >> 62) ? mainKind(1) : mainKind(0);
    }
  }
  // Iterates over lead bytes, so that finding the next character does not wait for the size of this one.
  let covered: u64 = 0;
  for (let starts = leads & ~continuation; starts; starts &= starts - 1) {
    const i = ctz(starts);
    const bytes = load<u32>(block + <usize>i);
    const found = kindOfCharacter(bytes);
    const kind = found & 255;
    const size = <u64>(found >> 8);
    if (kind === noKind) return false;
    const character = ((<u64>1) << size) - 1;
    addToKind(kind, character << i);
    covered |= character << i;
    if (i + size > 64) {
      spill = character >> (64 - i);
      spillKind = kind;
    }
  }
  return (leads & ~covered) === 0;
}

/**
 * Returns the kind of the character that begins with these bytes, and its size in bytes, as kind | size << 8. The kind
 * is `noKind` if the bytes are not UTF-8, or only the automaton can classify the character.
 */
function kindOfCharacter(bytes: u32): u32 {
  if ((bytes & 0xc0e0) === 0x80c0) {
    return <u32>kindOfTwo(((bytes & 31) << 6) | ((bytes >> 8) & 63)) | (2 << 8);
  }
  if ((bytes & 0xc0c0f0) === 0x8080e0) {
    const block = 32 + (((bytes & 15) << 6) | ((bytes >> 8) & 63));
    return <u32>kindOfCell(block, (bytes >> 16) & 63) | (3 << 8);
  }
  if ((bytes & 0xc0c0c0f8) === 0x808080f0) {
    const place = ((bytes & 7) << 12) | (((bytes >> 8) & 63) << 6) | ((bytes >> 16) & 63);
    return <u32>kindOfCell(1056 + place, (bytes >> 24) & 63) | (4 << 8);
  }
  return noKind;
}

/**
 * Takes each byte of `v` as a lead byte, and the byte at the same index of `seconds` as its second byte. Returns, for
 * each, bits that are not all 0 if these two bytes determine the kind of the character.
 */
function leadBits(v: v128, seconds: v128): v128 {
  const low = v128.and(v, i8x16.splat(15));
  const bits = v128.and(i8x16.swizzle(lowNibbles(), low), i8x16.swizzle(highNibbles(), i8x16.shr_u(v, 4)));
  return v128.and(bits, i8x16.ge_s(seconds, i8x16.swizzle(firstSeconds(), low)));
}

function notZero(v: v128): v128 {
  return i8x16.ne(v, i8x16.splat(0));
}

function isSecond(bits: v128): v128 {
  return v128.or(i8x16.gt_s(bits, i8x16.splat(15)), i8x16.lt_s(bits, i8x16.splat(0)));
}

/** Selects bytes from 0x80 to 0xDF. If a lead byte is among them, its character has two bytes. */
function isTwo(v: v128): v128 {
  return i8x16.lt_s(v, i8x16.splat(-32));
}

function addUniform(kind: u32, leads: u64, three: u64): void {
  addToKind(kind, leads | (leads << 1) | ((leads & three) << 2));
}
