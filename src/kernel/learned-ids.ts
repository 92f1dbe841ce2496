import { endsStart, reserveFixed, textStart } from "./regions";

/**
 * The encoding of a short text by applying all merges in the order in which they were learned. The encoder in encode/
 * always merges the pair of the lowest rank instead. The ids are the same, because a pair that contains a token was
 * learned after that token. Applying merges in order needs no table of all merges, only one of the pairs in the text. A
 * token is stored at the position of its first byte.
 *
 *   ARRAY     TYPE         LENGTH          MEANING
 *   ids       i32          size            id of the token at i; `noToken` inside a token
 *   more      i32          size + 1        the number of bytes of the token at i, minus 1
 *   before    i32          size + 1        the value of `more` for the token that ends at i, unless it is special
 *   isStart   u8           size + 1        1 where a pretoken or a special token starts, and at the end of the text: no
 *                                          merge joins tokens across these positions
 *   slots     u32          1 << slotBits   hash table of `pairs`, linear probing: 1 + index of a pair; 0: free
 *   pairs     Pair         3 * size        the pairs that have occurred
 *   places    Place        3 * size        a list of the positions of each pair. A position stays in the list when
 *                                          the pair no longer occurs there
 *
 * Why 3 * size is enough: at first there is at most one pair for each byte, and each replacement removes a token and
 * adds at most two pairs.
 */
let size: i32 = 0;
let byteIdsStart: usize = 0;
let idsStart: usize = 0;
let moreStart: usize = 0;
let beforeStart: usize = 0;
let isStartStart: usize = 0;
let slotsStart: usize = 0;
let slotBits: u32 = 0;
let pairsStart: usize = 0;
let placesStart: usize = 0;
let pairCount: u32 = 0;
let placeCount: u32 = 0;

const noToken: i32 = -1;

@unmanaged
class Pair {
  left: i32;
  right: i32;
  /** The first element of the list of the pair's positions. */
  first: Place;
  /** The last element of that list. */
  last: Place;
}
const pairBytes: u32 = 16;

@unmanaged
class Place {
  position: i32;
  next: Place | null;
}
const placeBytes: u32 = 8;

/**
 * Makes each of the text's first `byteCount` bytes a token. `byteIds` has the id of each byte. Returns false if memory
 * runs out. Must not be called again.
 */
export function startTokens(byteCount: i32, byteIds: usize): bool {
  size = byteCount;
  byteIdsStart = byteIds;
  idsStart = reserveFixed((<usize>size) << 2);
  moreStart = reserveFixed((<usize>(size + 1)) << 2);
  beforeStart = reserveFixed((<usize>(size + 1)) << 2);
  isStartStart = reserveFixed(<usize>size + 1);
  slotBits = 32 - clz(6 * size + 1);
  slotsStart = reserveFixed((<usize>4) << slotBits);
  pairsStart = reserveFixed(<usize>(3 * size * pairBytes));
  placesStart = reserveFixed(<usize>(3 * size * placeBytes));
  if (idsStart === 0 || moreStart === 0 || beforeStart === 0 || isStartStart === 0) return false;
  if (slotsStart === 0 || pairsStart === 0 || placesStart === 0) return false;
  for (let i = 0; i < size; i++) setId(i, load<i32>(byteIdsStart + ((<usize>load<u8>(textStart + i)) << 2)));
  markStart(size);
  return true;
}

/** Marks the start of each pretoken, and the end of the last one. */
export function markPretokens(endCount: u32): bool {
  for (let i: u32 = 0; i < endCount; i++) markStart(<i32>load<u32>(endsStart + (i << 2)));
  return true;
}

/** Puts a special token of `length` bytes at `at`. */
export function markSpecialToken(at: i32, length: i32, id: i32): void {
  markStart(at);
  markStart(at + length);
  setId(at, id);
  store<i32>(moreStart + ((<usize>at) << 2), length - 1);
  for (let i = at + 1; i < at + length; i++) setId(i, noToken);
}

