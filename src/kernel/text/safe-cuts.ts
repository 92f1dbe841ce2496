import { reserveTable, textStart } from "../regions";
import { columnAt } from "../scan/columns";
import { isQuiet, step } from "../scan/scanner";
import { foundLength, nextOccurrence, searchText } from "../text-loop";

/**
 * Finds safe cuts of a text: positions where it can be divided such that its parts are encoded independently.
 *
 * Definition (`findSafeCut` of src/pattern/cut-text.ts is the twin). A place is a safe cut if, whatever comes before, the automaton
 * settles an end there by reading the character at the place, and continues as from the start of a document; and if no added
 * token can have bytes on both sides of it, or begin at it.
 *
 * Why a place is certain although the text before it is unknown: the automaton runs in every state at once, so its states include
 * the right one. Which tokens are found depends on what comes before, but each is an occurrence of a token, and no place inside
 * an occurrence is used; after them, every state is possible again. That holds, too, after characters that the automaton sees
 * differently according to what follows (src/kernel/scan/annotate.ts).
 *
 * It follows for a text that is edited: text before a safe cut has the same ids whatever comes after the character at
 * the cut and the longest token from there on; text after it has the same ids whatever comes before.
 *
 * A text may be a window (cut-windows.ts), whose holes and barred positions follow it.
 *
 *   ARRAY     TYPE   LENGTH       MEANING
 *   alive     u32    stateCount   the states that the automaton may be in
 *   next      u32    stateCount   those after a character
 *   stamps    u32    stateCount   the number of the character after which a state was listed last
 *   holes     u32[2] holeCount    starts and ends of stretches after which every state is possible, ascending
 *   barred    u32[2] barredCount  starts and ends of stretches without a cut, ascending
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

/** Makes room for the current automaton, which has `states` states; returns false if there is none. */
export function useSafeCuts(states: u32): bool {
  stateCount = states;
  alive = reserveTable((<usize>states) << 2);
  next = reserveTable((<usize>states) << 2);
  stamps = reserveTable((<usize>states) << 2);
  return alive !== 0 && next !== 0 && stamps !== 0;
}

/** The next text is a window, and its holes and then its barred positions are in memory from `at` on, after it. */
export function useHoles(at: i32, holeCount: u32, barredCount: u32): void {
  nextHole = textStart + at;
  holesEnd = nextBarred = nextHole + ((<usize>holeCount) << 3);
  barredEnd = nextBarred + ((<usize>barredCount) << 3);
}

/**
 * The first safe cut in [from, stop) of the text, or with `wantsLast` the last one; -1 without one. Bytes before `limit` are known:
 * the text ends there, or the longest token and four more fit between `stop` and it. `isStart`: the text begins at 0, or that is a
 * safe cut. Otherwise as many bytes are known before `from` as the longest token has.
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

/** Positions ascend from call to call. */
function isBarred(position: i32): bool {
  while (nextBarred < barredEnd && load<i32>(nextBarred, 4) <= position) nextBarred += 8;
  return nextBarred < barredEnd && load<i32>(nextBarred) <= position;
}

/** From here on every state is possible. Returns the first position from `at` on where a character may begin. */
function takeAllStates(at: i32, stop: i32): i32 {
  aliveCount = stateCount;
  for (let state: u32 = 0; state < stateCount; state++) store<u32>(alive + (state << 2), state);
  while (at < stop && (load<u8>(textStart + at) & 0xc0) === 0x80) at++;
  return at;
}

/** Steps over a character in every state. Returns whether it is a safe cut. */
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
