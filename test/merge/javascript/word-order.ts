import { type MergeProgress, spend, type WorkBudget } from "../../../src/merge/work-budget.ts";
import type { WordTable } from "../../../src/words/word-table.ts";

const digitBits = 11;
const digitCount = 1 << digitBits;
const digitMask = digitCount - 1;
const lowWordSize = 2 ** 32;

/** Digits of a key of 32 bits. */
const keyDigits = 3;
/** Cells for one digit: where the words of each value begin, and one more. */
const tallyCells = digitCount + 1;

/**
 * The words by falling count, as indices into the table: a radix sort, least significant digit first, 11 bits at a
 * time; counts below 2^32 take at most three passes. Words of equal count keep their order, which nothing depends on.
 */
export function* orderByFallingCount(
  words: WordTable,
  budget: WorkBudget,
): Generator<MergeProgress, Int32Array> {
  const { wordCount, counts } = words;
  const order = new Int32Array(wordCount);
  const keys = new Uint32Array(wordCount);
  const tallies = new Int32Array(keyDigits * tallyCells);
  let countMax = 0;
  for (let from = 0; from < wordCount; from += budget.sliceWork) {
    const to = Math.min(from + budget.sliceWork, wordCount);
    countMax = Math.max(countMax, takeKeys(counts, 1, from, to, keys, order, tallies));
    if (spend(budget, to - from)) yield budget.progress;
  }
  const ordered = yield* sortByKeys(keys, Math.min(countMax, lowWordSize - 1), order, tallies, budget);
  if (countMax < lowWordSize) return ordered;
  tallies.fill(0);
  takeKeys(counts, lowWordSize, 0, wordCount, keys, undefined, tallies);
  return yield* sortByKeys(keys, Math.floor(countMax / lowWordSize), ordered, tallies, budget);
}

/**
 * The counts, divided by `divisor`, become keys: their low 32 bits. Each digit of them is tallied, and `order`, if given, made
 * that of the table; the greatest count is returned. One loop for all of it: most corpora run it only once, cold.
 *
 * Digits are counted downwards from the greatest, so that ascending cells mean falling counts: the words of digit d
 * begin at cell digitMask - d, once the cells are added up.
 */
function takeKeys(
  counts: Float64Array,
  divisor: number,
  from: number,
  to: number,
  keys: Uint32Array,
  order: Int32Array | undefined,
  tallies: Int32Array,
): number {
  let countMax = 0;
  for (let w = from; w < to; w++) {
    const count = counts[w]!;
    if (count > countMax) countMax = count;
    keys[w] = count / divisor; // a typed array takes numbers modulo 2^32
    const key = keys[w]!;
    tallies[digitCount - (key & digitMask)]!++;
    tallies[tallyCells + digitCount - ((key >>> digitBits) & digitMask)]!++;
    tallies[2 * tallyCells + digitCount - (key >>> (2 * digitBits))]!++;
    if (order !== undefined) order[w] = w;
  }
  return countMax;
}

function* sortByKeys(
  keys: Uint32Array,
  keyMax: number,
  order: Int32Array,
  tallies: Int32Array,
  budget: WorkBudget,
): Generator<MergeProgress, Int32Array> {
  const wordCount = order.length;
  let next: Int32Array = new Int32Array(wordCount);
  for (let digit = 0, shift = 0; shift < 32 && keyMax >>> shift > 0; digit++, shift += digitBits) {
    const slots = tallies.subarray(digit * tallyCells, (digit + 1) * tallyCells);
    addUp(slots);
    for (let from = 0; from < wordCount; from += budget.sliceWork) {
      const to = Math.min(from + budget.sliceWork, wordCount);
      placeByDigit(keys, shift, order, from, to, slots, next);
      if (spend(budget, to - from)) yield budget.progress;
    }
    [order, next] = [next, order];
  }
  return order;
}

function addUp(slots: Int32Array): void {
  for (let cell = 0; cell < digitCount; cell++) slots[cell + 1]! += slots[cell]!;
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