/**
 * Applies all merges in order, each to all current occurrences of its pair. `idLimit` is greater than every id of a
 * byte or a merge. Returns the number of ids, which are at `learnedIdsAddress`; -1 if memory runs out, or if a merge
 * makes a token that an earlier merge joins or makes.
 */
export function applyMerges(lefts: usize, rights: usize, merged: usize, mergeCount: u32, idLimit: u32): i32 {
  const byteOf = reserveFixed((<usize>idLimit) << 1);
  const isMerged = reserveFixed(1 << 16);
  const occurs = reserveFixed(idLimit);
  const isUsed = reserveFixed(idLimit);
  if (byteOf === 0 || isMerged === 0 || occurs === 0 || isUsed === 0) return -1;
  if (!areInOrder(isUsed, lefts, rights, merged, mergeCount)) return -1;
  markBytePairs(isMerged, byteOf, lefts, rights, mergeCount);
  addBytePairs(isMerged, occurs, idLimit);
  for (let rank: usize = 0; rank < mergeCount; rank++) {
    const left = load<i32>(lefts + (rank << 2));
    if (load<u8>(occurs + left) === 0) continue;
    const right = load<i32>(rights + (rank << 2));
    if (load<u8>(occurs + right) === 0) continue;
    const pair = findPair(left, right);
    if (pair === null) continue;
    const id = load<i32>(merged + (rank << 2));
    mergeAll(pair, id);
    store<u8>(occurs + id, 1);
  }
  return compactIds();
}

/** Returns the address of the ids. */
export function learnedIdsAddress(): usize {
  return idsStart;
}

/**
 * Whether no merge makes a token that an earlier merge joins or makes. This is so if merges are in the order in which
 * they were learned. If the result is true, isUsed[id] has been set to 1 for the tokens of all merges. Then no pair is
 * listed twice, either, because both merges would make the same token.
 */
function areInOrder(isUsed: usize, lefts: usize, rights: usize, merged: usize, mergeCount: u32): bool {
  for (let rank: usize = 0; rank < mergeCount; rank++) {
    const id = load<i32>(merged + (rank << 2));
    if (load<u8>(isUsed + id) !== 0) return false;
    store<u8>(isUsed + id, 1);
    store<u8>(isUsed + load<i32>(lefts + (rank << 2)), 1);
    store<u8>(isUsed + load<i32>(rights + (rank << 2)), 1);
  }
  return true;
}

/**
 * Sets isMerged[left << 8 | right] to 1 for each pair of bytes that some merge joins. For each id, `byteOf` receives
 * its byte plus 1, or 0 if its token is not a single byte.
 */
function markBytePairs(isMerged: usize, byteOf: usize, lefts: usize, rights: usize, mergeCount: u32): void {
  for (let byte: usize = 0; byte < 256; byte++) {
    store<u16>(byteOf + ((<usize>load<i32>(byteIdsStart + (byte << 2))) << 1), <u16>(byte + 1));
  }
  for (let rank: usize = 0; rank < mergeCount; rank++) {
    const left = <usize>load<u16>(byteOf + ((<usize>load<i32>(lefts + (rank << 2))) << 1));
    if (left === 0) continue;
    const right = <usize>load<u16>(byteOf + ((<usize>load<i32>(rights + (rank << 2))) << 1));
    if (right > 0) store<u8>(isMerged + (((left - 1) << 8) | (right - 1)), 1);
  }
}

/**
 * Adds the positions of adjacent bytes that some merge joins. Other positions are left out, because most pairs of bytes
 * are joined by no merge. Sets occurs[id] to 1 for each id below `idLimit` that the text has before the first merge.
 */
function addBytePairs(isMerged: usize, occurs: usize, idLimit: u32): void {
  for (let i = 0; i < size; i++) {
    const id = idAt(i);
    if (id === noToken) continue;
    // The ids of special tokens may be greater than those of the model.
    if (<u32>id < idLimit) store<u8>(occurs + id, 1);
    if (isStartAt(i)) continue;
    const pair = ((<usize>load<u8>(textStart + i - 1)) << 8) | load<u8>(textStart + i);
    if (load<u8>(isMerged + pair) !== 0) addPlace(i - 1, i);
  }
}

