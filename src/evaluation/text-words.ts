import { utf8 } from "#bytes";
import { unicode } from "#pattern";
import { scaled } from "#runtime";
import { SpecialTokenFinder } from "#text";
import type { WordTable } from "#words";
import { holdsDigit } from "./number-counts.ts";

// What the measures count as words: *text words*, which do not depend on any tokenizer.

/**
 * Splits a text into placed words and runs of whitespace. Whitespace is Unicode's White_Space and U+001C to U+001F, as
 * in Python's `str.split()`. A *text word* is a run of other characters. A *placed word* is a text word with the
 * whitespace character before it, if any, because tokenizers see most words after a space.
 */
export const placedWordPattern = String.raw`[\s\x1c-\x1f]?[^\s\x1c-\x1f]+|[\s\x1c-\x1f]+(?![^\s\x1c-\x1f])`;

const whitespace = unicode.unionOf([unicode.whiteSpace, [0x1c, 0x1f]]);

/**
 * TextWords: the distinct placed words of a text. Its arrays are in shared memory.
 *
 *   ARRAY            TYPE         LENGTH         MEANING
 *   placed           WordTable    placed words   the placed words, with their occurrences in the text
 *   whitespaceBytes  Uint8Array   placed words   length of the white space at the start of each, 0 to 3 bytes
 *   wordOf           Uint32Array  placed words   index of its text word, below distinctCount
 *   hasDigit         Uint8Array   placed words   1 if a decimal digit is in it
 *   firstPlaced      Uint32Array  distinctCount  the first placed word of each text word
 *
 * "a b\nb" gives placed words "a", " b" and "\nb", whitespaceBytes = [0, 1, 1], wordOf = [0, 1, 1],
 * firstPlaced = [0, 1].
 */
export type TextWords = {
  readonly placed: WordTable;
  readonly whitespaceBytes: Uint8Array;
  readonly wordOf: Uint32Array;
  /** null unless numbers are measured, because computing it takes as long as all other arrays together. */
  readonly hasDigit: Uint8Array | null;
  readonly firstPlaced: Uint32Array;
  /** The number of distinct text words. */
  readonly distinctCount: number;
  /** The number of text words. */
  readonly wordCount: number;
  /** Characters of the whole text, including whitespace. An invalid byte counts as one. */
  readonly characterCount: number;
  /** Characters of scripts without spaces between words. */
  readonly unspacedCount: number;
  /** Bytes of the whole text. */
  readonly textBytes: number;
};

/** Extracts the text words from a table that was counted with `placedWordPattern` and without special tokens. */
export function* gather(table: WordTable, withNumbers = false): Generator<undefined, TextWords> {
  const { wordCount: pieceCount, bytes, starts, counts } = table;
  const isPlaced = new Uint8Array(pieceCount);
  let wordCount = 0;
  let characterCount = 0;
  let unspacedCount = 0;
  let textBytes = 0;
  for (const { first, end: pieceEnd } of slicesOf(pieceCount)) {
    for (let piece = first; piece < pieceEnd; piece++) {
      const start = starts[piece]!;
      const end = starts[piece + 1]!;
      const count = counts[piece]!;
      characterCount += count * characterCountOf(bytes, start, end);
      unspacedCount += count * unspacedCountOf(bytes, start, end);
      textBytes += count * (end - start);
      const leading = whitespaceBytesAt(bytes, start, end);
      // A run of whitespace is not a placed word: after its first character it ends, or more whitespace follows.
      if (leading > 0 && (start + leading === end || whitespaceBytesAt(bytes, start + leading, end) > 0))
        continue;
      isPlaced[piece] = 1;
      wordCount += count;
    }
    yield;
  }
  const placed = yield* scatterTable(table, isPlaced);
  const numbered = yield* numberWords(placed, withNumbers);
  return { placed, ...numbered, wordCount, characterCount, unspacedCount, textBytes };
}

/** Number of words in a slice of work. Encoding them takes some milliseconds. */
const wordsPerSlice = scaled(1 << 13, 4);

/** Words [first, end) of a table. */
export type WordSlice = { readonly first: number; readonly end: number };

export function* slicesOf(end: number, start = 0): Generator<WordSlice> {
  for (let first = start; first < end; first += wordsPerSlice) {
    yield { first, end: Math.min(end, first + wordsPerSlice) };
  }
}

/** Whether a text contains whitespace, which ends words. */
export const holdsWhiteSpace = (text: string) =>
  Array.from(text).some((character) => unicode.contains(whitespace, character.codePointAt(0)!));

/** Returns the length of the whitespace character at `pos`; 0 if another character is there. */
function whitespaceBytesAt(bytes: Uint8Array, pos: number, end: number): number {
  const lead = bytes[pos]!;
  if (lead < 0x80)
    return lead === 0x20 || (lead >= 0x09 && lead <= 0x0d) || (lead >= 0x1c && lead <= 0x1f) ? 1 : 0;
  const codePoint = utf8.codePointAt(bytes, pos, end);
  if (codePoint < 0 || !unicode.contains(whitespace, codePoint)) return 0;
  return codePoint < 0x800 ? 2 : 3;
}

