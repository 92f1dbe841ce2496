import { fixedEnd, reserveTo } from "../regions";

/**
 * Edits: which part of a text must be encoded again after an edit.
 *
 * `reach` is the number of bytes on each side of a position that suffice to decide whether it is a safe cut
 * (safe-cuts.ts). A *checkpoint* is a safe cut that was found when the text was encoded, with the number of ids before
 * it.
 *
 * Where encoding restarts: the ids before a checkpoint do not change if neither the text before it nor the `reach`
 * bytes after it change. So encoding restarts at the last checkpoint that is at least `reach` bytes before the edit.
 * Without one, it restarts at the start of the text.
 *
 * Where encoding stops: an old checkpoint after the edit may have been found only because of text that was replaced. So
 * the host first searches the unchanged text, from `reach` bytes after the edit on, for a safe cut. The text from this
 * cut on keeps its ids. But how many ids precede a position is known only at checkpoints, so encoding stops at the
 * first old checkpoint at or after the cut. All checkpoints from there on stay valid. Without such a cut or checkpoint,
 * encoding continues to the end of the text.
 *
 * The ids before the last checkpoint are *stable*: at least `reach` bytes follow the checkpoint, so appending text
 * cannot change them.
 *
 * The host stores text, ids and checkpoints. It calls `beginEdit`, writes the checkpoints, calls `startEdit`, and then
 * calls `nextStep` with the answer to the previous step until it returns `editDone`:
 *
 *   STEP            WHAT THE HOST DOES                                       ANSWER
 *   findsFirst 1    searches for the first safe cut in [stepFrom, stepTo)    its position, or `noCut`
 *   findsLast 2     searches for the last safe cut in [stepFrom, stepTo)     its position, or `noCut`
 *   encodes 3       encodes bytes [stepFrom, stepTo), collects the ids       the number of ids of these bytes
 *   editDone 0      replaces old ids [firstId, endId) by the collected ones, and the old checkpoints by the new ones
 *
 * The first edit of a text inserts all of it into an empty text.
 *
 *   ARRAY         TYPE     LENGTH            MEANING
 *   checkpoints   u32[2]   checkpointCount   the old checkpoints: position and number of ids, ascending
 *   made          u32[2]   madeCount         the new checkpoints, likewise
 */
const editDone: u32 = 0;
const findsFirst: u32 = 1;
const findsLast: u32 = 2;
const encodes: u32 = 3;
const noCut: u32 = u32.MAX_VALUE;

/** The search for the next checkpoint begins this many bytes after the last one. */
const spaceBytes: u32 = isSmallScale ? 8 : 1 << 11;
/** The maximum length in bytes of the range [stepFrom, stepTo) of a search for a cut. */
const searchBytes: u32 = isSmallScale ? 32 : 1 << 15;

let checkpoints: usize = 0;
let checkpointCount: u32 = 0;
let made: usize = 0;
let madeCount: u32 = 0;
let textBytes: u32 = 0;
let grownBytes: i32 = 0;
let reach: u32 = 0;
/** The index of the first old checkpoint after the edited bytes that may stay valid. */
let nextCheckpoint: u32 = 0;
/** The position where the unchanged text after the edit begins. */
let unchangedFrom: u32 = 0;
/** The text before this position has been encoded. */
let at: u32 = 0;
/** The text will be encoded up to this position. */
let windowEnd: u32 = 0;
/** The number of ids of the text before `at`. */
let idsBefore: u32 = 0;
let oldFirstId: u32 = 0;
let oldEndId: u32 = 0;

let from: u32 = 0;
let to: u32 = 0;
/** The step whose answer the next call of `nextStep` receives: one of the constants below. */
let state: u32 = 0;
const begins: u32 = 0;
const seeksWindowEnd: u32 = 1;
const seeksCheckpoint: u32 = 2;
const seeksLastCheckpoint: u32 = 3;
const encodesToCheckpoint: u32 = 4;
const encodesToLastCheckpoint: u32 = 5;
const encodesRest: u32 = 6;

/**
 * Reserves memory for `count` old checkpoints, and for the new ones of a text of `byteCount` bytes. Returns the address
 * where the host writes the old ones; 0 if memory runs out.
 */
export function beginEdit(count: u32, byteCount: u32): usize {
  checkpoints = (fixedEnd + 63) & ~63;
  checkpointCount = count;
  made = checkpoints + ((<usize>count) << 3);
  const room = <u64>made + 8 * (<u64>count + byteCount / spaceBytes + 4);
  return reserveTo(room) ? checkpoints : 0;
}

