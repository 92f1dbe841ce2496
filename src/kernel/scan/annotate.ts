import { blockBytes, textStart } from "../regions";
import { columnAt } from "./columns";

/**
 * Annotates texts, so that the pattern's automaton sees the outcome of look-aheads (src/pattern/compiled-pattern.ts). A
 * second automaton reads the text from right to left, and replaces characters by ones that encode what follows them.
 * The state before a character is that of the second automaton once it has read the character. If this state is the
 * same whatever follows the character, the character is *quiet*, and stays unchanged. Columns are those of the current
 * automaton (scanner.ts).
 *
 *   FIELD          TYPE   MEANING
 *   steps          u32    at state << 8 | column: the upper 16 bits are the state before the character. The lower 16
 *                         say what replaces the character: an ASCII byte if it has one byte; otherwise an index into
 *                         `replacements`, or 0 if it stays unchanged
 *   replacements   u32    at index << 2 | length - 1: the bytes, the first one lowest
 *   quiet          u16    the state before a character of the column if it is the same whatever follows; else
 *                         `notQuiet`
 *   live           u8     a byte b may begin a character that is not quiet if live[b & 15] & live[16 + (b >> 4)] is not
 *                         0
 *   runStart              the start of the current run: characters that are not quiet, followed by a quiet one or
 *                         the document's end
 *   runEnd                the end of the run, as far as it was read
 *   isEnded               1 if the run ends at `runEnd`
 *   markCount             the number of marks. A mark is a position in the run with its state; the one nearest to the
 *                         run's end is first
 *
 * The fields are followed by the marks (u32 position, u32 state) and the annotated text of a block.
 */
@unmanaged
export class Annotation {
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
/** A state that depends on text that has not arrived yet, or that takes too long to find in one call. */
const unknown: u32 = 0x10000;

/** The distance in bytes between marks in a run. */
const markBytes: i32 = blockBytes;
/** The maximum number of bytes of a run that one call reads backwards. */
const readBytesMax: i32 = isSmallScale ? 64 : 1 << 20;
/** The maximum length of a run in bytes. Texts at small scale are smaller than 1 MB. */
const longestRunBytes: i32 = isSmallScale ? 1 << 20 : 1 << 30;
/** The maximum number of marks: enough for the longest run, and four for each call that reads a part of it. */
const markCountMax: u32 = longestRunBytes / markBytes + 4 * (longestRunBytes / readBytesMax);
const shadowAt: usize = offsetof<Annotation>() + 8 * markCountMax;

/**
 * Whether the last call of `annotate` stopped early because it had read `readBytesMax` bytes. Then the next call
 * continues.
 */
export let readsOn: bool = false;

/** Returns the size in bytes of the fields, the marks and the annotated text. */
export function shadowBytes(): u32 {
  return <u32>shadowAt + blockBytes + 64;
}

/** Returns an address such that the annotated byte of position p >= `from` is at the address + p. */
export function annotatedText(annotation: Annotation, from: i32): usize {
  return changetype<usize>(annotation) + shadowAt - from;
}

/** Discards the run when another document begins. */
export function dropRun(annotation: Annotation): void {
  annotation.runEnd = -1;
}

/** Lowers all positions by `delta`, because the text has moved to the front by that many bytes. */
export function shiftRun(annotation: Annotation, delta: i32): void {
  if (annotation.runEnd < 0) return;
  annotation.runStart -= delta;
  annotation.runEnd -= delta;
  for (let mark: u32 = 0; mark < annotation.markCount; mark++) {
    const at = markAt(annotation, mark);
    store<i32>(at, load<i32>(at) - delta);
  }
}

/**
 * Annotates [from, stop), at most one block. Returns the position up to which the annotated text is valid: `stop`, or
 * the position of the first character whose look-ahead needs text that has not arrived, or takes too long for one call
 * (`readsOn`). `isEnd`: the document ends at `limit`.
 *
 * The loop steps from right to left, only over bytes that may begin a character that is not quiet.
 */
export function annotate(annotation: Annotation, from: i32, stop: i32, limit: i32, isEnd: bool): i32 {
  readsOn = false;
  const text = textStart;
  const written = annotatedText(annotation, from);
  const steps = annotation.steps;
  const quiet = annotation.quiet;
  const replacements = annotation.replacements;
  const live = annotation.live;
  let known = stop;
  /** The state at position `last`, which is the start of the character that was read last. */
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
      const next = pos + length;
      if (next !== last) state = stateAt(annotation, next, limit, isEnd);
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

/** Copies 16 bytes. Returns a bit for each byte that may begin a character that is not quiet. */
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

/**
 * Returns the state at a position between two characters, or at the end of the text; `unknown` if that needs text that
 * has not arrived, or takes too long for one call.
 */
function stateAt(annotation: Annotation, pos: i32, limit: i32, isEnd: bool): u32 {
  const state = quietStateAt(annotation, pos, limit, isEnd);
  if (state !== notQuiet) return state;
  if (annotation.runEnd < 0 || pos < annotation.runStart || pos > annotation.runEnd) {
    annotation.runStart = pos;
    annotation.runEnd = pos;
    annotation.isEnded = 0;
    annotation.markCount = 0;
  }
  while (annotation.isEnded === 0) {
    const end = annotation.runEnd;
    const found = quietStateAt(annotation, end, limit, isEnd);
    if (found === unknown) return unknown;
    if (found === notQuiet) annotation.runEnd = end + lengthAt(end, limit);
    else {
      addMark(annotation, end, found);
      annotation.isEnded = 1;
    }
  }
  return readBack(annotation, pos, limit);
}

/**
 * Returns the state at a position if the next character, or the end of the document, determines it. Returns `unknown`
 * if the text there has not arrived, and `notQuiet` in all other cases.
 */
function quietStateAt(annotation: Annotation, pos: i32, limit: i32, isEnd: bool): u32 {
  if (isEnd ? pos >= limit : pos + 4 > limit) return isEnd ? 0 : unknown;
  return load<u16>(annotation.quiet + (columnOf(pos, limit) << 1));
}

/**
 * Returns the state at a position in the run by stepping back from the nearest mark; `unknown` if that takes too long
 * for one call.
 */
function readBack(annotation: Annotation, pos: i32, limit: i32): u32 {
  while (annotation.markCount > 1 && load<i32>(markAt(annotation, annotation.markCount - 1)) < pos)
    annotation.markCount--;
  const lastMark = markAt(annotation, annotation.markCount - 1);
  let at = load<i32>(lastMark);
  let state = load<u32>(lastMark, 4);
  const least = at - readBytesMax;
  let nextMark = pos + ((at - pos - 1) & -markBytes);
  while (at > pos) {
    if (at < least) {
      addMark(annotation, at, state);
      readsOn = true;
      return unknown;
    }
    at--;
    for (let i = 0; i < 3 && (load<u8>(textStart + at) & 0xc0) === 0x80; i++) at--;
    state = load<u32>(annotation.steps + (((state << 8) | columnOf(at, limit)) << 2)) >> 16;
    if (at <= nextMark) {
      addMark(annotation, at, state);
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

function markAt(annotation: Annotation, mark: u32): usize {
  return changetype<usize>(annotation) + offsetof<Annotation>() + (mark << 3);
}

function addMark(annotation: Annotation, pos: i32, state: u32): void {
  if (annotation.markCount === markCountMax) return;
  const at = markAt(annotation, annotation.markCount++);
  store<i32>(at, pos);
  store<u32>(at, state, 4);
}
