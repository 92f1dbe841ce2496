import { SpecialTokenFinder } from "../bytes/special-token-finder.ts";
import { codePointAt } from "../bytes/text.ts";
import { contains, unionOf, whiteSpace } from "../pattern/unicode.ts";
import type { WordTable } from "../words/word-table.ts";

// What the measures call a word: a *text word*. It does not depend on any tokenizer.

/**
 * Cuts a text into placed words and runs of white space. A text word is a run of characters that are not white space, as
 * Python's `str.split()` finds them: its white space is Unicode's White_Space and U+001C to U+001F. A *placed word* is a text
 * word with the character of white space before it, if there is one: a tokenizer sees most words behind a space.
 */
export const placedWordPattern = String.raw`[\s\x1c-\x1f]?[^\s\x1c-\x1f]+|[\s\x1c-\x1f]+(?![^\s\x1c-\x1f])`;

const blanks = unionOf([whiteSpace, [0x1c, 0x1f]]);

/**
 * TextWords: the distinct placed words of a text. Its arrays are in shared memory, except those that only one thread needs.
 *
 *   ARRAY        TYPE           LENGTH          MEANING
 *   bytes        Uint8Array     byteCount       placed words end to end
 *   starts       Uint32Array    placedCount+1   placed word p is bytes[starts[p] .. starts[p + 1])
 *   blankBytes   Uint8Array     placedCount     length of the white space at its start, 0 to 3 bytes
 *   counts       Float64Array   placedCount     occurrences in the text; not shared
 *   wordOf       Uint32Array    placedCount     index of its text word, below distinctCount; not shared
 *
 * "a b\nb" gives bytes = "a b\nb", starts = [0, 1, 3, 5], blankBytes = [0, 1, 1], counts = [1, 1, 1], wordOf = [0, 1, 1].
 */
export type TextWords = PlacedWords & {
  readonly counts: Float64Array;
  readonly wordOf: Uint32Array;
  /** How many text words differ. */
  readonly distinctCount: number;
  /** How many there are. */
  readonly wordCount: number;
  /** Characters of the whole text, white space too. A byte that is not valid UTF-8 is one. */
  readonly characterCount: number;
  /** Bytes of the whole text. */
  readonly textBytes: number;
};

/** The part of TextWords that threads get. */
export type PlacedWords = {
  readonly placedCount: number;
  readonly bytes: Uint8Array;
  readonly starts: Uint32Array;
  readonly blankBytes: Uint8Array;
};

/** The text words in a table that was counted with `placedWordPattern` and no special tokens; yields between slices. */
export function* gatherTextWords(table: WordTable): Generator<undefined, TextWords> {
  const { wordCount: pieceCount } = table;
  const found = { placedCount: 0, byteCount: 0, wordCount: 0, characterCount: 0, textBytes: 0 };
  const isPlaced = new Uint8Array(pieceCount);
  for (const slice of slicesOf(pieceCount)) {
    addPieces(table, slice, isPlaced, found);
    yield;
  }
  const placed = roomFor(found.placedCount, found.byteCount);
  const counts = new Float64Array(found.placedCount);
  const written = { placedCount: 0, byteCount: 0 };
  for (const slice of slicesOf(pieceCount)) {
    copyPlaced(table, slice, isPlaced, { placed, counts, written });
    yield;
  }
  const numbers = yield* numberWords(placed);
  const { wordCount, characterCount, textBytes } = found;
  return { ...placed, counts, ...numbers, wordCount, characterCount, textBytes };
}

// Each does a slice of the words; the event loop turns between slices.

type Slice = { readonly first: number; readonly end: number };

function* slicesOf(count: number): Generator<Slice> {
  for (let first = 0; first < count; first += piecesPerSlice) {
    yield { first, end: Math.min(count, first + piecesPerSlice) };
  }
}

type Found = {
  placedCount: number;
  byteCount: number;
  wordCount: number;
  characterCount: number;
  textBytes: number;
};

