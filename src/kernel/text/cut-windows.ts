import { reserveTable } from "../regions";
import { findToken, openSearch, recordBytes, sizeOfToken } from "../token-search";
import { noBoundaryBit } from "./normalization-tables";
import {
  factsOf,
  inputAddress,
  keepNormalized,
  logAddress,
  loggedCount,
  normalize,
  normalizedAddress,
  openNormalization,
} from "./normalize";
import { addPair, firstOf, newPairs, Pairs, pairsUpTo, secondOf } from "./pairs";
import { addsSpace, early, isLinewise, late, normalizes } from "./sections";
import {
  characterAfter,
  characterBefore,
  characterSize,
  codePointAt,
  isUnfinished,
  isWhiteSpace,
  sizeOf,
  wholeEnd,
} from "./utf8";

/**
 * The preparation of a part of a text for the search for safe cuts (safe-cuts.ts).
 *
 * A *window* is a part of a text, normalized without knowledge of the text around it. *Holes* are ranges of the window
 * whose content in the whole normalized text is uncertain. The search makes no cut in a hole or at its edges, and after
 * a hole considers every state of the automaton possible. It also makes no cut at *barred* positions. *Early* tokens
 * are found in the given text, *late* ones after normalization.
 *
 * Why cuts that are found in a window are safe:
 *   - Normalization. Text between holes consists of whole stretches (normalize.ts), each of which has one normal form
 *     whatever is around it. A cut is at the start of a stretch, or inside one that is already in normal form. Parts of
 *     such a stretch are in normal form, too (UAX #15, section 9: normal forms are closed under substringing).
 *     Positions inside other stretches are barred. An incomplete or a long stretch is a hole, so that a cut depends on
 *     few bytes after it.
 *   - Added tokens. Which added tokens are found depends on text before the window, on segments, and on `single_word`.
 *     But an added token is always an occurrence of its content: an early token in the given text, a late token in
 *     normalized text between holes. So every occurrence is a hole. Text at the edges is a hole, too, if it may belong
 *     to an occurrence that is not entirely inside the window. No cut is next to an occurrence, so tokens have the same
 *     neighbours as in the whole text.
 *   - White space that a token strips belongs to the hole of that token. If some token has `lstrip`, long white space
 *     is a hole, because that token may follow the window.
 *   - If the pattern sees an inserted space before a section, the state at the start of the text is unknown. Text after
 *     a cut continues a section, so it gets no space (`continuesSection` of sections.ts). If each line gets a space,
 *     the whole window is a hole.
 */
const stretchBytesMax: i32 = isSmallScale ? 8 : 24;
const spaceBytesMax: i32 = isSmallScale ? 4 : 16;
const characterBytes: i32 = 4;
/** Loads may reach this far beyond a text. */
const paddingBytes: u32 = 64;

/** The result of `windowReach`; 0 until it is computed. */
let reach: u32 = 0;
let following: usize = 0;
/** Address of the given text. */
export let given: usize = 0;
let givenCapacity: u32 = 0;
let givenBytes: i32 = 0;
/** The given text up to this position is in the window. */
let taken: i32 = 0;
let window: usize = 0;
let windowCapacity: u32 = 0;
let windowBytes: i32 = 0;
/** The holes: half-open ranges of positions in the window, ascending. */
let holes: Pairs = changetype<Pairs>(0);
/** The barred positions: half-open ranges, ascending. */
let barred: Pairs = changetype<Pairs>(0);
/**
 * Pairs of a position in the given text and the corresponding one in the window, ascending. Between two anchors is one
 * changed stretch, or text of which each byte has one byte in the window.
 */
let anchors: Pairs = changetype<Pairs>(0);

