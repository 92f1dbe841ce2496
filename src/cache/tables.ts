import { tooManyWords } from "../words/slots.ts";
import { sortWordsByBytes } from "../words/sort.ts";
import type { WordTable } from "../words/word-table.ts";

// Word tables whose words stand in ascending order of their bytes, each once. A count may be 0 here.

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
    const stop = starts[from + 1]!;
    for (let pos = starts[from]!; pos < stop; pos++) sorted.bytes[end++] = bytes[pos]!;
    sorted.starts[word + 1] = end;
    sorted.counts[word] = counts[from]!;
  }
  return sorted;
}

/** The words of both tables with their counts added up; those whose count is 0 are left out. */
export function addTable(table: WordTable, other: WordTable): WordTable {
  const { wordCount, bytes, starts, counts } = table;
  const { bytes: otherBytes, starts: otherStarts, counts: otherCounts } = other;
  const byteCountMax = starts[wordCount]! + otherStarts[other.wordCount]!;
  if (byteCountMax >= 2 ** 32) throw tooManyWords("more than 4 GB of distinct words");
  const sum: Filling = {
    bytes: new Uint8Array(byteCountMax),
    starts: new Uint32Array(wordCount + other.wordCount + 1),
    counts: new Float64Array(wordCount + other.wordCount),
    wordCount: 0,
  };
  /** The first word of the table that is not in the sum yet. */
  let first = 0;
  for (let added = 0; added < other.wordCount; added++) {
    const start = otherStarts[added]!;
    const end = otherStarts[added + 1]!;
    const place = placeOf(bytes, starts, first, wordCount, otherBytes, start, end);
    takeWords(sum, table, first, place < 0 ? ~place : place);
    takeWords(sum, other, added, added + 1);
    first = place < 0 ? ~place : place + 1;
    if (place < 0) continue;
    const last = sum.wordCount - 1;
    sum.counts[last] = otherCounts[added]! + counts[place]!;
  }
  takeWords(sum, table, first, wordCount);
  return {
    wordCount: sum.wordCount,
    bytes: sum.bytes.subarray(0, sum.starts[sum.wordCount]!),
    starts: sum.starts.subarray(0, sum.wordCount + 1),
    counts: sum.counts.subarray(0, sum.wordCount),
  };
}

/**
 * Takes the counts of `part` off those of `table`, in place: a word that occurs no more keeps its place, with a count
 * of 0. False where a word would occur less than never: then the one is not a part of the other, and the table is
 * spoilt.
 */
export function takeOff(table: WordTable, part: WordTable): boolean {
  const { wordCount, bytes, starts, counts } = table;
  let first = 0;
  for (let word = 0; word < part.wordCount; word++) {
    const start = part.starts[word]!;
    const place = placeOf(bytes, starts, first, wordCount, part.bytes, start, part.starts[word + 1]!);
    if (place < 0) return false;
    const count = counts[place]! - part.counts[word]!;
    if (count < 0) return false;
    counts[place] = count;
    first = place + 1;
  }
  return true;
}

/** A table being filled; starts[wordCount] is where the next word goes. */
type Filling = { bytes: Uint8Array; starts: Uint32Array; counts: Float64Array; wordCount: number };

/** Copies words [first, end) of a table, but those whose count is 0. */
function takeWords(to: Filling, from: WordTable, first: number, end: number): void {
  const { bytes, starts, counts } = from;
  const { bytes: toBytes, starts: toStarts, counts: toCounts } = to;
  let wordCount = to.wordCount;
  let toPos = toStarts[wordCount]!;
  for (let word = first; word < end; word++) {
    const count = counts[word]!;
    if (count === 0) continue;
    const stop = starts[word + 1]!;
    for (let pos = starts[word]!; pos < stop; pos++) toBytes[toPos++] = bytes[pos]!;
    toCounts[wordCount] = count;
    toStarts[++wordCount] = toPos;
  }
  to.wordCount = wordCount;
}

/**
 * Where among words [word, wordCount) the word at bytes [otherStart, otherEnd) of `otherBytes` stands; where it is not
 * there, the complement (~) of where it would.
 */
function placeOf(
  bytes: Uint8Array,
  starts: Uint32Array,
  word: number,
  wordCount: number,
  otherBytes: Uint8Array,
  otherStart: number,
  otherEnd: number,
): number {
  const otherLength = otherEnd - otherStart;
  for (; word < wordCount; word++) {
    const start = starts[word]!;
    const length = starts[word + 1]! - start;
    const stop = length < otherLength ? length : otherLength;
    let pos = 0;
    while (pos < stop && bytes[start + pos] === otherBytes[otherStart + pos]) pos++;
    if (pos < stop) {
      if (bytes[start + pos]! > otherBytes[otherStart + pos]!) return ~word;
    } else if (length >= otherLength) {
      return length === otherLength ? word : ~word;
    }
  }
  return ~word;
}
