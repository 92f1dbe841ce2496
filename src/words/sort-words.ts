import type { WordTable } from "./word-table.ts";

/**
 * Orders of words, as arrays of word indices. Words are sorted by keys of six bytes, kept beside the indices: first
 * dealt into 65,536 buckets by the first two bytes, then each bucket by multikey quicksort, which compares keys at a
 * depth and, where they are equal, goes six bytes deeper.
 *
 * A key is a whole number below 2^51: six bytes, most significant first, zero after the word's end, and in the lowest
 * three bits how many bytes were left, at most 7. So "a" stands before "a\0", two words with equal keys both go on
 * behind the six bytes, and no key needs a second look.
 */
const keyBytes = 6;
const leftMax = 7;
const bucketCount = 65536;
/** So few words are one bucket: looking through 65,536 takes longer than sorting them. */
const fewWords = 2048;
/** Ranges up to this size are sorted by insertion: from 3 to 24 the whole takes the same time, within 5 %. */
const insertionMax = 16;

/** What sorting takes at most beside the table: two arrays of indices and two of numbers. */
export const sortBytesPerWord = 24;

/** Words in ascending order of their bytes. */
export function sortWordsByBytes(table: WordTable): Uint32Array<ArrayBuffer> {
  return lastOf(sortByBytesInSteps(table));
}

/** Words with the highest count first; those of equal count in ascending order of their bytes. */
export function sortWordsByCount(table: WordTable): Uint32Array {
  return lastOf(sortByCountInSteps(table));
}

/** The same in slices of some 50 ms, but for the last, so that the caller can serve signals. */
export function* sortByCountInSteps(table: WordTable): Generator<undefined, Uint32Array> {
  const order = yield* sortByBytesInSteps(table);
  yield;
  return stableByFallingCount(table.counts, order);
}

function lastOf<T>(steps: Generator<undefined, T>): T {
  for (let step = steps.next(); ; step = steps.next()) if (step.done) return step.value;
}

const wordsPerStep = 1 << 18;

export function* sortByBytesInSteps(table: WordTable): Generator<undefined, Uint32Array<ArrayBuffer>> {
  const { wordCount, bytes, starts } = table;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const indices = new Uint32Array(wordCount);
  const keys = new Float64Array(wordCount);
  if (wordCount <= fewWords) {
    for (let word = 0; word < wordCount; word++) {
      indices[word] = word;
      keys[word] = keyAt(view, starts[word]!, starts[word + 1]!);
    }
    sortRange(view, starts, indices, keys, 0, wordCount);
    return indices;
  }
  const bucketEnds = new Uint32Array(bucketCount + 1);
  for (let first = 0; first < wordCount; first += wordsPerStep) {
    countBuckets(bytes, starts, first, Math.min(first + wordsPerStep, wordCount), bucketEnds);
    yield;
  }
  for (let bucket = 0; bucket < bucketCount; bucket++) {
    bucketEnds[bucket + 1] = bucketEnds[bucket + 1]! + bucketEnds[bucket]!;
  }
  // bucketEnds[b] is where bucket b begins, and moves to its end while it is filled.
  for (let first = 0; first < wordCount; first += wordsPerStep) {
    deal(bytes, view, starts, first, Math.min(first + wordsPerStep, wordCount), bucketEnds, indices, keys);
    yield;
  }
  for (let bucket = 0, first = 0, sinceYield = 0; bucket < bucketCount; bucket++) {
    const end = bucketEnds[bucket]!;
    if (end - first > 1) sortRange(view, starts, indices, keys, first, end);
    sinceYield += end - first;
    first = end;
    if (sinceYield < wordsPerStep) continue;
    sinceYield = 0;
    yield;
  }
  return indices;
}

/** How many of the words [first, end) belong into each bucket, counted one place further on. */
function countBuckets(
  bytes: Uint8Array,
  starts: Uint32Array,
  first: number,
  end: number,
  bucketEnds: Uint32Array,
): void {
  for (let word = first; word < end; word++) {
    const bucket = bucketOf(bytes, starts[word]!, starts[word + 1]!);
    bucketEnds[bucket + 1] = bucketEnds[bucket + 1]! + 1;
  }
}

