import { hasMasks } from "../masks/mask-tables";
import { masksEnd, masksLookAhead, scanMasks } from "../masks/scan-masks";
import { blockBytes, endCountMax, endsStart, textStart } from "../regions";
import { Annotation, annotate, annotatedText, dropRun, notQuiet, shiftRun } from "./annotate";
import { columnAt, columnOfThree, columnOfTwo, invalidColumn, useColumns } from "./columns";

/**
 * The state of the scan of a document. Positions are relative to the text's start.
 *
 *   ends[0]                                   start of the first pretoken that was not processed
 *   ends[1 .. endCount)                       ends of the settled pretokens, which later text cannot change
 *   ends[endCount .. endCount + slotCount)    the slots: positions that may become ends, part of the automaton's state
 */
export let pos: i32 = 0;
export let endCount: u32 = 1;
/**
 * The entry of `transitions` for the last step. Its upper 16 bits are the automaton's state, which is 0 at the start of
 * a document.
 */
let entry: u32 = 0;
/** The number of bytes so far that are not part of valid UTF-8. */
let invalidByteCount: u64 = 0;
/** The position of the first byte since `clearFirstInvalid` that is not part of valid UTF-8; -1 if there is none. */
let firstInvalid: i32 = -1;

/** If there are more ends than this, they must be processed before the next block, because its ends may not fit. */
const endsBeforeBlockMax: u32 = endCountMax - blockBytes - 128;
if (<i32>endCountMax <= blockBytes + 128) ERROR("there is room for the ends of a block");

/** The text that the tables read: the text itself, or its annotated text (annotate.ts). */
let scannedText: usize = 0;

/** Begins a document at `at`. */
export function startDocument(at: i32): void {
  if (readsAnnotations()) dropRun(automaton.annotation);
  pos = at;
  entry = 0;
  endCount = 1;
  setEnd(0, at);
}

/**
 * Scans from `pos` up to `stop`, at most one block. A character that begins before `stop` is read whole. Bytes before
 * `limit` may be read: `limit` is at least stop + 3, or, with `isEnd`, the document's end. The scan stops before `stop`
 * where a look-ahead needs text after `limit`, or more text than one call reads (`readsOn` of annotate.ts).
 */
export function scanTo(stop: i32, limit: i32, isEnd: bool): void {
  assert(stop - pos <= blockBytes && endCount <= endsBeforeBlockMax);
  scannedText = textStart;
  if (readsAnnotations()) {
    stop = annotate(automaton.annotation, pos, stop, limit, isEnd);
    scannedText = annotatedText(automaton.annotation, pos);
  }
  if (isInPieces) {
    scanCharacters(stop, limit, false);
    return;
  }
  if (ASC_FEATURE_SIMD) {
    if (hasMasks() && limit - pos >= leastMaskedBytes) scanWithMasks(stop, limit);
  }
  scanWithTables(stop, limit);
}

function scanWithTables(stop: i32, limit: i32): void {
  if (!hasFourByteTables()) {
    scanCharacters(stop, limit, false);
    return;
  }
  while (pos < stop) {
    scanQuads(stop);
    if (pos < stop) scanCharacters(stop, limit, true);
  }
}

/**
 * If fewer bytes of the text are left than this, masks do not pay off, because tables scan the end of each text anyway.
 */
const leastMaskedBytes: i32 = isSmallScale ? 16 : 192;
/** Masks have paid off if they advanced at least this many bytes. */
const goodRunBytes: i32 = isSmallScale ? 32 : 1024;
/**
 * Where masks give up, tables scan `tableBytes` bytes, within these limits. The number doubles each time, and returns
 * to the lower limit once masks have advanced by `goodRunBytes`.
 */
const leastTableBytes: i32 = isSmallScale ? 4 : 64;
const mostTableBytes: i32 = isSmallScale ? 16 : 1 << 13;
let tableBytes: i32 = leastTableBytes;

/**
 * Scans by masks, and, where masks are not certain, by tables. May leave text before `stop` to the caller. Both ways
 * may begin at a settled end, because later ends do not depend on the text before it.
 */
