import type { Text } from "../corpus/text.ts";
import { UserError } from "../errors.ts";
import type { CountsTotals } from "./counts-format.ts";
import { tooManyWords } from "./slots.ts";
import type { SortedWords } from "./sorted-words.ts";
import type { WordTable } from "./word-table.ts";

/** Sorted words to be added up, or with sign -1 to be taken off. */
export type Summand = { readonly words: SortedWords; readonly sign: 1 | -1 };

/** What is taken off was not there, so a summand is not what it says it is. */
export class NegativeSumError extends Error {}

/**
 * The sum of sorted words, in one pass: the smallest of their next words is the next word of all. Words whose sum is 0
 * are left out.
 */
export class SumOfWords implements SortedWords {
  count = 0;
  /** An upper bound, because words that stand in several summands are one. */
  readonly totals: CountsTotals;
  /** Those at a word still to come, as a heap: the smallest word on top. */
  private readonly heap: Summand[] = [];
  /** Those at the word that `next` went to; at first, all. */
  private readonly standing: Summand[];
  private pretokenCount = 0;

  constructor(summands: readonly Summand[]) {
    this.standing = [...summands];
    const added = summands.filter(({ sign }) => sign > 0);
    const sumOf = (total: keyof CountsTotals) =>
      added.reduce((sum, { words }) => sum + words.totals[total], 0);
    this.totals = {
      wordCount: sumOf("wordCount"),
      byteCount: sumOf("byteCount"),
      pretokenCount: sumOf("pretokenCount"),
    };
  }

  get word(): Text {
    return this.standing[0]!.words.word;
  }

  get wordLength(): number {
    return this.standing[0]!.words.wordLength;
  }

  next(): boolean {
    const { heap, standing } = this;
    for (;;) {
      for (const reader of standing) if (reader.words.next()) push(heap, reader);
      standing.length = 0;
      if (heap.length === 0) return false;
      const first = pop(heap);
      let count = first.sign * first.words.count;
      standing.push(first);
      while (heap.length > 0 && compare(heap[0]!, first) === 0) {
        const other = pop(heap);
        count += other.sign * other.words.count;
        standing.push(other);
      }
      if (count === 0) continue;
      if (count < 0) throw new NegativeSumError("a word would occur less than never");
      this.count = count;
      this.pretokenCount += count;
      if (this.pretokenCount > Number.MAX_SAFE_INTEGER) {
        throw new UserError("the counts files have more than 2^53 words, more than can be added up exactly", {
          hint: "train from fewer of them",
        });
      }
      return true;
    }
  }
}

/** How much the sum is, exactly. */
export function* totalsOfSum(words: SortedWords): Generator<undefined, CountsTotals> {
  let wordCount = 0;
  let byteCount = 0;
  let pretokenCount = 0;
  while (words.next()) {
    wordCount++;
    byteCount += words.wordLength;
    pretokenCount += words.count;
    if (wordCount % wordsPerSlice === 0) yield;
  }
  return { wordCount, byteCount, pretokenCount };
}

/**
 * The sum as a table, its words in the order of their bytes; yields between slices of some milliseconds.
 * @param totals at least as much as there is
 */
export function* wordTableOfSum(
  words: SortedWords,
  totals: CountsTotals = words.totals,
): Generator<undefined, WordTable> {
  const isTooMuch = totals.byteCount >= 2 ** 32 || totals.wordCount >= 2 ** 29;
  if (isTooMuch) throw tooManyWords("more than 4 GB or 536 million distinct words in all counts");
  const bytes = new Uint8Array(totals.byteCount);
  const starts = new Uint32Array(totals.wordCount + 1);
  const counts = new Float64Array(totals.wordCount);
  let wordCount = 0;
  let end = 0;
  while (words.next()) {
    const { wordLength } = words;
    const from = words.word.bytes;
    if (end + wordLength > totals.byteCount) throw new UserError("the counts files hold more than they say");
    for (let i = 0; i < wordLength; i++) bytes[end + i] = from[i]!;
    end += wordLength;
    counts[wordCount] = words.count;
    starts[++wordCount] = end;
    if (wordCount % wordsPerSlice === 0) yield;
  }
  return {
    wordCount,
    bytes: bytes.subarray(0, end),
    starts: starts.subarray(0, wordCount + 1),
    counts: counts.subarray(0, wordCount),
  };
}

export const wordsPerSlice = 1 << 16;

/** Order of the words that two readers stand at: below 0, 0 or above. */
function compare(a: Summand, b: Summand): number {
  const bytesA = a.words.word.bytes;
  const bytesB = b.words.word.bytes;
  const stop = Math.min(a.words.wordLength, b.words.wordLength);
  for (let pos = 0; pos < stop; pos++) {
    const difference = bytesA[pos]! - bytesB[pos]!;
    if (difference !== 0) return difference;
  }
  return a.words.wordLength - b.words.wordLength;
}

// A binary heap of readers, the one with the smallest word on top.

function push(heap: Summand[], reader: Summand): void {
  let place = heap.length;
  heap.push(reader);
  while (place > 0) {
    const parent = (place - 1) >> 1;
    if (compare(heap[parent]!, reader) <= 0) break;
    heap[place] = heap[parent]!;
    place = parent;
  }
  heap[place] = reader;
}

function pop(heap: Summand[]): Summand {
  const top = heap[0]!;
  const reader = heap.pop()!;
  if (heap.length === 0) return top;
  let place = 0;
  for (;;) {
    let child = 2 * place + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && compare(heap[child + 1]!, heap[child]!) < 0) child++;
    if (compare(reader, heap[child]!) <= 0) break;
    heap[place] = heap[child]!;
    place = child;
  }
  heap[place] = reader;
  return top;
}
