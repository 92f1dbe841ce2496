import { pollAtStep } from "../env";
import { fixedEnd, keepUpTo, reserveTable, reserveTo } from "../regions";
import {
  changeBy,
  changesBit,
  classMask,
  compositeOf,
  decomposesBit,
  factsOf,
  isSyllable,
  joinsBit,
  lowercase,
  lowers,
  makeTables,
  nfc,
  nfkc,
  noBoundaryBit,
  stepsStart,
  syllableOf,
  writeLetters,
} from "./normalization-tables";
import { characterSize, codePointAt, isUnfinished, putCharacter } from "./utf8";

/**
 * Normalizes a text that arrives in pieces: Unicode's normal forms and lower case, by steps. The calls for one text are
 * `inputAddress` and `normalize` for each piece; the last `normalize` ends the text. It has these regions:
 *
 *   REGION   CONTENT
 *   input    [pendingStart, inputEnd): text that is not given out yet
 *   log      u32[4] for each changed stretch of the last call, if a log is kept: where it begins and ends in the input
 *            and in the output, in bytes from the beginning of the text
 *   output   [outputStart, outputEnd), after all tables: the result of the last call, until something else takes the memory.
 *            If nothing has changed, the result is in the input
 *   work     after the output, while a stretch is worked on: its characters as u32, with the combining class in bits 24 to 31;
 *            the result of a step; room for sorting
 *
 * Definitions. A *starter* has combining class 0. A character has a *boundary* before it if it is a starter, is not composed
 * with anything before it, and does not become text that begins with a character for which that is false. A *stretch* is the text
 * between two boundaries. Bytes that are not UTF-8 stay, and are stretches of their own.
 *
 * Why a stretch can be normalized alone (UAX #15, section 9.1, and UAX #44 on Canonical_Combining_Class): reordering moves
 * only characters whose class is not 0, and none across a starter. Composition joins a character with the last starter before
 * it. No step makes such a character of what is after a boundary. So no step reaches across one, and that is true of the
 * result of each step, too.
 *
 * Why most stretches need no work (UAX #15, section 9, "Detecting Normalization Forms"): a text is in its normal form if no
 * character changes alone, no class is lower than that of the mark before it, and no character may join (quick check NO or
 * MAYBE). One that may join also stays if it has no composite with the last starter, or if a character between them
 * blocks it; this is checked only for starters that have no decomposition, so that the last starter is what NFC would have there.
 *
 * Work is linear: the scan continues where it stopped when more text comes, and marks are sorted by counting their classes.
 */
let inputStart: usize = 0;
let inputCapacity: usize = 0;
let pendingStart: usize = 0;
let inputEnd: usize = 0;
let logStart: usize = 0;
let logEnd: usize = 0;
let keepsLog: bool = false;
let outputStart: usize = 0;
let outputEnd: usize = 0;
let stepCount: u32 = 0;
/** Bytes of the text before `pendingStart`, and of the output for them. */
let bytesTaken: u32 = 0;
let bytesGiven: u32 = 0;

/** The scan: where it stopped, the last boundary, and whether the stretch after it may change. */
let scanPos: usize = 0;
let boundary: usize = 0;
let mayChange: bool = false;
/** The class of the character before `scanPos`; the last starter of the stretch, or -1 without one; its facts. */
let lastClass: u32 = 0;
let starter: i32 = -1;
let starterFacts: u32 = 0;

/** The input is given out up to here. */
let copiedTo: usize = 0;

/** The memory needed at first: room for pieces of this size. */
const leastCapacity: usize = isSmallScale ? 64 : 1 << 12;

export { factsOf };

/** Makes the tables for the steps, a byte each, which must remain. Returns false if there is no room. */
export function useNormalization(steps: usize, count: u32): bool {
  stepCount = count;
  return makeTables(steps, count) && resize(leastCapacity);
}

/** Begins a text and forgets the previous one. `logs`: a log of changes is kept. */
export function openNormalization(logs: bool): void {
  keepsLog = logs;
  reset();
}

/** The address to which the next `byteCount` bytes of the text are written; 0 without room. */
export function inputAddress(byteCount: u32): usize {
  if (<usize>byteCount > inputStart + inputCapacity - inputEnd) {
    moveInput();
    // Twice the room needed, so that moving takes linear time.
    const wanted = (<u64>(inputEnd - inputStart) + byteCount) << 1;
    if (wanted > inputCapacity && !resize(wanted)) return 0;
  }
  return inputEnd;
}

/**
 * Takes `byteCount` written bytes, and the end of the text. Returns the number of bytes given out, or -1 if there is no
 * room.
 */
