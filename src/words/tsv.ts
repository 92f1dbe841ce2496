import { ascii, byteCharacters, decimal, grow, textBuffers } from "#bytes";
import { asOption, type Message, phrase, scaled, UserError } from "#runtime";
import type { CountsOptions } from "./counts-format.ts";
import * as countsFormat from "./counts-format.ts";
import { sortByBytesInSteps } from "./sort-by-bytes.ts";
import type { WordCounter } from "./word-counter.ts";
import type { WordTable } from "./word-table.ts";

/**
 * The first line of word counts as text: `#bpe-counts<TAB>{"version":1,…}`. In the line of a word, a digit follows the
 * tab. So even the line of the word `#bpe-counts` is not taken for a header.
 */
const mark = "#bpe-counts";
const version = 1;
const start = `${mark}\t{`;
const opening = new TextEncoder().encode(start);

const firstReadBytes = scaled(1 << 12, 64);

export function tsvHead(options: CountsOptions): Uint8Array {
  const header = { version, ...countsFormat.optionsToState(options) };
  return new TextEncoder().encode(`${mark}\t${JSON.stringify(header)}\n`);
}

/** Whether a line that begins like this is a header. */
export const isTsvHead = (lineStart: string) => lineStart.startsWith(start);

export type TsvHead = {
  /** The options with which the words were counted; null if there is no header. */
  readonly options: CountsOptions | null;
  /** The bytes that were read after the header; without a header, all bytes that were read. */
  readonly rest: Uint8Array;
};

/**
 * Reads the first line. If it is a header, returns its options; otherwise `options` is null. `rest` has the bytes that
 * were read and are not part of a header. Throws a UserError for an invalid header.
 */
export function readTsvHead(path: string, readBytes: countsFormat.ReadBytes): TsvHead {
  let bytes = new Uint8Array(firstReadBytes);
  let filled = 0;
  for (;;) {
    const readCount = readBytes(bytes.subarray(filled));
    const searchedFrom = filled;
    filled += readCount;
    const read = bytes.subarray(0, filled);
    const isHeader = read.subarray(0, opening.length).every((byte, i) => byte === opening[i]);
    if (!isHeader || (readCount === 0 && filled < opening.length)) return { options: null, rest: read };
    const lineEnd = bytes.subarray(searchedFrom, filled).indexOf(ascii.lineFeed);
    if (lineEnd >= 0 || readCount === 0) {
      const end = lineEnd >= 0 ? searchedFrom + lineEnd : filled;
      return {
        options: optionsOf(path, read.subarray(opening.length - 1, end)),
        rest: read.subarray(end + 1),
      };
    }
    if (filled >= countsFormat.headerBytesMax)
      throw countsFormat.headerError(path, "is longer than any header that bpe writes");
    if (filled === bytes.length) bytes = grow(bytes);
  }
}

function optionsOf(path: string, json: Uint8Array): CountsOptions {
  const { version: found, ...stated } = countsFormat.parseHeader(path, json);
  if (found !== version) throw countsFormat.otherVersion(path, found, version);
  return countsFormat.checkHeader(path, stated);
}

const digitZero = 48;

/** How many bytes of a wrong count an error shows. */
const shownBytesMax = 40;

/** The maximum number of bytes read at once, unless a line is longer. They take some milliseconds of work. */
const firstCapacityBytes = scaled(1 << 18, 16);

/**
 * Reads lines `word<TAB>count` into a counter. If a word has several lines, their counts are added up. The last line
 * may lack its newline.
 */
export class TsvReader {
  /** The buffer for reading the file. Its first `filled` bytes are the start of an incomplete line. */
  private lines = new Uint8Array(firstCapacityBytes);
  private filled = 0;
  private word = textBuffers.allocate(firstCapacityBytes);
  private total = 0;

  /**
   * @param path the file's path, for messages
   * @param lineNumber the number of the first line
   */
  constructor(
    private readonly path: string,
    private readonly counter: WordCounter,
    private lineNumber = 1,
  ) {}

  /** Adds the lines in the next bytes of the file. */
  read(chunk: Uint8Array): void {
    for (let pos = 0; pos < chunk.length; ) {
      pos += this.readNext((into) => {
        const part = chunk.subarray(pos, pos + into.length);
        into.set(part);
        return part.length;
      });
    }
  }

