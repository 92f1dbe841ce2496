import { allocateText } from "../corpus/text.ts";
import { UserError } from "../errors.ts";
import { byteToCharacter } from "../vocabulary/byte-characters.ts";
import type { WordCounter } from "./counter.ts";
import type { CountsOptions } from "./counts-format.ts";
import { sortByCountInSteps } from "./sort.ts";
import { isTsvHead, tsvHead } from "./tsv-head.ts";
import type { WordTable } from "./word-table.ts";

/**
 * Word counts as text: behind a line that says what they were made with (tsv-head.ts) a line a word, `word<TAB>count`, the word in byte-to-character form, so that it never holds a
 * space, a tab or a newline. " the" counted 12 times is "Ġthe\t12\n". The characters are below U+0800: one or two
 * bytes of UTF-8 each.
 */
const tab = 9;
const newline = 10;
const digitZero = 48;

const chunkSizeBytes = 1 << 18;
/** Tab, at most 16 digits, newline. */
const countSizeBytesMax = 18;

/** For each byte: the first byte of its character in UTF-8, and the second, or 0 if there is none. */
const utf8First = new Uint8Array(256);
const utf8Second = new Uint8Array(256);
/** For each byte of one-byte characters and for each code point of two-byte ones: the byte meant, or -1. */
const byteOfCodePoint = new Int16Array(0x800).fill(-1);
for (let byte = 0; byte < 256; byte++) {
  const codePoint = byteToCharacter[byte]!.charCodeAt(0);
  utf8First[byte] = codePoint < 0x80 ? codePoint : 0xc0 | (codePoint >> 6);
  utf8Second[byte] = codePoint < 0x80 ? 0 : 0x80 | (codePoint & 63);
  byteOfCodePoint[codePoint] = byte;
}

/** A file of all words, the highest count first. While they are sorted the chunks are empty: slices of work. */
export function* sortedTsvChunks(table: WordTable, options: CountsOptions): Generator<Uint8Array> {
  yield tsvHead(options);
  const steps = sortByCountInSteps(table);
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done) return yield* tsvChunks(table, step.value);
    yield noBytes;
  }
}

const noBytes = new Uint8Array(0);

/** The lines of the words listed in `order`, in chunks of 256 KB. Each chunk is the reader's to keep. */
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
    chunk[chunkEnd++] = tab;
    chunkEnd = writeNumber(counts[word]!, chunk, chunkEnd);
    chunk[chunkEnd++] = newline;
  }
  if (chunkEnd > 0) yield chunk.subarray(0, chunkEnd);
}

/** Writes bytes [pos, stop) in byte-to-character form; returns where they end. */
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
    // A second byte has its top bit set: that is the place more.
    chunkEnd += 1 + (second >> 7);
  }
  return chunkEnd;
}

/** Writes a whole number of at least 1 in decimal; returns where it ends. */
function writeNumber(number: number, chunk: Uint8Array, chunkEnd: number): number {
  let digitCount = 1;
  for (let limit = 10; limit <= number; limit *= 10) digitCount++;
  for (let place = chunkEnd + digitCount - 1; place >= chunkEnd; place--) {
    const tenth = Math.floor(number / 10);
    chunk[place] = digitZero + (number - tenth * 10);
    number = tenth;
  }
  return chunkEnd + digitCount;
}

/** What is shown of a count that is no count. */
const shownBytesMax = 40;

/** Where a reader stands in a line. A word's two-byte character may lie across two chunks. */
const inWord = 0;
const inCharacter = 1;
const inCount = 2;

/**
 * Reads the lines of words, chunk by chunk, into a counter; words that stand twice add up. The last line may do
 * without its newline.
 */
export class TsvReader {
  private text = allocateText(1 << 10);
  private wordLength = 0;
  private readonly countField = new Uint8Array(shownBytesMax);
  private countLength = 0;
  private state = inWord;
  /** Of all counts so far. */
  private total = 0;
  /** First byte of a character whose second byte has not come yet. */
  private firstByte = 0;

  /**
   * @param path of the file, for messages
   * @param lineNumber of the first line
   */
  constructor(
    private readonly path: string,
    private readonly counter: WordCounter,
    private lineNumber = 1,
  ) {}

