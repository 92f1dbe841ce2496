import { scaled } from "#runtime";
import type { WordTable } from "./word-table.ts";

/**
 * Sorts words by their bytes. The order is an array of word indices.
 *
 * Words are compared by keys of six bytes, which are stored next to the indices. The depth of a key is the offset of
 * these bytes in the word. A bucket sort distributes the words into 65,536 buckets by their first two bytes. Then
 * multikey quicksort sorts each bucket: it compares keys at one depth, and where they are equal, it goes six bytes
 * deeper.
 *
 * A key is a whole number below 2^51. Its upper 48 bits are six bytes of the word, the most significant first, with
 * zeros after the word's end; its lowest three bits are the number of bytes from this depth to the word's end, capped
 * at 7. So "a" comes before "a\0", and two words with equal keys are either equal or both continue after these six
 * bytes.
 *
 *   ARRAY     TYPE           LENGTH       MEANING
 *   indices   Uint32Array    wordCount    words of the table, in the order so far
 *   keys      Float64Array   wordCount    the key of each word, at the depth of its range
 */
type KeyedWords = {
  readonly view: DataView;
  readonly starts: Uint32Array;
  readonly indices: Uint32Array<ArrayBuffer>;
  readonly keys: Float64Array;
};

const keyBytes = 6;
const leftMax = 7;
const bucketCount = 65536;
/**
 * The number of words up to which all are sorted as one bucket, because visiting 65,536 buckets would take longer than
 * sorting them.
 */
const fewWords = scaled(2048, 5);
/** Ranges up to this size are sorted by insertion. For sizes from 3 to 24, the time is the same within 5 %. */
const insertionMax = scaled(16, 2);

/**
 * The memory in bytes that sorting by counts (`stableByFallingCount` in tsv.ts) needs for each word, in addition to the
 * table: the index and the count of the word, and a second copy of both.
 */
export const sortBytesPerWord = 24;

const wordsPerStep = scaled(1 << 18, 7);

/** Returns the indices of the words in ascending order of their bytes; yields between slices of about 50 ms. */
export function* sortByBytesInSteps(table: WordTable): Generator<undefined, Uint32Array<ArrayBuffer>> {
  const { wordCount, bytes, starts } = table;
  const words: KeyedWords = {
    view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength),
    starts,
    indices: new Uint32Array(wordCount),
    keys: new Float64Array(wordCount),
  };
  const { indices } = words;
  if (wordCount <= fewWords) {
    for (let word = 0; word < wordCount; word++) indices[word] = word;
    loadKeys(words, 0, wordCount, 0);
    sortRange(words, 0, wordCount);
    return indices;
  }
  const bucketEnds = new Uint32Array(bucketCount + 1);
  for (let first = 0; first < wordCount; first += wordsPerStep) {
    countBuckets(table, first, Math.min(first + wordsPerStep, wordCount), bucketEnds);
    yield;
  }
  for (let bucket = 0; bucket < bucketCount; bucket++) {
    bucketEnds[bucket + 1] = bucketEnds[bucket + 1]! + bucketEnds[bucket]!;
  }
  // bucketEnds[b] is the start of bucket b, and moves to its end while the bucket is filled.
  for (let first = 0; first < wordCount; first += wordsPerStep) {
    distribute(table, words, first, Math.min(first + wordsPerStep, wordCount), bucketEnds);
    yield;
  }
  for (let bucket = 0, first = 0, sinceYield = 0; bucket < bucketCount; bucket++) {
    const end = bucketEnds[bucket]!;
    if (end - first > 1) sortRange(words, first, end);
    sinceYield += end - first;
    first = end;
    if (sinceYield < wordsPerStep) continue;
    sinceYield = 0;
    yield;
  }
  return indices;
}

/** Counts the words of [first, end) in each bucket; the count of bucket b is at b + 1. */
function countBuckets(
  { bytes, starts }: WordTable,
  first: number,
  end: number,
  bucketEnds: Uint32Array,
): void {
  for (let word = first; word < end; word++) {
    const bucket = bucketOf(bytes, starts[word]!, starts[word + 1]!);
    bucketEnds[bucket + 1] = bucketEnds[bucket + 1]! + 1;
  }
}

/** Distributes the words [first, end), with their first keys, to their buckets. */
function distribute(
  { bytes, starts }: WordTable,
  { view, indices, keys }: KeyedWords,
  first: number,
  end: number,
  bucketEnds: Uint32Array,
): void {
  for (let word = first; word < end; word++) {
    const start = starts[word]!;
    const stop = starts[word + 1]!;
    const bucket = bucketOf(bytes, start, stop);
    const place = bucketEnds[bucket]!;
    bucketEnds[bucket] = place + 1;
    indices[place] = word;
    keys[place] = keyAt(view, start, stop);
  }
}

function bucketOf(bytes: Uint8Array, start: number, end: number): number {
  return (bytes[start]! << 8) | (start + 1 < end ? bytes[start + 1]! : 0);
}

