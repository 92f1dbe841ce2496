import { order, others, tallies, wordCounts } from "./merge-regions";

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
export let frequentCount: u32 = 0;
let countMax: u64 = 0;

const digitCount: u32 = 1 << 11;
const digitMask: u64 = (1 << 11) - 1;

export function startOrder(): void {
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
export function frequentWordAt(place: u32): u32 {
  assert(place < frequentCount, "a place in the order");
  return load<u32>(frequentWords + ((<usize>place) << 2));
}

export function countOfWord(word: u32): u64 {
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
