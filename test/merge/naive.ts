import type { Compat } from "../../src/merge/merges.ts";

/** A merge as the naive trainers give it: the bytes of both halves as strings of code points 0-255, and its count. */
export type NaiveMerge = { left: string; right: string; count: number };

export type NaiveOptions = {
  mergeCount: number;
  minFrequency?: number;
  maxTokenLength?: number | null;
};

/** A corpus: distinct words, each a string of code points 0-255 (a character a byte), and how often each occurs. */
export type NaiveWords = ReadonlyMap<string, number>;

/**
 * The truth that the engine is measured against: counts everything before every merge. A token is the string of its
 * bytes, so two derivations of the same bytes are one token. Ties: the greater (left, right).
 */
export function naiveCs336(words: NaiveWords, options: NaiveOptions): NaiveMerge[] {
  const texts = [...words].map(([word, count]) => ({ tokens: [...word], count }));
  const merges: NaiveMerge[] = [];
  while (merges.length < options.mergeCount) {
    let best: NaiveMerge | undefined;
    for (const pair of countPairs(texts, (token) => token).values()) {
      if (pair.left.length + pair.right.length > (options.maxTokenLength ?? Infinity)) continue;
      if (
        best === undefined ||
        pair.count > best.count ||
        (pair.count === best.count && isGreater(pair, best))
      ) {
        best = pair;
      }
    }
    if (best === undefined || best.count < (options.minFrequency ?? 1)) break;
    merges.push(best);
    const { left, right } = best;
    for (const text of texts) text.tokens = mergeTokens(text.tokens, left, right, left + right);
  }
  return merges;
}

/** The same with a new id for every merge, whatever its bytes. Ties: the smaller (left id, right id). */
function naiveRustbpe(words: NaiveWords, options: NaiveOptions): NaiveMerge[] {
  const bytes = Array.from({ length: 256 }, (_, byte) => String.fromCharCode(byte));
  const texts = [...words].map(([word, count]) => ({ tokens: [...word].map((c) => c.charCodeAt(0)), count }));
  const merges: NaiveMerge[] = [];
  while (merges.length < options.mergeCount) {
    let best: { left: number; right: number; count: number } | undefined;
    for (const pair of countPairs(texts, (id) => id).values()) {
      if (bytes[pair.left]!.length + bytes[pair.right]!.length > (options.maxTokenLength ?? Infinity))
        continue;
      if (
        best === undefined ||
        pair.count > best.count ||
        (pair.count === best.count &&
          (pair.left < best.left || (pair.left === best.left && pair.right < best.right)))
      ) {
        best = pair;
      }
    }
    if (best === undefined || best.count < (options.minFrequency ?? 1)) break;
    const { left, right, count } = best;
    merges.push({ left: bytes[left]!, right: bytes[right]!, count });
    bytes.push(bytes[left]! + bytes[right]!);
    for (const text of texts) text.tokens = mergeTokens(text.tokens, left, right, bytes.length - 1);
  }
  return merges;
}

export function naiveMerges(
  compat: Exclude<Compat, "huggingface">,
  words: NaiveWords,
  options: NaiveOptions,
) {
  return compat === "cs336" ? naiveCs336(words, options) : naiveRustbpe(words, options);
}

type Counted<T> = { left: T; right: T; count: number };

function countPairs<T>(texts: { tokens: T[]; count: number }[], keyOf: (token: T) => string | number) {
  const pairs = new Map<string, Counted<T>>();
  for (const { tokens, count } of texts) {
    for (let i = 0; i + 1 < tokens.length; i++) {
      const key = `${keyOf(tokens[i]!)}\u{10000}${keyOf(tokens[i + 1]!)}`; // no byte is U+10000
      const pair = pairs.get(key);
      if (pair === undefined) pairs.set(key, { left: tokens[i]!, right: tokens[i + 1]!, count });
      else pair.count += count;
    }
  }
  return pairs;
}

function isGreater(a: NaiveMerge, b: NaiveMerge): boolean {
  return a.left !== b.left ? a.left > b.left : a.right > b.right;
}

function mergeTokens<T>(tokens: T[], left: T, right: T, merged: T): T[] {
  const result: T[] = [];
  for (let i = 0; i < tokens.length; i++) {
    if (i + 1 < tokens.length && tokens[i] === left && tokens[i + 1] === right) {
      result.push(merged);
      i++;
    } else result.push(tokens[i]!);
  }
  return result;
}
