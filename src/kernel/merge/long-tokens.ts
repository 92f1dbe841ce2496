import { labels, prefixLengthMax, shared, sorted, stack, tokenCapacity } from "./merge-regions";
import { comparePrefixes, isStart, leftOf, pushHalves, sizeOf, startBytesOf } from "./merge-tokens";

/**
 * Long tokens: those longer than the bytes kept at hand, in the order of their bytes. A new one finds its place once;
 * from then on two of them are compared by their labels, however long they are.
 *
 *   REGION  ELEMENT  ELEMENTS       MEANING
 *   sorted  u32      longCount      ids of the long tokens, ascending by bytes
 *   shared  u32      longCount      bytes that sorted[k] and sorted[k + 1] have in common at their beginning
 *   labels  u64      tokenCapacity  ascending along `sorted`, with room between them
 *
 * Kept at hand 2 bytes, learned "abc", "abd", "abcab": sorted = abc, abcab, abd; shared = [3, 2].
 */
let longCount: u32 = 0;

const labelGap: u64 = 1 << 30;

export function startLongTokens(): void {
  longCount = 0;
}

/** Whether the bytes at hand are not all of the token. */
export function isLong(id: u32): bool {
  return sizeOf(id) > prefixLengthMax;
}

/** Byte order of two tokens, each of them short or with a place. */
export function compareTokens(a: u32, b: u32): i32 {
  if (isLong(a) && isLong(b)) return i32(labelOf(a) > labelOf(b)) - i32(labelOf(a) < labelOf(b));
  const order = comparePrefixes(a, b);
  return order !== 0 ? order : <i32>sizeOf(a) - <i32>sizeOf(b);
}

function labelOf(id: u32): u64 {
  return load<u64>(labels + ((<usize>id) << 3));
}

function setLabel(id: u32, label: u64): void {
  store<u64>(labels + ((<usize>id) << 3), label);
}

function sortedAt(place: u32): u32 {
  return load<u32>(sorted + ((<usize>place) << 2));
}

function sharedAt(place: u32): u32 {
  return load<u32>(shared + ((<usize>place) << 2));
}

/** What a search found: a place in `sorted`, and what a token that goes there shares with the ones below and above. */
let place: u32 = 0;
let sharedBelow: u32 = 0;
let sharedAbove: u32 = 0;

/** Gives a new long token its place among the others. */
export function insertLongToken(id: u32): void {
  if (!isStart(id) && isLong(leftOf(id))) findPlaceBehind(id, leftOf(id));
  else findPlace(id);
  const rest = (<usize>(longCount - place)) << 2;
  const sortedHere = sorted + ((<usize>place) << 2);
  const sharedHere = shared + ((<usize>place) << 2);
  memory.copy(sortedHere + 4, sortedHere, rest);
  memory.copy(sharedHere + 4, sharedHere, rest);
  store<u32>(sortedHere, id);
  store<u32>(sharedHere, sharedAbove);
  if (place > 0) store<u32>(sharedHere - 4, sharedBelow);
  longCount++;
  const below = place === 0 ? 0 : labelOf(sortedAt(place - 1));
  const above = place + 1 === longCount ? below + 2 * labelGap : labelOf(sortedAt(place + 1));
  const label = (below + above) >> 1;
  setLabel(id, label);
  // No label is left between the two: give all of them new ones. Their order stays, and so does the queue's.
  if (label === below) spreadLabels();
}

function spreadLabels(): void {
  for (let k: u32 = 0; k < longCount; k++) setLabel(sortedAt(k), (<u64>k + 1) * labelGap);
}

function findPlace(id: u32): void {
  let low: u32 = 0;
  let high = longCount;
  sharedBelow = 0;
  sharedAbove = 0;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compareBytes(id, sortedAt(middle), 0) > 0) {
      low = middle + 1;
      sharedBelow = sharedBytes;
    } else {
      high = middle;
      sharedAbove = sharedBytes;
    }
  }
  place = low;
}

