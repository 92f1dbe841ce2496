import { endOfRecords, firstRecord } from "../words/word-slots";
import { long } from "../words/word-tables";
import {
  areRecords,
  boundary,
  cells,
  frequentCells,
  frequentCounts,
  isWide,
  mergeCounts,
  order,
  partCount,
  rareCountEnd,
  setCellCount,
  startCount,
  wordCount,
} from "./merge-regions";
import { partAt, startPart, Work, workTogether } from "./merge-threads";
import {
  beginStep,
  countOfWord,
  frequentCellsOf,
  layOutWords,
  lengthOfWord,
  rareCellsOf,
  setFrequentSteps,
  setStepCount,
  startCountsOf,
  stepCount,
  wordAfter,
} from "./word-layout";

/**
 * Prepares the layout of the words (word-layout.ts). A first walk over the words adds up the cells that the words of
 * each count need. The sums determine which positions the words of a count get; the order of words of the same count
 * does not matter.
 *
 * Most words are rare: their count is below `rareCountEnd`. The walk divides the words into parts of about equal size,
 * one for each thread to lay out. It tallies the rare words of each part separately. Frequent words are listed in
 * `order`.
 */
let nextWord: u32 = 0;
let wordEnd: u32 = 0;
let partStart: u32 = 0;
let partSize: u32 = 0;
let talliedParts: u32 = 0;
let frequentCount: u32 = 0;

/** Begins a layout of the words, which are in their regions (merge-regions.ts), or are records (`areRecords`). */
export function startLayout(): void {
  setStepCount(0);
  nextWord = areRecords ? <u32>(<u64>firstRecord(long) >> 3) : 0;
  wordEnd = areRecords ? <u32>(endOfRecords(long) >> 3) : wordCount;
  partStart = nextWord;
  partSize = (wordEnd - nextWord) / partCount + 1;
  talliedParts = 0;
  frequentCount = 0;
  if (isWide) store<u32>(cells, boundary);
  else store<u16>(cells, <u16>boundary);
}

/** Tallies the next `work` words; returns false after the last. */
export function tallyWordsSome(work: u32): bool {
  for (; work > 0 && nextWord < wordEnd; work--) {
    const length = lengthOfWord(nextWord);
    const count = countOfWord(nextWord);
    if (length >= 2) {
      if (count < rareCountEnd) addCells(rareCellsOf(talliedParts, <u32>count), length + 1);
      else addFrequentWord(nextWord, count);
    }
    nextWord = wordAfter(nextWord);
    if (nextWord - partStart >= partSize) endPart();
  }
  if (nextWord < wordEnd) return true;
  while (talliedParts < partCount) endPart();
  return false;
}

function addCells(tally: usize, count: u32): void {
  store<u32>(tally, load<u32>(tally) + count);
}

function addFrequentWord(word: u32, count: u64): void {
  store<u32>(order + ((<usize>frequentCount) << 2), word);
  store<f64>(frequentCounts + ((<usize>frequentCount) << 3), <f64>count);
  frequentCount++;
}

function endPart(): void {
  startPart(talliedParts, partStart, nextWord);
  partStart = nextWord;
  talliedParts++;
}

/** Returns the number of frequent words. JavaScript sorts their counts. */
export function frequentWordCount(): u32 {
  return frequentCount;
}

/** Computes the positions of the words of each count, and the weight steps (word-layout.ts). */
export function placeWords(): void {
  const stepsOfFrequent = tallyFrequentWords();
  let pos: u32 = 1;
  for (let step = <i32>stepsOfFrequent - 1; step >= 0; step--) {
    beginStep(<u64>load<f64>(frequentCounts + ((<usize>step) << 3)), pos);
    pos = takePlace(frequentCells + ((<usize>step) << 2), pos);
  }
  for (let count = <i32>rareCountEnd - 1; count >= 0; count--) {
    const start = pos;
    for (let part: u32 = 0; part < partCount; part++) pos = takePlace(rareCellsOf(part, count), pos);
    if (pos > start) beginStep(count, start);
  }
  setCellCount(pos);
  if (stepCount === 0) beginStep(0, pos);
  // The frequent words are a part of their own, after the parts of the threads.
  startPart(partCount, 0, frequentCount);
}

/** Adds up the cells of the frequent words of each count. Returns the number of distinct counts. */
function tallyFrequentWords(): u32 {
  let distinctCount: u32 = 0;
  for (let k: u32 = 0; k < frequentCount; k++) {
    const count = load<f64>(frequentCounts + ((<usize>k) << 3));
    const last = frequentCounts + ((<usize>distinctCount) << 3);
    if (distinctCount > 0 && load<f64>(last - 8) === count) continue;
    store<f64>(last, count);
    distinctCount++;
  }
  setFrequentSteps(distinctCount);
  for (let k: u32 = 0; k < frequentCount; k++) {
    const word = load<u32>(order + ((<usize>k) << 2));
    addCells(frequentCellsOf(countOfWord(word)), lengthOfWord(word) + 1);
  }
  return distinctCount;
}

/**
 * Replaces the number of cells in a tally by the position of the first of them, `pos`. Returns the position after them.
 */
function takePlace(tally: usize, pos: u32): u32 {
  const cellsOfCount = load<u32>(tally);
  store<u32>(tally, pos);
  return pos + cellsOfCount;
}

/**
 * Lays out words, the frequent ones first, until about `work` cells are written in a part. Returns false when all words
 * are laid out.
 */
export function layOutSome(work: u32): bool {
  const frequent = partAt(partCount);
  if (frequent.next < frequent.end) {
    if (isWide) layOutWords<u32>(frequent, 0, work, true);
    else layOutWords<u16>(frequent, 0, work, true);
    return true;
  }
  if (workTogether(Work.layOutWords, partCount, work)) return true;
  for (let part: u32 = 0; part < partCount; part++) addStartCounts(startCountsOf(part));
  return false;
}

/** Adds the counts of start tokens in one part to `mergeCounts`. */
function addStartCounts(counts: usize): void {
  for (let offset: usize = 0; offset < (<usize>startCount) << 3; offset += 8)
    store<f64>(mergeCounts + offset, load<f64>(mergeCounts + offset) + load<f64>(counts + offset));
}
