import { type MergeProgress, spend, type WorkBudget } from "../../../src/merge/work-budget.ts";
import type { WordTable } from "../../../src/words/word-table.ts";
import { grow } from "./grow.ts";
import { orderByFallingCount } from "./word-order.ts";

/** A token id each. Uint16 while every id and the boundary fit: half the memory, half the cache misses. */
export type Cells = Uint16Array | Int32Array;

/**
 * Layout: the words of two bytes or more, end to end by falling count, a cell a byte. The merge loop rewrites `cells`
 * in place; the rest is frozen.
 *
 *   ARRAY        TYPE                        LENGTH       MEANING
 *   cells        Uint16Array or Int32Array   cellCount    token ids, `boundary` before, between and after the words
 *   weightEnds   Int32Array                  stepCount    first cell past weight step s; the last is 2^31 - 1
 *   weights      Float64Array                stepCount    count of every word in step s, falling
 *
 * A token that covers the cells s..e has its id in s and in e: the token to the right of s begins at s + its length,
 * the one to the left ends in s - 1. What stands between s and e is stale and never read as a token.
 * Since words stand by falling count, the weight of a position is a step function with few steps: no weight is
 * stored with a position, and a walk over ascending positions follows the steps with one pointer.
 *
 * "bc" twice and "abc" once, boundary B: cells = [B b c B a b c B], weightEnds = [4, 2^31 - 1], weights = [2, 1].
 * After merging "b c" into 256: cells = [B 256 256 B a 256 256 B].
 */
export type Layout = {
  readonly cells: Cells;
  readonly cellCount: number;
  readonly boundary: number;
  readonly weightEnds: Int32Array;
  readonly weights: Float64Array;
  readonly stepCount: number;
};

const noEnd = 2 ** 31 - 1;

export function* layOutWords(
  words: WordTable,
  cellCount: number,
  boundary: number,
  isWide: boolean,
  budget: WorkBudget,
): Generator<MergeProgress, Layout> {
  const order = yield* orderByFallingCount(words, budget);
  const cells = isWide ? new Int32Array(cellCount) : new Uint16Array(cellCount);
  const steps: WeightSteps = { ends: new Int32Array(64), weights: new Float64Array(64), count: 0, weight: 0 };
  cells[0] = boundary;
  const cursor: LayoutCursor = { place: 0, offset: 0, pos: 1 };
  while (cursor.place < words.wordCount) {
    layOutSome(words, order, cursor, cells, boundary, steps, budget.sliceWork);
    budget.progress = { phase: "layout", mergeCount: 0, shareDone: cursor.pos / cellCount };
    if (spend(budget, budget.sliceWork)) yield budget.progress;
  }
  closeStep(steps, noEnd);
  return {
    cells,
    cellCount,
    boundary,
    weightEnds: steps.ends,
    weights: steps.weights,
    stepCount: steps.count,
  };
}

/** The step being written: `weight` is that of the last word laid out, 0 before the first. */
type WeightSteps = { ends: Int32Array; weights: Float64Array; count: number; weight: number };

/** Word order[place] is next, from its byte `offset` on, into cells[pos]. */
type LayoutCursor = { place: number; offset: number; pos: number };

/** Lays out words until `work` cells are written or none is left; one word may be the whole corpus. */
function layOutSome(
  words: WordTable,
  order: Int32Array,
  cursor: LayoutCursor,
  cells: Cells,
  boundary: number,
  steps: WeightSteps,
  work: number,
): void {
  const { bytes, starts, counts, wordCount } = words;
  let { place, offset, pos } = cursor;
  for (const placeEnd = Math.min(place + work, wordCount), posEnd = pos + work; place < placeEnd; place++) {
    const w = order[place]!;
    const end = starts[w + 1]!;
    let bytePos = starts[w]!;
    if (end - bytePos < 2) continue;
    if (offset === 0 && counts[w] !== steps.weight) {
      if (steps.weight > 0) closeStep(steps, pos);
      steps.weight = counts[w]!;
    }
    bytePos += offset;
    const pauseEnd = Math.min(end, bytePos + (posEnd - pos));
    while (bytePos < pauseEnd) cells[pos++] = bytes[bytePos++]!;
    if (pos >= posEnd) {
      offset = bytePos - starts[w]!;
      break;
    }
    cells[pos++] = boundary;
    offset = 0;
  }
  cursor.place = place;
  cursor.offset = offset;
  cursor.pos = pos;
}

function closeStep(steps: WeightSteps, end: number): void {
  if (steps.count === steps.ends.length) {
    steps.ends = grow(steps.ends, steps.count * 2);
    steps.weights = grow(steps.weights, steps.count * 2);
  }
  steps.ends[steps.count] = end;
  steps.weights[steps.count++] = steps.weight;
}

/** The first step at or after `step` that ends behind `pos`: a gallop, then a binary search. */
export function stepOf(weightEnds: Int32Array, stepCount: number, step: number, pos: number): number {
  let stride = 1;
  let low = step;
  while (low + stride < stepCount && weightEnds[low + stride - 1]! <= pos) {
    low += stride;
    stride += stride;
  }
  let high = low + stride < stepCount ? low + stride : stepCount - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (weightEnds[middle]! <= pos) low = middle + 1;
    else high = middle;
  }
  return low;
}