/** Adds up the pieces [first, end), and marks those that are placed words. */
function addPieces(
  { bytes, starts, counts }: WordTable,
  { first, end: pieceEnd }: Slice,
  isPlaced: Uint8Array,
  found: Found,
): void {
  for (let piece = first; piece < pieceEnd; piece++) {
    const start = starts[piece]!;
    const end = starts[piece + 1]!;
    const count = counts[piece]!;
    found.characterCount += count * characterCountOf(bytes, start, end);
    found.textBytes += count * (end - start);
    const blank = blankBytesAt(bytes, start, end);
    // Behind the white space of a placed word there is a word; a run of white space goes on.
    if (blank > 0 && (start + blank === end || blankBytesAt(bytes, start + blank, end) > 0)) continue;
    isPlaced[piece] = 1;
    found.placedCount++;
    found.byteCount += end - start;
    found.wordCount += count;
  }
}

type Written = {
  readonly placed: PlacedWords;
  readonly counts: Float64Array;
  readonly written: { placedCount: number; byteCount: number };
};

/** Copies the placed words among pieces [first, end) of the scattered order behind those that are written. */
function copyPlaced(
  table: WordTable,
  { first, end: pieceEnd }: Slice,
  isPlaced: Uint8Array,
  { placed, counts, written }: Written,
): void {
  const { bytes, starts, wordCount } = table;
  const step = scatteredStep(wordCount);
  let { placedCount, byteCount } = written;
  for (let i = first; i < pieceEnd; i++) {
    const piece = (i * step) % wordCount;
    if (isPlaced[piece] === 0) continue;
    const start = starts[piece]!;
    const end = starts[piece + 1]!;
    for (let from = start; from < end; from++) placed.bytes[byteCount++] = bytes[from]!;
    placed.starts[placedCount + 1] = byteCount;
    placed.blankBytes[placedCount] = blankBytesAt(bytes, start, end);
    counts[placedCount] = table.counts[piece]!;
    placedCount++;
  }
  written.placedCount = placedCount;
  written.byteCount = byteCount;
}

const piecesPerSlice = 1 << 15;

function roomFor(placedCount: number, byteCount: number): PlacedWords {
  return {
    placedCount,
    bytes: new Uint8Array(new SharedArrayBuffer(byteCount)),
    starts: new Uint32Array(new SharedArrayBuffer(4 * (placedCount + 1))),
    blankBytes: new Uint8Array(new SharedArrayBuffer(placedCount)),
  };
}

/** Whether a text holds a character at which words end. */
export const holdsWhiteSpace = (text: string) =>
  Array.from(text).some((character) => contains(blanks, character.codePointAt(0)!));

/** The part of the words that threads need. */
export const placedWordsOf = ({ placedCount, bytes, starts, blankBytes }: TextWords): PlacedWords => ({
  placedCount,
  bytes,
  starts,
  blankBytes,
});

/** Length of the character of white space at `pos`; 0 if another character is there. */
function blankBytesAt(bytes: Uint8Array, pos: number, end: number): number {
  const lead = bytes[pos]!;
  if (lead < 0x80)
    return lead === 0x20 || (lead >= 0x09 && lead <= 0x0d) || (lead >= 0x1c && lead <= 0x1f) ? 1 : 0;
  const codePoint = codePointAt(bytes, pos, end);
  if (codePoint < 0 || !contains(blanks, codePoint)) return 0;
  return codePoint < 0x800 ? 2 : 3;
}

/** Only a piece of one byte is not valid UTF-8, and counts as a character. */
function characterCountOf(bytes: Uint8Array, start: number, end: number): number {
  if (end - start === 1) return 1;
  let count = 0;
  for (let pos = start; pos < end; pos++) if ((bytes[pos]! & 0xc0) !== 0x80) count++;
  return count;
}

const noWord = 0xffffffff;

