import { messages, phrase, UserError } from "#runtime";

/**
 * WordTable: distinct words, each once, with their counts.
 *
 *   ARRAY    TYPE           LENGTH          MEANING
 *   bytes    Uint8Array     byteCount       concatenated words, no separator
 *   starts   Uint32Array    wordCount + 1   offset into bytes; word w is bytes[starts[w] .. starts[w + 1])
 *   counts   Float64Array   wordCount       occurrences of each word: integers, exact to 2^53
 *
 * "a bc bc" gives bytes = "a bc", starts = [0, 1, 4], counts = [1, 2].
 *
 * No word is empty, and no two are equal. No result may depend on their order.
 */
export type WordTable = {
  readonly wordCount: number;
  readonly bytes: Uint8Array;
  readonly starts: Uint32Array;
  readonly counts: Float64Array;
};

/** The size of a table, or an upper bound of its size. */
export type Size = { readonly wordCount: number; readonly byteCount: number };

export const sizeOf = ({ wordCount, bytes }: WordTable): Size => ({
  wordCount,
  byteCount: bytes.length,
});

/** Allocates a table for at most `wordCount` words and `byteCount` bytes. */
export const newTable = ({ wordCount, byteCount }: Size) => ({
  wordCount,
  bytes: new Uint8Array(byteCount),
  starts: new Uint32Array(wordCount + 1),
  counts: new Float64Array(wordCount),
});

/** Returns the first `wordCount` words of a table, in the same memory. */
export function filledTable({ bytes, starts, counts }: WordTable, wordCount: number): WordTable {
  return {
    wordCount,
    bytes: bytes.subarray(0, starts[wordCount]!),
    starts: starts.subarray(0, wordCount + 1),
    counts: counts.subarray(0, wordCount),
  };
}

export const bytesOf = ({ wordCount, byteCount }: Size) => byteCount + 12 * wordCount;

/** The buffers to transfer when a table is posted to another thread. */
export const memoryOf = ({ bytes, starts, counts }: WordTable) =>
  [bytes, starts, counts].map((array) => array.buffer as ArrayBuffer);

/** Returns the error for a corpus whose distinct words, added up over all files, do not fit into a table. */
export function tooManyWordsError(limit: "4 GB" | "536 million"): UserError {
  return new UserError(
    `the distinct words of all files add up to more than ${limit}, the most that can be counted`,
    {
      hint: phrase`${messages.shorterWordsOr}use a part of the corpus or fewer files of word counts`,
    },
  );
}

/**
 * TokenWords: words as sequences of start tokens, with their counts: the input of the merge engine.
 *
 *   ARRAY    TYPE                    LENGTH          MEANING
 *   tokens   Uint8Array, 16 or 32    positionCount   ids of start tokens of concatenated words, no separator
 *   starts   Uint32Array             wordCount + 1   offset into tokens; word w is tokens[starts[w] .. starts[w + 1])
 *   counts   Float64Array            wordCount       occurrences in the corpus: integers, exact to 2^53
 *
 * The words (300, 7) and (301, 300) with counts 1 and 5 give tokens = [300, 7, 301, 300], starts = [0, 2, 4], counts =
 * [1, 5].
 *
 * Nothing may depend on the order of the words. Equal words may occur twice; their counts add up.
 */
export type TokenWords = {
  readonly wordCount: number;
  readonly tokens: Uint8Array | Uint16Array | Uint32Array;
  readonly starts: Uint32Array;
  readonly counts: Float64Array;
};

/** The numbers of words and of their tokens, or upper bounds of both. */
export type TokenWordsSize = { readonly wordCount: number; readonly positionCount: number };

export const sizeOfWords = ({ wordCount, tokens }: TokenWords): TokenWordsSize => ({
  wordCount,
  positionCount: tokens.length,
});

/** The size of a word table, whose tokens are its bytes. */
export const byteWordsSize = ({ wordCount, byteCount }: Size): TokenWordsSize => ({
  wordCount,
  positionCount: byteCount,
});

/** Views a word table as words of start tokens, each of which is a byte. Nothing is copied. */
export function byteWords({ wordCount, bytes, starts, counts }: WordTable): TokenWords {
  return { wordCount, tokens: bytes, starts, counts };
}

/** The number of distinct words, the sum of their bytes, and the number of all occurrences. */
export type CountsTotals = {
  readonly wordCount: number;
  readonly byteCount: number;
  readonly pretokenCount: number;
};

export function totalsOf({ wordCount, starts, counts }: WordTable): CountsTotals {
  let pretokenCount = 0;
  for (let w = 0; w < wordCount; w++) pretokenCount += counts[w]!;
  return { wordCount, byteCount: starts[wordCount]!, pretokenCount };
}

/** Words and their counts in memory. If a word occurs several times, its counts are added up. */
export type GivenWords = Iterable<readonly [word: string | Uint8Array, count: number]>;