/** Puts the words [first, end), and their first keys, into their buckets. */
function deal(
  bytes: Uint8Array,
  view: DataView,
  starts: Uint32Array,
  first: number,
  end: number,
  bucketEnds: Uint32Array,
  indices: Uint32Array,
  keys: Float64Array,
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

/** A range of equal bytes before `depth`, still to be sorted. */
type Pending = { first: number; end: number; depth: number };

/** Sorts indices and keys [first, end). Of each three parts one waits on a list, so no call lies deeper in another. */
function sortRange(
  view: DataView,
  starts: Uint32Array,
  indices: Uint32Array,
  keys: Float64Array,
  first: number,
  end: number,
): void {
  const pending: Pending[] = [{ first, end, depth: 0 }];
  for (let range = pending.pop(); range !== undefined; range = pending.pop()) {
    const { depth } = range;
    let { first, end } = range;
    while (end - first > insertionMax) {
      const pivot = medianOfThree(keys[first]!, keys[(first + end) >>> 1]!, keys[end - 1]!);
      const equalFirst = moveSmaller(indices, keys, first, end, pivot);
      const equalEnd = moveEqual(indices, keys, equalFirst, end, pivot);
      if (equalEnd - equalFirst > 1 && goesOn(pivot)) {
        loadKeys(view, starts, indices, keys, equalFirst, equalEnd, depth + keyBytes);
        pending.push({ first: equalFirst, end: equalEnd, depth: depth + keyBytes });
      }
      // The larger side waits: the list stays as short as the logarithm of the range, at each depth.
      if (equalFirst - first > end - equalEnd) {
        pending.push({ first, end: equalFirst, depth });
        first = equalEnd;
      } else {
        pending.push({ first: equalEnd, end, depth });
        end = equalFirst;
      }
    }
    sortByInsertion(view, starts, indices, keys, first, end, depth);
  }
}

function goesOn(key: number): boolean {
  return key % 8 === leftMax;
}

function medianOfThree(a: number, b: number, c: number): number {
  return Math.max(Math.min(a, b), Math.min(Math.max(a, b), c));
}

/** Moves the keys below `pivot` to the front; returns where they end. */
function moveSmaller(
  indices: Uint32Array,
  keys: Float64Array,
  first: number,
  end: number,
  pivot: number,
): number {
  let place = first;
  for (let i = first; i < end; i++) {
    const key = keys[i]!;
    const index = indices[i]!;
    // Written always: which keys are smaller cannot be predicted.
    indices[i] = indices[place]!;
    keys[i] = keys[place]!;
    indices[place] = index;
    keys[place] = key;
    place += key < pivot ? 1 : 0;
  }
  return place;
}

/** Moves the keys equal to `pivot` to the front, of keys that are not below it; returns where they end. */
function moveEqual(
  indices: Uint32Array,
  keys: Float64Array,
  first: number,
  end: number,
  pivot: number,
): number {
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
  view: DataView,
  starts: Uint32Array,
  indices: Uint32Array,
  keys: Float64Array,
  first: number,
  end: number,
  depth: number,
): void {
  for (let i = first; i < end; i++) {
    const word = indices[i]!;
    keys[i] = keyAt(view, starts[word]! + depth, starts[word + 1]!);
  }
}

function sortByInsertion(
  view: DataView,
  starts: Uint32Array,
  indices: Uint32Array,
  keys: Float64Array,
  first: number,
  end: number,
  depth: number,
): void {
  for (let i = first + 1; i < end; i++) {
    const key = keys[i]!;
    const word = indices[i]!;
    let place = i;
    for (; place > first; place--) {
      const other = keys[place - 1]!;
      if (other < key) break;
      if (other === key && !isBefore(view, starts, word, indices[place - 1]!, depth + keyBytes)) break;
      keys[place] = other;
      indices[place] = indices[place - 1]!;
    }
    keys[place] = key;
    indices[place] = word;
  }
}

/** Whether `word` stands before `other`, with which it shares the bytes before `depth`. */
function isBefore(view: DataView, starts: Uint32Array, word: number, other: number, depth: number): boolean {
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

const digitSize = 65536;

/**
 * Sorts by counts; equal counts keep the order given. Nearly all counts have one digit of 16 bits, so the few that
 * have more are taken out first, to the front where they belong, and only those are sorted digit by digit.
 */
function stableByFallingCount(
  counts: Float64Array,
  order: Uint32Array<ArrayBuffer>,
): Uint32Array<ArrayBuffer> {
  const wordCount = order.length;
  const sorted = new Uint32Array(wordCount);
  // Gathered once, because words in the order of their bytes are at random places in `counts`.
  const countsInOrder = new Float64Array(wordCount);
  const large: number[] = [];
  for (let i = 0; i < wordCount; i++) {
    const count = counts[order[i]!]!;
    countsInOrder[i] = count;
    if (count >= digitSize) large.push(order[i]!);
  }
  sorted.set(sortLargeCounts(counts, Uint32Array.from(large)));
  const places = new Uint32Array(digitSize);
  for (let i = 0; i < wordCount; i++) {
    const count = countsInOrder[i]!;
    if (count < digitSize) places[count] = places[count]! + 1;
  }
  digitPlaces(places, large.length);
  for (let i = 0; i < wordCount; i++) {
    const count = countsInOrder[i]!;
    if (count >= digitSize) continue;
    const place = places[count]!;
    places[count] = place + 1;
    sorted[place] = order[i]!;
  }
  return sorted;
}

/** Sorts by counts of any size, digit after digit from the lowest on. */
function sortLargeCounts(counts: Float64Array, order: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> {
  let countMax = 0;
  for (let i = 0; i < order.length; i++) countMax = Math.max(countMax, counts[order[i]!]!);
  let to = new Uint32Array(order.length);
  const places = new Uint32Array(digitSize);
  for (let unit = 1; unit <= countMax; unit *= digitSize) {
    places.fill(0);
    for (let i = 0; i < order.length; i++) {
      const digit = digitOf(counts[order[i]!]!, unit);
      places[digit] = places[digit]! + 1;
    }
    digitPlaces(places, 0);
    for (let i = 0; i < order.length; i++) {
      const word = order[i]!;
      const digit = digitOf(counts[word]!, unit);
      const place = places[digit]!;
      places[digit] = place + 1;
      to[place] = word;
    }
    [order, to] = [to, order];
  }
  return order;
}

/** Turns how often each digit occurs into where the first of each goes, the highest digit at `firstPlace`. */
function digitPlaces(places: Uint32Array, firstPlace: number): void {
  for (let digit = digitSize - 1; digit >= 0; digit--) {
    const digitCount = places[digit]!;
    places[digit] = firstPlace;
    firstPlace += digitCount;
  }
}

/** The 16 bits of `count` from `unit` on, a power of two: exact for whole numbers below 2^53. */
function digitOf(count: number, unit: number): number {
  return Math.floor(count / unit) % digitSize;
}
