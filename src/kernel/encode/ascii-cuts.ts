import { letters, topBits, within } from "../masks/mask-operators";

/**
 * Decides for most positions of ASCII lines whether there is a *cut*: a place where a pretoken may be divided without
 * changing its ids (never-merged.ts). Decides 64 positions at a time, by masks. Bit i is the position before byte i of
 * a block.
 *
 *   - Between a visible character and a following space there is a cut, because only late merges (late-merges.ts) cross
 *     that position.
 *   - Before a letter that follows a letter or a space no cut is made, unless a capital follows a small letter. A cut
 *     is hardly ever possible there, and leaving out a possible cut changes no id.
 *   - All other positions are `asked`: they are looked up one by one.
 */

/** The positions that `sureCuts` has not decided. */
export let asked: u64 = 0;

// Facts about the last byte of the previous block, in bit 0: it is visible; it is a letter or a space; it is a small
// letter. `beginSureCuts` sets the masks to 0, so that the first position is asked.
let visibleBefore: u64 = 0;
let plainBefore: u64 = 0;
let smallBefore: u64 = 0;

export function beginSureCuts(): void {
  visibleBefore = 0;
  plainBefore = 0;
  smallBefore = 0;
}

/** Decides the 64 positions before the bytes at `bytes`. Returns those that certainly are cuts, and sets `asked`. */
export function sureCuts(bytes: usize): u64 {
  const v0 = v128.load(bytes),
    v1 = v128.load(bytes, 16),
    v2 = v128.load(bytes, 32),
    v3 = v128.load(bytes, 48);
  const space = topBits(isSpace(v0), isSpace(v1), isSpace(v2), isSpace(v3));
  const letter = topBits(letters(v0), letters(v1), letters(v2), letters(v3));
  const capital = topBits(isCapital(v0), isCapital(v1), isCapital(v2), isCapital(v3));
  const visible = topBits(isVisible(v0), isVisible(v1), isVisible(v2), isVisible(v3));
  const plain = letter | space;
  const small = letter & ~capital;
  const sure = space & ((visible << 1) | visibleBefore);
  const isJoined = letter & ((plain << 1) | plainBefore) & ~(capital & ((small << 1) | smallBefore));
  asked = ~(sure | isJoined);
  visibleBefore = visible >> 63;
  plainBefore = plain >> 63;
  smallBefore = small >> 63;
  return sure;
}

function isSpace(v: v128): v128 {
  return i8x16.eq(v, i8x16.splat(0x20));
}

function isCapital(v: v128): v128 {
  return within(v, 0x41, 26);
}

function isVisible(v: v128): v128 {
  return within(v, 0x21, 94);
}
