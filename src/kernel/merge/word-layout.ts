import { recordLength, recordValue, recordWord } from "../words/word-slots";
import {
  boundary,
  cells,
  isWide,
  mergeCounts,
  numbers,
  order,
  others,
  partCount,
  positionBytes,
  rareCells,
  setCellCount,
  tallies,
  weightEnds,
  weights,
  wordCount,
  wordCounts,
  wordStarts,
  wordTokens,
} from "./merge-regions";

/**
 * Layout: the words of two tokens or more, end to end by falling count, a cell a token. The merge loop rewrites `cells`
 * in place; the rest is frozen.
 *
 *   REGION      ELEMENT      ELEMENTS       MEANING
 *   cells       u16 or u32   cellCount + 1  token ids, `boundary` before, between and after the words
 *   weightEnds  u32          stepCount      first cell past weight step s; the last is `noEnd`
 *   weights     u64          stepCount      count of every word in step s, falling
 *   rareCells   u32          2,048 a part   during layout: cells of the words of each count, then the next one's place
 *
 * A token that covers the cells s..e has its id in s and in e: the token to the right of s begins at s + its length,
 * the one to the left ends in s - 1. What stands between s and e is stale and never read as a token. (The cell behind
 * the last boundary is only looked at, ahead of its use.)
 * Since words stand by falling count, the weight of a position is a step function with few steps: no weight is
 * stored with a position, and a walk over ascending positions follows the steps with one pointer.
 *
 * "bc" twice and "abc" once, boundary B: cells = [B b c B a b c B], weightEnds = [4, noEnd], weights = [2, 1].
 * After merging "b c" into 256: cells = [B 256 256 B a 256 256 B].
 *
 * Most words are rare. A first walk over the table adds up the cells of each count below 2,048; the second then writes
 * every rare word to its place at once, in the order of the table. Only frequent words are sorted (word-layout.ts).
 */
export let stepCount: u32 = 0;

/** In a thread that helps: takes the step count of the main thread. */
export function adoptStepCount(count: u32): void {
  stepCount = count;
}

/** Positions are below 2^31, so the last step ends behind all. */
const noEnd: u32 = 0xffffffff;
export const rareCountEnd: u32 = 2048;

/** The cell that the next frequent word begins in, and how many cells are written in all. */
let frequentEnd: u32 = 1;
let writtenCount: u32 = 1;
/** The next place of the order, then the next word of the table; `nextOffset` tokens of it are written. */
let nextPlace: u32 = 0;
let nextWord: u32 = 0;
let nextOffset: u32 = 0;
/** Where the first word of this memory starts in the table's tokens. */
let firstWordStart: u32 = 0;
let stepWeight: u64 = 0;
/** Whether a word is the place of a record, in units of 8 bytes, or an index into the table. */
let areRecords: bool = false;

/** Begins a layout; the words are in their regions, and the first of them starts at token `firstStart` of the table. */
export function startLayout(firstStart: u32): void {
  firstWordStart = firstStart;
  areRecords = false;
  startCells();
}

/** The same where words stand as records (record-layout.ts). */
export function startOrderOfRecords(): void {
  areRecords = true;
  startCells();
}

function startCells(): void {
  startOrder();
  stepCount = 0;
  frequentEnd = 1;
  writtenCount = 1;
  nextPlace = 0;
  nextWord = 0;
  nextOffset = 0;
  if (isWide) store<u32>(cells, boundary);
  else store<u16>(cells, <u16>boundary);
}

/** First walk over the words [from, to): which are frequent, and how many cells the rare ones of each count take. */
export function tallyWords(from: u32, to: u32): void {
  for (let word = from; word < to; word++) {
    const length = lengthOfWord(word);
    const count = countOfWord(word);
    if (length < 2) {
      if (length === 1) countSingle(word, <f64>count);
      continue;
    }
    if (count >= rareCountEnd) addFrequentWord(word, count);
    else {
      const tally = rareTallyOf(0, <u32>count);
      store<u32>(tally, load<u32>(tally) + length + 1);
    }
  }
}

/** Address of what is tallied of the rare words of a count, in a part of them. */
export function rareTallyOf(part: u32, count: u32): usize {
  return rareCells + ((<usize>(part * rareCountEnd + count)) << 2);
}

/** Lays out frequent words in their order until about `work` cells are written; false when all are. */
export function layOutFrequentWords(work: u32): bool {
  return isWide ? layOutFrequent<u32>(work) : layOutFrequent<u16>(work);
}

/** Where the rare words of each count go, behind the frequent ones, and the weight steps that they are. */
export function startRareWords(): void {
  let pos = frequentEnd;
  for (let count = <i32>rareCountEnd - 1; count >= 0; count--) {
    const start = pos;
    for (let part: u32 = 0; part < partCount; part++) {
      const tally = rareTallyOf(part, count);
      const cellsOfCount = load<u32>(tally);
      if (cellsOfCount === 0) continue;
      if (pos === start) beginStep(count, pos);
      store<u32>(tally, pos);
      pos += cellsOfCount;
    }
  }
  setCellCount(pos);
  if (stepCount === 0) beginStep(0, pos);
}

