import { countIds } from "../env";
import { changeCount, idCount, notesAddress, starts, text, textBytes } from "./offsets";
import { characterSize } from "./utf8";

/**
 * Parts of a text that have at most N ids each when they are encoded on their own. The tokens of the text have been
 * located before (offsets.ts).
 *
 * Definition. A part begins and ends at an edge of a token of the text. If that edge is inside a character, or inside a
 * stretch that normalization changes as a whole, the part is shortened to the next position outside. A part has N
 * tokens of the text. It has fewer if the text has no more, or if N tokens, encoded on their own, become more than N
 * ids. If not even its first token fits, the part has as many characters of this token as fit, and may end inside a
 * changed stretch.
 *
 * Why each part is encoded again to count its ids: on its own it may have more ids than it has tokens in the text.
 * "it'll" may be "it", "'l", "l", but "it'l" is "it", "'", "l". A `single_word` token may match once the letter after
 * it is cut off.
 *
 * Why the work is bounded: the cost of an attempt is proportional to the length of its part. So after `triesOneByOne`
 * edges with which the part does not fit, the distance to the next edge doubles each time. A binary search within the
 * last distance then finds a part that fits, such that the next longer one does not.
 *
 * Positions are in bytes of the text. Tokens are numbered in text order.
 */
let idsMax: u32 = 0;
let edgeKind: u32 = 0;
/** The token, or the position, of edge 0. */
let edgeBase: u32 = 0;
/** The position of the other end of the part, while edges are tried. */
let fixedEdge: u32 = 0;

/**
 * The values of `edgeKind`: whether edges are tried as the end or the start of a part, and whether they are edges of
 * tokens or of characters in one token. The edges are tried in an order in which the part never becomes longer.
 */
const endsAtTokens: u32 = 0;
const endsInToken: u32 = 1;
const startsAtTokens: u32 = 2;
const startsInToken: u32 = 3;

const noEdge: u32 = u32.MAX_VALUE;

/**
 * The number of edges that are tried one by one. Changing it may change results, because sometimes a longer part fits
 * although a shorter one does not.
 */
const triesOneByOne: u32 = 16;

let partStart: u32 = 0;
let partEnd: u32 = 0;

/**
 * Returns the end of the longest part that is found from `start` on with at most `most` ids; `start` if not even one
 * character fits.
 */
export function endOfPart(start: u32, most: u32): u32 {
  idsMax = most;
  fixedEdge = start;
  const first = tokenAt(start);
  const last = <u32>min<u64>(idCount, <u64>first + most);
  const end = firstFitting(endsAtTokens, last, last - first);
  if (end !== noEdge && end > start) return end;
  const firstEnd = cutAfter(startOf(tokenOver(start) + 1));
  const top = min(firstEnd, characterEnd(startOf(last)));
  const inside = top > start ? firstFitting(endsInToken, top, top - start) : noEdge;
  return inside === noEdge ? start : max(start, inside);
}

/**
 * Returns the start of the longest part that is found at the end of the text with at most `most` ids; the end of the
 * text if not even one character fits. The text must have more than `most` tokens.
 */
export function startOfLastPart(most: u32): u32 {
  idsMax = most;
  fixedEdge = textBytes;
  const first = idCount - most;
  const start = firstFitting(startsAtTokens, first, most);
  if (start !== noEdge && start < textBytes) return start;
  const low = max(cutBefore(startOf(idCount - 1)), characterStart(startOf(first)));
  const inside = firstFitting(startsInToken, low, textBytes - low);
  return min(inside, textBytes);
}

/** Begins to cut the text into parts. */
export function beginParts(): void {
  partStart = partEnd = 0;
}

/**
 * Finds the next part, with at most `most` ids. It begins with the last `overlap` tokens of the previous part. It
 * shares fewer tokens if its start and its end would not both be after those of the previous part. Returns false if the
 * part is a single character that has more than `most` ids.
 */
export function nextPart(most: u32, overlap: u32): bool {
  const next = tokenAt(partEnd);
  let tries: u32 = 0;
  for (let shared = min(overlap, next); shared > 0; ) {
    const from = cutAfter(startOf(next - shared));
    if (from > partStart && from < partEnd) {
      if (takePart(from, endOfPart(from, most))) return true;
      tries++;
    }
    shared = tries < triesOneByOne ? shared - 1 : shared >> 1;
  }
  if (takePart(partEnd, endOfPart(partEnd, most))) return true;
  partStart = partEnd;
  partEnd = characterEnd(partEnd + 1);
  return false;
}

export function startOfPart(): u32 {
  return partStart;
}