export function normalize(byteCount: u32, endsText: bool): i32 {
  inputEnd += byteCount;
  copiedTo = pendingStart;
  outputEnd = outputStart = (fixedEnd + 63) & ~63;
  if (!reserveTo(<u64>outputStart + 64)) return -1;
  logEnd = logStart;
  if (!scan(endsText)) return -1;
  const end = endsText ? inputEnd : boundary;
  if (endsText && mayChange && !changeStretch(end)) return -1;
  if (outputEnd === outputStart) {
    // Nothing has changed: the input is given out.
    lowerAscii(copiedTo, end);
    resultAddress = copiedTo;
    outputEnd = outputStart + (end - copiedTo);
  } else {
    if (!copyTo(end)) return -1;
    resultAddress = outputStart;
  }
  const resultBytes = outputEnd - outputStart;
  bytesGiven += <u32>resultBytes;
  bytesTaken += <u32>(end - pendingStart);
  pendingStart = end;
  if (endsText) reset();
  return <i32>resultBytes;
}

let resultAddress: usize = 0;

/** The address of the bytes of the last call. */
export function normalizedAddress(): usize {
  return resultAddress;
}

/** Reserves further tables after the output of the last call. */
export function keepNormalized(): void {
  keepUpTo(outputEnd);
}

/** Bytes that wait for what follows. */
export function unnormalizedBytes(): u32 {
  return <u32>(inputEnd - pendingStart);
}

export function logAddress(): usize {
  return logStart;
}

/** The number of changed stretches in the last call. */
export function loggedCount(): u32 {
  return <u32>((logEnd - logStart) >> 4);
}

function reset(): void {
  pendingStart = inputEnd = scanPos = boundary = inputStart;
  bytesTaken = bytesGiven = 0;
  beginStretch(inputStart);
}

/** Notes that the text has a boundary at `pos`. */
function beginStretch(pos: usize): void {
  boundary = pos;
  mayChange = false;
  lastClass = 0;
  starter = -1;
}

/** Moves the pending text to the front of the input. */
function moveInput(): void {
  const distance = pendingStart - inputStart;
  memory.copy(inputStart, pendingStart, inputEnd - pendingStart);
  pendingStart -= distance;
  inputEnd -= distance;
  scanPos -= distance;
  boundary -= distance;
}

/** Gives the input this capacity, or returns false if there is no room. Log and output are empty. */
function resize(capacity: u64): bool {
  const rounded = (capacity + 63) & ~63;
  // A logged stretch has two bytes or more. Memory that is never written costs nothing.
  const start: usize = rounded > 1 << 28 ? 0 : reserveTable(<usize>(9 * rounded + 64));
  if (start === 0) return false;
  memory.copy(start, pendingStart, inputEnd - pendingStart);
  const distance = pendingStart - start;
  pendingStart -= distance;
  inputEnd -= distance;
  scanPos -= distance;
  boundary -= distance;
  inputStart = start;
  inputCapacity = <usize>rounded;
  logStart = logEnd = start + inputCapacity;
  return true;
}

/**
 * Scans to the end of the input, or to a character whose bytes are not all there. Normalizes each stretch that may
 * change.
 */
function scan(endsText: bool): bool {
  let pos = scanPos;
  const stop = inputEnd;
  while (pos < stop) {
    const lead = <u32>load<u8>(pos);
    if (lead < 0x80) {
      if (mayChange && !changeStretch(pos)) return false;
      pos++;
      while (pos + 8 <= stop && (load<u64>(pos) & 0x8080808080808080) === 0) pos += 8;
      while (pos < stop && load<u8>(pos) < 0x80) pos++;
      boundary = pos - 1;
      lastClass = 0;
      starter = <i32>load<u8>(boundary);
      starterFacts = lowers && <u32>(starter - 0x41) < 26 ? decomposesBit : 0;
      continue;
    }
    const size = characterSize(pos, stop);
    if (size === 0) {
      if (!endsText && isUnfinished(pos, stop)) break;
      if (mayChange && !changeStretch(pos)) return false;
      beginStretch(++pos);
      continue;
    }
    const codePoint = codePointAt(pos, size);
    const facts = factsOf(codePoint);
    if ((facts & noBoundaryBit) === 0) {
      if (mayChange && !changeStretch(pos)) return false;
      boundary = pos;
      mayChange = (facts & changesBit) !== 0;
      lastClass = 0;
      starter = <i32>codePoint;
      starterFacts = facts;
    } else if (!mayChange) lookBack(codePoint, facts);
    pos += size;
  }
  scanPos = pos;
  return true;
}

