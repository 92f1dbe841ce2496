import type { WordTable } from "../words/word-table.ts";
import { type MergeProgress, type Pace, spend } from "./pace.ts";

const digitBits = 11;
const digitCount = 1 << digitBits;
const digitMask = digitCount - 1;
const lowWordSize = 2 ** 32;

/**
 * The words by falling count, as indices into the table: a radix sort, least significant digit first, 11 bits at a
 * time; counts below 2^32 take at most three passes. Words of equal count keep their order, which nothing depends on.
 */
export function* orderByFallingCount(words: WordTable, pace: Pace): Generator<MergeProgress, Int32Array> {
  const { wordCount, counts } = words;
  const order = new Int32Array(wordCount);
  const keys = new Uint32Array(wordCount);
  let countMax = 0;
  for (let from = 0; from < wordCount; from += pace.sliceWork) {
    const to = Math.min(from + pace.sliceWork, wordCount);
    countMax = Math.max(countMax, takeLowWords(counts, from, to, keys, order));
    if (spend(pace, to - from)) yield pace.progress;
  }
  const ordered = yield* sortByKeys(keys, Math.min(countMax, lowWordSize - 1), order, pace);
  if (countMax < lowWordSize) return ordered;
  for (let w = 0; w < wordCount; w++) keys[w] = counts[w]! / lowWordSize;
  return yield* sortByKeys(keys, Math.floor(countMax / lowWordSize), ordered, pace);
}

/** The low 32 bits of the counts become keys; the greatest count is returned. */
function takeLowWords(
  counts: Float64Array,
  from: number,
  to: number,
  keys: Uint32Array,
  order: Int32Array,
): number {
  let countMax = 0;
  for (let w = from; w < to; w++) {
    const count = counts[w]!;
    if (count > countMax) countMax = count;
    keys[w] = count; // a typed array takes numbers modulo 2^32
    order[w] = w;
  }
  return countMax;
}

function* sortByKeys(
  keys: Uint32Array,
  keyMax: number,
  order: Int32Array,
  pace: Pace,
): Generator<MergeProgress, Int32Array> {
  const wordCount = order.length;
  let next: Int32Array = new Int32Array(wordCount);
  const slots = new Int32Array(digitCount + 1);
  for (let shift = 0; shift < 32 && keyMax >>> shift > 0; shift += digitBits) {
    slots.fill(0);
    for (let from = 0; from < wordCount; from += pace.sliceWork) {
      const to = Math.min(from + pace.sliceWork, wordCount);
      tallyDigits(keys, shift, from, to, slots);
      if (spend(pace, to - from)) yield pace.progress;
    }
    addUp(slots);
    for (let from = 0; from < wordCount; from += pace.sliceWork) {
      const to = Math.min(from + pace.sliceWork, wordCount);
      placeByDigit(keys, shift, order, from, to, slots, next);
      if (spend(pace, to - from)) yield pace.progress;
    }
    [order, next] = [next, order];
  }
  return order;
}

// Digits are counted downwards from the greatest, so that ascending slots mean falling counts: the words of digit d
// begin at slots[digitMask - d].
function tallyDigits(keys: Uint32Array, shift: number, from: number, to: number, slots: Int32Array): void {
  for (let w = from; w < to; w++) slots[digitCount - ((keys[w]! >>> shift) & digitMask)]!++;
}

function addUp(slots: Int32Array): void {
  for (let digit = 0; digit < digitCount; digit++) slots[digit + 1]! += slots[digit]!;
}

function placeByDigit(
  keys: Uint32Array,
  shift: number,
  order: Int32Array,
  from: number,
  to: number,
  slots: Int32Array,
  next: Int32Array,
): void {
  for (let place = from; place < to; place++) {
    const w = order[place]!;
    next[slots[digitMask - ((keys[w]! >>> shift) & digitMask)]!++] = w;
  }
}