  /** Reads the next bytes of the file. */
  read(chunk: Uint8Array): void {
    let pos = 0;
    while (pos < chunk.length) {
      if (this.state === inWord) pos = this.readWord(chunk, pos);
      else if (this.state === inCharacter) this.addCharacter(chunk[pos++]!);
      else pos = this.readCount(chunk, pos);
    }
  }

  /** The file ends here. */
  finish(): void {
    if (this.state === inCount) this.endLine();
    if (this.state === inCharacter) throw this.wrongCharacter();
    if (this.wordLength > 0) throw this.noTab();
  }

  /** Reads one-byte characters up to anything else, and sees what that is. */
  private readWord(chunk: Uint8Array, pos: number): number {
    this.reserveWord(chunk.length - pos);
    const { bytes } = this.text;
    const stop = chunk.length;
    let length = this.wordLength;
    while (pos < stop && chunk[pos]! > 32 && chunk[pos]! < 127) bytes[length++] = chunk[pos++]!;
    this.wordLength = length;
    if (pos === stop) return pos;
    const byte = chunk[pos]!;
    if (byte === tab) {
      if (length === 0) throw this.error("there is no word before the tab");
      this.state = inCount;
    } else if (byte === newline) {
      throw this.noTab();
    } else {
      this.firstByte = byte;
      this.state = inCharacter;
      // Neither a lone byte nor the first of two: wrong without looking on.
      if (byte >> 5 !== 0b110) throw this.wrongCharacter();
    }
    return pos + 1;
  }

  private addCharacter(secondByte: number): void {
    const codePoint = ((this.firstByte & 31) << 6) | (secondByte & 63);
    const byte = secondByte >> 6 === 0b10 && codePoint >= 0x80 ? byteOfCodePoint[codePoint]! : -1;
    if (byte < 0) throw this.wrongCharacter();
    this.reserveWord(1);
    this.text.bytes[this.wordLength++] = byte;
    this.state = inWord;
  }

  private readCount(chunk: Uint8Array, pos: number): number {
    for (; pos < chunk.length && chunk[pos] !== newline; pos++) {
      if (this.countLength < shownBytesMax) this.countField[this.countLength++] = chunk[pos]!;
    }
    if (pos === chunk.length) return pos;
    this.endLine();
    return pos + 1;
  }

  private endLine(): void {
    const count = parseCount(this.countField, this.countLength);
    if (!(count >= 1)) {
      const field = Buffer.from(this.countField.subarray(0, this.countLength)).toString();
      const word = Buffer.from(this.text.bytes.subarray(0, this.wordLength)).toString("latin1");
      if (isTsvHead(`${word}\t${field}`)) {
        throw this.error("a second header", "files are added up by naming each of them: --counts");
      }
      const shown = JSON.stringify(field);
      throw this.error(`the count ${shown} is not a whole number from 1 to 2^53 - 1`);
    }
    this.total += count;
    if (this.total > Number.MAX_SAFE_INTEGER) {
      throw this.error("all counts up to here are more than 2^53 - 1", "count the corpus again");
    }
    this.counter.add(this.text, 0, this.wordLength, count);
    this.wordLength = 0;
    this.countLength = 0;
    this.state = inWord;
    this.lineNumber++;
  }

  private reserveWord(byteCount: number): void {
    const { bytes } = this.text;
    if (this.wordLength + byteCount <= bytes.length) return;
    const larger = allocateText(Math.max(bytes.length * 2, this.wordLength + byteCount));
    larger.bytes.set(bytes);
    this.text = larger;
  }

  private noTab(): UserError {
    return this.error("there is no tab");
  }

  private wrongCharacter(): UserError {
    return this.error(
      "the word holds a character that stands for no byte",
      "words are written in GPT-2's byte-to-character form: a space is Ġ, a newline Ċ",
    );
  }

  private error(
    what: string,
    hint = "every line is a word, a tab and its count, as `bpe count` writes them",
  ): UserError {
    return new UserError(`${this.path}, line ${this.lineNumber}: ${what}`, { hint });
  }
}

/** The number that the digits make, or NaN if they are none or it is not exact. */
function parseCount(field: Uint8Array, length: number): number {
  let count = length > 0 ? 0 : Number.NaN;
  for (let i = 0; i < length; i++) {
    const digit = field[i]! - digitZero;
    if (digit < 0 || digit > 9) return Number.NaN;
    count = count * 10 + digit;
  }
  return count <= Number.MAX_SAFE_INTEGER && length < shownBytesMax ? count : Number.NaN;
}
