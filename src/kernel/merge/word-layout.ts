import { nextRecord, recordLength, recordValue, recordWord } from "../words/word-slots";
import {
  areRecords,
  boundary,
  cells,
  firstWordStart,
  frequentCells,
  frequentCounts,
  hasNumbers,
  numbers,
  order,
  Part,
  positionBytes,
  rareCells,
  rareCountEnd,
  seen,
  tokenCount,
  weightEnds,
  weights,
  wordCounts,
  wordStarts,
  wordTokens,
} from "./merge-regions";

/**
 * Layout: the words of two or more tokens, concatenated by descending count, with one cell for each start token. The
 * merge loop rewrites `cells` in place; the other regions do not change.
 *
 *   REGION          ELEMENT      ELEMENTS       MEANING
 *   cells           u16 or u32   cellCount + 1  token ids, `boundary` before, between and after the words
 *   weightEnds      u32          stepCount      the first cell after each weight step; the last is `noEnd`
 *   weights         u64          stepCount      the count of the words in each step, descending
 *   numbers         u32          numberCount    the start token of each id in the words; empty if the ids are start
 *                                               tokens
 *   rareCells       u32          rareCountEnd   during layout: the number of cells for the words of each count; then
 *                               a part          the position of the next word with that count
 *   order           u32          wordCount      during layout: the words that occur `rareCountEnd` times or more
 *   frequentCounts  f64          wordCount      during layout: the count of each; then the distinct counts, ascending
 *   frequentCells   u32          wordCount      during layout: like `rareCells`, for each distinct count
 *
 * A token that covers the cells s to e has its id in s and in e. The token to its right begins at s + its length; the
 * one to its left ends at s - 1. The cells between s and e are stale, and never read as tokens. The cell after the last
 * boundary is only prefetched. Words are in descending order of their counts, so the weight of a position, which is the
 * count of its word, is a step function. It has few *weight steps*.
 *
 * "bc" twice and "abc" once, boundary B: cells = [B b c B a b c B], weightEnds = [4, noEnd], weights = [2, 1]. After
 * merging "b c" into 256: cells = [B 256 256 B a 256 256 B].
 *
 * This file has the work of each thread; lay-out-words.ts prepares it.
 */
export let stepCount: u32 = 0;

/** Sets the number of steps. Helper threads receive it from the main thread. */
export function setStepCount(count: u32): void {
  stepCount = count;
}

/** The end of the last step: higher than all positions, which are below 2^31. */
const noEnd: u32 = 0xffffffff;

/** Begins a weight step: words from `pos` on have this weight. */
export function beginStep(weight: u64, pos: u32): void {
  if (stepCount > 0) store<u32>(weightEnds + ((<usize>(stepCount - 1)) << 2), pos);
  store<u32>(weightEnds + ((<usize>stepCount) << 2), noEnd);
  store<u64>(weights + ((<usize>stepCount) << 3), weight);
  stepCount++;
}

/**
 * Returns the first weight step from `step` on that ends after `pos`, by a galloping search. `steps` is the number of
 * steps.
 */
