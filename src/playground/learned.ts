import { unpacked } from "#pages";
import { byteCount, type JoinedText } from "./joined-text.ts";
import type { JoinedWords } from "./pair-ranking.ts";

/**
 * What a training learned, as plain data, which the worker sends to the page. Tokens are numbered as in the merge
 * engine: merge k makes token 256 + k.
 */
export type Learned = {
  readonly left: Int32Array;
  readonly right: Int32Array;
  /** The id of each token, by token number. */
  readonly ids: Int32Array;
  readonly createdCounts: Float64Array;
  readonly endCounts: Float64Array;
  readonly pairCounts: Float64Array;
  readonly tokensAfter: Float64Array;
  readonly specialTokens: readonly string[];
  readonly specialIds: Int32Array;
};

export const mergeCountOf = ({ left }: Learned): number => left.length;

/** Returns the vocabulary that a page shows. */
export function vocabularyOfLearned(learned: Learned): unpacked.Vocabulary {
  const { left, right, ids, createdCounts, endCounts, specialTokens, specialIds, tokensAfter } = learned;
  const idsOf = (tokens: Int32Array) => tokens.map((token) => ids[token]!);
  const bytes = Array.from({ length: byteCount }, (_, byte) => {
    const counts = [createdCounts[byte]!, endCounts[byte]!, null] as const;
    return [ids[byte]!, String.fromCharCode(byte), 1, ...counts] as const;
  });
  const specials = specialTokens.map((content, s) => {
    const encoded = new TextEncoder().encode(content);
    return [specialIds[s]!, String.fromCharCode(...encoded), encoded.length, null, null, null] as const;
  });
  const merges = {
    left: idsOf(left),
    right: idsOf(right),
    merged: ids.subarray(byteCount),
    created: createdCounts.subarray(byteCount),
    end: endCounts.subarray(byteCount),
  };
  return unpacked.vocabularyOf(merges, [...bytes, ...specials], tokensAfter[0]!);
}

/**
 * Returns the token that has this number in the merge engine. Below 0, `number` means the special token -1 - `number`.
 */
export function tokenOf(
  { ids, specialIds }: Pick<Learned, "ids" | "specialIds">,
  { byId, merged }: unpacked.Vocabulary,
  number: number,
): unpacked.Token {
  if (number >= byteCount) return merged[number - byteCount]!;
  return byId.get(number < 0 ? specialIds[-1 - number]! : ids[number]!)!;
}

/** Whether a token is special; special tokens are never counted. */
export const isSpecial = ({ created }: unpacked.Token) => created === null;

/** Returns the number, in the merge engine, of a token that is not special. */
export const numberOf = ({ rank, text }: unpacked.Token): number =>
  rank === undefined ? text.charCodeAt(0) : byteCount + rank;

export type FoundWord = { readonly bytes: Uint8Array; readonly count: number };

/**
 * Finds the words that contain the token at any time of the training, even if a later merge absorbs it. Returns at most
 * `most` of them, the most frequent first, and the number and the occurrences of all of them.
 */
export function wordsWith(words: JoinedWords, token: number, most: number) {
  const { bytes, joinedBy, starts, counts } = words;
  const found: number[] = [];
  for (let w = 0; w + 1 < starts.length; w++) {
    const [start, end] = [starts[w]!, starts[w + 1]!];
    if (holds({ bytes, joinedBy }, start, end, token)) found.push(w);
  }
  found.sort((a, b) => counts[b]! - counts[a]! || a - b);
  const shown = found.slice(0, most).map((w): FoundWord => {
    return { bytes: bytes.slice(starts[w]!, starts[w + 1]!), count: counts[w]! };
  });
  return { shown, wordCount: found.length, occurrences: found.reduce((sum, w) => sum + counts[w]!, 0) };
}

function holds({ bytes, joinedBy }: JoinedText, start: number, end: number, token: number): boolean {
  if (token < byteCount) return bytes.subarray(start, end).includes(token);
  return joinedBy.subarray(start, end).includes(token - byteCount);
}