  /**
   * Reads the next bytes, and adds their lines. Returns the number of bytes, which is 0 only at the end of the file.
   */
  readNext(readBytes: countsFormat.ReadBytes): number {
    if (this.filled === this.lines.length) this.lengthen();
    const { lines, filled } = this;
    const size = readBytes(lines.subarray(filled));
    const end = filled + size;
    const read = lines.subarray(0, end);
    let start = 0;
    let newlinePos = read.indexOf(ascii.lineFeed, filled);
    while (newlinePos >= 0) {
      this.addLine(read, start, newlinePos);
      start = newlinePos + 1;
      newlinePos = read.indexOf(ascii.lineFeed, start);
    }
    lines.copyWithin(0, start, end);
    this.filled = end - start;
    return size;
  }

  /** Must be called at the end of the file: adds a last line without a newline. */
  finish(): void {
    if (this.filled > 0) this.read(Uint8Array.of(ascii.lineFeed));
  }

  /** Adds the line at bytes [start, end), or throws a UserError. */
  private addLine(lines: Uint8Array, start: number, end: number): void {
    const { word } = this;
    let length = 0;
    let pos = start;
    while (pos < end && lines[pos] !== ascii.tab) {
      const first = lines[pos++]!;
      const byte =
        first < 0x80 ? byteCharacters.byteOf(first) : byteOfPair(first, pos < end ? lines[pos++]! : 0);
      if (byte < 0) throw this.wrongCharacter();
      word.bytes[length++] = byte;
    }
    if (pos === end) throw this.error("there is no tab");
    if (length === 0) throw this.error("there is no word before the tab");
    const count = parseCount(lines, pos + 1, end);
    if (!(count >= 1)) throw this.wrongCount(word.bytes.subarray(0, length), lines.subarray(pos + 1, end));
    this.total += count;
    if (this.total > Number.MAX_SAFE_INTEGER) {
      throw this.error("the counts up to here add up to more than 2^53 - 1", "count the corpus again");
    }
    this.counter.add(word, 0, length, count);
    this.lineNumber++;
  }

  private wrongCount(word: Uint8Array, field: Uint8Array): UserError {
    const text = Buffer.from(field.subarray(0, shownBytesMax)).toString();
    if (isTsvHead(`${Buffer.from(word).toString("latin1")}\t${text}`))
      return this.error(
        "the line is a second header",
        phrase`to add up files, name each of them with ${asOption("counts")}`,
      );
    return this.error(`the count ${JSON.stringify(text)} is not a whole number from 1 to 2^53 - 1`);
  }

  /** Grows the buffers for a line that is longer than they are, and for its word. */
  private lengthen(): void {
    this.lines = grow(this.lines);
    this.word = textBuffers.allocate(this.lines.length);
  }

  private wrongCharacter(): UserError {
    return this.error(
      "the word contains a character that does not represent a byte",
      "write words in GPT-2's byte-to-character form: a space is Ġ, a newline Ċ",
    );
  }

  private error(
    what: string,
    hint: Message = "write each line as a word, a tab and its count, as bpe count does",
  ): UserError {
    return new UserError(`line ${this.lineNumber} of "${this.path}": ${what}`, { hint });
  }
}

/** Returns the byte that a two-byte character in UTF-8 represents; -1 if it represents none. */
function byteOfPair(first: number, second: number): number {
  if (first >> 5 !== 0b110 || second >> 6 !== 0b10) return -1;
  const codePoint = ((first & 31) << 6) | (second & 63);
  return codePoint < 0x80 ? -1 : byteCharacters.byteOf(codePoint);
}

/**
 * Parses the digits at bytes [start, end); NaN if they are not a whole number below 2^53, or if there are 40 or more.
 */
function parseCount(bytes: Uint8Array, start: number, end: number): number {
  const length = end - start;
  if (length === 0 || length >= shownBytesMax) return Number.NaN;
  let count = 0;
  for (let pos = start; pos < end; pos++) {
    const digit = bytes[pos]! - digitZero;
    if (digit < 0 || digit > 9) return Number.NaN;
    count = count * 10 + digit;
  }
  return count <= Number.MAX_SAFE_INTEGER ? count : Number.NaN;
}

// Word counts as text: a header with the options, then a line `word<TAB>count` for each word, in byte-to-character
// form. " the" counted 12 times is "Ġthe\t12\n". The characters of words have one or two bytes in UTF-8.

const chunkSizeBytes = scaled(1 << 18, 64);
/** The maximum size of a tab, a count and a line feed. */
const countSizeBytesMax = decimal.digitsMax + 2;

