import { UserError } from "../errors.ts";

/**
 * WordTable: every distinct word of the corpus, once. Built by counting; read by the merge engine; frozen between.
 *
 *   ARRAY    TYPE           LENGTH          MEANING
 *   bytes    Uint8Array     byteCount       words end to end, no separator
 *   starts   Uint32Array    wordCount + 1   offset into bytes; word w is bytes[starts[w] .. starts[w + 1])
 *   counts   Float64Array   wordCount       occurrences in the corpus, whole numbers, exact to 2^53
 *
 * "a bc bc" gives bytes = "a bc", starts = [0, 1, 4], counts = [1, 2].
 *
 * No word is empty and no word stands twice. The order is free: nothing downstream depends on it.
 */
export type WordTable = {
  readonly wordCount: number;
  readonly bytes: Uint8Array;
  readonly starts: Uint32Array;
  readonly counts: Float64Array;
};

/** How large a table is, or is to be. */
export type TableSize = { readonly wordCount: number; readonly byteCount: number };

export const sizeOf = ({ wordCount, bytes }: WordTable): TableSize => ({
  wordCount,
  byteCount: bytes.length,
});

export const tableBytes = ({ wordCount, byteCount }: TableSize) => byteCount + 12 * wordCount;

/** What to list as transferred when a table is posted. */
export const tableMemory = ({ bytes, starts, counts }: WordTable) =>
  [bytes, starts, counts].map((array) => array.buffer as ArrayBuffer);

/** A table of the words given, in their order: for tests, examples and small inputs. */
export function wordTableOf(
  entries: Iterable<readonly [word: string | Uint8Array, count: number]>,
): WordTable {
  const encoder = new TextEncoder();
  const words: Uint8Array[] = [];
  const counts: number[] = [];
  for (const [word, count] of entries) {
    words.push(typeof word === "string" ? encoder.encode(word) : word);
    counts.push(count);
  }
  const starts = new Uint32Array(words.length + 1);
  words.forEach((word, w) => {
    starts[w + 1] = starts[w]! + word.length;
  });
  const bytes = new Uint8Array(starts[words.length]!);
  words.forEach((word, w) => {
    bytes.set(word, starts[w]!);
  });
  return { wordCount: words.length, bytes, starts, counts: Float64Array.from(counts) };
}

/** The error of more words than a table can have. */
export function tooManyWords(what: string): UserError {
  return new UserError(`the corpus has ${what}, more than can be counted`, {
    hint: "train on a part of the corpus, or choose a --pattern that cuts it into shorter words",
  });
}