/** Lays out rare words in the order of the table until about `work` cells are written; false when all are. */
export function layOutRareWords(work: u32): bool {
  return isWide ? layOutRare<u32>(work) : layOutRare<u16>(work);
}

/** How many cells are laid out. */
export function laidOutCells(): u32 {
  return writtenCount;
}

function layOutFrequent<T>(work: u32): bool {
  const target = writtenCount + work;
  for (; nextPlace < frequentCount; nextPlace++) {
    if (writtenCount >= target) return true;
    const word = frequentWordAt(nextPlace);
    const count = countOfWord(word);
    if (nextOffset === 0 && (stepCount === 0 || count !== stepWeight)) beginStep(count, frequentEnd);
    frequentEnd = layOutWord<T>(word, <f64>count, frequentEnd, target);
    if (nextOffset > 0) return true;
  }
  return false;
}

function layOutRare<T>(work: u32): bool {
  const target = writtenCount + work;
  // A word too short to be laid out is work, too.
  const wordEnd = min(nextWord + work, wordCount);
  for (; nextWord < wordEnd; nextWord++) {
    if (writtenCount >= target) return true;
    if (lengthOfWord(nextWord) < 2) continue;
    const count = countOfWord(nextWord);
    if (count >= rareCountEnd) continue;
    const cursor = rareTallyOf(0, <u32>count);
    store<u32>(cursor, layOutWord<T>(nextWord, <f64>count, load<u32>(cursor), target));
    if (nextOffset > 0) return true;
  }
  return nextWord < wordCount;
}

/**
 * Writes a word from `nextOffset` on into the cells from `pos` on, and a boundary behind it. It stops inside a long word
 * when `target` cells are written in all; `nextOffset` is then above 0. Returns the next free cell.
 */
function layOutWord<T>(word: u32, weight: f64, pos: u32, target: u32): u32 {
  const length = lengthOfWord(word);
  const count = min(length - nextOffset, max(target - writtenCount, 1));
  if (areRecords) writeNumbersOf<T>(word, count, pos);
  else writeTokensOf<T>(word, count, weight, pos);
  nextOffset += count;
  writtenCount += count;
  if (nextOffset < length) return pos + count;
  store<T>(cells + <usize>(pos + count) * sizeof<T>(), <T>boundary);
  nextOffset = 0;
  writtenCount++;
  return pos + count + 1;
}

function writeTokensOf<T>(word: u32, count: u32, weight: f64, pos: u32): void {
  const first = startOfWord(word) + nextOffset;
  if (positionBytes === 1) writeTokens<T, u8>(first, count, weight, pos);
  else if (positionBytes === 2) writeTokens<T, u16>(first, count, weight, pos);
  else writeTokens<T, u32>(first, count, weight, pos);
}

function writeNumbersOf<T>(word: u32, count: u32, pos: u32): void {
  const first = recordWord(recordAt(word)) + nextOffset * positionBytes;
  if (positionBytes === 2) writeNumbers<T, u16>(first, count, pos);
  else writeNumbers<T, u32>(first, count, pos);
}

/** Writes the numbers of the `count` ids at an address into the cells from `pos` on, and a boundary behind them. */
export function writeNumbers<T, U>(from: usize, count: u32, pos: u32): void {
  const end = from + <usize>count * sizeof<U>();
  let cell = cells + <usize>pos * sizeof<T>();
  for (let address = from; address < end; address += sizeof<U>(), cell += sizeof<T>()) {
    store<T>(cell, <T>load<u32>(numbers + ((<usize>load<U>(address)) << 2)));
  }
  store<T>(cell, <T>boundary);
}

/** Writes `count` tokens, `U` each in the table, from the table's `first` on into the cells from `pos` on, and counts them. */
function writeTokens<T, U>(first: usize, count: u32, weight: f64, pos: u32): void {
  const from = wordTokens + first * sizeof<U>();
  const end = from + <usize>count * sizeof<U>();
  let cell = cells + <usize>pos * sizeof<T>();
  for (let address = from; address < end; address += sizeof<U>(), cell += sizeof<T>()) {
    const token = <u32>load<U>(address);
    store<T>(cell, <T>token);
    countStartToken(token, weight);
  }
}

/** Counts the token of a word that has no pair, and so is not laid out. */
function countSingle(word: u32, weight: f64): void {
  const address = wordTokens + startOfWord(word) * positionBytes;
  if (positionBytes === 1) countStartToken(load<u8>(address), weight);
  else if (positionBytes === 2) countStartToken(load<u16>(address), weight);
  else countStartToken(load<u32>(address), weight);
}

