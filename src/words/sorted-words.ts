import { copyBytes, type Text, textBuffers } from "#bytes";
import { host, scaled, UserError } from "#runtime";
import { sortByBytesInSteps } from "./sort-by-bytes.ts";
import type { WordTable } from "./word-table.ts";
import * as wordTables from "./word-table.ts";

/**
 * A cursor over distinct words in ascending order of their bytes. The first call of `next` moves to the first word;
 * `next` returns false at the end.
 */
export type SortedWords = {
  next(): boolean;
  /** The current word is bytes [0, wordLength) of `word`, which is padded like every text. */
  readonly word: Text;
  readonly wordLength: number;
  /** The number of bytes that the word shares with the previous one, from the start. */
  readonly sharedLength: number;
  readonly count: number;
  /** The totals of all words, or upper bounds if the totals are not known. */
  readonly totals: wordTables.CountsTotals;
};

const worthTellingBytes = scaled(1 << 23, 1 << 14);
export class TableWords implements SortedWords {
  word: Text;
  wordLength = 0;
  sharedLength = 0;
  count = 0;
  readonly totals: wordTables.CountsTotals;
  private place = 0;

  /**
   * @param order the indices of the table's words in ascending order of the words' bytes
   */
  private constructor(
    private table: WordTable,
    private order: Uint32Array,
  ) {
    this.totals = wordTables.totalsOf(table);
    this.word = textBuffers.allocate(256);
  }

  /** Sorts the table in slices of about 50 ms. */
  static *sort(table: WordTable): Generator<undefined, TableWords> {
    return new TableWords(table, yield* sortByBytesInSteps(table));
  }

  /** Moves back to the position before the first word. */
  restart(): void {
    this.place = 0;
    this.wordLength = 0;
  }

  /** Frees the memory of the table and its order. Neither may be used afterwards. */
  release(): void {
    const { bytes, starts, counts } = this.table;
    let releasedBytes = 0;
    for (const { buffer } of [bytes, starts, counts, this.order]) {
      releasedBytes += buffer.byteLength;
      host.releaseMemory(buffer as ArrayBuffer);
    }
    this.table = emptyTable;
    this.order = new Uint32Array(0);
    // The allocator keeps freed memory for some time unless garbage is collected. That takes milliseconds, so it is
    // done only if much memory was released.
    if (releasedBytes >= worthTellingBytes) host.collectGarbage();
  }

  next(): boolean {
    const { table, order } = this;
    if (this.place === order.length) return false;
    const index = order[this.place++]!;
    const { bytes } = table;
    const start = table.starts[index]!;
    const length = table.starts[index + 1]! - start;
    this.word = textBuffers.grow(this.word, length);
    const to = this.word.bytes;
    const sharedMax = Math.min(length, this.wordLength);
    let pos = 0;
    while (pos < sharedMax && to[pos] === bytes[start + pos]) pos++;
    this.sharedLength = pos;
    for (; pos < length; pos++) to[pos] = bytes[start + pos]!;
    this.wordLength = length;
    this.count = table.counts[index]!;
    return true;
  }
}

/** Sorted words whose counts are multiplied by `times`. */
export type Summand = { readonly words: SortedWords; readonly times: number };

/**
 * The sum of sorted words, in one pass. The smallest of the summands' current words is the next word of the sum. With a
 * denominator, each summed count is divided by it, and rounded to the nearest integer, half up. Words whose result is 0
 * are left out.
 *
 * A tournament finds the smallest word: a tree whose leaves are the summands. Each node has the loser of its match, and
 * the top has the winner. When the winner moves to its next word, only the matches on its way up are played again.
 *
 * A match rarely reads words, because each summand has an offset-value code of two numbers. The first is the length of
 * the prefix that its word shares with the last winner's word (`offsets`). The second is the byte of its word after
 * that prefix (`bytes`), or -1 if the two words are equal. No word is smaller than the last winner's. So of two words,
 * the one with the longer shared prefix is smaller, and if the prefixes are equally long, the one with the smaller
 * byte. If the bytes are equal, too, the words are compared from there on, and the loser gets its offset and byte
 * relative to the winner. All summands on the winner's path to the top lost to it, so their offsets are always relative
 * to the last winner.
 */