/** Whether a character without a boundary before it stays unchanged, after unchanged text. */
function lookBack(codePoint: u32, facts: u32): void {
  const combiningClass = facts & classMask;
  if ((facts & changesBit) !== 0 || (combiningClass !== 0 && lastClass > combiningClass)) {
    mayChange = true;
    return;
  }
  const isReached = starter >= 0 && (lastClass === 0 || lastClass < combiningClass);
  if ((facts & joinsBit) !== 0 && isReached) {
    if ((starterFacts & decomposesBit) !== 0 || compositeOf(<u32>starter, codePoint) !== 0) {
      mayChange = true;
      return;
    }
  }
  lastClass = combiningClass;
  if (combiningClass !== 0) return;
  starter = <i32>codePoint;
  starterFacts = facts;
}

/** Appends the text before the stretch to the output, and the stretch in its normal form, which ends at `end`. */
function changeStretch(end: usize): bool {
  const start = boundary;
  if (!copyTo(start)) return false;
  const work = (outputEnd + 3) & ~3;
  if (!reserveTo(<u64>work + 4 * <u64>(end - start))) return false;
  let count: u32 = 0;
  for (let pos = start; pos < end; count++) {
    const size = characterSize(pos, end);
    store<u32>(work + (count << 2), codePointAt(pos, size));
    pos += size;
  }
  for (let i: u32 = 0; i < stepCount; i++) {
    const made = takeStep(<u32>load<u8>(stepsStart + i), work, count);
    if (made < 0) return false;
    count = <u32>made;
  }
  const from = outputEnd;
  if (!reserveTo(<u64>from + 4 * <u64>count + 4)) return false;
  // A character has at most four bytes, so none is overwritten before it is read.
  for (let at = work, workEnd = work + (count << 2); at < workEnd; at += 4)
    outputEnd += putCharacter(outputEnd, load<u32>(at) & 0x1fffff);
  if (keepsLog) logChange(start, end, from);
  copiedTo = end;
  beginStretch(end);
  return true;
}

function logChange(start: usize, end: usize, from: usize): void {
  const size = end - start;
  if (size < 2 || (outputEnd - from === size && memory.compare(start, from, size) === 0)) return;
  const before = bytesTaken - <u32>pendingStart;
  const beforeOutput = bytesGiven - <u32>outputStart;
  store<u32>(logEnd, before + <u32>start);
  store<u32>(logEnd, before + <u32>end, 4);
  store<u32>(logEnd, beforeOutput + <u32>from, 8);
  store<u32>(logEnd, beforeOutput + <u32>outputEnd, 12);
  logEnd += 16;
}

/** Appends input that does not change, except for the case of ASCII, from `copiedTo` up to `end`. */
function copyTo(end: usize): bool {
  const size = end - copiedTo;
  if (!reserveTo(<u64>outputEnd + size + 8)) return false;
  if (size > 16) memory.copy(outputEnd, copiedTo, size);
  else {
    // There is room for a whole word at its end.
    for (let i: usize = 0; i < size; i += 8) store<u64>(outputEnd + i, load<u64>(copiedTo + i));
  }
  lowerAscii(outputEnd, outputEnd + size);
  outputEnd += size;
  copiedTo = end;
  return true;
}

/** Makes lower case of the ASCII letters in [pos, end), if a step does. */
function lowerAscii(pos: usize, end: usize): void {
  if (!lowers) return;
  for (; pos + 8 <= end; pos += 8) {
    const word = load<u64>(pos);
    const low = word & 0x7f7f7f7f7f7f7f7f;
    // The top bit of each byte that is A or more, but not more than Z, and ASCII.
    const upper = (low + 0x3f3f3f3f3f3f3f3f) & ~(low + 0x2525252525252525) & ~word & 0x8080808080808080;
    store<u64>(pos, word | (upper >> 2));
  }
  for (; pos < end; pos++) {
    const byte = <u32>load<u8>(pos);
    if (byte - 0x41 < 26) store<u8>(pos, <u8>(byte | 0x20));
  }
}

/** Applies a step to the characters at `work`. Returns their new number, or -1 if there is no room. */
function takeStep(step: u32, work: usize, count: u32): i32 {
  const to = work + (count << 2);
  const made = writeChanged(step, work, to, count);
  if (made < 0) return -1;
  let madeCount = <u32>made;
  if (step !== lowercase) {
    if (!sortMarks(to, madeCount)) return -1;
    if (step === nfc || step === nfkc) madeCount = compose(to, madeCount);
  }
  memory.copy(work, to, madeCount << 2);
  return <i32>madeCount;
}

/**
 * Writes the lower case, or the decomposition and each character's class. Returns the number of characters, or -1
 * without room.
 */