/** Of tokens that no merge makes, `mergeCounts` has the occurrences. */
function countStartToken(token: u32, weight: f64): void {
  const address = mergeCounts + ((<usize>token) << 3);
  store<f64>(address, load<f64>(address) + weight);
}

function recordAt(word: u32): usize {
  return (<usize>word) << 3;
}

/** The word's first token, as an index into the tokens of this memory. */
function startOfWord(word: u32): usize {
  return load<u32>(wordStarts + ((<usize>word) << 2)) - firstWordStart;
}

function lengthOfWord(word: u32): u32 {
  if (areRecords) return recordLength(recordAt(word)) / positionBytes;
  const start = wordStarts + ((<usize>word) << 2);
  return load<u32>(start, 4) - load<u32>(start);
}

/** From `pos` on words have another weight. */
function beginStep(weight: u64, pos: u32): void {
  if (stepCount > 0) store<u32>(weightEnds + ((<usize>(stepCount - 1)) << 2), pos);
  store<u32>(weightEnds + ((<usize>stepCount) << 2), noEnd);
  store<u64>(weights + ((<usize>stepCount) << 3), weight);
  stepCount++;
  stepWeight = weight;
}

/** The first cell past weight step `step`. */
export function weightEndAt(step: u32): u32 {
  return load<u32>(weightEnds + ((<usize>step) << 2));
}

/** The first step at or after `step` that ends behind `pos`: a gallop, then a binary search. */
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
 * The order of the frequent words, by falling count: a radix sort, least significant digit first, 11 bits at a time.
 * Words of equal count keep the order of the table; nothing depends on it. Rare words need no order: word-layout.ts gives
 * each count a stretch of cells of its own.
 *
 *   REGION         MEANING
 *   order, others  words, as indices into the table; they change places with each digit
 *   tallies        2,048 and one: how many words have each value of the digit in work, then where the next one goes
 */
let frequentWords: usize = 0;
let nextOrder: usize = 0;
let frequentCount: u32 = 0;
let countMax: u64 = 0;

const digitCount: u32 = 1 << 11;
const digitMask: u64 = (1 << 11) - 1;

function startOrder(): void {
  frequentWords = order;
  nextOrder = others;
  frequentCount = 0;
  countMax = 0;
}

export function addFrequentWord(word: u32, count: u64): void {
  store<u32>(frequentWords + ((<usize>frequentCount) << 2), word);
  frequentCount++;
  if (count > countMax) countMax = count;
}

/** The word at a place of the order. */
function frequentWordAt(place: u32): u32 {
  assert(place < frequentCount, "a place in the order");
  return load<u32>(frequentWords + ((<usize>place) << 2));
}

function countOfWord(word: u32): u64 {
  if (areRecords) return recordValue(recordAt(word));
  return <u64>load<f64>(wordCounts + ((<usize>word) << 3));
}

/** How many words there are to order. */
export function frequentWordCount(): u32 {
  return frequentCount;
}

/** Whether the words must still be ordered by the digit at this shift; if so, starts it. */
export function startDigit(shift: u32): bool {
  if (shift >= 64 || countMax >> shift === 0) return false;
  memory.fill(tallies, 0, (digitCount + 1) * sizeof<u32>());
  return true;
}

/** Digits are counted downwards from the greatest, so that ascending cells mean falling counts. */
function tallyOf(count: u64, shift: u32): usize {
  return tallies + ((<usize>(digitMask - ((count >> shift) & digitMask))) << 2);
}

/** Tallies the digits of the words at the places [from, to). */
export function tallyDigits(shift: u32, from: u32, to: u32): void {
  for (let place = from; place < to; place++) {
    const tally = tallyOf(countOfWord(frequentWordAt(place)), shift) + sizeof<u32>();
    store<u32>(tally, load<u32>(tally) + 1);
  }
}

/** From how many there are of each digit to where the first of them goes. */
export function addUpDigits(): void {
  for (let tally = tallies; tally < tallies + ((<usize>digitCount) << 2); tally += 4) {
    store<u32>(tally, load<u32>(tally) + load<u32>(tally, 4), 4);
  }
}

/** Puts the words at the places [from, to) where their digit says. */
export function placeByDigit(shift: u32, from: u32, to: u32): void {
  for (let place = from; place < to; place++) {
    const word = frequentWordAt(place);
    const tally = tallyOf(countOfWord(word), shift);
    const next = load<u32>(tally);
    store<u32>(nextOrder + ((<usize>next) << 2), word);
    store<u32>(tally, next + 1);
  }
}

/** The words are ordered by this digit and those before it. */
export function endDigit(): void {
  const ordered = nextOrder;
  nextOrder = frequentWords;
  frequentWords = ordered;
}
