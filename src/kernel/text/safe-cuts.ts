import { reserveTable, textStart } from "../regions";
import { columnAt } from "../scan/columns";
import { isQuiet, step } from "../scan/scanner";
import { foundLength, nextOccurrence, searchText } from "../text-loop";

/**
 * Safe cuts of a text: positions where it can be divided so that its parts can be encoded independently.
 *
 * Definition (the naive twin is `findSafeCut` of src/pattern/cut-text.ts). A position is a safe cut if two conditions
 * hold, whatever text comes before it. When the automaton reads the character at the position, it settles an end there,
 * and continues as at the start of a document. And no added token can cross the position or begin at it.
 *
 * Why this can be decided without knowing the text before: the automaton runs in all states at once, so its states
 * include the right one. Which added tokens are found depends on the text before, but an added token can only be where
 * its content occurs. So there is no cut inside an occurrence, and after an occurrence every state is considered
 * possible again. Every state is also considered possible after a character that the automaton reads differently
 * depending on what follows (src/kernel/scan/annotate.ts).
 *
 * For a text that is edited, this means: the text after a safe cut keeps its ids, whatever comes before it. The text
 * before the cut keeps its ids if the bytes after the cut stay the same: the character at the cut, and as many bytes as
 * the longest token has.
 *
 * The text may be a window (cut-windows.ts). Its holes and barred positions are then stored after it.
 *
 *   ARRAY     TYPE   LENGTH       MEANING
 *   alive     u32    stateCount   the states that are possible at the current position
 *   next      u32    stateCount   the states after the next character
 *   stamps    u32    stateCount   for each state, the `stamp` of the last character after which it was possible
 *   holes     u32[2] holeCount    half-open ranges without a cut, ascending; after each, every state is possible
 *   barred    u32[2] barredCount  half-open ranges of positions where no cut is allowed, ascending
 */
let stateCount: u32 = 0;
let alive: usize = 0;
let next: usize = 0;
let stamps: usize = 0;
let stamp: u32 = 0;
let aliveCount: u32 = 0;
let nextHole: usize = 0;
let holesEnd: usize = 0;
let nextBarred: usize = 0;
let barredEnd: usize = 0;

/** Reserves memory for the current automaton, which has `states` states. Returns false if memory runs out. */
export function useSafeCuts(states: u32): bool {
  stateCount = states;
  alive = reserveTable((<usize>states) << 2);
  next = reserveTable((<usize>states) << 2);
  stamps = reserveTable((<usize>states) << 2);
  return alive !== 0 && next !== 0 && stamps !== 0;
}

/**
 * Declares that the next text is a window. Its holes, and then its barred ranges, are stored from position `at` of the
 * text region on.
 */
export function useHoles(at: i32, holeCount: u32, barredCount: u32): void {
  nextHole = textStart + at;
  holesEnd = nextBarred = nextHole + ((<usize>holeCount) << 3);
  barredEnd = nextBarred + ((<usize>barredCount) << 3);
}

/**
 * Returns the first safe cut in [from, stop), or with `wantsLast` the last one; -1 if there is none. Position 0 never
 * counts. Bytes before `limit` may be read. The text ends at `limit`, or `limit` is at least `stop` plus the size of
 * the longest token plus 4. `isStart`: position 0 is the start of the text or a safe cut. If it is neither, at least as
 * many bytes must precede `from` as the longest token has.
 */
export function findSafeCut(from: i32, stop: i32, limit: i32, isStart: bool, wantsLast: bool): i32 {
  const cut = findCut(from, stop, limit, isStart, wantsLast);
  nextHole = holesEnd = nextBarred = barredEnd = 0;
  return cut;
}

function findCut(from: i32, stop: i32, limit: i32, isStart: bool, wantsLast: bool): i32 {
  searchText(limit);
  let last: i32 = -1;
  let reach: i32 = 0;
  let token = nextOccurrence(0, stop, limit);
  let at = isStart ? 0 : from;
  if (isStart) {
    aliveCount = 1;
    store<u32>(alive, 0);
  } else at = takeAllStates(at, stop);
  while (at < stop) {
    while (token <= at && token < stop) {
      reach = max(reach, token + foundLength);
      token = nextOccurrence(token + 1, stop, limit);
    }
    for (; nextHole < holesEnd && load<i32>(nextHole) <= at; nextHole += 8)
      reach = max(reach, load<i32>(nextHole, 4));
    if (reach > at) {
      at = takeAllStates(reach, stop);
      continue;
    }
    let column = <u32>load<u8>(textStart + at);
    let length: i32 = 1;
    if (column >= 0x80) {
      const found = columnAt(textStart, at, limit);
      column = found & 255;
      length = <i32>(found >> 8);
    }
    if (!isQuiet(column)) {
      at = takeAllStates(at + length, stop);
      continue;
    }
    if (takeCharacter(column) && at >= from && at > 0 && !isBarred(at)) {
      if (!wantsLast) return at;
      last = at;
    }
    at += length;
  }
  return last;
}

/** Whether no cut is allowed at a position. Positions must ascend from call to call. */
function isBarred(position: i32): bool {
  while (nextBarred < barredEnd && load<i32>(nextBarred, 4) <= position) nextBarred += 8;
  return nextBarred < barredEnd && load<i32>(nextBarred) <= position;
}

/**
 * Makes every state possible from `at` on. Returns the first position from `at` on where a character may begin, or a
 * position at or after `stop`.
 */
function takeAllStates(at: i32, stop: i32): i32 {
  aliveCount = stateCount;
  for (let state: u32 = 0; state < stateCount; state++) store<u32>(alive + (state << 2), state);
  while (at < stop && (load<u8>(textStart + at) & 0xc0) === 0x80) at++;
  return at;
}

/** Steps over a character from every possible state. Returns whether there is a safe cut before it. */
function takeCharacter(column: u32): bool {
  const fresh = step(0, column) >>> 16;
  let isSafe = true;
  let count: u32 = 0;
  if (++stamp === 0) {
    memory.fill(stamps, 0, (<usize>stateCount) << 2);
    stamp = 1;
  }
  for (let i: u32 = 0; i < aliveCount; i++) {
    const entry = step(load<u32>(alive + (i << 2)) << 16, column);
    const state = entry >>> 16;
    const slot = entry & 15;
    const commitCount = (entry >>> 4) & 15;
    if (commitCount === 0 || slot !== commitCount - 1 || state !== fresh) isSafe = false;
    if (load<u32>(stamps + (state << 2)) === stamp) continue;
    store<u32>(stamps + (state << 2), stamp);
    store<u32>(next + (count++ << 2), state);
  }
  const before = alive;
  alive = next;
  next = before;
  aliveCount = count;
  return isSafe;
}
