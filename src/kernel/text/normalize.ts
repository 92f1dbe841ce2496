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
 * The normalization of a text that arrives in pieces, by a list of steps: Unicode's normal forms and lower case.
 * Callers call `inputAddress` and `normalize` for each piece of a text; the last `normalize` ends the text. The regions
 * are:
 *
 *   REGION   CONTENT
 *   input    [pendingStart, inputEnd): text that has not been emitted yet
 *   log      if a log is kept, u32[4] for each changed stretch of two bytes or more of the last call: its start
 *            and end in bytes of the text, and in bytes of the normalized text
 *   output   [outputStart, outputEnd), after all tables: the result of the last call, until other tables take the
 *            memory. If no stretch was normalized, the result is in the input instead
 *   work     after the output, while a stretch is processed: its characters as u32; the characters after a step, with
 *            the rank of the combining class in bits 24 to 31 if the step is a normal form; memory for sorting
 *
 * Definitions. A *starter* is a character with combining class 0. There is a *boundary* before a character if it is a
 * starter that cannot be composed with a character before it, and no step turns it into text whose first character
 * lacks these properties. A *stretch* is the text between two successive boundaries. Bytes that are not UTF-8 stay
 * unchanged, and each is a stretch.
 *
 * Why a stretch can be normalized alone (UAX #15, section 9.1, and UAX #44 on Canonical_Combining_Class): reordering
 * moves only characters whose class is not 0, and none across a starter. Composition joins a character with the last
 * starter before it. The text after a boundary never begins with a character that is moved or composed in these ways,
 * neither before nor after any step. So no step reaches across a boundary.
 *
 * Why most stretches need no work (UAX #15, section 9, "Detecting Normalization Forms"): a text is in normal form if no
 * character changes by itself, no combining class is lower than that of the mark before it, and no character may be
 * composed (quick check NO or MAYBE). A character that may be composed also stays if a character between it and the
 * last starter blocks it, or if it has no composite with the last starter. The composite is looked up only if the last
 * starter has no decomposition, because then it is the last starter in the normalized text, too.
 *
 * The work is linear: when more text arrives, the scan continues where it stopped; and long runs of marks are sorted by
 * counting their classes.
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
/** The number of bytes of the text before `pendingStart`. */
let bytesTaken: u32 = 0;
/** The number of bytes of normalized text that have been emitted. */
let bytesGiven: u32 = 0;

/** The address where the scan stopped. */
let scanPos: usize = 0;
/** The last boundary before `scanPos`. */
let boundary: usize = 0;
/** Whether a step may change the stretch that begins at `boundary`, apart from the case of ASCII letters. */
let mayChange: bool = false;
/** The rank of the combining class of the character before `scanPos`. */
let lastClass: u32 = 0;
/** The last starter of the stretch, or -1. */
let starter: i32 = -1;
/** The facts about `starter` (normalization-tables.ts). */
let starterFacts: u32 = 0;

/** The input before this address has been copied to the output. */
let copiedTo: usize = 0;

/** The initial capacity of the input in bytes. */
const leastCapacity: usize = isSmallScale ? 64 : 1 << 12;

export { factsOf };

/**
 * Builds the tables for the `count` steps at `steps`, a byte each, which must stay in memory. Returns false if memory
 * runs out.
 */
export function useNormalization(steps: usize, count: u32): bool {
  stepCount = count;
  return makeTables(steps, count) && resize(leastCapacity);
}

/** Begins a text and discards the previous one. `logs`: keep a log of changes. */
export function openNormalization(logs: bool): void {
  keepsLog = logs;
  reset();
}

/** Returns the address where the caller writes the next `byteCount` bytes of the text; 0 if `resize` returns false. */
export function inputAddress(byteCount: u32): usize {
  if (<usize>byteCount > inputStart + inputCapacity - inputEnd) {
    moveInput();
    // This is twice the needed size, so that all moves together take linear time.
    const wanted = (<u64>(inputEnd - inputStart) + byteCount) << 1;
    if (wanted > inputCapacity && !resize(wanted)) return 0;
  }
  return inputEnd;
}

/**
 * Processes the `byteCount` bytes that were written to `inputAddress`, and with `endsText` the end of the text. Returns
 * the number of bytes at `normalizedAddress`, or -1 if memory runs out.
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
    // No stretch was normalized, so the result is the input itself, with ASCII in lower case if a step asks for that.
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

/** Returns the address of the result of the last `normalize`. */
export function normalizedAddress(): usize {
  return resultAddress;
}

/** Keeps the output of the last call: tables that are reserved from now on follow it. */
export function keepNormalized(): void {
  keepUpTo(outputEnd);
}

/** Returns the number of bytes that cannot be emitted before more text arrives. */
export function unnormalizedBytes(): u32 {
  return <u32>(inputEnd - pendingStart);
}

export function logAddress(): usize {
  return logStart;
}

/** Returns the number of stretches in the log of the last call. */
export function loggedCount(): u32 {
  return <u32>((logEnd - logStart) >> 4);
}

function reset(): void {
  pendingStart = inputEnd = scanPos = boundary = inputStart;
  bytesTaken = bytesGiven = 0;
  beginStretch(inputStart);
}

/** Begins a stretch at a boundary at `pos`. */
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

/**
 * Moves the input to new memory with this capacity. Log and output must be empty. Returns false if memory runs out, or
 * the capacity exceeds 256 MiB.
 */
function resize(capacity: u64): bool {
  const rounded = (capacity + 63) & ~63;
  // A logged stretch has at least two bytes, so the log takes at most 8 times the size of the input.
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
 * Scans up to the end of the input or, unless the text ends there, up to an incomplete character at that end.
 * Normalizes each stretch that may change. Returns false if memory runs out.
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

/**
 * Takes a character without a boundary before it. Sets `mayChange` if a step may change the character, reorder it, or
 * compose it with the last starter.
 */
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

/**
 * Appends to the output the text before the current stretch, and then what the steps make of the stretch, which ends at
 * `end`. Returns false if memory runs out.
 */
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
  // A character takes four bytes in `work` and at most four in the output, so writing never overtakes reading.
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

/** Appends the input from `copiedTo` to `end`, which is unchanged except for the case of ASCII. */
function copyTo(end: usize): bool {
  const size = end - copiedTo;
  if (!reserveTo(<u64>outputEnd + size + 8)) return false;
  if (size > 16) memory.copy(outputEnd, copiedTo, size);
  else {
    // Up to 7 bytes too many are copied; 8 more were reserved.
    for (let i: usize = 0; i < size; i += 8) store<u64>(outputEnd + i, load<u64>(copiedTo + i));
  }
  lowerAscii(outputEnd, outputEnd + size);
  outputEnd += size;
  copiedTo = end;
  return true;
}

/** Converts the ASCII letters in [pos, end) to lower case, if a step does so. */
function lowerAscii(pos: usize, end: usize): void {
  if (!lowers) return;
  for (; pos + 8 <= end; pos += 8) {
    const word = load<u64>(pos);
    const low = word & 0x7f7f7f7f7f7f7f7f;
    // Sets the top bit of each byte from A to Z.
    const upper = (low + 0x3f3f3f3f3f3f3f3f) & ~(low + 0x2525252525252525) & ~word & 0x8080808080808080;
    store<u64>(pos, word | (upper >> 2));
  }
  for (; pos < end; pos++) {
    const byte = <u32>load<u8>(pos);
    if (byte - 0x41 < 26) store<u8>(pos, <u8>(byte | 0x20));
  }
}

/** Applies a step to the characters at `work`. Returns their new number, or -1 if memory runs out. */
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
 * Writes what a step makes of each character: its lower case, or its decomposition with the rank of each combining
 * class. Returns the number of characters, or -1 if memory runs out.
 */
function writeChanged(step: u32, from: usize, to: usize, count: u32): i32 {
  const fromEnd = from + (count << 2);
  const start = to;
  let roomEnd: u64 = to;
  for (; from < fromEnd; from += 4) {
    pollAtStep(<u32>((fromEnd - from) >> 2));
    const codePoint = load<u32>(from) & 0x1fffff;
    // A character becomes at most 18 characters. Memory is reserved for many at once.
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

/** Canonical reordering: sorts the marks between two starters by class, stably. Returns false if memory runs out. */
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

/** Sorts marks by counting their classes. Free memory begins at `room`. Returns false if memory runs out. */
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
 * Canonical composition, in place: composes each character with the last starter if they have a composite and nothing
 * between them blocks it. Returns the number of characters left.
 */
function compose(start: usize, count: u32): u32 {
  const end = start + (count << 2);
  let to = start;
  let lastStarter: usize = 0;
  /** The combining class of the last character kept after the starter; unused if there is none. */
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