export class SumOfWords implements SortedWords {
  word: Text = textBuffers.allocate(256);
  wordLength = 0;
  sharedLength = 0;
  count = 0;
  /** An upper bound, because a word that occurs in several summands is one word of the sum. */
  readonly totals: wordTables.CountsTotals;
  /**
   * losers[0] is the winner, and losers[i] the loser of the match at node i. In the first round, losers[i] may also be
   * a summand that waits at node i for its opponent, or -1 if no summand has arrived there. Summand i is leaf
   * summands.length + i.
   */
  private readonly losers: Int32Array;
  private readonly offsets: Int32Array;
  private readonly bytes: Int32Array;
  private isStarted = false;
  private pretokenCount = 0;

  constructor(
    private readonly summands: readonly Summand[],
    private readonly denominator = 1,
  ) {
    const sumOf = (total: keyof wordTables.CountsTotals) =>
      summands.reduce((sum, { words }) => sum + words.totals[total], 0);
    this.totals = {
      wordCount: sumOf("wordCount"),
      byteCount: sumOf("byteCount"),
      pretokenCount: summands.reduce((sum, { words, times }) => sum + times * words.totals.pretokenCount, 0),
    };
    this.losers = new Int32Array(summands.length).fill(nobody);
    this.offsets = new Int32Array(summands.length);
    this.bytes = new Int32Array(summands.length);
  }

  next(): boolean {
    if (!this.isStarted) this.start();
    const { losers, offsets, bytes, summands, denominator } = this;
    if (summands.length === 0) return false;
    let sharedLength = this.wordLength;
    for (;;) {
      let winner = losers[0]!;
      if (offsets[winner] === ended) return false;
      this.take(winner);
      sharedLength = Math.min(sharedLength, offsets[winner]!);
      let count = 0;
      do {
        const { words, times } = summands[winner]!;
        count += times * words.count;
        this.advance(winner);
        winner = losers[0]!;
      } while (bytes[winner] === equal);
      if (denominator > 1) count = quotient(count, denominator);
      if (count === 0) continue;
      this.sharedLength = sharedLength;
      this.count = count;
      this.pretokenCount += count;
      if (this.pretokenCount > Number.MAX_SAFE_INTEGER) {
        const isWeighed = denominator > 1 || summands.some(({ times }) => times > 1);
        throw tooOften(
          "all counts together are",
          isWeighed ? "use smaller weights" : "use fewer files of word counts",
        );
      }
      return true;
    }
  }

  /** Plays the first round, as if the last winner's word were empty. */
  private start(): void {
    this.isStarted = true;
    for (let i = this.summands.length - 1; i >= 0; i--) this.advance(i);
  }

  /** Copies the winner's word, except the prefix that it shares with the last winner's word. */
  private take(winner: number): void {
    const { words } = this.summands[winner]!;
    const { wordLength } = words;
    const from = words.word.bytes;
    this.word = textBuffers.grow(this.word, wordLength);
    const to = this.word.bytes;
    for (let pos = this.offsets[winner]!; pos < wordLength; pos++) to[pos] = from[pos]!;
    this.wordLength = wordLength;
  }

