import { blockBytes, textStart } from "../regions";
import { columnAt } from "./columns";

/**
 * Writes shadows of texts, as src/pattern/compiled-pattern.ts has them; JavaScript puts the tables and this head into memory. Columns are
 * those of the automaton at work.
 *
 *   FIELD          TYPE   MEANING
 *   steps          u32    of state << 8 | column: state before the character << 16 | what stands in the shadow: an ASCII
 *                         byte, else a number of `replacements`; 0: the character itself
 *   replacements   u32    at number << 2 | length - 1: the bytes, the first one lowest
 *   quiet          u16    the state before a character of the column whatever follows; `notQuiet`: it depends
 *   live           u8     a byte b may begin a character that is not quiet if live[b & 15] & live[16 + (b >> 4)] is not 0
 *   runStart              where a run of characters that are not quiet, which goes on behind a block, was read from
 *   runEnd                so far it was read
 *   isEnded               it ends there
 *   markCount             states within the run that are known, those nearest to its end first
 *
 * Behind the head stand the marks (u32 position, u32 state) and the shadow of a block.
 */
@unmanaged
export class Shadow {
  steps: usize;
  replacements: usize;
  quiet: usize;
  live: usize;
  runStart: i32;
  runEnd: i32;
  isEnded: u32;
  markCount: u32;
}

export const notQuiet: u32 = 0xffff;
/** What follows decides, and is not known yet. */
const unknown: u32 = 0x10000;

/** A mark for each block of a run. */
const markBytes: i32 = blockBytes;
/** A run is read back so far in one call at most. */
const readBytesMax: i32 = isSmallScale ? 64 : 1 << 20;
/** Texts at small scale are smaller than this. */
const longestRunBytes: i32 = isSmallScale ? 1 << 20 : 1 << 30;
/** Enough for the longest run, with more than one more for each call that was cut short. */
const markCountMax: u32 = longestRunBytes / markBytes + 4 * (longestRunBytes / readBytesMax);
const shadowAt: usize = offsetof<Shadow>() + 8 * markCountMax;

/** The last call was cut short: the next one reads on. */
export let readsOn: bool = false;

/** Bytes of the head and what stands behind it. */
export function shadowBytes(): u32 {
  return <u32>shadowAt + blockBytes + 64;
}

/** The address of the shadow of [from, …), as that of position 0. */
export function shadowText(shadow: Shadow, from: i32): usize {
  return changetype<usize>(shadow) + shadowAt - from;
}

/** Another text begins. */
export function forgetRun(shadow: Shadow): void {
  shadow.runEnd = -1;
}

/** The text has moved: every position falls by `delta`. */
export function shiftRun(shadow: Shadow, delta: i32): void {
  if (shadow.runEnd < 0) return;
  shadow.runStart -= delta;
  shadow.runEnd -= delta;
  for (let mark: u32 = 0; mark < shadow.markCount; mark++) {
    const at = markAt(shadow, mark);
    store<i32>(at, load<i32>(at) - delta);
  }
}

/**
 * Writes the shadow of [from, stop), at most a block, and returns how far it is known: up to `stop`, or to where a run begins
 * whose end is beyond `limit` or was not reached. With `isEnd` the document ends at `limit`.
 *
 * From right to left, and only where bytes may begin a character that is not quiet: the state before any other is that of its
 * column.
 */
export function writeShadow(shadow: Shadow, from: i32, stop: i32, limit: i32, isEnd: bool): i32 {
  readsOn = false;
  const text = textStart;
  const written = shadowText(shadow, from);
  const steps = shadow.steps;
  const quiet = shadow.quiet;
  const replacements = shadow.replacements;
  const live = shadow.live;
  let known = stop;
  /** The state at `last`, the character that was looked at last. */
  let state = unknown;
  let last: i32 = -1;
  let at = from + ((stop - from + 15) & ~15);
  copyLive(text + at, written + at, live);
  let inside: u32 = (1 << (16 - (at - stop))) - 1;
  while (at > from) {
    at -= 16;
    let mask = copyLive(text + at, written + at, live) & inside;
    inside = 0xffff;
    while (mask !== 0) {
      const bit = 31 - clz(mask);
      mask ^= 1 << bit;
      const pos = at + bit;
      let column = <u32>load<u8>(text + pos);
      let length: i32 = 1;
      if (column >= 0x80) {
        const found = columnAt(text, pos, limit);
        column = found & 255;
        length = <i32>(found >> 8);
        if (<u32>load<u16>(quiet + (column << 1)) !== notQuiet) continue;
      }
      const behind = pos + length;
      if (behind !== last) state = stateAt(shadow, behind, limit, isEnd);
      last = pos;
      if (state === unknown) {
        known = pos;
        continue;
      }
      const step = load<u32>(steps + (((state << 8) | column) << 2));
      state = step >> 16;
      if (length === 1) store<u8>(written + pos, step);
      else if ((step & 0xffff) !== 0) {
        const bytes = load<u32>(replacements + ((((step & 0xffff) << 2) + length - 1) << 2));
        for (let i = 0; i < length; i++) store<u8>(written + pos + i, bytes >> (i << 3));
      }
    }
  }
  return known;
}