/** Counts the characters of a piece. Only a piece of one byte may be invalid UTF-8, and counts as one character. */
function characterCountOf(bytes: Uint8Array, start: number, end: number): number {
  if (end - start === 1) return 1;
  let count = 0;
  for (let pos = start; pos < end; pos++) if ((bytes[pos]! & 0xc0) !== 0x80) count++;
  return count;
}

/** Counts the characters of scripts without spaces between words. Each such character has at least three bytes. */
function unspacedCountOf(bytes: Uint8Array, start: number, end: number): number {
  let count = 0;
  for (let pos = start; pos + 2 < end; pos++) {
    if (bytes[pos]! >= 0xe0 && isUnspaced(utf8.codePointOf(bytes, pos))) count++;
  }
  return count;
}

/**
 * Whether a character is of a script without spaces: Thai, Lao, Tibetan, Burmese, Khmer, the Tai scripts, kana,
 * Bopomofo, and Chinese characters with their punctuation.
 */
export const isUnspaced = (codePoint: number) =>
  (codePoint >= 0x0e00 && codePoint < 0x10a0) ||
  (codePoint >= 0x1780 && codePoint < 0x1800) ||
  (codePoint >= 0x1950 && codePoint < 0x19e0) ||
  (codePoint >= 0x1a20 && codePoint < 0x1ab0) ||
  (codePoint >= 0x3001 && codePoint < 0x3130) ||
  (codePoint >= 0x31a0 && codePoint < 0xa000) ||
  (codePoint >= 0xa9e0 && codePoint < 0xaa00) ||
  (codePoint >= 0xaa60 && codePoint < 0xaae0) ||
  (codePoint >= 0xff66 && codePoint < 0xffa0) ||
  (codePoint >= 0xf900 && codePoint < 0xfb00) ||
  (codePoint >= 0x20000 && codePoint < 0x40000);

const noWord = 0xffffffff;

/**
 * Gives each distinct text word an index, and makes the arrays of `TextWords` except `placed`. `slots` is a hash table
 * with open addressing, whose slots hold indices of text words, or `noWord`.
 */
function* numberWords(placed: WordTable, withNumbers: boolean) {
  const { wordCount: placedCount, bytes, starts } = placed;
  const whitespaceBytes = new Uint8Array(new SharedArrayBuffer(placedCount));
  const wordOf = new Uint32Array(new SharedArrayBuffer(4 * placedCount));
  const hasDigit = withNumbers ? new Uint8Array(new SharedArrayBuffer(placedCount)) : null;
  const firstPlaced = new Uint32Array(new SharedArrayBuffer(4 * placedCount));
  let slotCount = scaled(16, 2);
  while (slotCount < 2 * placedCount) slotCount *= 2;
  const slots = new Uint32Array(slotCount).fill(noWord);
  const numbered = { placed, whitespaceBytes, firstPlaced };
  let distinctCount = 0;
  for (const { first, end } of slicesOf(placedCount)) {
    for (let p = first; p < end; p++) {
      whitespaceBytes[p] = whitespaceBytesAt(bytes, starts[p]!, starts[p + 1]!);
      if (hasDigit !== null && holdsDigit(bytes, starts[p]!, starts[p + 1]!)) hasDigit[p] = 1;
      const slot = slotOf(numbered, p, slots);
      if (slots[slot] === noWord) {
        slots[slot] = distinctCount;
        firstPlaced[distinctCount++] = p;
      }
      wordOf[p] = slots[slot]!;
    }
    yield;
  }
  return {
    whitespaceBytes,
    wordOf,
    hasDigit,
    firstPlaced: firstPlaced.subarray(0, distinctCount),
    distinctCount,
  };
}

/** Returns the slot that has the index of a placed word's text word. If there is none, returns a free slot. */
function slotOf(
  { placed: { bytes, starts }, whitespaceBytes, firstPlaced }: Numbered,
  p: number,
  slots: Uint32Array,
): number {
  const start = starts[p]! + whitespaceBytes[p]!;
  const length = starts[p + 1]! - start;
  for (let slot = hashOf(bytes, start, start + length); ; slot++) {
    slot &= slots.length - 1;
    if (slots[slot] === noWord) return slot;
    const other = firstPlaced[slots[slot]!]!;
    const otherStart = starts[other]! + whitespaceBytes[other]!;
    if (starts[other + 1]! - otherStart !== length) continue;
    let i = 0;
    while (i < length && bytes[start + i] === bytes[otherStart + i]) i++;
    if (i === length) return slot;
  }
}

