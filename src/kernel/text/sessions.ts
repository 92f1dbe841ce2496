import { fixedEnd, reserveTo } from "../regions";

/**
 * Decides what of a text is encoded again when some of it has changed, for sessions: texts that grow and are edited.
 *
 * A *mark* is a safe cut of the text (safe-cuts.ts), with the number of ids before it. Text before a mark has the same ids as long as
 * `reach` bytes from the mark on stay, and text after it as long as as many bytes before the cut's search stay. So an edit is
 * encoded from the last mark that it does not reach to the first mark after it that stays one: after the first safe cut that is
 * found in the unchanged text, all marks do. For there the automaton is in one state, whatever came before.
 *
 * Which ids are *stable*: those before the last mark. It is searched where `reach` bytes follow, so that no text that is appended
 * changes them.
 *
 * The host has text, ids and marks. It calls `beginEdit`, writes the marks, calls `startEdit`, then `nextStep` with the answer to the
 * step before, until that is `editDone`:
 *
 *   STEP            WHAT THE HOST DOES                                       ANSWER
 *   findsFirst 1    searches the first safe cut in [stepFrom, stepTo)        its position, or `noCut`
 *   findsLast 2     searches the last one                                    its position, or `noCut`
 *   encodes 3       encodes bytes [stepFrom, stepTo), appends the ids        how many ids these bytes have
 *   editDone 0      replaces ids [firstId, endId) of the old ones by those, and its marks by these
 *
 * The first edit of a text inserts it into an empty one.
 *
 *   ARRAY   TYPE     LENGTH               MEANING
 *   marks   u32[2]   markCount            the old marks: position and number of ids, ascending
 *   made    u32[2]   madeCount            the new ones
 */
const editDone: u32 = 0;
const findsFirst: u32 = 1;
const findsLast: u32 = 2;
const encodes: u32 = 3;
const noCut: u32 = u32.MAX_VALUE;

/** The distance of marks in a long text, and how far a cut is searched. */
const spaceBytes: u32 = isSmallScale ? 8 : 1 << 11;
const searchBytes: u32 = isSmallScale ? 32 : 1 << 15;

let marks: usize = 0;
let markCount: u32 = 0;
let made: usize = 0;
let madeCount: u32 = 0;
let textBytes: u32 = 0;
let grownBytes: i32 = 0;
let reach: u32 = 0;
/** The first mark that may stay after the edit; a search for the cut after which marks do begins here. */
let nextMark: u32 = 0;
let unchangedFrom: u32 = 0;
/** The text is encoded up to `at`, with `idsBefore` ids, and will be up to `windowEnd`. */
let at: u32 = 0;
let windowEnd: u32 = 0;
let idsBefore: u32 = 0;
let oldFirstId: u32 = 0;
let oldEndId: u32 = 0;

let from: u32 = 0;
let to: u32 = 0;
/** What the next answer is for. */
let state: u32 = 0;
const begins: u32 = 0;
const seeksWindowEnd: u32 = 1;
const seeksMark: u32 = 2;
const seeksLastMark: u32 = 3;
const encodesToMark: u32 = 4;
const encodesToLastMark: u32 = 5;
const encodesRest: u32 = 6;

/** The address to which `count` marks are written; 0 without room for them and those of a text of `byteCount` bytes. */
export function beginEdit(count: u32, byteCount: u32): usize {
  marks = (fixedEnd + 63) & ~63;
  markCount = count;
  made = marks + ((<usize>count) << 3);
  const room = <u64>made + 8 * (<u64>count + byteCount / spaceBytes + 4);
  return reserveTo(room) ? marks : 0;
}

/**
 * Bytes [start, end) of a text with `idCount` ids have become `newBytes` others; it has `byteCount` bytes now. `cutReach`: how many
 * bytes on both sides of a cut may decide about it.
 */