function scanWithMasks(stop: i32, limit: i32): void {
  while (pos < stop) {
    const lastEnd = lastSettled();
    // Masks begin at the start of a pretoken. In a long pretoken, masks would read the same text again in each call, so
    // tables scan it.
    if (pos - lastEnd > goodRunBytes) return;
    const firstNew = endsStart + (endCount << 2);
    const reached = <i32>scanMasks(textStart, lastEnd, stop, limit, firstNew);
    let end = masksEnd();
    while (end > firstNew && <i32>load<u32>(end - 4) > stop) end -= 4;
    if (end > firstNew) {
      endCount = <u32>((end - endsStart) >> 2);
      pos = lastSettled();
      entry = 0;
    }
    if (reached >= stop || reached + masksLookAhead > limit) return;
    tableBytes = reached - lastEnd >= goodRunBytes ? leastTableBytes : min(2 * tableBytes, mostTableBytes);
    scanWithTables(min(max(reached, pos) + tableBytes, stop), limit);
  }
}

function lastSettled(): i32 {
  return <i32>load<u32>(endsStart + ((endCount - 1) << 2));
}

/** Ends the document at `pos`, which settles all of its pretokens. */
export function finishDocument(): void {
  const last = stepToEnd(entry);
  setEnd(endCount + (last & 15), pos);
  endCount += (last >> 4) & 15;
  entry = 0;
}

/** Removes the settled pretokens: the last settled end becomes ends[0]. */
export function dropEnds(): void {
  const last = endCount - 1;
  memory.copy(endsStart, endsStart + (last << 2), (slotCount + 1) << 2);
  endCount = 1;
}

/** Lowers all positions by `delta`, because the text has moved to the front by that many bytes. */
export function shiftText(delta: i32): void {
  if (readsAnnotations()) shiftRun(automaton.annotation, delta);
  pos -= delta;
  for (let i: u32 = 0; i < endCount + slotCount; i++) setEnd(i, <i32>load<u32>(endsStart + (i << 2)) - delta);
}

/** Returns the position of the first byte of the text that is still needed. */
export function keepPosition(): i32 {
  return <i32>load<u32>(endsStart);
}

/** Returns the position where the scan continues. */
export function scanPosition(): i32 {
  return pos;
}

export function invalidBytes(): f64 {
  return <f64>invalidByteCount;
}

export function firstInvalidPosition(): i32 {
  return firstInvalid;
}

export function clearFirstInvalid(): void {
  firstInvalid = -1;
}

function setEnd(index: u32, position: i32): void {
  store<u32>(endsStart + (index << 2), <u32>position);
}

/**
 * Scans up to `stop` by one table step for each character. With `untilAscii`, stops before eight consecutive ASCII
 * bytes, which `scanQuads` reads faster.
 */
function scanCharacters(stop: i32, limit: i32, untilAscii: bool): void {
  const text = scannedText;
  const ends = endsStart;
  const lastOctetPos = untilAscii ? stop - 8 : -1;
  const lastWholePos = limit - 4;
  let at = pos;
  let state = entry;
  let count = endCount;
  while (at < stop) {
    const word = load<u32>(text + at);
    let column = word & 255;
    let length: i32 = 1;
    if (column < 0x80) {
      if (at <= lastOctetPos && ((word | load<u32>(text + at, 4)) & 0x80808080) === 0) break;
    } else {
      if (at <= lastWholePos && (word & 0xc0c0f0) === 0x8080e0) {
        column = columnOfThree(word);
        length = 3;
      } else if (at <= lastWholePos && (word & 0xc0e0) === 0x80c0) {
        column = columnOfTwo(word);
        length = 2;
      } else {
        const found = columnAt(text, at, limit);
        column = found & 255;
        length = <i32>(found >> 8);
      }
      if (column === invalidColumn) {
        length = 1;
        noteInvalid(at);
      }
    }
    state = step(state, column);
    store<u32>(ends + ((count + (state & 15)) << 2), <u32>at);
    count += (state >> 4) & 15;
    at += length;
  }
  pos = at;
  entry = state;
  endCount = count;
}

