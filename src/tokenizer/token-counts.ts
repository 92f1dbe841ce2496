import type { LearnedPairs, Merges } from "./merges.ts";
import type { Vocabulary } from "./vocabulary.ts";

/**
 * TokenCounts: how often each token occurs in the corpus, both when it was created and at the end of training. Tokens
 * have the engine's numbers: the `startCount` start tokens come first, and merge k makes token `startCount + k`.
 *
 *   ARRAY          TYPE          LENGTH          MEANING
 *   createdCounts  Float64Array  tokenCount      occurrences when the token was created; for a start token, before
 *                                                the first merge
 *   endCounts      Float64Array  tokenCount      occurrences after all merges
 *   pairCounts     Float64Array  mergeCount      occurrences of the merged pair before its merge. The new token has
 *                                                fewer if some overlap, because only one of two is then replaced
 *   tokensAfter    Float64Array  mergeCount + 1  tokens of the whole corpus after the first k merges
 *
 * The words "aab" and "ab" and the merges "a b", "a ab" give createdCounts = [a: 3, b: 2, 2, 1], endCounts = [a: 0, b:
 * 0, 1, 1], pairCounts = [2, 1] and tokensAfter = [5, 3, 2].
 *
 * Why this is exact: each replacement by merge k consumes its left and its right token and creates the new one. Nothing
 * else creates or consumes tokens. So the occurrences at the end are those at creation, less one for each place where a
 * later merge absorbed the token.
 */
export type TokenCounts = {
  readonly startCount: number;
  readonly createdCounts: Float64Array;
  readonly endCounts: Float64Array;
  readonly pairCounts: Float64Array;
  readonly tokensAfter: Float64Array;
};

export function make(merges: Merges): TokenCounts {
  const { startCount, mergeCount, left, right, counts, replacedCounts, startCounts } = merges;
  const createdCounts = new Float64Array(startCount + mergeCount);
  createdCounts.set(startCounts);
  createdCounts.set(replacedCounts, startCount);
  const endCounts = createdCounts.slice();
  const tokensAfter = new Float64Array(mergeCount + 1);
  tokensAfter[0] = startCounts.reduce((sum, count) => sum + count, 0);
  for (let k = 0; k < mergeCount; k++) {
    const replacedCount = replacedCounts[k]!;
    endCounts[left[k]!]! -= replacedCount;
    endCounts[right[k]!]! -= replacedCount;
    tokensAfter[k + 1] = tokensAfter[k]! - replacedCount;
  }
  return { startCount, createdCounts, endCounts, pairCounts: counts, tokensAfter };
}

/** Returns the counts that the training would have given if it had stopped after `pairs`, its first merges. */
export function ofFirst(tokenCounts: TokenCounts, pairs: LearnedPairs): TokenCounts {
  const { startCount, createdCounts, pairCounts } = tokenCounts;
  const { mergeCount, left, right } = pairs;
  if (mergeCount === pairCounts.length) return tokenCounts;
  const counts = pairCounts.subarray(0, mergeCount);
  const replacedCounts = createdCounts.subarray(startCount, startCount + mergeCount);
  const startCounts = createdCounts.subarray(0, startCount);
  return make({ startCount, mergeCount, left, right, counts, replacedCounts, startCounts });
}

/**
 * Marks the intermediate (scaffold) tokens with 1. These are learned tokens that later merges absorbed. At the end,
 * they occur less often than the last merged pair did before its merge.
 */
export function markIntermediates({
  startCount,
  createdCounts,
  endCounts,
  pairCounts,
}: TokenCounts): Uint8Array {
  const areIntermediate = new Uint8Array(endCounts.length);
  const lastCount = pairCounts.at(-1)!;
  for (let token = startCount; token < endCounts.length; token++) {
    const endCount = endCounts[token]!;
    // In "aaa", occurrences of "a a" overlap, so fewer are replaced than counted. A token may thus be rarer than
    // `lastCount` although no merge absorbed it; it is not intermediate.
    if (endCount < lastCount && endCount < createdCounts[token]!) areIntermediate[token] = 1;
  }
  return areIntermediate;
}

