import { characterStates, hasCharacterStates } from "./merge-regions";

/**
 * Whole characters: a rule by which no token joins a whole character with a part of another (docs/clean-and-fair.md).
 * The rule needs only one fact about a token: the state of a UTF-8 reader after its last byte. In the states 1 to 7,
 * whole characters may precede the bytes below.
 *
 *   REGION           ELEMENT  ELEMENTS       MEANING
 *   characterStates  u8       tokenCapacity  the state of each token; JavaScript writes those of the start tokens
 *                                            (src/merge/merge-memories.ts)
 *
 *   STATE   VALUE   AFTER WHICH BYTES
 *   whole   0       one or more whole characters
 *   begun   1-3     a partial character that lacks this number of bytes, each of 80-BF
 *           4       E0; the next byte must be A0-BF
 *           5       ED; the next byte must be 80-9F
 *           6       F0; the next byte must be 90-BF
 *           7       F4; the next byte must be 80-8F
 *   tail    8-10    one byte: 80-8F, 90-9F or A0-BF
 *   stray   11      anything else
 *   none    12      no byte: the initial state
 */
const whole: u32 = 0;
const afterE0: u32 = 4;
const afterED: u32 = 5;
const afterF0: u32 = 6;
const afterF4: u32 = 7;
const lowTail: u32 = 8;
const highTail: u32 = 10;
const stray: u32 = 11;
const none: u32 = 12;

export function stateBeforeBytes(): u32 {
  return none;
}

/** Returns the state after one more byte. */
export function stateAfterByte(state: u32, byte: u32): u32 {
  const alone = stateOfByte(byte);
  if (state === none) return alone;
  if (state === whole) return isTail(alone) ? stray : alone;
  return isBegun(state) && isTail(alone) ? stateAfterTail(state, alone) : stray;
}

function stateOfByte(byte: u32): u32 {
  if (byte < 0x80) return whole;
  if (byte < 0xc0) return lowTail + min<u32>((byte >> 4) - 8, 2);
  if (byte < 0xc2 || byte > 0xf4) return stray;
  if (byte < 0xe0) return 1;
  if (byte < 0xf0) return byte === 0xe0 ? afterE0 : byte === 0xed ? afterED : 2;
  return byte === 0xf0 ? afterF0 : byte === 0xf4 ? afterF4 : 3;
}

function isBegun(state: u32): bool {
  return state > whole && state < lowTail;
}

function isTail(state: u32): bool {
  return state >= lowTail && state <= highTail;
}

function stateAfterTail(begun: u32, tail: u32): u32 {
  if (begun < afterE0) return begun - 1;
  if (begun === afterE0) return tail === highTail ? 1 : stray;
  if (begun === afterED) return tail < highTail ? 1 : stray;
  if (begun === afterF0) return tail > lowTail ? 2 : stray;
  return tail === lowTail ? 2 : stray;
}

function stateOf(id: u32): u32 {
  return load<u8>(characterStates + id);
}

/**
 * Whether the rule allows a merge: both halves are whole characters, or the left one ends with a partial character and
 * the right one is the next byte of that character. Always true without the rule.
 */
export function mayJoinCharacters(left: u32, right: u32): bool {
  if (!hasCharacterStates) return true;
  const a = stateOf(left);
  const b = stateOf(right);
  if (a === whole) return b === whole;
  return isBegun(a) && isTail(b) && stateAfterTail(a, b) !== stray;
}

/** Stores the state of a new token. The rule must allow its merge. */
export function giveCharacterState(id: u32, left: u32, right: u32): void {
  if (!hasCharacterStates) return;
  const a = stateOf(left);
  store<u8>(characterStates + id, <u8>(a === whole ? whole : stateAfterTail(a, stateOf(right))));
}