function noteInvalid(at: i32): void {
  if (firstInvalid < 0) firstInvalid = at;
  invalidByteCount++;
}

/** Scans ASCII up to `stop`, eight bytes per iteration, as two *quads* of four bytes (`quadEntries`). */
function scanQuads(stop: i32): void {
  const text = scannedText;
  const pairs = pairsStart;
  const quads = quadsStart;
  const entries = quadEntriesStart;
  // In an entry of `quadEntries`, the state begins at this bit.
  const quadStateShift = quadBits + 15;
  let at = pos;
  let state = (entry >> 16) << quadStateShift;
  let end = endsStart + (endCount << 2);
  while (at + 8 <= stop) {
    const octet = load<u64>(text + at);
    if ((octet & 0x8080808080808080) !== 0) break;
    const lowQuad = quadOf(pairs, quads, <u32>octet);
    const highQuad = quadOf(pairs, quads, <u32>(octet >> 32));
    const low = load<u32>(entries + (((state >> 15) + lowQuad) << 2));
    state = load<u32>(entries + (((low >> 15) + highQuad) << 2));
    // The ends are written after both lookups, so that the second lookup does not wait for the stores.
    end = writeQuad(end, low, at);
    end = writeQuad(end, state, at + 4);
    at += 8;
  }
  if (at + 4 <= stop) {
    const word = load<u32>(text + at);
    if ((word & 0x80808080) === 0) {
      state = load<u32>(entries + (((state >> 15) + quadOf(pairs, quads, word)) << 2));
      end = writeQuad(end, state, at);
      at += 4;
    }
  }
  pos = at;
  endCount = <u32>((end - endsStart) >> 2);
  entry = (state >> quadStateShift) << 16;
}

/**
 * Writes the slots of the step over the four bytes from `at` on. `end` is the address of slot 0. Returns the address
 * after the ends that the step settles.
 */
function writeQuad(end: usize, quadEntry: u32, at: i32): usize {
  // A position that gets no slot is written to slot 7, which is unused, because a useless store costs less than a
  // mispredicted branch.
  store<u32>(end + ((quadEntry & 7) << 2), <u32>at);
  store<u32>(end + (((quadEntry >> 3) & 7) << 2), <u32>at + 1);
  store<u32>(end + (((quadEntry >> 6) & 7) << 2), <u32>at + 2);
  store<u32>(end + (((quadEntry >> 9) & 7) << 2), <u32>at + 3);
  return end + (((quadEntry >> 12) & 7) << 2);
}

/**
 * An automaton in the layout of src/pattern/scan-tables.ts. Columns 0 to 127 are ASCII itself, followed by the classes
 * of other characters, `invalidColumn` and `endColumn`.
 *
 *   FIELD          TYPE   MEANING
 *   transitions    u32    entry of state s and column c at s << 8 | c:
 *                         next state << 16 | commits << 4 | slot. The position before the character is written to
 *                         this slot, or to none if it is 15. Then the first `commits` slots are settled
 *   columnBlocks   u16    for each block of 64 characters that differ only in the last byte: the offset of their
 *                         columns in `columns`
 *   columns        u8     the columns of the characters of each block
 *   slotCount             the maximum number of ends that are written but not settled
 *   annotation            the annotation tables; 0: the automaton reads the plain text
 *   next                  the automaton that cuts the pieces of this one further; 0: none
 *
 * A *piece* is a pretoken that one automaton has settled, and that its next automaton cuts further. The head of a next
 * automaton is followed by space for `endCountMax` ends (u32): those of the previous automaton, while the next one cuts
 * its pieces.
 */
@unmanaged
class Automaton {
  transitions: usize;
  columnBlocks: usize;
  columns: usize;
  slotCount: u32;
  annotation: Annotation;
  next: usize;
}

/** The current automaton. */
let automaton: Automaton = changetype<Automaton>(0);
let transitionsStart: usize = 0;
let slotCount: u32 = 0;
/** Whether the current automaton cuts the pieces of another one. */
let isInPieces: bool = false;

const endColumn: u32 = 255;

