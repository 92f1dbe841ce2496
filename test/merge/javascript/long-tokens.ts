import { grow } from "./grow.ts";
import { comparePrefixes, type Tokens } from "./tokens.ts";

/**
 * LongTokens: the tokens longer than the bytes kept at hand, in the order of their bytes. A new one finds its place
 * once; from then on two of them are compared by their labels, however long they are.
 *
 *   ARRAY     TYPE           LENGTH           MEANING
 *   sorted    Int32Array     count (grows)    ids of the long tokens, ascending by bytes
 *   shared    Int32Array     count (grows)    bytes that sorted[k] and sorted[k + 1] have in common at their beginning
 *   labels    Float64Array   token capacity   ascending along `sorted`; whole numbers with room between them
 *
 * Kept at hand 2 bytes, learned "abc", "abd", "abcab": sorted = abc, abcab, abd; shared = [3, 2].
 */
export type LongTokens = { count: number; sorted: Int32Array; shared: Int32Array; labels: Float64Array };

/** A place in `sorted`, and what a token that goes there shares with the one below and the one above. */
type Place = { place: number; sharedBelow: number; sharedAbove: number };

const labelGap = 2 ** 30;

export function createLongTokens(): LongTokens {
  return { count: 0, sorted: new Int32Array(64), shared: new Int32Array(64), labels: new Float64Array(0) };
}

/** Whether the bytes at hand are not all of the token. */
export function isLong(tokens: Tokens, id: number): boolean {
  return tokens.lengths[id]! > tokens.prefixLengthMax;
}

/** Byte order of two tokens, each of them short or with a place. */
export function compareTokens(long: LongTokens, tokens: Tokens, a: number, b: number): number {
  if (isLong(tokens, a) && isLong(tokens, b)) return long.labels[a]! - long.labels[b]!;
  return comparePrefixes(tokens, a, b) || tokens.lengths[a]! - tokens.lengths[b]!;
}

/** Gives a new long token its place among the others. */
export function insertLongToken(long: LongTokens, tokens: Tokens, id: number): void {
  if (long.count === long.sorted.length) {
    long.sorted = grow(long.sorted, long.count * 2);
    long.shared = grow(long.shared, long.count * 2);
  }
  if (id >= long.labels.length) long.labels = grow(long.labels, tokens.lefts.length);
  const { sorted, shared, labels } = long;
  const left = tokens.lefts[id]!;
  const { place, sharedBelow, sharedAbove } = isLong(tokens, left)
    ? findPlaceBehind(long, tokens, id, left)
    : findPlace(long, tokens, id);
  sorted.copyWithin(place + 1, place, long.count);
  shared.copyWithin(place + 1, place, long.count);
  sorted[place] = id;
  shared[place] = sharedAbove;
  if (place > 0) shared[place - 1] = sharedBelow;
  long.count++;
  const below = place === 0 ? 0 : labels[sorted[place - 1]!]!;
  const above = place + 1 === long.count ? below + 2 * labelGap : labels[sorted[place + 1]!]!;
  labels[id] = Math.floor((below + above) / 2);
  // No room left between the two: spread all of them anew. Their order, and so the queue's, stays as it is.
  if (labels[id] === below) spreadLabels(long);
}

function spreadLabels({ count, sorted, labels }: LongTokens): void {
  for (let k = 0; k < count; k++) labels[sorted[k]!] = (k + 1) * labelGap;
}

function findPlace(long: LongTokens, tokens: Tokens, id: number): Place {
  let low = 0;
  let high = long.count;
  let sharedBelow = 0;
  let sharedAbove = 0;
  while (low < high) {
    const middle = (low + high) >> 1;
    const { order, shared } = compareBytes(tokens, id, long.sorted[middle]!, 0);
    if (order > 0) {
      low = middle + 1;
      sharedBelow = shared;
    } else {
      high = middle;
      sharedAbove = shared;
    }
  }
  return { place: low, sharedBelow, sharedAbove };
}

/**
 * The place of a token that begins with the long token `left`: what begins with `left` stands directly behind it. The
 * walk goes on from there and looks at bytes only where the token above shares exactly as many with the one below as
 * the new one does; else the numbers tell. A token that grows by a piece at a time, over megabytes, costs nothing.
 */
function findPlaceBehind(long: LongTokens, tokens: Tokens, id: number, left: number): Place {
  const { sorted, shared, count } = long;
  let place = placeOf(long, left) + 1;
  let sharedBelow = tokens.lengths[left]!;
  for (; place < count; place++) {
    const sharedByOthers = shared[place - 1]!;
    if (sharedByOthers < sharedBelow) return { place, sharedBelow, sharedAbove: sharedByOthers };
    if (sharedByOthers > sharedBelow) continue;
    const next = compareBytes(tokens, id, sorted[place]!, sharedBelow);
    if (next.order < 0) return { place, sharedBelow, sharedAbove: next.shared };
    sharedBelow = next.shared;
  }
  return { place, sharedBelow, sharedAbove: 0 };
}

function placeOf({ sorted, labels, count }: LongTokens, id: number): number {
  let low = 0;
  let high = count - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (labels[sorted[middle]!]! < labels[id]!) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Byte order of two tokens that agree in their first `agreed` bytes, and how many they share in all. Both derivations
 * are walked side by side; a subtree that both have at the same place is skipped, since equal bytes are one token.
 */
function compareBytes(
  tokens: Tokens,
  a: number,
  b: number,
  agreed: number,
): { order: number; shared: number } {
  const { lengths, lefts, rights } = tokens;
  const restA = skipBytes(tokens, a, agreed);
  const restB = skipBytes(tokens, b, agreed);
  let shared = agreed;
  while (restA.length > 0 && restB.length > 0) {
    const u = restA.pop()!;
    const v = restB.pop()!;
    const lengthU = lengths[u]!;
    const lengthV = lengths[v]!;
    if (u === v) shared += lengthU;
    else if (lengthU === 1 && lengthV === 1)
      return { order: u - v, shared }; // the id of a byte is the byte
    else if (lengthU >= lengthV) {
      restA.push(rights[u]!, lefts[u]!);
      restB.push(v);
    } else {
      restA.push(u);
      restB.push(rights[v]!, lefts[v]!);
    }
  }
  return { order: restA.length - restB.length, shared };
}

/** What is left of a token's derivation behind its first `byteCount` bytes, the next piece last. */
function skipBytes(tokens: Tokens, id: number, byteCount: number): number[] {
  const rest = [id];
  while (byteCount > 0) {
    const token = rest.pop()!;
    if (tokens.lengths[token]! <= byteCount) byteCount -= tokens.lengths[token]!;
    else rest.push(tokens.rights[token]!, tokens.lefts[token]!);
  }
  return rest;
}