/** Returns how many bytes on each side of a position suffice to decide whether it is a safe cut. */
export function windowReach(): u32 {
  if (reach === 0) {
    // The sizes of late tokens are those in the normalized text. The given text may be four times as long.
    const lateBytes = late.search.longestBytes * (normalizes ? characterBytes : 1);
    const spaceBytes = early.stripsLeft | late.stripsLeft ? spaceBytesMax + characterBytes : 0;
    reach = stretchReach() + lateBytes + spaceBytes + characterBytes;
  }
  return reach;
}

/**
 * Returns the part of `windowReach` for early tokens and stretches: the size of the longest early token or of a
 * stretch, whichever is greater; their sum if a stretch may end inside an early token.
 */
function stretchReach(): u32 {
  const search = early.search;
  const longest = search.longestBytes;
  if (!normalizes) return longest;
  const stretchBytes = stretchBytesMax + characterBytes;
  for (let token: u32 = 0; token < search.count; token++) {
    const content = search.contents + load<u32>(search.records + token * recordBytes);
    const codePoint = characterAfter(content, content + sizeOfToken(search, token));
    // The boundary that ends a stretch may be inside this token, so the two sizes add up.
    if (codePoint < 0 || !startsStretch(codePoint)) return longest + stretchBytes;
  }
  return max(longest, stretchBytes);
}

/** Returns the address where the host writes `byteCount` bytes of text; 0 if memory runs out. */
export function windowAddress(byteCount: u32): usize {
  if (changetype<usize>(anchors) === 0) {
    const first = newPairs();
    const second = newPairs();
    const third = newPairs();
    if (first === null || second === null || third === null) return 0;
    holes = first;
    barred = second;
    anchors = third;
  }
  if (given === 0 || byteCount > givenCapacity) {
    given = reserveTable(2 * byteCount + paddingBytes);
    givenCapacity = given === 0 ? 0 : 2 * byteCount;
  }
  return given;
}

/**
 * Makes a window of the text that the host wrote. `startsText`: no text precedes it. Returns false if memory runs out.
 */
export function makeWindow(byteCount: u32, startsText: bool): bool {
  givenBytes = byteCount;
  taken = windowBytes = 0;
  holes.count = barred.count = anchors.count = 0;
  return (isLinewise && addsSpace) || takeText(startsText) ? takeHole(givenBytes) : false;
}

/**
 * Normalizes the text that the host wrote, which follows a safe cut. Returns the number of bytes at `followingAddress`;
 * -1 if memory runs out.
 */
export function makeFollowing(byteCount: u32): i32 {
  following = given;
  if (!normalizes) return byteCount;
  const made = normalizeGiven(0, byteCount);
  following = normalizedAddress();
  return made;
}

export function followingAddress(): usize {
  return following;
}

export function madeWindowAddress(): usize {
  return window;
}

export function madeWindowBytes(): u32 {
  return windowBytes;
}

export function holesAddress(): usize {
  return holes.start;
}

export function holeCount(): u32 {
  return holes.count;
}

export function barredAddress(): usize {
  return barred.start;
}

export function barredCount(): u32 {
  return barred.count;
}

/** Converts a position in the given text to one in the window. */
export function windowPosition(position: u32): u32 {
  const count = pairsUpTo(anchors, position, false);
  if (count === 0) return position;
  const moved = secondOf(anchors, count - 1) + position - firstOf(anchors, count - 1);
  return min(moved, count < anchors.count ? secondOf(anchors, count) : <u32>windowBytes);
}

/** Converts a cut in the window to a position in the given text. */
export function givenPosition(cut: u32): u32 {
  const count = pairsUpTo(anchors, cut, true);
  return count === 0 ? cut : firstOf(anchors, count - 1) + cut - secondOf(anchors, count - 1);
}