/** Makes the automaton whose head is at `address` the current one. */
export function useAutomaton(address: usize): void {
  automaton = changetype<Automaton>(address);
  transitionsStart = automaton.transitions;
  useColumns(automaton.columnBlocks, automaton.columns);
  slotCount = automaton.slotCount;
}

/** Whether the automaton reads annotated text. */
export function readsAnnotations(): bool {
  return changetype<usize>(automaton.annotation) !== 0;
}

/** Whether a character of this column is read the same way whatever follows it. */
export function isQuiet(column: u32): bool {
  return !readsAnnotations() || <u32>load<u16>(automaton.annotation.quiet + (column << 1)) !== notQuiet;
}

/** Whether another automaton cuts the settled pretokens further. */
export function hasNextAutomaton(): bool {
  return automaton.next !== 0;
}

/**
 * Lets the next automaton cut each settled piece like a document of its own. `takeEnds` processes the resulting ends.
 * Returns false if `takeEnds` does, because memory ran out.
 */
export function cutPieces(takeEnds: () => bool): bool {
  const whole = changetype<usize>(automaton);
  const next = automaton.next;
  const wholePos = pos;
  const wholeEntry = entry;
  const wholeEndCount = endCount;
  const wasInPieces = isInPieces;
  const invalidBefore = invalidByteCount;
  const firstInvalidBefore = firstInvalid;
  const pieces = next + offsetof<Automaton>();
  const savedBytes = (endCount + slotCount) << 2;
  memory.copy(pieces, endsStart, savedBytes);
  useAutomaton(next);
  isInPieces = true;
  startDocument(load<i32>(pieces));
  for (let piece: u32 = 1; piece < wholeEndCount; piece++) {
    const end = load<i32>(pieces + (piece << 2));
    while (pos < end) {
      if (endCount > endsBeforeBlockMax && !takeEnds()) return false;
      scanTo(min(pos + blockBytes, end), end, true);
    }
    assert(pos === end);
    finishDocument();
  }
  if (!takeEnds()) return false;
  useAutomaton(whole);
  memory.copy(endsStart, pieces, savedBytes);
  pos = wholePos;
  entry = wholeEntry;
  endCount = wholeEndCount;
  isInPieces = wasInPieces;
  invalidByteCount = invalidBefore;
  firstInvalid = firstInvalidBefore;
  return true;
}

/** Returns the transition from the state in `entry` for a column. */
export function step(entry: u32, column: u32): u32 {
  return load<u32>(transitionsStart + (((entry >> 8) + column) << 2));
}

/** Returns the transition from the state in `entry` at the end of the document. */
function stepToEnd(entry: u32): u32 {
  return step(entry, endColumn);
}

/**
 * Tables for four ASCII bytes per step, in the layout of src/pattern/four-byte-tables.ts.
 *
 *   ARRAY         TYPE   MEANING
 *   pairs         u8     pair of two bytes, at first | second << 8
 *   quads         u16    quad of two pairs, at first << 8 | second
 *   quadEntries   u32    entry of state s and quad q at s << quadBits | q:
 *                        (next state << quadBits) << 15 | commits << 12 | four slots of 3 bits (7: none)
 */
let pairsStart: usize = 0;
let quadsStart: usize = 0;
let quadEntriesStart: usize = 0;
let quadBits: u32 = 0;

/**
 * Sets the tables for four ASCII bytes per step: `pairs`, `quads` and `quadEntries`. The addresses are 0 if the pattern
 * has no such tables.
 */
export function useFourByteTables(pairs: usize, quads: usize, quadEntries: usize, bits: u32): void {
  pairsStart = pairs;
  quadsStart = quads;
  quadEntriesStart = quadEntries;
  quadBits = bits;
}

function hasFourByteTables(): bool {
  return quadEntriesStart !== 0;
}

/**
 * Returns the quad of four ASCII bytes. Loops pass the table addresses as arguments, so that these stay in registers.
 */
function quadOf(pairs: usize, quads: usize, word: u32): u32 {
  const first = <u32>load<u8>(pairs + (word & 0xffff));
  const second = <u32>load<u8>(pairs + (word >> 16));
  return load<u16>(quads + (((first << 8) | second) << 1));
}
