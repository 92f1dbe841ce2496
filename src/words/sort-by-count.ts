import { atOnce } from "../runtime/turns.ts";
import { sortByBytesInSteps } from "./sort-by-bytes.ts";
import type { WordTable } from "./word-table.ts";

/** Words with the highest count first; those of equal count in ascending order of their bytes. */
export function sortWordsByCount(table: WordTable): Uint32Array {
  return atOnce(sortByCountInSteps(table));
}

/** The same; yields between slices of some 50 ms, of which the last may be longer. */
export function* sortByCountInSteps(table: WordTable): Generator<undefined, Uint32Array> {
  const order = yield* sortByBytesInSteps(table);
  yield;
  return stableByFallingCount(table.counts, order);
}

const digitSize = 65536;

/**
 * Sorts by counts; equal counts keep the order given. Nearly all counts are one digit of 16 bits. The few larger ones
 * are taken to the front, where they belong, and only those are sorted digit by digit.
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
