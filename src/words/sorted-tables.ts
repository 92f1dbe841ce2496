import { sortByBytesInSteps } from "./sort-by-bytes.ts";
import type { SortedWords } from "./sorted-words.ts";
import { tooManyWords, type WordTable } from "./word-table.ts";

// Word tables in ascending order of their words' bytes. A count may be 0 here.

export const emptyTable: WordTable = {
  wordCount: 0,
  bytes: new Uint8Array(0),
  starts: new Uint32Array(1),
  counts: new Float64Array(0),
};

const wordsPerSlice = 1 << 16;

/** Whether a table that was read is valid: words end to end, in ascending order, counts integers with an exact sum. */
export function isSound({ wordCount, bytes, starts, counts }: WordTable): boolean {
  if (starts[0] !== 0 || starts[wordCount] !== bytes.length) return false;
  let total = 0;
  let lastStart = 0;
  let start = 0;
  for (let word = 0; word < wordCount; word++) {
    const end = starts[word + 1]!;
    const count = counts[word]!;
    if (end <= start || end > bytes.length || !(count >= 0) || Math.floor(count) !== count) return false;
    total += count;
    let pos = 0;
    while (start + pos < end && lastStart + pos < start && bytes[start + pos] === bytes[lastStart + pos])
      pos++;
    const isBehind =
      word === 0 ||
      (start + pos < end && (lastStart + pos === start || bytes[start + pos]! > bytes[lastStart + pos]!));
    if (!isBehind) return false;
    lastStart = start;
    start = end;
  }
  return total <= Number.MAX_SAFE_INTEGER;
}

/** The same words in ascending order of their bytes; yields between slices of work. */
export function* inByteOrder(table: WordTable): Generator<undefined, WordTable> {
  const { wordCount, bytes, starts, counts } = table;
  const order = yield* sortByBytesInSteps(table);
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
    if (word % wordsPerSlice === wordsPerSlice - 1) yield;
  }
  return sorted;
}

/**
 * The sum of two tables, without words whose count is 0. It is made in the memory of `table`, if that has room behind its
 * words (`withRoom`): fresh memory costs more than moving words.
 */
export function addTable(table: WordTable, other: WordTable): WordTable {
  const places = addCounts(table, other);
  let wordCount = 0;
  let byteCount = 0;
  for (let word = 0; word < other.wordCount; word++) {
    if (places[word] === inBoth) continue;
    wordCount++;
    byteCount += other.starts[word + 1]! - other.starts[word]!;
  }
  const sum = withRoom(table, wordCount, byteCount);
  insertWords(sum, table.wordCount, other, places, wordCount, byteCount);
  return withoutNone(sum);
}

/** The table with room for more words, whose content is undefined; in the same memory if there is room. */
function withRoom(table: WordTable, moreWords: number, moreBytes: number): WordTable {
  const wordCount = table.wordCount + moreWords;
  const byteCount = table.starts[table.wordCount]! + moreBytes;
  if (byteCount >= 2 ** 32) throw tooManyWords("more than 4 GB of distinct words");
  return {
    wordCount,
    bytes: lengthened(table.bytes, byteCount),
    starts: lengthened(table.starts, wordCount + 1),
    counts: lengthened(table.counts, wordCount),
  };
}

function lengthened<T extends Uint8Array | Uint32Array | Float64Array>(array: T, length: number): T {
  const { buffer, byteOffset, BYTES_PER_ELEMENT } = array;
  const Type = array.constructor as new (...args: [ArrayBufferLike, number, number] | [number]) => T;
  if (byteOffset + length * BYTES_PER_ELEMENT <= buffer.byteLength)
    return new Type(buffer, byteOffset, length);
  const longer = new Type(length);
  longer.set(array);
  return longer;
}

/** In `places`: the table has the word already. No table has so many words. */
const inBoth = 2 ** 32 - 1;

/** Adds the counts of words that both tables have. Returns before which word of `table` each of the others belongs. */
function addCounts(table: WordTable, other: WordTable): Uint32Array {
  const { counts } = table;
  const places = new Uint32Array(other.wordCount);
  for (let word = 0, first = 0; word < other.wordCount; word++) {
    const start = other.starts[word]!;
    const place = placeOf(table, first, other.bytes, start, other.starts[word + 1]!);
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
 * Subtracts the counts of `part`, `times` times, from those of `table`, in place. A word that is left with a count of 0
 * keeps its place. False where a count would be below 0: `part` is no part of the table, which is spoilt then. Yields
 * between slices of some milliseconds.
 */
export function* takeOff(table: WordTable, part: SortedWords, times = 1): Generator<undefined, boolean> {
  const { counts } = table;
  let first = 0;
  for (let taken = 1; part.next(); taken++) {
    const place = placeOf(table, first, part.word.bytes, 0, part.wordLength);
    if (place < 0) return false;
    const count = counts[place]! - times * part.count;
    if (count < 0) return false;
    counts[place] = count;
    first = place + 1;
    if (taken % wordsPerSlice === 0) yield;
  }
  return true;
}

/**
 * Inserts `newWords` words of `other`, with `newBytes` bytes, at their places among the first `wordCount` words of a table.
 * It goes from the last one to the first, so each word of the table moves once.
 */
function insertWords(
  { bytes, starts, counts }: WordTable,
  wordCount: number,
  other: WordTable,
  places: Uint32Array,
  newWords: number,
  newBytes: number,
): void {
  let end = wordCount;
  for (let added = other.wordCount - 1; newWords > 0; added--) {
    const place = places[added]!;
    if (place === inBoth) continue;
    bytes.copyWithin(starts[place]! + newBytes, starts[place]!, starts[end]!);
    for (let word = end; word > place; word--) {
      starts[word + newWords] = starts[word]! + newBytes;
      counts[word + newWords - 1] = counts[word - 1]!;
    }
    end = place;
    const stop = other.starts[added + 1]!;
    newWords--;
    newBytes -= stop - other.starts[added]!;
    const to = starts[place]! + newBytes;
    copyBytes(other.bytes, other.starts[added]!, stop, bytes, to);
    starts[place + newWords + 1] = to + stop - other.starts[added]!;
    counts[place + newWords] = other.counts[added]!;
  }
}

/** Removes the words whose count is 0, in place. The words between two of them move together. */
function withoutNone({ wordCount, bytes, starts, counts }: WordTable): WordTable {
  let left = 0;
  for (let word = 0; word < wordCount; word++) {
    const first = word;
    const start = starts[word]!;
    const shift = start - starts[left]!;
    for (; word < wordCount && counts[word] !== 0; word++) {
      counts[left] = counts[word]!;
      starts[++left] = starts[word + 1]! - shift;
    }
    if (shift > 0 && word > first) bytes.copyWithin(start - shift, start, starts[word]!);
  }
  return {
    wordCount: left,
    bytes: bytes.subarray(0, starts[left]!),
    starts: starts.subarray(0, left + 1),
    counts: counts.subarray(0, left),
  };
}

/** For few bytes a loop is cheaper than the call of a native copy. */
function copyBytes(from: Uint8Array, start: number, stop: number, to: Uint8Array, toPos: number): void {
  if (stop - start > 64) to.set(from.subarray(start, stop), toPos);
  else for (let pos = start; pos < stop; pos++) to[toPos++] = from[pos]!;
}

/**
 * Searches the words [word, wordCount) for the word at bytes [otherStart, otherEnd) of `otherBytes`. Returns its index, or
 * the complement (~) of where it belongs.
 */
function placeOf(
  { wordCount, bytes, starts }: WordTable,
  word: number,
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
