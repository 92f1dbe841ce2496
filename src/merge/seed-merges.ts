import type { TokenPair } from "./merge-options.ts";

/*
 * Seed tokens: texts that the vocabulary must have as tokens. Their merges are made before any learned one, in the
 * order of the seeds. To make the merges of the next seed:
 *
 *   1. Encode it by the merges so far; those of a tokenizer that is extended come first.
 *   2. While it is more than one token, join the first two neighbours that keep characters whole: both consist of whole
 *      characters, or the left one ends inside a character, which the right one continues. Join them everywhere in the
 *      seed, as any merge does. If an extended tokenizer's tokens leave no such pair, join the first two.
 *
 * Unless a tokenizer is extended, encoding a seed always gives a single token, whatever is merged later. The reason:
 * when a merge of the seed is made, its halves are adjacent in the seed. So training could have made the same merge
 * with the seed among its words. In such a training, no two merges make the same bytes, no merge makes a token that
 * exists already, and encoding by rank is the same as applying the merges in order. Once its merges are made, the seed
 * is one token, in which later merges find no pair. With an extended tokenizer, `checkReachable` (extend-vocabulary.ts)
 * tests each new token.
 */

/** The tokens that seeds consist of before their own merges. Ids are below `count`. */
export type SeedStart = {
  readonly count: number;
  /** The size of a token in bytes. */
  readonly sizeOf: (token: number) => number;
  readonly tokensOf: (bytes: Uint8Array) => readonly number[];
};

const bytesAlone: SeedStart = { count: 256, sizeOf: () => 1, tokensOf: (bytes) => [...bytes] };

/**
 * Returns the merges that turn each of these non-empty texts into one token. Ids below `start.count` are those of
 * `start`; merge k produces the id `start.count` + k.
 */
export function seedMerges(seeds: readonly string[], start = bytesAlone): TokenPair[] {
  const merges: TokenPair[] = [];
  const numbers = new Map<number, number>();
  const madeSizes: number[] = [];
  const sizeOf = (token: number) =>
    token < start.count ? start.sizeOf(token) : madeSizes[token - start.count]!;
  const apply = (tokens: readonly number[], merge: number) => {
    const [left, right] = merges[merge]!;
    const joined: number[] = [];
    for (let i = 0; i < tokens.length; i++) {
      const isPair = tokens[i] === left && tokens[i + 1] === right;
      joined.push(isPair ? start.count + merge : tokens[i]!);
      if (isPair) i++;
    }
    return joined;
  };
  for (const seed of seeds) {
    const bytes = Buffer.from(seed);
    let tokens = start.tokensOf(bytes);
    for (;;) {
      let first = Infinity;
      for (let i = 0; i + 1 < tokens.length; i++)
        first = Math.min(first, numbers.get(keyOf(tokens[i]!, tokens[i + 1]!)) ?? Infinity);
      if (first === Infinity) break;
      tokens = apply(tokens, first);
    }
    while (tokens.length > 1) {
      const [left, right] = firstPair(tokens, sizeOf, bytes);
      numbers.set(keyOf(left, right), merges.length);
      madeSizes.push(sizeOf(left) + sizeOf(right));
      tokens = apply(tokens, merges.push([left, right]) - 1);
    }
  }
  return merges;
}

/** A number for a pair of tokens. Ids are below 2^26, because more merges do not fit into memory. */
const keyOf = (left: number, right: number) => left * 2 ** 26 + right;

/** Returns the first two neighbours whose join keeps characters whole, or else the first two tokens. */
function firstPair(
  tokens: readonly number[],
  sizeOf: (token: number) => number,
  bytes: Uint8Array,
): TokenPair {
  const begins = (pos: number) => pos === bytes.length || (bytes[pos]! & 0xc0) !== 0x80;
  let start = 0;
  for (let i = 0; i + 1 < tokens.length; i++) {
    const middle = start + sizeOf(tokens[i]!);
    // If the left token ends with a whole character, the right one must end with one, too.
    const isNext = !begins(middle) || begins(middle + sizeOf(tokens[i + 1]!));
    if (begins(start) && isNext) return [tokens[i]!, tokens[i + 1]!];
    start = middle;
  }
  return [tokens[0]!, tokens[1]!];
}