/**
 * Numbers of text words by their bytes: a table with open addressing.
 *
 *   ARRAY         TYPE          LENGTH         MEANING
 *   slots         Uint32Array   a power of 2   numbers of words, by their hash; `noWord` is free
 *   firstPlaced   Uint32Array   placedCount    of each number, the first placed word with it
 */
type WordNumbers = { readonly slots: Uint32Array; readonly firstPlaced: Uint32Array; count: number };

/** Numbers the text words of placed words: equal bytes behind the white space get one number. */
function* numberWords(placed: PlacedWords) {
  const { placedCount } = placed;
  const wordOf = new Uint32Array(placedCount);
  let slotCount = 16;
  while (slotCount < 2 * placedCount) slotCount *= 2;
  const numbers = {
    slots: new Uint32Array(slotCount).fill(noWord),
    firstPlaced: new Uint32Array(placedCount),
    count: 0,
  };
  for (const { first, end } of slicesOf(placedCount)) {
    for (let p = first; p < end; p++) wordOf[p] = numberOf(placed, p, numbers);
    yield;
  }
  return { wordOf, distinctCount: numbers.count };
}

function numberOf({ bytes, starts, blankBytes }: PlacedWords, placed: number, numbers: WordNumbers): number {
  const { slots, firstPlaced } = numbers;
  const start = starts[placed]! + blankBytes[placed]!;
  const end = starts[placed + 1]!;
  for (let slot = hashOf(bytes, start, end) & (slots.length - 1); ; slot = (slot + 1) & (slots.length - 1)) {
    const word = slots[slot]!;
    if (word === noWord) {
      slots[slot] = numbers.count;
      firstPlaced[numbers.count] = placed;
      return numbers.count++;
    }
    const other = firstPlaced[word]!;
    if (isSame(bytes, start, end, starts[other]! + blankBytes[other]!, starts[other + 1]!)) return word;
  }
}

/** FNV-1a, with its high bits mixed in: the slot is made of the low ones. */
function hashOf(bytes: Uint8Array, start: number, end: number): number {
  let hash = 0x811c9dc5;
  for (let pos = start; pos < end; pos++) hash = Math.imul(hash ^ bytes[pos]!, 0x01000193);
  return (hash ^ (hash >>> 15)) >>> 0;
}

function isSame(
  bytes: Uint8Array,
  start: number,
  end: number,
  otherStart: number,
  otherEnd: number,
): boolean {
  if (end - start !== otherEnd - otherStart) return false;
  for (let i = 0; i < end - start; i++) if (bytes[start + i] !== bytes[otherStart + i]) return false;
  return true;
}

/**
 * Words of a table come in the order of the hash table that counted them. Whoever puts them into another table with the same
 * hashes, as encoding does, would fill that one from front to back: each word would search through all others behind its
 * home. So words are visited in steps of a golden section, which fill any such table evenly.
 *
 * Index `i` of the order is `(i * step) % count`; `step` and `count` have no common divisor, so each index comes once.
 */
export function scatteredStep(count: number): number {
  let step = Math.max(1, Math.floor(count * 0.6180339887498949));
  while (commonDivisor(step, count) > 1) step++;
  return step;
}

function commonDivisor(a: number, b: number): number {
  return b === 0 ? a : commonDivisor(b, a % b);
}

/** The words of a table in such an order, in memory that threads share. */
export function scatteredTable({ wordCount, bytes, starts, counts }: WordTable): WordTable {
  const step = scatteredStep(wordCount);
  const scattered = {
    wordCount,
    bytes: new Uint8Array(new SharedArrayBuffer(starts[wordCount]!)),
    starts: new Uint32Array(new SharedArrayBuffer(4 * (wordCount + 1))),
    counts: new Float64Array(new SharedArrayBuffer(8 * wordCount)),
  };
  let pos = 0;
  for (let i = 0; i < wordCount; i++) {
    const word = (i * step) % wordCount;
    const end = starts[word + 1]!;
    for (let from = starts[word]!; from < end; from++) scattered.bytes[pos++] = bytes[from]!;
    scattered.starts[i + 1] = pos;
    scattered.counts[i] = counts[word]!;
  }
  return scattered;
}