/** Copies 16 bytes; a bit for each that may begin a character that is not quiet. */
function copyLive(from: usize, to: usize, live: usize): u32 {
  if (ASC_FEATURE_SIMD) {
    const bytes = v128.load(from);
    v128.store(to, bytes);
    const low = i8x16.swizzle(v128.load(live), v128.and(bytes, i8x16.splat(15)));
    const high = i8x16.swizzle(v128.load(live, 16), i8x16.shr_u(bytes, 4));
    return ~i8x16.bitmask(i8x16.eq(v128.and(low, high), i8x16.splat(0))) & 0xffff;
  }
  let mask: u32 = 0;
  for (let i: u32 = 0; i < 16; i++) {
    const byte = <u32>load<u8>(from + i);
    store<u8>(to + i, byte);
    const isLive = load<u8>(live + (byte & 15)) & load<u8>(live + 16 + (byte >> 4));
    if (isLive !== 0) mask |= 1 << i;
  }
  return mask;
}

/** The state at a position, where another character begins or the text ends; or `unknown`. */
function stateAt(shadow: Shadow, pos: i32, limit: i32, isEnd: bool): u32 {
  const state = quietStateAt(shadow, pos, limit, isEnd);
  if (state !== notQuiet) return state;
  if (shadow.runEnd < 0 || pos < shadow.runStart || pos > shadow.runEnd) {
    shadow.runStart = pos;
    shadow.runEnd = pos;
    shadow.isEnded = 0;
    shadow.markCount = 0;
  }
  while (shadow.isEnded === 0) {
    const end = shadow.runEnd;
    const found = quietStateAt(shadow, end, limit, isEnd);
    if (found === unknown) return unknown;
    if (found === notQuiet) shadow.runEnd = end + lengthAt(end, limit);
    else {
      addMark(shadow, end, found);
      shadow.isEnded = 1;
    }
  }
  return readBack(shadow, pos, limit);
}

/** The state at a position where that is plain; `notQuiet` in a run, `unknown` where the text has not come. */
function quietStateAt(shadow: Shadow, pos: i32, limit: i32, isEnd: bool): u32 {
  if (isEnd ? pos >= limit : pos + 4 > limit) return isEnd ? 0 : unknown;
  return load<u16>(shadow.quiet + (columnOf(pos, limit) << 1));
}

/** The state at a position in the run that was read, from the nearest mark on. */
function readBack(shadow: Shadow, pos: i32, limit: i32): u32 {
  while (shadow.markCount > 1 && load<i32>(markAt(shadow, shadow.markCount - 1)) < pos) shadow.markCount--;
  const lastMark = markAt(shadow, shadow.markCount - 1);
  let at = load<i32>(lastMark);
  let state = load<u32>(lastMark, 4);
  const least = at - readBytesMax;
  let nextMark = pos + ((at - pos - 1) & -markBytes);
  while (at > pos) {
    if (at < least) {
      addMark(shadow, at, state);
      readsOn = true;
      return unknown;
    }
    at--;
    for (let i = 0; i < 3 && (load<u8>(textStart + at) & 0xc0) === 0x80; i++) at--;
    state = load<u32>(shadow.steps + (((state << 8) | columnOf(at, limit)) << 2)) >> 16;
    if (at <= nextMark) {
      addMark(shadow, at, state);
      nextMark -= markBytes;
    }
  }
  return state;
}

function columnOf(pos: i32, limit: i32): u32 {
  const byte = <u32>load<u8>(textStart + pos);
  return byte < 0x80 ? byte : columnAt(textStart, pos, limit) & 255;
}

function lengthAt(pos: i32, limit: i32): i32 {
  return load<u8>(textStart + pos) < 0x80 ? 1 : <i32>(columnAt(textStart, pos, limit) >> 8);
}

function markAt(shadow: Shadow, mark: u32): usize {
  return changetype<usize>(shadow) + offsetof<Shadow>() + (mark << 3);
}

function addMark(shadow: Shadow, pos: i32, state: u32): void {
  if (shadow.markCount === markCountMax) return;
  const at = markAt(shadow, shadow.markCount++);
  store<i32>(at, pos);
  store<u32>(at, state, 4);
}
