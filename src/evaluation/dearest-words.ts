import type { TextWords } from "./text-words.ts";

/** What the words of a text cost a tokenizer. */
export type WordCosts = {
  /** Occurrences of words that are one token. */
  readonly singleTokenWords: number;
  /** Occurrences of words of two tokens or more. */
  readonly continuedWords: number;
  readonly dearest: readonly DearWord[];
};

/** A text word by which a text costs more tokens than words. */
export type DearWord = {
  readonly count: number;
  /** Of all its occurrences. */
  readonly tokens: number;
  readonly tokensBeyondFirst: number;
  /** The placed word in which it occurs most often; of equal ones the first by its bytes. */
  readonly placed: number;
};

/**
 * @param tokenCounts the number of tokens of each placed word
 * @param shownMax how many of the dearest words are listed: most tokens beyond the first in all, then by their bytes
 */
export function* wordCosts(
  words: TextWords,
  tokenCounts: Uint32Array,
  shownMax: number,
): Generator<undefined, WordCosts> {
  const { placedCount, counts, distinctCount } = words;
  const beyondFirst = new Float64Array(distinctCount);
  let singleTokenWords = 0;
  let continuedWords = 0;
  for (let first = 0; first < placedCount; first += placedPerSlice) {
    const slice = { first, end: Math.min(placedCount, first + placedPerSlice) };
    const found = addCosts(words, tokenCounts, slice, beyondFirst);
    singleTokenWords += found.singleTokenWords;
    continuedWords += found.continuedWords;
    yield;
  }
  const dearest = firstPlacesOf(words, yield* dearestOf(words, beyondFirst, shownMax));
  return {
    singleTokenWords,
    continuedWords,
    dearest: dearest.map((places) => {
      const sum = (numberOf: (placed: number) => number) => places.reduce((all, p) => all + numberOf(p), 0);
      return {
        count: sum((p) => counts[p]!),
        tokens: sum((p) => counts[p]! * tokenCounts[p]!),
        tokensBeyondFirst: sum((p) => counts[p]! * Math.max(0, tokenCounts[p]! - 1)),
        placed: places[0]!,
      };
    }),
  };
}

const placedPerSlice = 1 << 17;

// Each does a slice of the words; the event loop turns between slices.

type Slice = { readonly first: number; readonly end: number };

/** Adds the tokens beyond the first of placed words [first, end) to those of their text words. */
function addCosts(
  { counts, wordOf }: TextWords,
  tokenCounts: Uint32Array,
  { first, end }: Slice,
  beyondFirst: Float64Array,
) {
  let singleTokenWords = 0;
  let continuedWords = 0;
  for (let p = first; p < end; p++) {
    const tokens = tokenCounts[p]!;
    const count = counts[p]!;
    if (tokens === 1) singleTokenWords += count;
    if (tokens < 2) continue;
    continuedWords += count;
    beyondFirst[wordOf[p]!]! += count * (tokens - 1);
  }
  return { singleTokenWords, continuedWords };
}

/** The numbers of the words that cost most. */
function* dearestOf(
  words: TextWords,
  beyondFirst: Float64Array,
  shownMax: number,
): Generator<undefined, number[]> {
  const somePlace = somePlacesOf(words);
  const isDearer = (a: number, b: number): boolean =>
    beyondFirst[a] !== beyondFirst[b]
      ? beyondFirst[a]! > beyondFirst[b]!
      : Buffer.compare(wordAt(words, somePlace[a]!), wordAt(words, somePlace[b]!)) < 0;
  const dearest: number[] = [];
  for (let first = 0; first < beyondFirst.length; first += placedPerSlice) {
    const slice = { first, end: Math.min(beyondFirst.length, first + placedPerSlice) };
    addDearest(dearest, beyondFirst, slice, { isDearer, shownMax });
    yield;
  }
  return dearest;
}

/** A placed word of each text word. */
function somePlacesOf({ wordOf, distinctCount }: TextWords): Uint32Array {
  const somePlace = new Uint32Array(distinctCount);
  for (let p = 0; p < wordOf.length; p++) somePlace[wordOf[p]!] = p;
  return somePlace;
}

type Order = { readonly isDearer: (a: number, b: number) => boolean; readonly shownMax: number };

/** Puts the dearest of the words [first, end) among those that are dearest so far. */
function addDearest(
  dearest: number[],
  beyondFirst: Float64Array,
  { first, end }: Slice,
  { isDearer, shownMax }: Order,
): void {
  for (let word = first; word < end; word++) {
    if (beyondFirst[word] === 0) continue;
    if (dearest.length === shownMax && !isDearer(word, dearest[shownMax - 1]!)) continue;
    const place = dearest.findIndex((other) => isDearer(word, other));
    dearest.splice(place < 0 ? dearest.length : place, 0, word);
    dearest.length = Math.min(dearest.length, shownMax);
  }
}

/** The placed words of each of these words, the most frequent first. */
function firstPlacesOf(words: TextWords, numbers: readonly number[]): number[][] {
  const placesOf = new Map(numbers.map((word) => [word, [] as number[]]));
  for (let p = 0; p < words.placedCount; p++) placesOf.get(words.wordOf[p]!)?.push(p);
  const byFrequency = (a: number, b: number) =>
    words.counts[b]! - words.counts[a]! || Buffer.compare(placedAt(words, a), placedAt(words, b));
  return numbers.map((word) => placesOf.get(word)!.sort(byFrequency));
}

const placedAt = ({ bytes, starts }: TextWords, placed: number) =>
  bytes.subarray(starts[placed]!, starts[placed + 1]!);

/** The text word of a placed word. */
export const wordAt = ({ bytes, starts, blankBytes }: TextWords, placed: number) =>
  bytes.subarray(starts[placed]! + blankBytes[placed]!, starts[placed + 1]!);
