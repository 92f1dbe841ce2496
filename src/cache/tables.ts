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

/**
 * The words of both tables with their counts added up; those whose count is 0 are left out. Counts of words that stand
 * in both are added up in `table`, which is used up.
 */
export function addTable(table: WordTable, other: WordTable): WordTable {
  const byteCountMax = table.starts[table.wordCount]! + other.starts[other.wordCount]!;
  if (byteCountMax >= 2 ** 32) throw tooManyWords("more than 4 GB of distinct words");
  const sum: Filling = {
    bytes: new Uint8Array(byteCountMax),
    starts: new Uint32Array(table.wordCount + other.wordCount + 1),
    counts: new Float64Array(table.wordCount + other.wordCount),
    wordCount: 0,
  };
  const places = addCounts(table, other);
  let first = 0;
  for (let added = 0; added < other.wordCount; added++) {
    const place = places[added]!;
    if (place === inBoth) continue;
    takeWords(sum, table, first, place);
    takeWords(sum, other, added, added + 1);
    first = place;
  }
  takeWords(sum, table, first, table.wordCount);
  return {
    wordCount: sum.wordCount,
    bytes: sum.bytes.subarray(0, sum.starts[sum.wordCount]!),
    starts: sum.starts.subarray(0, sum.wordCount + 1),
    counts: sum.counts.subarray(0, sum.wordCount),
  };
}

/** A word of the other table that needs no place: it has one. Tables have fewer words. */
const inBoth = 2 ** 32 - 1;

/** Adds the counts of words that both tables have; before which word of `table` each other one is to stand. */
function addCounts(table: WordTable, other: WordTable): Uint32Array {
  const { wordCount, bytes, starts, counts } = table;
  const places = new Uint32Array(other.wordCount);
  for (let word = 0, first = 0; word < other.wordCount; word++) {
    const start = other.starts[word]!;
    const place = placeOf(bytes, starts, first, wordCount, other.bytes, start, other.starts[word + 1]!);
    if (place < 0) {
      first = ~place;
      places[word] = first;
    } else {
      counts[place] = counts[place]! + other.counts[word]!;
      first = place + 1;
      places[word] = inBoth;
    }
  }
  return places;
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
  for (let word = first; word < end; word++) {
    const start = starts[word]!;
    const toPos = toStarts[wordCount]!;
    for (; word < end && counts[word] !== 0; word++) {
      toCounts[wordCount] = counts[word]!;
      toStarts[++wordCount] = toPos + starts[word + 1]! - start;
    }
    // Words between two that leave are end to end here and there: their bytes move together.
    copyBytes(bytes, start, starts[word]!, toBytes, toPos);
  }
  to.wordCount = wordCount;
}

/** A loop for the few bytes: a native copy costs more to call. */
function copyBytes(from: Uint8Array, start: number, stop: number, to: Uint8Array, toPos: number): void {
  if (stop - start > 64) to.set(from.subarray(start, stop), toPos);
  else for (let pos = start; pos < stop; pos++) to[toPos++] = from[pos]!;
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
