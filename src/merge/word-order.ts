import type { WordTable } from "../words/word-table.ts";
import { type Pace, spend } from "./pace.ts";

const digitBits = 11;
const digitCount = 1 << digitBits;
const digitMask = digitCount - 1;

/**
 * The words by falling count, as indices into the table: least significant digit first, 11 bits at a time. Words of
 * equal count keep their order, which nothing depends on.
 */
export function* orderByFallingCount(
  words: WordTable,
  pace: Pace,
): Generator<typeof pace.progress, Int32Array> {
  const { wordCount, counts } = words;
  let order = new Int32Array(wordCount);
  let next = new Int32Array(wordCount);
  let countMax = 0;
  let isSorted = true;
  for (let w = 0; w < wordCount; w++) {
    order[w] = w;
    if (counts[w]! > countMax) countMax = counts[w]!;
    if (w > 0 && counts[w]! > counts[w - 1]!) isSorted = false;
  }
  if (isSorted) return order;

  const slots = new Int32Array(digitCount + 1);
  for (let divisor = 1; divisor <= countMax; divisor *= digitCount) {
    slots.fill(0);
    for (let from = 0; from < wordCount; from += pace.sliceWork) {
      const to = Math.min(from + pace.sliceWork, wordCount);
      tallyDigits(counts, divisor, from, to, slots);
      if (spend(pace, to - from)) yield pace.progress;
    }
    for (let digit = 0; digit < digitCount; digit++) slots[digit + 1]! += slots[digit]!;
    for (let from = 0; from < wordCount; from += pace.sliceWork) {
      const to = Math.min(from + pace.sliceWork, wordCount);
      placeByDigit(counts, divisor, order, from, to, slots, next);
      if (spend(pace, to - from)) yield pace.progress;
    }
    [order, next] = [next, order];
  }
  return order;
}

// Digits are counted downwards from the greatest, so that ascending slots mean falling counts: the words of digit d
// begin at slots[digitMask - d].
function tallyDigits(
  counts: Float64Array,
  divisor: number,
  from: number,
  to: number,
  slots: Int32Array,
): void {
  for (let w = from; w < to; w++) slots[digitCount - digitOf(counts[w]!, divisor)]!++;
}

function placeByDigit(
  counts: Float64Array,
  divisor: number,
  order: Int32Array,
  from: number,
  to: number,
  slots: Int32Array,
  next: Int32Array,
): void {
  for (let pos = from; pos < to; pos++) {
    const w = order[pos]!;
    next[slots[digitMask - digitOf(counts[w]!, divisor)]!++] = w;
  }
}

/** Counts above 2^32 are floats: a shift would cut them. Dividing by a power of two is exact. */
function digitOf(count: number, divisor: number): number {
  return Math.floor(count / divisor) % digitCount;
}