/** Adds the text between early tokens to the window. */
function takeText(startsText: bool): bool {
  const search = early.search;
  const longest = search.longestBytes;
  let tail = longest === 0 ? givenBytes : max(0, givenBytes - longest + 1);
  tail = <i32>(wholeEnd(given, given + tail) - given);
  tail = spaceStart(early.stripsLeft | late.stripsLeft, given, 0, tail);
  let gap: i32 = 0;
  if (!startsText) {
    gap = min(longest, givenBytes);
    while (gap < givenBytes && (load<u8>(given + gap) & 0xc0) === 0x80) gap++;
    gap = spaceEnd(early.stripsRight, given, gap, givenBytes);
  }
  openSearch(search, given, givenBytes);
  let isStart = startsText;
  for (
    let at = findToken(search, 0, tail, givenBytes);
    at < tail;
    at = findToken(search, at + 1, tail, givenBytes)
  ) {
    const end = at + sizeOfToken(search, search.found);
    const start = spaceStart(early.stripsLeft, given, gap, at);
    if (start > gap && !takeGap(gap, start, isStart)) return false;
    isStart = false;
    gap = max(gap, spaceEnd(early.stripsRight, given, end, givenBytes));
  }
  return gap >= tail || takeGap(gap, tail, isStart);
}

/** Adds [from, to) to the window. Long stretches, and long white space that a token may strip, become holes. */
function takeGap(from: i32, to: i32, startsText: bool): bool {
  const stripsLeft = (early.stripsLeft | late.stripsLeft) !== 0;
  if (!normalizes && !stripsLeft) return takePiece(from, to, startsText);
  let isInside = startsText;
  let start = from;
  let boundary = from;
  let spaceFrom: i32 = -1;
  for (let pos = from, next = from; pos < to; pos = next) {
    const size = <i32>characterSize(given + pos, given + to);
    const codePoint = size === 0 ? 0 : codePointAt(given + pos, size);
    next = pos + max(1, size);
    if (!stripsLeft || size === 0 || !isWhiteSpace(codePoint)) spaceFrom = -1;
    else if (spaceFrom < 0) spaceFrom = pos;
    let end: i32 = -1;
    if (spaceFrom >= 0 && next - spaceFrom > spaceBytesMax) end = spaceFrom;
    else if (size === 0 || startsStretch(codePoint)) {
      boundary = pos;
      if (!isInside) start = pos;
      isInside = true;
    } else if (next - boundary > stretchBytesMax) end = boundary;
    if (!isInside || end < 0) continue;
    if (!takePiece(start, end, startsText && start === from)) return false;
    isInside = false;
  }
  if (!isInside) return true;
  return takePiece(start, isBoundary(to) ? to : boundary, startsText && start === from);
}

function startsStretch(codePoint: u32): bool {
  return !normalizes || (factsOf(codePoint) & noBoundaryBit) === 0;
}

/** Whether a stretch begins at a position, whatever text follows the given text. */
function isBoundary(position: i32): bool {
  if (!normalizes) return true;
  if (position === givenBytes) return false;
  const stop = given + givenBytes;
  const size = characterSize(given + position, stop);
  return size === 0
    ? !isUnfinished(given + position, stop)
    : startsStretch(codePointAt(given + position, size));
}

/**
 * Adds the given text [from, to), which consists of whole stretches, in normalized form. Text between `taken` and
 * `from` was left out, and becomes a hole.
 */
function takePiece(from: i32, to: i32, startsText: bool): bool {
  if (from >= to) return true;
  if (!takeHole(from) || !addPair(anchors, from, windowBytes)) return false;
  const start = windowBytes;
  taken = to;
  if (normalizes) {
    const made = normalizeGiven(from, to);
    if (made < 0 || !append(normalizedAddress(), made) || !barChanges(from, start)) return false;
  } else if (!append(given + from, to - from)) return false;
  return late.search.count === 0 || takeLateTokens(start, startsText);
}

function normalizeGiven(from: i32, to: i32): i32 {
  openNormalization(true);
  const address = inputAddress(to - from);
  if (address === 0) return -1;
  memory.copy(address, given + from, to - from);
  return normalize(to - from, true);
}

/**
 * Adds anchors for the changed stretches of a piece, and bars the positions inside these stretches. The piece begins at
 * `from` in the given text and at `start` in the window.
 */