/** What the words of a text cost a tokenizer. */
export type WordCosts = {
  /** Occurrences of words that are one token. */
  readonly singleTokenWords: number;
  /** Occurrences of words of two tokens or more. */
  readonly continuedWords: number;
  readonly dearest: readonly DearWord[];
};

/** A text word by which a text costs more tokens than words. */
export type DearWord = {
  readonly count: number;
  /** Of all its occurrences. */
  readonly tokens: number;
  readonly tokensBeyondFirst: number;
  /** The placed word in which it occurs most often; of equal ones the first by its bytes. */
  readonly placed: number;
};

/**
 * @param tokenCounts the number of tokens of each placed word
 * @param shownMax how many of the dearest words are listed: most tokens beyond the first in all, then by their bytes
 */
export function* wordCosts(
  words: TextWords,
  tokenCounts: Uint32Array,
  shownMax: number,
): Generator<undefined, WordCosts> {
  const { placedCount, counts, distinctCount } = words;
  const beyondFirst = new Float64Array(distinctCount);
  let singleTokenWords = 0;
  let continuedWords = 0;
  for (const slice of slicesOf(placedCount)) {
    const found = addCosts(words, tokenCounts, slice, beyondFirst);
    singleTokenWords += found.singleTokenWords;
    continuedWords += found.continuedWords;
    yield;
  }
  const dearest = firstPlacesOf(words, yield* dearestOf(words, beyondFirst, shownMax));
  return {
    singleTokenWords,
    continuedWords,
    dearest: dearest.map((places) => {
      const sum = (numberOf: (placed: number) => number) => places.reduce((all, p) => all + numberOf(p), 0);
      return {
        count: sum((p) => counts[p]!),
        tokens: sum((p) => counts[p]! * tokenCounts[p]!),
        tokensBeyondFirst: sum((p) => counts[p]! * Math.max(0, tokenCounts[p]! - 1)),
        placed: places[0]!,
      };
    }),
  };
}

/** Adds the tokens beyond the first of placed words [first, end) to those of their text words. */
function addCosts(
  { counts, wordOf }: TextWords,
  tokenCounts: Uint32Array,
  { first, end }: Slice,
  beyondFirst: Float64Array,
) {
  let singleTokenWords = 0;
  let continuedWords = 0;
  for (let p = first; p < end; p++) {
    const tokens = tokenCounts[p]!;
    const count = counts[p]!;
    if (tokens === 1) singleTokenWords += count;
    if (tokens < 2) continue;
    continuedWords += count;
    beyondFirst[wordOf[p]!]! += count * (tokens - 1);
  }
  return { singleTokenWords, continuedWords };
}

/** The numbers of the words that cost most. */
function* dearestOf(
  words: TextWords,
  beyondFirst: Float64Array,
  shownMax: number,
): Generator<undefined, number[]> {
  const somePlace = somePlacesOf(words);
  const isDearer = (a: number, b: number): boolean =>
    beyondFirst[a] !== beyondFirst[b]
      ? beyondFirst[a]! > beyondFirst[b]!
      : Buffer.compare(wordAt(words, somePlace[a]!), wordAt(words, somePlace[b]!)) < 0;
  const dearest: number[] = [];
  for (const slice of slicesOf(beyondFirst.length)) {
    addDearest(dearest, beyondFirst, slice, { isDearer, shownMax });
    yield;
  }
  return dearest;
}

/** A placed word of each text word. */
function somePlacesOf({ wordOf, distinctCount }: TextWords): Uint32Array {
  const somePlace = new Uint32Array(distinctCount);
  for (let p = 0; p < wordOf.length; p++) somePlace[wordOf[p]!] = p;
  return somePlace;
}