function writeChanged(step: u32, from: usize, to: usize, count: u32): i32 {
  const fromEnd = from + (count << 2);
  const start = to;
  let roomEnd: u64 = to;
  for (; from < fromEnd; from += 4) {
    pollAtStep(<u32>((fromEnd - from) >> 2));
    const codePoint = load<u32>(from) & 0x1fffff;
    // A character becomes at most 18; room is requested for many at once.
    if (<u64>to + 4 * 18 > roomEnd) {
      roomEnd = <u64>to + 4 * 18 + 2 * <u64>(fromEnd - from);
      if (!reserveTo(roomEnd)) return -1;
    }
    const syllable = syllableOf(codePoint);
    if (step === lowercase && codePoint < 0x80) {
      store<u32>(to, codePoint - 0x41 < 26 ? codePoint + 0x20 : codePoint);
      to += 4;
    } else if (isSyllable(syllable) && step !== lowercase) to += (<usize>writeLetters(syllable, to)) << 2;
    else {
      const change = changeBy(step, codePoint);
      if (change === 0) {
        store<u32>(to, withClass(step, codePoint));
        to += 4;
        continue;
      }
      for (let at = change + 4, end = at + (load<u32>(change) << 2); at < end; at += 4, to += 4)
        store<u32>(to, withClass(step, load<u32>(at)));
    }
  }
  return <i32>((to - start) >> 2);
}

function withClass(step: u32, codePoint: u32): u32 {
  return step === lowercase ? codePoint : codePoint | (factsOf(codePoint) << 24);
}

/** Canonical reordering: marks between two starters are sorted by class, and equal ones stay in their order. */
function sortMarks(start: usize, count: u32): bool {
  const end = start + (count << 2);
  for (let at = start; at < end; at += 4) {
    if (load<u32>(at) >> 24 === 0) continue;
    const first = at;
    let isSorted = true;
    for (at += 4; at < end && load<u32>(at) >> 24 !== 0; at += 4)
      if (load<u32>(at) >> 24 < load<u32>(at - 4) >> 24) isSorted = false;
    if (isSorted) continue;
    if (at - first <= 4 * insertedMarks) insertMarks(first, at);
    else if (!countMarks(first, at, end)) return false;
  }
  return true;
}

const insertedMarks: usize = 16;

function insertMarks(start: usize, end: usize): void {
  for (let at = start + 4; at < end; at += 4) {
    const mark = load<u32>(at);
    let to = at;
    for (; to > start && load<u32>(to - 4) >> 24 > mark >> 24; to -= 4) store<u32>(to, load<u32>(to - 4));
    store<u32>(to, mark);
  }
}

/** Sorts by counting: the number of marks of each class determines where its first one goes. `room` is free memory. */
function countMarks(start: usize, end: usize, room: usize): bool {
  const classes: usize = 256;
  const copy = room + 4 * classes;
  if (!reserveTo(<u64>copy + (end - start))) return false;
  memory.fill(room, 0, 4 * classes);
  for (let at = start; at < end; at += 4) {
    const counted = room + ((load<u32>(at) >> 24) << 2);
    store<u32>(counted, load<u32>(counted) + 1);
  }
  let before: u32 = 0;
  for (let at = room; at < copy; at += 4) {
    const count = load<u32>(at);
    store<u32>(at, before);
    before += count;
  }
  memory.copy(copy, start, end - start);
  for (let at = copy, copyEnd = copy + (end - start); at < copyEnd; at += 4) {
    const mark = load<u32>(at);
    const next = room + ((mark >> 24) << 2);
    const place = load<u32>(next);
    store<u32>(next, place + 1);
    store<u32>(start + (place << 2), mark);
  }
  return true;
}

/**
 * Canonical composition, in place: each character joins the last starter if they have a composite and nothing blocks
 * it.
 */
function compose(start: usize, count: u32): u32 {
  const end = start + (count << 2);
  let to = start;
  let lastStarter: usize = 0;
  /** The class of the last character after the starter that stayed; without one, the starter is right before. */
  let classBefore: u32 = 0;
  for (let at = start; at < end; at += 4) {
    pollAtStep(<u32>((at - start) >> 2));
    const character = load<u32>(at);
    const combiningClass = character >> 24;
    if (lastStarter !== 0 && (classBefore < combiningClass || to === lastStarter + 4)) {
      const composite = compositeOf(load<u32>(lastStarter), character & 0x1fffff);
      if (composite !== 0) {
        store<u32>(lastStarter, composite);
        continue;
      }
    }
    if (combiningClass === 0) lastStarter = to;
    classBefore = combiningClass;
    store<u32>(to, character);
    to += 4;
  }
  return <u32>((to - start) >> 2);
}