function barChanges(from: i32, start: i32): bool {
  let change = logAddress();
  for (const end = change + (loggedCount() << 4); change < end; change += 16) {
    const changedStart = start + load<i32>(change, 8);
    const changedEnd = start + load<i32>(change, 12);
    if (!addPair(anchors, from + load<i32>(change), changedStart)) return false;
    if (!addPair(anchors, from + load<i32>(change, 4), changedEnd)) return false;
    if (changedEnd - changedStart > 1 && !addPair(barred, changedStart + 1, changedEnd)) return false;
  }
  return true;
}

/**
 * Adds holes for the late tokens from `start` on, and for both edges of this text, because a late token may be only
 * partly inside it.
 */
function takeLateTokens(start: i32, startsText: bool): bool {
  const search = late.search;
  const longest = search.longestBytes;
  const end = windowBytes;
  if (!startsText) {
    const edge = spaceEnd(late.stripsRight, window, min(start + longest, end), end);
    if (!addHole(start, edge)) return false;
  }
  let tail = max(start, end - longest + 1);
  tail = <i32>(wholeEnd(window + start, window + tail) - window);
  tail = spaceStart(late.stripsLeft, window, start, tail);
  openSearch(search, window, end);
  for (let at = findToken(search, start, tail, end); at < tail; at = findToken(search, at + 1, tail, end)) {
    const from = spaceStart(late.stripsLeft, window, start, at);
    if (!addHole(from, spaceEnd(late.stripsRight, window, at + sizeOfToken(search, search.found), end)))
      return false;
  }
  return addHole(tail, end);
}

/** Adds the given text from `taken` up to a position as a hole. */
function takeHole(to: i32): bool {
  if (taken >= to) return true;
  const start = windowBytes;
  if (!addPair(anchors, taken, start) || !append(given + taken, to - taken)) return false;
  taken = to;
  return addHole(start, windowBytes);
}

/** Adds the hole [start, end], both edges included. Holes that touch are joined. */
function addHole(start: i32, end: i32): bool {
  let from = <u32>start;
  let to = <u32>end + 1;
  for (; holes.count > 0 && secondOf(holes, holes.count - 1) >= from; holes.count--) {
    from = min(from, firstOf(holes, holes.count - 1));
    to = max(to, secondOf(holes, holes.count - 1));
  }
  return addPair(holes, from, to);
}

/** Appends bytes to the window. */
function append(address: usize, byteCount: i32): bool {
  const needed = <u64>windowBytes + byteCount + paddingBytes;
  if (needed > windowCapacity) {
    if (normalizes) keepNormalized();
    const longer: usize = needed > 1 << 29 ? 0 : reserveTable(2 * <usize>needed);
    if (longer === 0) return false;
    memory.copy(longer, window, windowBytes);
    window = longer;
    windowCapacity = 2 * <u32>needed;
  }
  memory.copy(window + windowBytes, address, byteCount);
  windowBytes += byteCount;
  return true;
}

/**
 * Returns the start of the white space that ends at `end`, but at least `first`. Without `takesSpace`, returns `end`.
 */
function spaceStart(takesSpace: u32, text: usize, first: i32, end: i32): i32 {
  if (takesSpace === 0) return end;
  let start = end;
  while (start > first) {
    const character = characterBefore(text + first, text + start);
    if (!isWhiteSpace(character)) break;
    start -= sizeOf(character);
  }
  return start;
}

/** Returns the end of the white space from `start` on. Without `takesSpace`, returns `start`. */
function spaceEnd(takesSpace: u32, text: usize, start: i32, stop: i32): i32 {
  if (takesSpace === 0) return start;
  let end = start;
  while (end < stop) {
    const character = characterAfter(text + end, text + stop);
    if (!isWhiteSpace(character)) break;
    end += sizeOf(character);
  }
  return end;
}