  /** Moves a summand to its next word and replays the matches from its leaf up. */
  private advance(summand: number): void {
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
      if (order < 0 || (order === 0 && !this.isAtMost(winner, other))) {
        losers[node] = winner;
        winner = other;
      }
    }
    losers[0] = winner;
  }

  /**
   * Whether a's word is at most b's. The offsets and bytes of both must be equal. Makes the loser's offset and byte
   * relative to the winner.
   */
  private isAtMost(a: number, b: number): boolean {
    const { summands, offsets, bytes } = this;
    const offset = offsets[a]!;
    // Both have ended, or both have the last winner's word.
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

/** Divides and rounds to the nearest integer, half up. */
function quotient(numerator: number, denominator: number): number {
  if (numerator > Number.MAX_SAFE_INTEGER) {
    throw tooOften(
      `multiplied by ${denominator} to make the weights whole numbers, the weighted count of a word is`,
      "use weights with fewer digits after the point",
    );
  }
  const rest = numerator % denominator;
  return (numerator - rest) / denominator + (2 * rest >= denominator ? 1 : 0);
}

const tooOften = (what: string, hint: string) =>
  new UserError(`${what} more than 2^53, too large to be added up exactly`, { hint });

/** A value of `losers`: no summand has been here yet. */
const nobody = -1;
/** A value of `offsets`: the summand has no more words, and loses to all others. */
const ended = -1;
/** A value of `bytes`: the word equals the last winner's. */
const equal = -1;

export function* totalsOfSum(words: SortedWords): Generator<undefined, wordTables.CountsTotals> {
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

/** Whether the words are too many, or have too many bytes, for one table. */
export const tableOverflows = ({ byteCount, wordCount }: wordTables.CountsTotals) =>
  byteCount >= 2 ** 32 || wordCount >= 2 ** 29;

/**
 * Reads a sum into a table, in the order of the words' bytes.
 *
 * @param totals upper bounds of the sum's totals
 */
export function* wordTableOfSum(
  words: SortedWords,
  totals: wordTables.CountsTotals = words.totals,
): Generator<undefined, WordTable> {
  if (tableOverflows(totals))
    throw wordTables.tooManyWordsError(totals.byteCount >= 2 ** 32 ? "4 GB" : "536 million");
  const table = wordTables.newTable(totals);
  const { bytes, starts, counts } = table;
  let wordCount = 0;
  let end = 0;
  while (words.next()) {
    const { wordLength } = words;
    const from = words.word.bytes;
    if (end + wordLength > totals.byteCount)
      throw new UserError("a file of word counts changed while it was read", {
        hint: "run again",
      });
    for (let i = 0; i < wordLength; i++) bytes[end + i] = from[i]!;
    end += wordLength;
    counts[wordCount] = words.count;
    starts[++wordCount] = end;
    if (wordCount % wordsPerSlice === 0) yield;
  }
  return wordTables.filledTable(table, wordCount);
}

export const emptyTable: WordTable = wordTables.newTable({ wordCount: 0, byteCount: 0 });

const wordsPerSlice = scaled(1 << 16, 2);

/**
 * Whether a table from outside is valid: its words are contiguous, not empty and in ascending order, and its counts are
 * integers of at least 0 whose sum is at most 2^53 - 1.
 */
export function isValidTable(table: WordTable): boolean {
  const { wordCount, bytes, starts, counts } = table;
  if (starts[0] !== 0 || starts[wordCount] !== bytes.length) return false;
  let total = 0;
  for (let word = 0; word < wordCount; word++) {
    const [start, end, count] = [starts[word]!, starts[word + 1]!, counts[word]!];
    if (end <= start || end > bytes.length || !(count >= 0) || Math.floor(count) !== count) return false;
    if (word > 0 && compareWords(table, word - 1, table, word) >= 0) return false;
    total += count;
  }
  return total <= Number.MAX_SAFE_INTEGER;
}

/** Sorts a table by the bytes of its words; yields between slices of work. */
export function* inByteOrder(table: WordTable): Generator<undefined, WordTable> {
  const { wordCount, bytes, starts, counts } = table;
  const order = yield* sortByBytesInSteps(table);
  const sorted = wordTables.newTable({ wordCount, byteCount: starts[wordCount]! });
  let end = 0;
  for (let word = 0; word < wordCount; word++) {
    const from = order[word]!;
    const stop = starts[from + 1]!;
    for (let pos = starts[from]!; pos < stop; pos++) sorted.bytes[end++] = bytes[pos]!;
    sorted.starts[word + 1] = end;
    sorted.counts[word] = counts[from]!;
    if (word % wordsPerSlice === wordsPerSlice - 1) yield;
  }
  return sorted;
}

/** Thrown when a count would fall below 0, because the subtracted table is not part of the other one. */
export class NegativeSumError extends Error {}

/**
 * Adds `other` to a table, or subtracts it if `times` is -1. Both tables are in ascending order. Words whose count
 * becomes 0 are left out. Throws NegativeSumError if a count would become negative, and a UserError if the words of
 * both tables have 4 GB or more.
 */
export function addTable(table: WordTable, other: WordTable, times: 1 | -1 = 1): WordTable {
  if (other.wordCount === 0) return table;
  const byteCountMax = table.bytes.length + other.bytes.length;
  if (byteCountMax >= 2 ** 32) throw wordTables.tooManyWordsError("4 GB");
  const sum = wordTables.newTable({ wordCount: table.wordCount + other.wordCount, byteCount: byteCountMax });
  let wordCount = 0;
  let end = 0;
  for (let a = 0, b = 0; a < table.wordCount || b < other.wordCount; ) {
    const order = compareWords(table, a, other, b);
    const [from, word] = order > 0 ? [other, b] : [table, a];
    const count = (order <= 0 ? table.counts[a++]! : 0) + (order >= 0 ? times * other.counts[b++]! : 0);
    if (count < 0) throw new NegativeSumError("the count of a word would be negative");
    if (count === 0) continue;
    end = copyBytes(from.bytes, from.starts[word]!, from.starts[word + 1]!, sum.bytes, end);
    sum.counts[wordCount] = count;
    sum.starts[++wordCount] = end;
  }
  return wordTables.filledTable(sum, wordCount);
}

/**
 * Compares word a of a table with word b of another: the result is below 0 if a comes first, and above 0 if b does. The
 * end of a table comes after all words.
 */
function compareWords(table: WordTable, a: number, other: WordTable, b: number): number {
  if (a === table.wordCount) return 1;
  if (b === other.wordCount) return -1;
  const start = table.starts[a]!;
  const otherStart = other.starts[b]!;
  const length = table.starts[a + 1]! - start;
  const otherLength = other.starts[b + 1]! - otherStart;
  for (let i = 0; i < length && i < otherLength; i++) {
    const difference = table.bytes[start + i]! - other.bytes[otherStart + i]!;
    if (difference !== 0) return difference;
  }
  return length - otherLength;
}

/** How many distinct words were left out, and how often they occur in total. */
export type LeftOut = { wordCount: number; pretokenCount: number };

export const noWordsLeftOut = (): LeftOut => ({ wordCount: 0, pretokenCount: 0 });

/** The sorted words that occur at least `minCount` times. Rarer words are counted in `leftOut`. */
export class CommonWords implements SortedWords {
  sharedLength = 0;

  constructor(
    private readonly words: SortedWords,
    private readonly minCount: number,
    private readonly leftOut: LeftOut,
  ) {}

  get word(): Text {
    return this.words.word;
  }

  get wordLength(): number {
    return this.words.wordLength;
  }

  get count(): number {
    return this.words.count;
  }

  /** An upper bound, because words may be left out. */
  get totals(): wordTables.CountsTotals {
    return this.words.totals;
  }

  next(): boolean {
    const { words, minCount, leftOut } = this;
    // Words may be left out between two kept words. The length of the prefix that the two share is the smallest
    // `sharedLength` of the words after the first, up to and including the second.
    let shared = words.wordLength;
    while (words.next()) {
      shared = Math.min(shared, words.sharedLength);
      this.sharedLength = shared;
      if (words.count >= minCount) return true;
      leftOut.wordCount++;
      leftOut.pretokenCount += words.count;
    }
    return false;
  }
}

/**
 * Like `CommonWords`, but for a table, and in place: moves the words that occur at least `minCount` times to the front
 * of the table's arrays.
 */
export function commonWordsOf(table: WordTable, minCount: number, leftOut: LeftOut): WordTable {
  const { bytes, starts, counts } = table;
  let wordCount = 0;
  let end = 0;
  for (let index = 0; index < table.wordCount; index++) {
    const count = counts[index]!;
    if (count < minCount) {
      leftOut.wordCount++;
      leftOut.pretokenCount += count;
      continue;
    }
    const start = starts[index]!;
    const stop = starts[index + 1]!;
    bytes.copyWithin(end, start, stop);
    // Word `wordCount` is at or before the one that was just read, so nothing unread is overwritten.
    starts[wordCount] = end;
    counts[wordCount] = count;
    end += stop - start;
    wordCount++;
  }
  // All starts have been read, so the end can be stored after the last word.
  starts[wordCount] = end;
  return wordTables.filledTable(table, wordCount);
}