type Order = { readonly isDearer: (a: number, b: number) => boolean; readonly shownMax: number };

/** Puts the dearest of the words [first, end) among those that are dearest so far. */
function addDearest(
  dearest: number[],
  beyondFirst: Float64Array,
  { first, end }: Slice,
  { isDearer, shownMax }: Order,
): void {
  for (let word = first; word < end; word++) {
    if (beyondFirst[word] === 0) continue;
    if (dearest.length === shownMax && !isDearer(word, dearest[shownMax - 1]!)) continue;
    const place = dearest.findIndex((other) => isDearer(word, other));
    dearest.splice(place < 0 ? dearest.length : place, 0, word);
    dearest.length = Math.min(dearest.length, shownMax);
  }
}

/** The placed words of each of these words, the most frequent first. */
function firstPlacesOf(words: TextWords, numbers: readonly number[]): number[][] {
  const placesOf = new Map(numbers.map((word) => [word, [] as number[]]));
  for (let p = 0; p < words.placedCount; p++) placesOf.get(words.wordOf[p]!)?.push(p);
  const byFrequency = (a: number, b: number) =>
    words.counts[b]! - words.counts[a]! || Buffer.compare(placedAt(words, a), placedAt(words, b));
  return numbers.map((word) => placesOf.get(word)!.sort(byFrequency));
}

const placedAt = ({ bytes, starts }: TextWords, placed: number) =>
  bytes.subarray(starts[placed]!, starts[placed + 1]!);

/** The text word of a placed word. */
export const wordAt = ({ bytes, starts, blankBytes }: TextWords, placed: number) =>
  bytes.subarray(starts[placed]! + blankBytes[placed]!, starts[placed + 1]!);

/**
 * How often each special token occurs in a text, found from the left, longest first, not overlapping, as encoding finds
 * them. It is enough to look into the distinct words, because no special token may hold white space: so each occurrence, and
 * each other that may be in its way, is within one text word. Yields between slices of work.
 */
export function* countSpecialTokens(
  words: TextWords,
  tokens: readonly Uint8Array[],
): Generator<undefined, Float64Array> {
  const { bytes, starts, counts, placedCount } = words;
  const occurrences = new Float64Array(tokens.length);
  const indexOf = new Map(tokens.map((token, i) => [Buffer.from(token).toString("latin1"), i]));
  const inAll = new SpecialTokenFinder(tokens);
  const inOne = new SpecialTokenFinder(tokens);
  inAll.reset(bytes);
  // Words stand end to end, so a token may seem to begin in one word and to end in another. Such a place hides no other:
  // every word that it touches is looked at by itself.
  for (let p = 0, pos = 0, round = 0; p < placedCount; round++) {
    if (round % placesPerSlice === 0) yield;
    const found = inAll.find(pos, bytes.length);
    if (found >= bytes.length) break;
    const foundEnd = found + inAll.lengthAt(found, bytes.length);
    p = Math.max(p, placedWordAt(starts, placedCount, found));
    for (; p < placedCount && starts[p]! < foundEnd; p++) {
      const start = starts[p]!;
      const length = starts[p + 1]! - start;
      inOne.reset(bytes.subarray(start, start + length));
      for (let at = inOne.find(0, length); at < length; ) {
        const end = at + inOne.lengthAt(at, length);
        const text = Buffer.from(bytes.subarray(start + at, start + end)).toString("latin1");
        occurrences[indexOf.get(text)!]! += counts[p]!;
        at = inOne.find(end, length);
      }
    }
    // What is left of the last word that was looked at is done, too.
    pos = Math.max(foundEnd, starts[p]!);
  }
  return occurrences;
}

const placesPerSlice = 1 << 10;

/** The placed word that holds the byte at `pos`. */
function placedWordAt(starts: Uint32Array, placedCount: number, pos: number): number {
  let low = 0;
  let high = placedCount;
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if (starts[middle]! <= pos) low = middle;
    else high = middle;
  }
  return low;
}
