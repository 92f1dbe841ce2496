import type { Compat, Merges } from "../../src/merge/merges.ts";

/** A merge as the naive trainers give it: the bytes of both halves as strings of code points 0-255, and its count. */
export type NaiveMerge = { left: string; right: string; count: number };

export type NaiveOptions = {
  mergeCount: number;
  minFrequency?: number;
  maxTokenLength?: number | null;
  /** Whether two tokens may be merged, whatever their count. */
  mayJoin?: (left: string, right: string) => boolean;
};

export const anyTwo = () => true;

/** A corpus: distinct words, each a string of code points 0-255 (a character a byte), and how often each occurs. */
export type NaiveWords = ReadonlyMap<string, number>;

/**
 * The truth that the engine is measured against: counts all pairs, merges the best, begins again. A token is the string of
 * its bytes, so two derivations of the same bytes are one token.
 */
export function naiveCs336(
  words: NaiveWords,
  { mergeCount, minFrequency = 1, maxTokenLength = null, mayJoin = anyTwo }: NaiveOptions,
): NaiveMerge[] {
  const texts = [...words].map(([word, count]) => ({ tokens: [...word], count }));
  const merges: NaiveMerge[] = [];
  while (merges.length < mergeCount) {
    let best = { left: "", right: "", count: 0 };
    for (const pair of countPairs(texts)) {
      const isShort = pair.left.length + pair.right.length <= (maxTokenLength ?? Infinity);
      if (isShort && mayJoin(pair.left, pair.right) && isBetter(pair, best)) best = pair;
    }
    if (best.count < Math.max(1, minFrequency)) break;
    merges.push(best);
    for (const text of texts)
      text.tokens = mergePair(text.tokens, best.left, best.right, best.left + best.right);
  }
  return merges;
}

/** The greater count wins, then the greater left half, then the greater right half. */
function isBetter(a: NaiveMerge, b: NaiveMerge): boolean {
  if (a.count !== b.count) return a.count > b.count;
  return a.left !== b.left ? a.left > b.left : a.right > b.right;
}

type Text<Token> = { tokens: Token[]; readonly count: number };

/** Every pair of tokens that stand side by side, with the sum of the counts of its places. */
export function countPairs<Token>(texts: readonly Text<Token>[]) {
  const pairs = new Map<string, { left: Token; right: Token; count: number }>();
  for (const { tokens, count } of texts) {
    for (let i = 0; i + 1 < tokens.length; i++) {
      const [left, right] = [tokens[i]!, tokens[i + 1]!];
      const key = `${left}\u{10000}${right}`; // no byte is U+10000
      const pair = pairs.get(key);
      if (pair === undefined) pairs.set(key, { left, right, count });
      else pair.count += count;
    }
  }
  return pairs.values();
}

/** Replaces `left right` by `merged`, from left to right; no token is taken twice. */
export function mergePair<Token>(
  tokens: readonly Token[],
  left: Token,
  right: Token,
  merged: Token,
): Token[] {
  const result: Token[] = [];
  for (let i = 0; i < tokens.length; i++) {
    const isPair = tokens[i] === left && i + 1 < tokens.length && tokens[i + 1] === right;
    result.push(isPair ? merged : tokens[i]!);
    if (isPair) i++;
  }
  return result;
}

/** The merges of an engine, with the bytes of each half as a string of code points 0-255. */
export function spelledMerges(merges: Merges): NaiveMerge[] {
  const bytes = Array.from({ length: 256 }, (_, byte) => String.fromCharCode(byte));
  return Array.from({ length: merges.mergeCount }, (_, k) => {
    const left = bytes[merges.left[k]!]!;
    const right = bytes[merges.right[k]!]!;
    bytes.push(left + right);
    return { left, right, count: merges.counts[k]! };
  });
}

/** How many places each merge replaced, weighted by the words' counts. */
export function naiveReplacedCounts(words: NaiveWords, merges: readonly NaiveMerge[]): number[] {
  const texts = [...words].map(([word, count]) => ({ tokens: [...word], count }));
  return merges.map(({ left, right }) => {
    let replacedCount = 0;
    for (const text of texts) {
      const tokens = mergePair(text.tokens, left, right, left + right);
      replacedCount += text.count * (text.tokens.length - tokens.length);
      text.tokens = tokens;
    }
    return replacedCount;
  });
}

/** The same with a new id for every merge, whatever its bytes. Ties: the smaller (left id, right id). */
function naiveRustbpe(
  words: NaiveWords,
  { mergeCount, minFrequency = 1, maxTokenLength = null, mayJoin = anyTwo }: NaiveOptions,
): NaiveMerge[] {
  const bytes = Array.from({ length: 256 }, (_, byte) => String.fromCharCode(byte));
  const texts = [...words].map(([word, count]) => ({ tokens: [...word].map((c) => c.charCodeAt(0)), count }));
  const merges: NaiveMerge[] = [];
  while (merges.length < mergeCount) {
    let best = { left: 0, right: 0, count: 0 };
    for (const pair of countPairs(texts)) {
      const [left, right] = [bytes[pair.left]!, bytes[pair.right]!];
      const isShort = left.length + right.length <= (maxTokenLength ?? Infinity);
      if (isShort && mayJoin(left, right) && isEarlier(pair, best)) best = pair;
    }
    const { left, right, count } = best;
    if (count < Math.max(1, minFrequency)) break;
    merges.push({ left: bytes[left]!, right: bytes[right]!, count });
    for (const text of texts) text.tokens = mergePair(text.tokens, left, right, bytes.length);
    bytes.push(bytes[left]! + bytes[right]!);
  }
  return merges;
}

/** The greater count wins, then the smaller left id, then the smaller right id. */
function isEarlier(a: Counted, b: Counted): boolean {
  if (a.count !== b.count) return a.count > b.count;
  return a.left !== b.left ? a.left < b.left : a.right < b.right;
}

type Counted = { left: number; right: number; count: number };

export function naiveMerges(
  compat: Exclude<Compat, "huggingface">,
  words: NaiveWords,
  options: NaiveOptions,
) {
  return compat === "cs336" ? naiveCs336(words, options) : naiveRustbpe(words, options);
}