export function endOfNextPart(): u32 {
  return partEnd;
}

/** Sets the current part if it ends after the previous one. Returns whether it was set. */
function takePart(start: u32, end: u32): bool {
  if (end <= partEnd) return false;
  partStart = start;
  partEnd = end;
  return true;
}

/**
 * Searches `count` edges, as the top of this file describes, for the first one with which the part fits. Returns
 * `noEdge` if it finds none. The edges are numbered from `base` on, which is a token or a position (`edgeBase`).
 */
function firstFitting(kind: u32, base: u32, count: u32): u32 {
  edgeKind = kind;
  edgeBase = base;
  let failed: i64 = -1;
  let i: i64 = 0;
  let step: i64 = 1;
  let tries: u32 = 0;
  let tried: u32 = noEdge;
  const last = <i64>count - 1;
  for (; i <= last; failed = i, i = min(i + step, last)) {
    const edge = edgeAt(<u32>i);
    if (edge !== tried) {
      if (fits(edge)) break;
      tried = edge;
      if (++tries >= triesOneByOne) step <<= 1;
    }
    if (i === last) return noEdge;
  }
  if (i > last) return noEdge;
  while (i - failed > 1) {
    const middle = (failed + i) >> 1;
    if (fits(edgeAt(<u32>middle))) i = middle;
    else failed = middle;
  }
  return edgeAt(<u32>i);
}

function edgeAt(i: u32): u32 {
  if (edgeKind === endsAtTokens) return cutBefore(startOf(edgeBase - i));
  if (edgeKind === startsAtTokens) return cutAfter(startOf(edgeBase + i));
  if (edgeKind === endsInToken) {
    const end = cutBefore(edgeBase - i);
    return end > fixedEdge ? end : characterStart(edgeBase - i);
  }
  const start = cutAfter(edgeBase + i);
  return start < fixedEdge ? start : characterEnd(edgeBase + i);
}

function fits(edge: u32): bool {
  const isEnd = edgeKind <= endsInToken;
  const start = isEnd ? fixedEdge : edge;
  const end = isEnd ? edge : fixedEdge;
  return start >= end || countIds(start, end, idsMax) <= idsMax;
}

function startOf(token: u32): u32 {
  return load<u32>(starts + ((<usize>token) << 2));
}

/**
 * Returns the first token that begins at a position, or else the token that contains the position; `idCount` at the end
 * of the text.
 */
function tokenAt(position: u32): u32 {
  let token = tokenOver(position);
  // A space that was inserted before the text may be a token without bytes in the text.
  while (token > 0 && startOf(token) === position && startOf(token - 1) === position) token--;
  return token;
}

/** Returns the token that contains the byte at a position. */
function tokenOver(position: u32): u32 {
  return countUpTo(position, starts, idCount + 1, 4) - 1;
}

/** Returns the last position at or before `position` where the text may be cut. */
function cutBefore(position: u32): u32 {
  const change = changeAround(position);
  return change === 0 ? characterStart(position) : load<u32>(change);
}

/** Returns the first position at or after `position` where the text may be cut. */
function cutAfter(position: u32): u32 {
  const change = changeAround(position);
  return change === 0 ? characterEnd(position) : load<u32>(change, 4);
}

/** Returns the address of the changed stretch around a position; 0 if the position is not inside one. */
function changeAround(position: u32): usize {
  const count = countUpTo(position, notesAddress(), changeCount, 8);
  const change = notesAddress() + ((<usize>count) << 3) - 8;
  return count > 0 && load<u32>(change) < position && position < load<u32>(change, 4) ? change : 0;
}

/** Returns how many of `count` ascending numbers, `stride` bytes apart, are at most `limit`. */
function countUpTo(limit: u32, numbers: usize, count: u32, stride: usize): u32 {
  let low: u32 = 0;
  let high = count;
  while (low < high) {
    const middle = low + ((high - low) >> 1);
    if (load<u32>(numbers + <usize>middle * stride) <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Returns the start of the character around a position; the position itself if it is between two characters. */
function characterStart(position: u32): u32 {
  const start = characterAround(position);
  return start === noEdge ? position : start;
}

/** Returns the end of the character around a position; the position itself if it is between two characters. */
function characterEnd(position: u32): u32 {
  const start = characterAround(position);
  return start === noEdge ? position : start + <u32>characterSize(text + start, text + textBytes);
}

function characterAround(position: u32): u32 {
  for (let back: u32 = 1; back <= 3 && back <= position; back++) {
    const start = position - back;
    if (start < textBytes && characterSize(text + start, text + textBytes) > back) return start;
  }
  return noEdge;
}