/**
 * Begins an edit: bytes [start, end) of a text with `idCount` ids have been replaced by `newBytes` bytes, and the text
 * now has `byteCount` bytes. `cutReach` becomes `reach`: this many bytes on each side of a position suffice to decide
 * whether it is a safe cut.
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
  while (madeCount < checkpointCount && <u64>positionOf(checkpoints, madeCount) + reach <= start) madeCount++;
  memory.copy(made, checkpoints, (<usize>madeCount) << 3);
  at = madeCount === 0 ? 0 : positionOf(checkpoints, madeCount - 1);
  oldFirstId = idsBefore = madeCount === 0 ? 0 : idsOf(checkpoints, madeCount - 1);
  oldEndId = idCount;
  nextCheckpoint = madeCount;
  while (nextCheckpoint < checkpointCount && positionOf(checkpoints, nextCheckpoint) < end) nextCheckpoint++;
  state = begins;
}

/** Takes the answer to the previous step, and returns the next step. The first call ignores the answer. */
export function nextStep(answer: u32): u32 {
  if (state === begins) return seekWindowEnd();
  if (state === seeksWindowEnd) {
    takeWindowEnd(answer);
    return seekCheckpoint();
  }
  if (state === seeksCheckpoint)
    return answer < windowEnd ? encodeTo(answer, encodesToCheckpoint) : seekLastCheckpoint();
  if (state === seeksLastCheckpoint)
    return answer < windowEnd ? encodeTo(answer, encodesToLastCheckpoint) : encodeRest();
  at = to;
  idsBefore += answer;
  if (state === encodesRest) return endEdit();
  addCheckpoint();
  return state === encodesToCheckpoint ? seekCheckpoint() : encodeRest();
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

export function madeCheckpointsAddress(): usize {
  return made;
}

export function madeCheckpointCount(): u32 {
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
  if (nextCheckpoint === checkpointCount || from === to) return seekCheckpoint();
  state = seeksWindowEnd;
  return findsFirst;
}

/** Sets `windowEnd` to the first old checkpoint at or after the cut. Without one, it stays the end of the text. */
function takeWindowEnd(cut: u32): void {
  while (
    nextCheckpoint < checkpointCount &&
    (cut === noCut || positionOf(checkpoints, nextCheckpoint) + grownBytes < cut)
  )
    nextCheckpoint++;
  if (nextCheckpoint === checkpointCount) return;
  windowEnd = positionOf(checkpoints, nextCheckpoint) + grownBytes;
  oldEndId = idsOf(checkpoints, nextCheckpoint);
}

/** Begins the search for the next new checkpoint. At least `reach` bytes of text must follow it. */
function seekCheckpoint(): u32 {
  const stop = min(windowEnd, textBytes > reach ? textBytes - reach : 0);
  from = at + spaceBytes;
  to = min(from + searchBytes, stop);
  if (from >= to || windowEnd - at <= 2 * spaceBytes) return seekLastCheckpoint();
  state = seeksCheckpoint;
  return findsFirst;
}

function seekLastCheckpoint(): u32 {
  to = textBytes > reach ? textBytes - reach : 0;
  from = max(at + 1, to > searchBytes ? to - searchBytes : 0);
  if (windowEnd < textBytes || from >= to) return encodeRest();
  state = seeksLastCheckpoint;
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

/** Adds a checkpoint at the end of the text that has been encoded, which is `at`. */
function addCheckpoint(): void {
  // If the last checkpoint but one is less than `spaceBytes` before the new one, the new one replaces the last one.
  // Without this, every short append could add a checkpoint.
  if (madeCount >= 2 && at - positionOf(made, madeCount - 2) < spaceBytes) madeCount--;
  const checkpoint = made + ((<usize>madeCount) << 3);
  madeCount++;
  store<u32>(checkpoint, at);
  store<u32>(checkpoint, idsBefore, 4);
}

/** Copies the old checkpoints from `windowEnd` on, with their positions and numbers of ids adjusted. */
function endEdit(): u32 {
  if (windowEnd === textBytes) return editDone;
  for (; nextCheckpoint < checkpointCount; nextCheckpoint++) {
    const checkpoint = made + ((<usize>madeCount) << 3);
    madeCount++;
    store<u32>(checkpoint, positionOf(checkpoints, nextCheckpoint) + grownBytes);
    store<u32>(checkpoint, idsOf(checkpoints, nextCheckpoint) + idsBefore - oldEndId, 4);
  }
  return editDone;
}