/**
 * Finds the place of a token that begins with the long token `left`: tokens that begin with `left` stand directly behind
 * it. The walk starts there. It looks at bytes only where the next token shares exactly as many bytes with the one below
 * it as the new token does; otherwise these numbers decide. So a token that grows bit by bit over megabytes is cheap.
 */
function findPlaceBehind(id: u32, left: u32): void {
  place = placeOf(left) + 1;
  sharedBelow = sizeOf(left);
  sharedAbove = 0;
  for (; place < longCount; place++) {
    const sharedByOthers = sharedAt(place - 1);
    if (sharedByOthers < sharedBelow) {
      sharedAbove = sharedByOthers;
      return;
    }
    if (sharedByOthers > sharedBelow) continue;
    const order = compareBytes(id, sortedAt(place), sharedBelow);
    if (order < 0) {
      sharedAbove = sharedBytes;
      return;
    }
    sharedBelow = sharedBytes;
  }
}

function placeOf(id: u32): u32 {
  let low: u32 = 0;
  let high = longCount - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (labelOf(sortedAt(middle)) < labelOf(id)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** How many bytes the two tokens that were last compared share in all. */
let sharedBytes: u32 = 0;

/**
 * Byte order of two tokens that agree in their first `agreed` bytes. Both derivations are walked side by side; a
 * subtree that both have at the same place is skipped, since equal bytes are one token. `doneA` and `doneB` are bytes
 * that have been seen of the tops, which are then start tokens.
 */
function compareBytes(a: u32, b: u32, agreed: u32): i32 {
  const bottomB = stack + ((<usize>tokenCapacity) << 2);
  let topA = skipBytes(stack, a, agreed);
  let doneA = doneOfTop;
  let topB = skipBytes(bottomB, b, agreed);
  let doneB = doneOfTop;
  sharedBytes = agreed;
  while (topA > stack && topB > bottomB) {
    topA -= 4;
    topB -= 4;
    const u = load<u32>(topA);
    const v = load<u32>(topB);
    const restU = sizeOf(u) - doneA;
    const restV = sizeOf(v) - doneB;
    const areSame = u === v && doneA === doneB;
    if (areSame || (isStart(u) && isStart(v))) {
      const common = min(restU, restV);
      const order = areSame ? 0 : compareRuns(startBytesOf(u) + doneA, startBytesOf(v) + doneB, common);
      if (order !== 0) return order;
      sharedBytes += common;
      doneA = restU > common ? doneA + common : 0;
      doneB = restV > common ? doneB + common : 0;
      if (doneA > 0) topA += 4;
      if (doneB > 0) topB += 4;
    } else if (!isStart(u) && (restU >= restV || isStart(v))) {
      topA = pushHalves(topA, u);
      topB += 4;
    } else {
      topA += 4;
      topB = pushHalves(topB, v);
    }
  }
  return i32(topA > stack) - i32(topB > bottomB);
}

/** Byte order of two runs of `length` bytes; adds to `sharedBytes` what they share, if they differ. */
function compareRuns(a: usize, b: usize, length: u32): i32 {
  for (let k: u32 = 0; k < length; k++) {
    const difference = <i32>load<u8>(a + k) - <i32>load<u8>(b + k);
    if (difference === 0) continue;
    sharedBytes += k;
    return difference;
  }
  return 0;
}

/** Bytes of the top of the stack that `skipBytes` skipped: it is a start token then. */
let doneOfTop: u32 = 0;

/** Pushes what a token is made of behind its first bytes, the next piece last; returns the new top of the stack. */
function skipBytes(bottom: usize, id: u32, bytesToSkip: u32): usize {
  store<u32>(bottom, id);
  let top = bottom + 4;
  doneOfTop = 0;
  while (bytesToSkip > 0) {
    top -= 4;
    const token = load<u32>(top);
    const size = sizeOf(token);
    if (size <= bytesToSkip) bytesToSkip -= size;
    else if (isStart(token)) {
      doneOfTop = bytesToSkip;
      return top + 4;
    } else top = pushHalves(top, token);
  }
  return top;
}
