import { tooManyWords } from "../words/slots.ts";
import { sortWordsByBytes } from "../words/sort.ts";
import type { WordTable } from "../words/word-table.ts";

// Word tables whose words stand in ascending order of their bytes, each once.

export const emptyTable: WordTable = {
  wordCount: 0,
  bytes: new Uint8Array(0),
  starts: new Uint32Array(1),
  counts: new Float64Array(0),
};

/** The same words in ascending order of their bytes. */
export function inByteOrder(table: WordTable): WordTable {
  const { wordCount, bytes, starts, counts } = table;
  const order = sortWordsByBytes(table);
  const sorted = {
    wordCount,
    bytes: new Uint8Array(starts[wordCount]!),
    starts: new Uint32Array(wordCount + 1),
    counts: new Float64Array(wordCount),
  };
  let end = 0;
  for (let word = 0; word < wordCount; word++) {
    const from = order[word]!;
    copyBytes(bytes, starts[from]!, starts[from + 1]!, sorted.bytes, end);
    end += starts[from + 1]! - starts[from]!;
    sorted.starts[word + 1] = end;
    sorted.counts[word] = counts[from]!;
  }
  return sorted;
}

/**
 * The words of `table` and of `other`, whose counts are taken `times` times, with their counts added up; words whose
 * count is 0 then are left out. Undefined where a word would occur less than never: the one is then not a part of the
 * other.
 */
export function addTable(table: WordTable, other: WordTable, times: 1 | -1): WordTable | undefined {
  const { wordCount, bytes, starts, counts } = table;
  const byteCountMax = starts[wordCount]! + (times > 0 ? other.starts[other.wordCount]! : 0);
  const wordCountMax = wordCount + (times > 0 ? other.wordCount : 0);
  if (byteCountMax >= 2 ** 32) throw tooManyWords("more than 4 GB of distinct words");
  const sumBytes = new Uint8Array(byteCountMax);
  const sumStarts = new Uint32Array(wordCountMax + 1);
  const sumCounts = new Float64Array(wordCountMax);
  let sumWord = 0;
  let sumEnd = 0;
  /** The first word of the table that is not in the sum yet. */
  let word = 0;

  const takeUntil = (endWord: number): void => {
    const start = starts[word]!;
    // Offsets are 32-bit numbers, and so are their differences, whatever their sign.
    const shift = (sumEnd - start) | 0;
    copyBytes(bytes, start, starts[endWord]!, sumBytes, sumEnd);
    sumEnd += starts[endWord]! - start;
    for (; word < endWord; word++) {
      sumCounts[sumWord] = counts[word]!;
      sumStarts[++sumWord] = starts[word + 1]! + shift;
    }
  };

  for (let added = 0; added < other.wordCount; added++) {
    let next = word;
    let order = 1;
    while (next < wordCount) {
      order = compareWords(table, next, other, added);
      if (order >= 0) break;
      next++;
    }
    takeUntil(next);
    const isThere = next < wordCount && order === 0;
    const count = times * other.counts[added]! + (isThere ? counts[next]! : 0);
    if (isThere) word++;
    if (count < 0) return undefined;
    if (count === 0) continue;
    const start = other.starts[added]!;
    const end = other.starts[added + 1]!;
    copyBytes(other.bytes, start, end, sumBytes, sumEnd);
    sumEnd += end - start;
    sumCounts[sumWord] = count;
    sumStarts[++sumWord] = sumEnd;
  }
  takeUntil(wordCount);
  return {
    wordCount: sumWord,
    bytes: sumBytes.subarray(0, sumEnd),
    starts: sumStarts.subarray(0, sumWord + 1),
    counts: sumCounts.subarray(0, sumWord),
  };
}

/** Order of word `a` of one table and word `b` of another: below 0, 0 or above. */
function compareWords(tableA: WordTable, a: number, tableB: WordTable, b: number): number {
  const startA = tableA.starts[a]!;
  const startB = tableB.starts[b]!;
  const lengthA = tableA.starts[a + 1]! - startA;
  const lengthB = tableB.starts[b + 1]! - startB;
  const stop = Math.min(lengthA, lengthB);
  for (let pos = 0; pos < stop; pos++) {
    const difference = tableA.bytes[startA + pos]! - tableB.bytes[startB + pos]!;
    if (difference !== 0) return difference;
  }
  return lengthA - lengthB;
}

/** A loop for the short ones: a native copy costs more to call. */
function copyBytes(from: Uint8Array, start: number, stop: number, to: Uint8Array, end: number): void {
  if (stop - start > 256) {
    to.set(from.subarray(start, stop), end);
    return;
  }
  for (let pos = start; pos < stop; pos++) to[end++] = from[pos]!;
}