/** For each byte, the first byte of its character in UTF-8. */
const utf8First = new Uint8Array(256);
/** For each byte, the second byte of its character in UTF-8; 0 if there is none. */
const utf8Second = new Uint8Array(256);
for (let byte = 0; byte < 256; byte++) {
  const codePoint = byteCharacters.characters[byte]!.charCodeAt(0);
  utf8First[byte] = codePoint < 0x80 ? codePoint : 0xc0 | (codePoint >> 6);
  utf8Second[byte] = codePoint < 0x80 ? 0 : 0x80 | (codePoint & 63);
}

/**
 * Returns the text form of a table in chunks, highest count first. Chunks are empty while the words are being sorted.
 */
export function* sortedTsvChunks(table: WordTable, options: CountsOptions): Generator<Uint8Array> {
  yield tsvHead(options);
  const steps = sortByCountInSteps(table);
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done) return yield* tsvChunks(table, step.value);
    yield noBytes;
  }
}

const noBytes = new Uint8Array(0);

/** Returns the lines of the words in `order`, in chunks that the caller may keep. */
export function* tsvChunks(table: WordTable, order: Uint32Array): Generator<Uint8Array> {
  const { bytes, starts, counts } = table;
  let chunk = new Uint8Array(chunkSizeBytes);
  let chunkEnd = 0;
  for (const word of order) {
    const end = starts[word + 1]!;
    let pos = starts[word]!;
    for (;;) {
      const room = (chunk.length - countSizeBytesMax - chunkEnd) >> 1;
      const stop = Math.min(end, pos + Math.max(room, 0));
      chunkEnd = writeCharacters(bytes, pos, stop, chunk, chunkEnd);
      pos = stop;
      if (pos === end) break;
      yield chunk.subarray(0, chunkEnd);
      chunk = new Uint8Array(chunkSizeBytes);
      chunkEnd = 0;
    }
    chunk[chunkEnd++] = ascii.tab;
    chunkEnd = decimal.put(counts[word]!, chunk, chunkEnd);
    chunk[chunkEnd++] = ascii.lineFeed;
  }
  if (chunkEnd > 0) yield chunk.subarray(0, chunkEnd);
}

/** Writes bytes [pos, stop) in byte-to-character form. Returns the end of what was written. */
function writeCharacters(
  bytes: Uint8Array,
  pos: number,
  stop: number,
  chunk: Uint8Array,
  chunkEnd: number,
): number {
  for (; pos < stop; pos++) {
    const byte = bytes[pos]!;
    const second = utf8Second[byte]!;
    chunk[chunkEnd] = utf8First[byte]!;
    chunk[chunkEnd + 1] = second;
    // A second byte has its top bit set, and takes one more position.
    chunkEnd += 1 + (second >> 7);
  }
  return chunkEnd;
}

/** Sorts words by descending count, and words of equal count by ascending bytes. */
export function* sortByCountInSteps(table: WordTable): Generator<undefined, Uint32Array> {
  const order = yield* sortByBytesInSteps(table);
  yield;
  return stableByFallingCount(table.counts, order);
}

const digitSize = 65536;

/** Sorts by descending counts: a stable radix sort, 16 bits at a time, the lowest first. */
function stableByFallingCount(counts: Float64Array, order: Uint32Array): Uint32Array {
  const wordCount = order.length;
  let words = order;
  // The counts are gathered once, because words in the order of their bytes have random positions in `counts`.
  let keys = new Float64Array(wordCount);
  let keyMax = 0;
  for (let i = 0; i < wordCount; i++) {
    keys[i] = counts[order[i]!]!;
    keyMax = Math.max(keyMax, keys[i]!);
  }
  const places = new Uint32Array(digitSize);
  for (let unit = 1; unit <= keyMax; unit *= digitSize) {
    places.fill(0);
    for (let i = 0; i < wordCount; i++) places[digitOf(keys[i]!, unit)]!++;
    for (let digit = digitSize - 1, place = 0; digit >= 0; digit--) {
      const digitCount = places[digit]!;
      places[digit] = place;
      place += digitCount;
    }
    const [sortedWords, sortedKeys] = [new Uint32Array(wordCount), new Float64Array(wordCount)];
    for (let i = 0; i < wordCount; i++) {
      const place = places[digitOf(keys[i]!, unit)]!++;
      sortedWords[place] = words[i]!;
      sortedKeys[place] = keys[i]!;
    }
    words = sortedWords;
    keys = sortedKeys;
  }
  return words;
}

/**
 * Returns the 16 bits of `count` that begin at the bit with the value `unit`, a power of two. The result is exact for
 * whole numbers below 2^53.
 */
function digitOf(count: number, unit: number): number {
  return Math.floor(count / unit) % digitSize;
}