export function stepOf(steps: u32, step: u32, pos: u32): u32 {
  let stride: u32 = 1;
  let low = step;
  while (low + stride < steps && load<u32>(weightEnds + ((<usize>(low + stride - 1)) << 2)) <= pos) {
    low += stride;
    stride += stride;
  }
  let high = min(low + stride, steps - 1);
  while (low < high) {
    const middle = (low + high) >> 1;
    if (load<u32>(weightEnds + ((<usize>middle) << 2)) <= pos) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Returns the word after a word. A word is an index into the tables, or, if words are records in this memory
 * (words/word-records.ts), the address of the record divided by 8.
 */
export function wordAfter(word: u32): u32 {
  return areRecords ? <u32>(nextRecord(recordAt(word)) >> 3) : word + 1;
}

export function lengthOfWord(word: u32): u32 {
  if (areRecords) return recordLength(recordAt(word)) / positionBytes;
  const start = wordStarts + ((<usize>word) << 2);
  return load<u32>(start, 4) - load<u32>(start);
}

export function countOfWord(word: u32): u64 {
  if (areRecords) return recordValue(recordAt(word));
  return <u64>load<f64>(wordCounts + ((<usize>word) << 3));
}

function tokensOfWord(word: u32): usize {
  if (areRecords) return recordWord(recordAt(word));
  return wordTokens + <usize>(load<u32>(wordStarts + ((<usize>word) << 2)) - firstWordStart) * positionBytes;
}

function recordAt(word: u32): usize {
  return (<usize>word) << 3;
}

export function rareCellsOf(part: u32, count: u32): usize {
  return rareCells + ((<usize>(part * rareCountEnd + count)) << 2);
}

/** The number of distinct frequent counts. */
let frequentStepCount: u32 = 0;

export function setFrequentSteps(count: u32): void {
  frequentStepCount = count;
}

export function frequentCellsOf(count: u64): usize {
  let low: u32 = 0;
  let high = frequentStepCount - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (<u64>load<f64>(frequentCounts + ((<usize>middle) << 3)) < count) low = middle + 1;
    else high = middle;
  }
  return frequentCells + ((<usize>low) << 2);
}

/**
 * Returns the address of the counts of start tokens in the words of a part. The counts are in the region of `seen`,
 * which is used only after the layout.
 */
export function startCountsOf(part: u32): usize {
  return seen + ((<usize>part * tokenCount) << 3);
}

/**
 * Lays out the words of a part with a count below `rareCountEnd`, or with `areFrequent` those in `order`, until about
 * `work` cells are written. Returns true while words are left.
 */
export function layOutWords<T>(part: Part, index: u32, work: u32, areFrequent: bool): bool {
  if (positionBytes === 1) return layOut<T, u8>(part, index, work, areFrequent);
  if (positionBytes === 2) return layOut<T, u16>(part, index, work, areFrequent);
  return layOut<T, u32>(part, index, work, areFrequent);
}

function layOut<T, U>(part: Part, index: u32, work: u32, areFrequent: bool): bool {
  const startCounts = startCountsOf(index);
  const end = part.end;
  let next = part.next;
  /** The number of tokens of the current word that are already written. */
  let offset = part.writtenCount;
  let workLeft = <i32>work;
  while (next < end && workLeft > 0) {
    const word = areFrequent ? load<u32>(order + ((<usize>next) << 2)) : next;
    const length = lengthOfWord(word);
    const count = countOfWord(word);
    const tokens = tokensOfWord(word) + <usize>offset * sizeof<U>();
    const some = min(length - offset, <u32>workLeft);
    workLeft -= <i32>some + 1;
    if (length >= 2 && (areFrequent || count < rareCountEnd)) {
      const cursor = areFrequent ? frequentCellsOf(count) : rareCellsOf(index, <u32>count);
      const pos = load<u32>(cursor);
      writeTokens<T, U>(tokens, some, pos, <f64>count, startCounts);
      offset += some;
      const isWhole = offset === length;
      store<u32>(cursor, pos + some + u32(isWhole));
      if (!isWhole) break;
      offset = 0;
    } else if (length === 1) countToken(startCounts, <u32>load<U>(tokens), <f64>count);
    next = areFrequent ? next + 1 : wordAfter(word);
  }
  part.next = next;
  part.writtenCount = offset;
  return next < end;
}

/**
 * Writes `count` tokens to the cells from `pos` on, followed by a boundary. If `hasNumbers`, they are translated by
 * `numbers`; otherwise they are counted.
 */
function writeTokens<T, U>(from: usize, count: u32, pos: u32, weight: f64, startCounts: usize): void {
  const end = from + <usize>count * sizeof<U>();
  let cell = cells + <usize>pos * sizeof<T>();
  if (hasNumbers) {
    for (; from < end; from += sizeof<U>(), cell += sizeof<T>())
      store<T>(cell, <T>load<u32>(numbers + ((<usize>load<U>(from)) << 2)));
  } else {
    for (; from < end; from += sizeof<U>(), cell += sizeof<T>()) {
      const token = <u32>load<U>(from);
      store<T>(cell, <T>token);
      countToken(startCounts, token, weight);
    }
  }
  store<T>(cell, <T>boundary);
}

/** Adds to the count of a start token. Does nothing if `hasNumbers`, because JavaScript then provides these counts. */
function countToken(startCounts: usize, token: u32, weight: f64): void {
  if (hasNumbers) return;
  const address = startCounts + ((<usize>token) << 3);
  store<f64>(address, load<f64>(address) + weight);
}