/** The facts about token counts that a training records. */
export type Facts = {
  /** Tokens of the corpus after all merges. */
  readonly tokenCount: number;
  /** Bytes per token of the corpus; null if it has no bytes. */
  readonly bytesPerToken: number | null;
  /**
   * The point of the curve at half the size of the vocabulary, which is counted without reserved tokens here. Null if
   * bytes and special tokens alone take more than half, or if the corpus has no bytes.
   */
  readonly half: CurvePoint | null;
  /** The curve after each tenth of the merges, ascending by size; empty if the corpus has no bytes. */
  readonly curve: readonly CurvePoint[];
  /** The number of intermediate tokens. This key of `training.json` is older than the term. */
  readonly residueCount: number;
  /** The number of intermediate tokens that do not occur in the corpus at the end. */
  readonly neverReachedCount: number;
};

/** A point of the curve: how the first tokens of the vocabulary, up to this size, compress the corpus. */
export type CurvePoint = { readonly vocabSize: number; readonly bytesPerToken: number };

const pointsOfCurve = 10;

/**
 * Returns the facts about a vocabulary. If it has only the first of the learned merges, the facts are those after its
 * last merge.
 */
export function factsOf(tokenCounts: TokenCounts, vocabulary: Vocabulary): Facts {
  const own = ofFirst(tokenCounts, vocabulary);
  const { tokensAfter, endCounts } = own;
  const { mergeCount } = vocabulary;
  const byteCount = tokensAfter[0]!;
  const pointAt = (merges: number): CurvePoint => ({
    vocabSize: sizeAfter(vocabulary, merges),
    bytesPerToken: byteCount / tokensAfter[merges]!,
  });
  const tenths = Array.from({ length: pointsOfCurve }, (_, i) =>
    Math.round((mergeCount * (i + 1)) / pointsOfCurve),
  );
  const half = mergesAtSize(vocabulary, Math.floor(sizeAfter(vocabulary, mergeCount) / 2));
  let residueCount = 0;
  let neverReachedCount = 0;
  const areIntermediate = markIntermediates(own);
  for (let token = areIntermediate.indexOf(1); token >= 0; token = areIntermediate.indexOf(1, token + 1)) {
    residueCount++;
    if (endCounts[token] === 0) neverReachedCount++;
  }
  const hasText = byteCount > 0;
  return {
    tokenCount: tokensAfter[mergeCount]!,
    bytesPerToken: hasText ? byteCount / tokensAfter[mergeCount]! : null,
    half: hasText && half !== null ? pointAt(half) : null,
    curve: hasText ? [...new Set(tenths)].map(pointAt) : [],
    residueCount,
    neverReachedCount,
  };
}

/**
 * Returns the size of the vocabulary with only the first `merges` merges and without reserved tokens. A merge
 * that spells a special token adds no id.
 */
function sizeAfter(vocabulary: Vocabulary, merges: number): number {
  const { size, reservedCount, mergeCount, tokenIds, specialTokens, entries } = vocabulary;
  let idCount = size - reservedCount;
  if (tokenIds.length + specialTokens.length === size) return idCount - (mergeCount - merges);
  for (let token = tokenIds.length - mergeCount + merges; token < tokenIds.length; token++) {
    if (entries[tokenIds[token]!] === token) idCount--;
  }
  return idCount;
}

/**
 * Returns the largest number of merges with which the vocabulary, without reserved tokens, has `wanted` ids; null if no
 * number of merges gives this size.
 */
function mergesAtSize(vocabulary: Vocabulary, wanted: number): number | null {
  const { mergeCount, tokenIds, entries } = vocabulary;
  const startCount = tokenIds.length - mergeCount;
  let idCount = sizeAfter(vocabulary, mergeCount);
  let merges = mergeCount;
  while (idCount > wanted && merges > 0) {
    merges--;
    if (entries[tokenIds[startCount + merges]!] === startCount + merges) idCount--;
  }
  return idCount === wanted ? merges : null;
}
