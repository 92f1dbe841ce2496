import { countIds } from "../env";
import { changeCount, idCount, notesAddress, starts, text, textBytes } from "./offsets";
import { characterSize } from "./utf8";

/**
 * Cuts a text whose tokens have been placed (offsets.ts) into parts that are encoded on their own and have at most N ids each.
 *
 * Definition. A part begins and ends where a token of the text does, moved to a whole character, and out of a stretch that
 * normalization changes as a whole. It has N tokens of the text if its own ids are at most N, else as many fewer as it takes.
 * If not even its first token fits, it has as many characters as fit; then a changed stretch may be divided, too.
 *
 * Why a part is encoded to be counted: it may have more ids than it has tokens of the text. "it'll" is "it", "'l" and "l", and
 * "it'l" is "it", "'" and "l". Cut off from the letter after it, a `single_word` token may begin to count. The host encodes
 * parts (`countIds`), so it may use any encoder; everything else is here.
 *
 * Why the work is bounded: an attempt costs as much as its part is long. So after some edges that do not fit, the distance doubles
 * from one to the next, and the part that fits then is made longer by halves of the last distance.
 *
 * Positions are bytes of the text. Tokens are numbered in their order.
 */
let idsMax: u32 = 0;
let wayOfEdges: u32 = 0;
/** The edges are counted from this token, or from this position. The other end of the part is `fixedEdge`. */
let edgeBase: u32 = 0;
let fixedEdge: u32 = 0;

/** Edges to try, each giving a part that is no longer than the one before. */
const endsAtTokens: u32 = 0;
const endsInToken: u32 = 1;
const startsAtTokens: u32 = 2;
const startsInToken: u32 = 3;

const noEdge: u32 = u32.MAX_VALUE;

/**
 * The number of edges that are tried one by one. It decides which part is found where one does not fit, and a longer
 * one does.
 */
const triesOneByOne: u32 = 16;

let partStart: u32 = 0;
let partEnd: u32 = 0;

/** Returns the end of the longest part that begins at `start`; `start` if not even a character fits. */
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
 * Returns where the longest part begins that ends with the text, which has more than `most` ids; its end if none fits.
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
 * Finds the next part, of at most `most` ids. It begins with the last `overlap` tokens of the part before, or with fewer if it
 * would otherwise not begin or not end after that. False: the part is a character that has more ids.
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

/** Takes a part that ends after the one before. */
function takePart(start: u32, end: u32): bool {
  if (end <= partEnd) return false;
  partStart = start;
  partEnd = end;
  return true;
}

/** Returns the first edge that fits, of `count` edges, or `noEdge`. */
function firstFitting(way: u32, base: u32, count: u32): u32 {
  wayOfEdges = way;
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
  if (wayOfEdges === endsAtTokens) return cutBefore(startOf(edgeBase - i));
  if (wayOfEdges === startsAtTokens) return cutAfter(startOf(edgeBase + i));
  if (wayOfEdges === endsInToken) {
    const end = cutBefore(edgeBase - i);
    return end > fixedEdge ? end : characterStart(edgeBase - i);
  }
  const start = cutAfter(edgeBase + i);
  return start < fixedEdge ? start : characterEnd(edgeBase + i);
}

function fits(edge: u32): bool {
  const isEnd = wayOfEdges <= endsInToken;
  const start = isEnd ? fixedEdge : edge;
  const end = isEnd ? edge : fixedEdge;
  return start >= end || countIds(start, end, idsMax) <= idsMax;
}

function startOf(token: u32): u32 {
  return load<u32>(starts + ((<usize>token) << 2));
}

/** The first token that ends after a position, or begins there; after the last one at the end of the text. */
function tokenAt(position: u32): u32 {
  let token = tokenOver(position);
  // A space that was put before the text may be a token that has none of it.
  while (token > 0 && startOf(token) === position && startOf(token - 1) === position) token--;
  return token;
}

/** The token that has the byte at a position. */
function tokenOver(position: u32): u32 {
  return countUpTo(position, starts, idCount + 1, 4) - 1;
}

/** The last position up to this one where the text may be cut. */
function cutBefore(position: u32): u32 {
  const change = changeAround(position);
  return change === 0 ? characterStart(position) : load<u32>(change);
}

/** The first position from this one on where the text may be cut. */
function cutAfter(position: u32): u32 {
  const change = changeAround(position);
  return change === 0 ? characterEnd(position) : load<u32>(change, 4);
}

/** The changed stretch that a position is inside of; 0 without one. */
function changeAround(position: u32): usize {
  const count = countUpTo(position, notesAddress(), changeCount, 8);
  const change = notesAddress() + ((<usize>count) << 3) - 8;
  return count > 0 && load<u32>(change) < position && position < load<u32>(change, 4) ? change : 0;
}

/** How many of `count` ascending numbers are at most `limit`. */
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

/** Where the character begins that a position is inside of; between two characters, that position. */
function characterStart(position: u32): u32 {
  const start = characterAround(position);
  return start === noEdge ? position : start;
}

/** Where that character ends. */
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