type Numbered = Pick<TextWords, "placed" | "whitespaceBytes" | "firstPlaced">;

/** Returns the FNV-1a hash. Its high bits are mixed into the low ones, because only the low bits select a slot. */
function hashOf(bytes: Uint8Array, start: number, end: number): number {
  let hash = 0x811c9dc5;
  for (let pos = start; pos < end; pos++) hash = Math.imul(hash ^ bytes[pos]!, 0x01000193);
  return (hash ^ (hash >>> 15)) >>> 0;
}

/**
 * Returns a step for visiting the words of a table in scattered order. A table has its words in the order of the hash
 * table that counted them. In that order, another hash table with the same hash function would fill from front to back,
 * and lookups would probe far. With steps of 0.618 (the golden ratio) of all words, that other table fills evenly.
 *
 * Index `i` of the order is `(i * step) % count`. `step` and `count` are coprime, so each index occurs once.
 */
export function scatterStep(count: number): number {
  let step = Math.max(1, Math.floor(count * 0.6180339887498949));
  while (commonDivisor(step, count) > 1) step++;
  return step;
}

const commonDivisor = (a: number, b: number): number => (b === 0 ? a : commonDivisor(b, a % b));

/** Copies a table, or its words with 1 in `isTaken`, into shared memory in scattered order. */
export function* scatterTable(table: WordTable, isTaken?: Uint8Array): Generator<undefined, WordTable> {
  const { wordCount: allCount, bytes, starts, counts } = table;
  let wordCount = allCount;
  let byteCount = starts[allCount]!;
  for (let word = 0; isTaken !== undefined && word < allCount; word++) {
    if (isTaken[word] === 1) continue;
    wordCount--;
    byteCount -= starts[word + 1]! - starts[word]!;
  }
  const scattered = {
    wordCount,
    bytes: new Uint8Array(new SharedArrayBuffer(byteCount)),
    starts: new Uint32Array(new SharedArrayBuffer(4 * (wordCount + 1))),
    counts: new Float64Array(new SharedArrayBuffer(8 * wordCount)),
  };
  const step = scatterStep(allCount);
  let to = 0;
  let pos = 0;
  for (const { first, end: sliceEnd } of slicesOf(allCount)) {
    for (let i = first; i < sliceEnd; i++) {
      const word = (i * step) % allCount;
      if (isTaken?.[word] === 0) continue;
      const end = starts[word + 1]!;
      for (let from = starts[word]!; from < end; from++) scattered.bytes[pos++] = bytes[from]!;
      scattered.counts[to] = counts[word]!;
      scattered.starts[++to] = pos;
    }
    yield;
  }
  return scattered;
}

/** Returns the bytes of a placed word. */
export const placedAt = ({ placed: { bytes, starts } }: TextWords, p: number) =>
  bytes.subarray(starts[p]!, starts[p + 1]!);

/** Returns the bytes of the text word of a placed word. */
export const wordAt = (words: TextWords, p: number) => placedAt(words, p).subarray(words.whitespaceBytes[p]!);

/**
 * Counts how often each special token occurs in a text, as encoding finds it. The tokens must not contain whitespace.
 * Then each occurrence is within one text word, so it is enough to search the distinct words.
 */
export function* countSpecialTokens(
  words: TextWords,
  tokens: readonly Uint8Array[],
): Generator<undefined, Float64Array> {
  const { wordCount, bytes, starts, counts } = words.placed;
  const occurrences = new Float64Array(tokens.length);
  const indexOf = new Map(tokens.map((token, i) => [Buffer.from(token).toString("latin1"), i]));
  const inAll = new SpecialTokenFinder(tokens);
  const inOne = new SpecialTokenFinder(tokens);
  for (const { first, end } of slicesOf(wordCount)) {
    const base = starts[first]!;
    const limit = starts[end]! - base;
    inAll.reset(bytes.subarray(base, base + limit));
    // Words are stored end to end, so a match may begin in one word and end in another. Such a match hides no other,
    // because every word that it touches is searched separately.
    let word = first;
    for (let pos = inAll.find(0, limit); pos < limit; ) {
      const foundEnd = base + pos + inAll.foundBytes;
      while (starts[word + 1]! <= base + pos) word++;
      for (; word < end && starts[word]! < foundEnd; word++) {
        const text = bytes.subarray(starts[word]!, starts[word + 1]!);
        inOne.reset(text);
        for (let at = inOne.find(0, text.length); at < text.length; ) {
          const next = at + inOne.foundBytes;
          const token = Buffer.from(text.subarray(at, next)).toString("latin1");
          occurrences[indexOf.get(token)!]! += counts[word]!;
          at = inOne.find(next, text.length);
        }
      }
      // Continues after the last searched word, even if the match ends inside that word.
      pos = inAll.find(Math.max(foundEnd, starts[word]!) - base, limit);
    }
    yield;
  }
  return occurrences;
}