export function startEdit(
  start: u32,
  end: u32,
  newBytes: u32,
  byteCount: u32,
  idCount: u32,
  cutReach: u32,
): void {
  textBytes = windowEnd = byteCount;
  grownBytes = <i32>newBytes - <i32>(end - start);
  reach = cutReach;
  unchangedFrom = start + newBytes;
  madeCount = 0;
  while (madeCount < markCount && <u64>positionOf(marks, madeCount) + reach <= start) madeCount++;
  memory.copy(made, marks, (<usize>madeCount) << 3);
  at = madeCount === 0 ? 0 : positionOf(marks, madeCount - 1);
  oldFirstId = idsBefore = madeCount === 0 ? 0 : idsOf(marks, madeCount - 1);
  oldEndId = idCount;
  nextMark = madeCount;
  while (nextMark < markCount && positionOf(marks, nextMark) < end) nextMark++;
  state = begins;
}

/** Takes the answer to the step before, any for the first one, and returns the next step. */
export function nextStep(answer: u32): u32 {
  if (state === begins) return seekWindowEnd();
  if (state === seeksWindowEnd) {
    takeWindowEnd(answer);
    return seekMark();
  }
  if (state === seeksMark) return answer < windowEnd ? encodeTo(answer, encodesToMark) : seekLastMark();
  if (state === seeksLastMark) return answer < windowEnd ? encodeTo(answer, encodesToLastMark) : encodeRest();
  at = to;
  idsBefore += answer;
  if (state === encodesRest) return endEdit();
  addMark();
  return state === encodesToMark ? seekMark() : encodeRest();
}

export function stepFrom(): u32 {
  return from;
}

export function stepTo(): u32 {
  return to;
}

export function firstId(): u32 {
  return oldFirstId;
}

export function endId(): u32 {
  return oldEndId;
}

export function madeMarksAddress(): usize {
  return made;
}

export function madeMarkCount(): u32 {
  return madeCount;
}

function positionOf(list: usize, index: u32): u32 {
  return load<u32>(list + ((<usize>index) << 3));
}

function idsOf(list: usize, index: u32): u32 {
  return load<u32>(list + ((<usize>index) << 3), 4);
}

function seekWindowEnd(): u32 {
  from = <u32>min<u64>(<u64>unchangedFrom + reach, textBytes);
  to = <u32>min<u64>(<u64>from + searchBytes, textBytes);
  if (nextMark === markCount || from === to) return seekMark();
  state = seeksWindowEnd;
  return findsFirst;
}

/** From the cut on marks stay. */
function takeWindowEnd(cut: u32): void {
  while (nextMark < markCount && (cut === noCut || positionOf(marks, nextMark) + grownBytes < cut))
    nextMark++;
  if (nextMark === markCount) return;
  windowEnd = positionOf(marks, nextMark) + grownBytes;
  oldEndId = idsOf(marks, nextMark);
}

/** A mark needs `reach` bytes after it. */
function seekMark(): u32 {
  const stop = min(windowEnd, textBytes > reach ? textBytes - reach : 0);
  from = at + spaceBytes;
  to = min(from + searchBytes, stop);
  if (from >= to || windowEnd - at <= 2 * spaceBytes) return seekLastMark();
  state = seeksMark;
  return findsFirst;
}

function seekLastMark(): u32 {
  to = textBytes > reach ? textBytes - reach : 0;
  from = max(at + 1, to > searchBytes ? to - searchBytes : 0);
  if (windowEnd < textBytes || from >= to) return encodeRest();
  state = seeksLastMark;
  return findsLast;
}

function encodeRest(): u32 {
  return encodeTo(windowEnd, encodesRest);
}

function encodeTo(end: u32, next: u32): u32 {
  from = at;
  to = end;
  state = next;
  return encodes;
}

/** Adds a mark where the text is encoded up to. Of marks that are near, two of a short text that was appended, one is enough. */
function addMark(): void {
  if (madeCount >= 2 && at - positionOf(made, madeCount - 2) < spaceBytes) madeCount--;
  const mark = made + ((<usize>madeCount) << 3);
  madeCount++;
  store<u32>(mark, at);
  store<u32>(mark, idsBefore, 4);
}

/** The marks after the edit move with their text. */
function endEdit(): u32 {
  if (windowEnd === textBytes) return editDone;
  for (; nextMark < markCount; nextMark++) {
    const mark = made + ((<usize>madeCount) << 3);
    madeCount++;
    store<u32>(mark, positionOf(marks, nextMark) + grownBytes);
    store<u32>(mark, idsOf(marks, nextMark) + idsBefore - oldEndId, 4);
  }
  return editDone;
}