function keyAt(view: DataView, pos: number, end: number): number {
  const left = end - pos;
  if (left >= keyBytes) {
    return view.getUint32(pos) * 2 ** 19 + view.getUint16(pos + 4) * 8 + Math.min(left, leftMax);
  }
  let key = 0;
  for (let i = 0; i < keyBytes; i++) key = key * 256 + (i < left ? view.getUint8(pos + i) : 0);
  return key * 8 + Math.max(left, 0);
}

/** A range that remains to be sorted, whose words are equal before `depth`. */
type Pending = { readonly first: number; readonly end: number; readonly depth: number };

/** Sorts the words [first, end), without recursion, which could overflow the call stack. */
function sortRange(words: KeyedWords, first: number, end: number): void {
  const { keys } = words;
  const pending: Pending[] = [{ first, end, depth: 0 }];
  for (let range = pending.pop(); range !== undefined; range = pending.pop()) {
    const { depth } = range;
    let { first, end } = range;
    while (end - first > insertionMax) {
      const pivot = medianOfThree(keys[first]!, keys[(first + end) >>> 1]!, keys[end - 1]!);
      const equalFirst = moveSmaller(words, first, end, pivot);
      const equalEnd = moveEqual(words, equalFirst, end, pivot);
      if (equalEnd - equalFirst > 1 && continuesAfterKey(pivot)) {
        loadKeys(words, equalFirst, equalEnd, depth + keyBytes);
        pending.push({ first: equalFirst, end: equalEnd, depth: depth + keyBytes });
      }
      // The larger side waits on the stack while the smaller one is sorted. So at each depth, at most log2(range size)
      // sides wait. There may be more ranges of equal keys, because they wait below the larger sides.
      if (equalFirst - first > end - equalEnd) {
        pending.push({ first, end: equalFirst, depth });
        first = equalEnd;
      } else {
        pending.push({ first: equalEnd, end, depth });
        end = equalFirst;
      }
    }
    sortByInsertion(words, first, end, depth);
  }
}

/** Whether words with this key are longer than its six bytes. */
function continuesAfterKey(key: number): boolean {
  return key % 8 === leftMax;
}

function medianOfThree(a: number, b: number, c: number): number {
  return Math.max(Math.min(a, b), Math.min(Math.max(a, b), c));
}

/** Moves the keys of [first, end) that are below `pivot` to the front. Returns their end. */
function moveSmaller({ indices, keys }: KeyedWords, first: number, end: number, pivot: number): number {
  let place = first;
  for (let i = first; i < end; i++) {
    const key = keys[i]!;
    const index = indices[i]!;
    // The swap is unconditional, because the processor could not predict a branch here.
    indices[i] = indices[place]!;
    keys[i] = keys[place]!;
    indices[place] = index;
    keys[place] = key;
    place += key < pivot ? 1 : 0;
  }
  return place;
}

/** Moves the keys equal to `pivot` to the front of [first, end), which has no smaller ones. Returns their end. */
function moveEqual({ indices, keys }: KeyedWords, first: number, end: number, pivot: number): number {
  let place = first;
  for (let i = first; i < end; i++) {
    if (keys[i] !== pivot) continue;
    const index = indices[i]!;
    indices[i] = indices[place]!;
    keys[i] = keys[place]!;
    indices[place] = index;
    keys[place] = pivot;
    place++;
  }
  return place;
}

function loadKeys(
  { view, starts, indices, keys }: KeyedWords,
  first: number,
  end: number,
  depth: number,
): void {
  for (let i = first; i < end; i++) {
    const word = indices[i]!;
    keys[i] = keyAt(view, starts[word]! + depth, starts[word + 1]!);
  }
}

function sortByInsertion(words: KeyedWords, first: number, end: number, depth: number): void {
  const { indices, keys } = words;
  for (let i = first + 1; i < end; i++) {
    const key = keys[i]!;
    const word = indices[i]!;
    let place = i;
    for (; place > first; place--) {
      const other = keys[place - 1]!;
      if (other < key) break;
      if (other === key && !isBefore(words, word, indices[place - 1]!, depth + keyBytes)) break;
      keys[place] = other;
      indices[place] = indices[place - 1]!;
    }
    keys[place] = key;
    indices[place] = word;
  }
}

/** Whether `word` comes before `other`; they share the bytes before `depth`. */
function isBefore({ view, starts }: KeyedWords, word: number, other: number, depth: number): boolean {
  const end = starts[word + 1]!;
  const otherEnd = starts[other + 1]!;
  let pos = starts[word]! + depth;
  let otherPos = starts[other]! + depth;
  for (; pos < end && otherPos < otherEnd; pos += keyBytes, otherPos += keyBytes) {
    const key = keyAt(view, pos, end);
    const otherKey = keyAt(view, otherPos, otherEnd);
    if (key !== otherKey) return key < otherKey;
  }
  return end - pos < otherEnd - otherPos;
}