function mergeAll(pair: Pair, id: i32): void {
  const left = pair.left;
  const right = pair.right;
  for (let place: Place | null = pair.first; place !== null; place = place.next) {
    let position = place.position;
    // Since the position was added, one of the two tokens may have been merged with another one.
    if (idAt(position) !== left || idAt(endOf(position)) !== right) continue;
    // A run of equal tokens is merged from its start, even if the positions in the list do not ascend.
    if (left === right) position = startOfRun(position, left);
    const middle = endOf(position);
    const end = endOf(middle);
    setId(position, id);
    setId(middle, noToken);
    const more = end - position - 1;
    store<i32>(moreStart + ((<usize>position) << 2), more);
    store<i32>(beforeStart + ((<usize>end) << 2), more);
    if (!isStartAt(position)) addPlace(previousOf(position), position);
    if (!isStartAt(end)) addPlace(position, end);
  }
}

function startOfRun(position: i32, id: i32): i32 {
  while (!isStartAt(position) && idAt(previousOf(position)) === id) position = previousOf(position);
  return position;
}

/** Adds a position to the pair of the tokens at `leftAt` and `rightAt`. */
function addPlace(leftAt: i32, rightAt: i32): void {
  const left = idAt(leftAt);
  const right = idAt(rightAt);
  const place = changetype<Place>(placesStart + placeCount++ * placeBytes);
  place.position = leftAt;
  place.next = null;
  const slot = slotOf(left, right);
  const index = load<u32>(slot);
  if (index > 0) {
    const pair = pairAt(index);
    pair.last.next = place;
    pair.last = place;
    return;
  }
  const pair = pairAt(++pairCount);
  store<u32>(slot, pairCount);
  pair.left = left;
  pair.right = right;
  pair.first = place;
  pair.last = place;
}

function findPair(left: i32, right: i32): Pair | null {
  const index = load<u32>(slotOf(left, right));
  return index === 0 ? null : pairAt(index);
}

/** Returns the address of the slot with a pair, or of the free slot where it belongs. */
function slotOf(left: i32, right: i32): usize {
  const mask: u32 = (1 << slotBits) - 1;
  const hash = ((((<u64>(<u32>left)) << 32) | <u32>right) * 0x9e3779b97f4a7c15) >> (64 - slotBits);
  let slot = slotsStart + ((<usize>hash) << 2);
  for (let i = <u32>hash; !isFreeOrHas(slot, left, right); slot = slotsStart + ((<usize>i) << 2))
    i = (i + 1) & mask;
  return slot;
}

function isFreeOrHas(slot: usize, left: i32, right: i32): bool {
  const index = load<u32>(slot);
  if (index === 0) return true;
  const pair = pairAt(index);
  return pair.left === left && pair.right === right;
}

/** Moves the ids of all tokens to the front. Returns their number. */
function compactIds(): i32 {
  let count = 0;
  for (let i = 0; i < size; i = endOf(i)) {
    store<i32>(idsStart + ((<usize>count) << 2), idAt(i));
    count++;
  }
  return count;
}

function pairAt(index: u32): Pair {
  return changetype<Pair>(pairsStart + (index - 1) * pairBytes);
}

function markStart(at: i32): void {
  store<u8>(isStartStart + at, 1);
}

function isStartAt(at: i32): bool {
  return load<u8>(isStartStart + at) !== 0;
}

function idAt(at: i32): i32 {
  return load<i32>(idsStart + ((<usize>at) << 2));
}

function setId(at: i32, id: i32): void {
  store<i32>(idsStart + ((<usize>at) << 2), id);
}

/** Returns the end of the token at `at`. */
function endOf(at: i32): i32 {
  return at + load<i32>(moreStart + ((<usize>at) << 2)) + 1;
}

/** Returns the start of the token that ends at `at`. */
function previousOf(at: i32): i32 {
  return at - load<i32>(beforeStart + ((<usize>at) << 2)) - 1;
}
