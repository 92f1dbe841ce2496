import { UserError } from "../errors.ts";
import type { CountsReader } from "./counts-reader.ts";
import { tooManyWords } from "./slots.ts";
import type { WordTable } from "./word-table.ts";

/**
 * Adds up counts files in one pass: every file has its words in ascending order, so the smallest of their next words
 * is the next word of all. Memory is a frame a file. Calls back with each distinct word once, in order: it is what
 * `reader` stands at, and `count` is its sum over all files.
 */
export function forEachMergedWord(
  readers: readonly CountsReader[],
  visit: (reader: CountsReader, count: number) => void,
): void {
  const heap: CountsReader[] = [];
  for (const reader of readers) if (reader.next()) push(heap, reader);
  const standing: CountsReader[] = [];
  let pretokenCount = 0;
  while (heap.length > 0) {
    // All readers that stand at the smallest word come off the heap one after another.
    const reader = pop(heap);
    let count = reader.count;
    standing.length = 0;
    standing.push(reader);
    while (heap.length > 0 && compare(heap[0]!, reader) === 0) {
      const other = pop(heap);
      count += other.count;
      standing.push(other);
    }
    pretokenCount += count;
    if (pretokenCount > Number.MAX_SAFE_INTEGER) {
      throw new UserError("the counts files have more than 2^53 words, more than can be added up exactly", {
        hint: "train from fewer of them",
      });
    }
    visit(reader, count);
    for (const done of standing) if (done.next()) push(heap, done);
  }
}

/** The sum of the files as a table, its words in the order of their bytes. */
export function tableOfCountsFiles(readers: readonly CountsReader[]): WordTable {
  // The files say how much they hold; together they hold that or less, because words that stand in several are one.
  const wordCountMax = readers.reduce((sum, { header }) => sum + header.wordCount, 0);
  const byteCountMax = readers.reduce((sum, { header }) => sum + header.byteCount, 0);
  const isTooMuch = byteCountMax >= 2 ** 32 || wordCountMax >= 2 ** 29;
  if (isTooMuch) throw tooManyWords("more than 4 GB or 536 million distinct words in the counts files");
  const bytes = new Uint8Array(byteCountMax);
  const starts = new Uint32Array(wordCountMax + 1);
  const counts = new Float64Array(wordCountMax);
  let wordCount = 0;
  let end = 0;
  forEachMergedWord(readers, ({ word, wordLength }, count) => {
    if (end + wordLength > byteCountMax) throw new UserError("the counts files hold more than they say");
    for (let i = 0; i < wordLength; i++) bytes[end + i] = word.bytes[i]!;
    end += wordLength;
    counts[wordCount] = count;
    starts[++wordCount] = end;
  });
  return {
    wordCount,
    bytes: bytes.subarray(0, end),
    starts: starts.subarray(0, wordCount + 1),
    counts: counts.subarray(0, wordCount),
  };
}

/** Order of the words that two readers stand at: below 0, 0 or above. */
function compare(a: CountsReader, b: CountsReader): number {
  const bytesA = a.word.bytes;
  const bytesB = b.word.bytes;
  const stop = Math.min(a.wordLength, b.wordLength);
  for (let pos = 0; pos < stop; pos++) {
    const difference = bytesA[pos]! - bytesB[pos]!;
    if (difference !== 0) return difference;
  }
  return a.wordLength - b.wordLength;
}

// A binary heap of readers, the one with the smallest word on top.

function push(heap: CountsReader[], reader: CountsReader): void {
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

function pop(heap: CountsReader[]): CountsReader {
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
