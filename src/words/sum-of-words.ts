import { allocateText, paddingBytes, type Text } from "../bytes/text.ts";
import { UserError } from "../errors.ts";
import type { CountsTotals } from "./counts-format.ts";
import type { SortedWords } from "./sorted-words.ts";
import { tooManyWords, type WordTable } from "./word-table.ts";

/** Sorted words to be added, or subtracted (sign -1). */
export type Summand = { readonly words: SortedWords; readonly sign: 1 | -1 };

/** Thrown when a count falls below 0: a summand that is subtracted is no part of the others. */
export class NegativeSumError extends Error {}

/**
 * The sum of sorted words, in one pass. The smallest of the summands' current words is the next word of the sum. Words
 * whose sum is 0 are left out.
 *
 * A tournament finds the smallest word: a tree whose leaves are the summands. Each node has the loser of its match, and
 * the top has the winner. When the winner moves to its next word, only the matches on its way up are played again.
 *
 * A match rarely looks at words. Each summand has the length of the prefix that its word shares with the last winner's
 * word (`offsets`), and the byte that comes next (`bytes`). Of two words greater than the last winner, the one that shares
 * the longer prefix with it is smaller; at equal prefixes the next byte decides. Only if both are equal are the words
 * compared, from there on, and the loser gets its offset and byte against the winner. All summands on the winner's way up
 * lost to it, so their offsets are always against the last winner. A word that equals the last winner has the byte -1.
 */
export class SumOfWords implements SortedWords {
  word: Text = allocateText(256);
  wordLength = 0;
  sharedLength = 0;
  count = 0;
  /** An upper bound: a word of several summands is one word of the sum. */
  readonly totals: CountsTotals;
  /** losers[0] is the winner. Summand i is the leaf summands.length + i. -1 where no match was played yet. */
  private readonly losers: Int32Array;
  private readonly offsets: Int32Array;
  private readonly bytes: Int32Array;
  private isStarted = false;
  private pretokenCount = 0;

  constructor(private readonly summands: readonly Summand[]) {
    const added = summands.filter(({ sign }) => sign > 0);
    const sumOf = (total: keyof CountsTotals) =>
      added.reduce((sum, { words }) => sum + words.totals[total], 0);
    this.totals = {
      wordCount: sumOf("wordCount"),
      byteCount: sumOf("byteCount"),
      pretokenCount: sumOf("pretokenCount"),
    };
    this.losers = new Int32Array(summands.length).fill(nobody);
    this.offsets = new Int32Array(summands.length);
    this.bytes = new Int32Array(summands.length);
  }

  next(): boolean {
    if (!this.isStarted) this.start();
    const { losers, offsets, bytes, summands } = this;
    if (summands.length === 0) return false;
    let sharedLength = this.wordLength;
    for (;;) {
      let winner = losers[0]!;
      if (offsets[winner] === ended) return false;
      this.take(winner);
      sharedLength = Math.min(sharedLength, offsets[winner]!);
      let count = 0;
      do {
        const { words, sign } = summands[winner]!;
        count += sign * words.count;
        this.goOn(winner);
        winner = losers[0]!;
      } while (bytes[winner] === equal);
      if (count === 0) continue;
      if (count < 0) throw new NegativeSumError("a word would occur less than never");
      this.sharedLength = sharedLength;
      this.count = count;
      this.pretokenCount += count;
      if (this.pretokenCount > Number.MAX_SAFE_INTEGER) {
        throw new UserError("all counts together are more than 2^53, more than can be added up exactly", {
          hint: "train from fewer of them",
        });
      }
      return true;
    }
  }

  /** Plays the first words, compared with an empty last winner. */
  private start(): void {
    this.isStarted = true;
    for (let i = this.summands.length - 1; i >= 0; i--) this.goOn(i);
  }

  /** Copies the winner's word, except the prefix that it shares with the last one. */
  private take(winner: number): void {
    const { words } = this.summands[winner]!;
    const { wordLength } = words;
    const from = words.word.bytes;
    if (wordLength + paddingBytes > this.word.bytes.length) {
      const longer = allocateText(wordLength * 2);
      longer.bytes.set(this.word.bytes);
      this.word = longer;
    }
    const to = this.word.bytes;
    for (let pos = this.offsets[winner]!; pos < wordLength; pos++) to[pos] = from[pos]!;
    this.wordLength = wordLength;
  }

  /** Moves a summand to its next word and plays from its leaf up. In the first round it waits at the first empty node. */
  private goOn(summand: number): void {
    const { summands, losers, offsets, bytes } = this;
    const { words } = summands[summand]!;
    if (words.next()) {
      offsets[summand] = words.sharedLength;
      bytes[summand] = words.word.bytes[words.sharedLength]!;
    } else {
      offsets[summand] = ended;
      bytes[summand] = 0;
    }
    let winner = summand;
    for (let node = (summands.length + summand) >> 1; node > 0; node >>= 1) {
      const other = losers[node]!;
      if (other === nobody) {
        losers[node] = winner;
        return;
      }
      const order = offsets[winner]! - offsets[other]! || bytes[other]! - bytes[winner]!;
      if (order < 0 || (order === 0 && !this.staysAhead(winner, other))) {
        losers[node] = winner;
        winner = other;
      }
    }
    losers[0] = winner;
  }

  /** Whether the word of `a` is at most that of `b`, at equal offsets and bytes. Sets the loser's against the winner. */
  private staysAhead(a: number, b: number): boolean {
    const { summands, offsets, bytes } = this;
    const offset = offsets[a]!;
    // Both are at their ends, or both have the last winner's word.
    if (offset === ended || bytes[a] === equal) return true;
    const wordsA = summands[a]!.words;
    const wordsB = summands[b]!.words;
    const bytesA = wordsA.word.bytes;
    const bytesB = wordsB.word.bytes;
    const stop = Math.min(wordsA.wordLength, wordsB.wordLength);
    let pos = offset + 1;
    while (pos < stop && bytesA[pos] === bytesB[pos]) pos++;
    const byteA = pos < wordsA.wordLength ? bytesA[pos]! : equal;
    const byteB = pos < wordsB.wordLength ? bytesB[pos]! : equal;
    const isAhead = byteA <= byteB;
    const loser = isAhead ? b : a;
    offsets[loser] = pos;
    bytes[loser] = isAhead ? byteB : byteA;
    return isAhead;
  }
}

/** In `losers`: no summand. */
const nobody = -1;
/** In `offsets`: the summand is at its end, and loses to all others. */
const ended = -1;
/** In `bytes`: the word equals the last winner's. */
const equal = -1;

/** The exact totals of a sum. */
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

/** Whether so many words or bytes do not fit into one table. */
export const tableOverflows = ({ byteCount, wordCount }: CountsTotals) =>
  byteCount >= 2 ** 32 || wordCount >= 2 ** 29;

/**
 * The sum as a table, its words in the order of their bytes; yields between slices of some milliseconds.
 * @param totals upper bounds of the sum's totals
 */
export function* wordTableOfSum(
  words: SortedWords,
  totals: CountsTotals = words.totals,
): Generator<undefined, WordTable> {
  if (tableOverflows(totals))
    throw tooManyWords("more than 4 GB or 536 million distinct words in all counts");
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
