import { grow } from "./grow.ts";
import { comparePrefixes, type Tokens } from "./tokens.ts";

/**
 * LongTokens: the tokens longer than the bytes kept at hand, in the order of their bytes. A new one finds its place by
 * one binary search; from then on two of them are compared by their labels, however long they are.
 *
 *   ARRAY     TYPE           LENGTH           MEANING
 *   sorted    Int32Array     count (grows)    ids of the long tokens, ascending by bytes
 *   labels    Float64Array   token capacity   ascending along `sorted`; whole numbers with room between them
 */
export type LongTokens = { count: number; sorted: Int32Array; labels: Float64Array };

const labelGap = 2 ** 30;

export function createLongTokens(): LongTokens {
  return { count: 0, sorted: new Int32Array(64), labels: new Float64Array(0) };
}

/** Whether the bytes at hand are not all of the token. */
export function isLong(tokens: Tokens, id: number): boolean {
  return tokens.lengths[id]! > tokens.prefixLengthMax;
}

/** Gives a new long token its place among the others. */
export function insertLongToken(long: LongTokens, tokens: Tokens, id: number): void {
  if (long.count === long.sorted.length) long.sorted = grow(long.sorted, long.count * 2);
  if (id >= long.labels.length) long.labels = grow(long.labels, tokens.lefts.length);
  const place = findPlace(long, tokens, id);
  const { sorted, labels } = long;
  sorted.copyWithin(place + 1, place, long.count);
  sorted[place] = id;
  long.count++;
  const below = place === 0 ? 0 : labels[sorted[place - 1]!]!;
  const above = place + 1 === long.count ? below + 2 * labelGap : labels[sorted[place + 1]!]!;
  labels[id] = Math.floor((below + above) / 2);
  // No room left between the two: spread all of them anew. Their order, and so the queue's, stays as it is.
  if (labels[id] === below) for (let k = 0; k < long.count; k++) labels[sorted[k]!] = (k + 1) * labelGap;
}

function findPlace(long: LongTokens, tokens: Tokens, id: number): number {
  let low = 0;
  let high = long.count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compareBytes(tokens, id, long.sorted[middle]!) > 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Byte order of two tokens, each of them short or with a place. */
export function compareTokens(long: LongTokens, tokens: Tokens, a: number, b: number): number {
  if (isLong(tokens, a) && isLong(tokens, b)) return long.labels[a]! - long.labels[b]!;
  return comparePrefixes(tokens, a, b) || tokens.lengths[a]! - tokens.lengths[b]!;
}

/**
 * Byte order of two long tokens. Beyond the bytes at hand both derivations are walked side by side; a subtree
 * that both have at the same place is skipped, since equal bytes are one token.
 */
function compareBytes(tokens: Tokens, a: number, b: number): number {
  if (a === b) return 0;
  const order = comparePrefixes(tokens, a, b);
  if (order !== 0) return order;
  const { lengths, lefts, rights } = tokens;
  const restA = [a];
  const restB = [b];
  while (restA.length > 0 && restB.length > 0) {
    const u = restA.pop()!;
    const v = restB.pop()!;
    if (u === v) continue;
    const lengthU = lengths[u]!;
    const lengthV = lengths[v]!;
    if (lengthU === 1 && lengthV === 1) return u - v; // the id of a byte is the byte
    if (lengthU >= lengthV) {
      restA.push(rights[u]!, lefts[u]!);
      restB.push(v);
    } else {
      restA.push(u);
      restB.push(rights[v]!, lefts[v]!);
    }
  }
  return restA.length - restB.length;
}
