import { byteToCharacter, decodeCharacters } from "../bytes/byte-characters.ts";
import { textOf } from "../bytes/text.ts";
import { UserError } from "../errors.ts";
import type { CountsOptions } from "./counts-format.ts";
import type { ReadBytes } from "./counts-reader.ts";
import { sortByCountInSteps } from "./sort-words.ts";
import { isTsvHead, tsvHead } from "./tsv-head.ts";
import type { WordCounter } from "./word-counter.ts";
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
for (let byte = 0; byte < 256; byte++) {
  const codePoint = byteToCharacter[byte]!.charCodeAt(0);
  utf8First[byte] = codePoint < 0x80 ? codePoint : 0xc0 | (codePoint >> 6);
  utf8Second[byte] = codePoint < 0x80 ? 0 : 0x80 | (codePoint & 63);
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

/** Lines of so many bytes are read at once: a millisecond. */
const firstCapacityBytes = 1 << 18;

/**
 * Reads the lines of words into a counter; words that stand twice add up. The last line may do without its newline.
 *
 * The kernel reads them (src/kernel/words/counts-text.ts): they stand in its text, behind as many bytes for their words. What it
 * stops at is read here, a line at a time: it is wrong, or so unusual that the kernel does not take it.
 */
export class TsvReader {
  /** Bytes that the lines may have in the kernel's text: they stand at [capacity, 2 capacity) of it. */
  private capacity = firstCapacityBytes;
  /** Bytes there, without a newline so far: the beginning of a line. */
  private filled = 0;
  /** Of all counts so far. */
  private total = 0;

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
    for (let pos = 0; pos < chunk.length; ) {
      pos += this.readNext((into) => {
        const some = chunk.subarray(pos, pos + into.length);
        into.set(some);
        return some.length;
      });
    }
  }

  /** The same, the bytes being had from `readBytes`; how many they are, 0 at the end of the file. */
  readNext(readBytes: ReadBytes): number {
    if (this.filled === this.capacity) this.lengthen();
    const { capacity, filled } = this;
    const lines = this.lines();
    const size = readBytes(lines.subarray(filled));
    const end = filled + size;
    const newlinePos = lines.subarray(filled, end).lastIndexOf(newline);
    this.filled = end;
    if (newlinePos < 0) return size;
    const linesEnd = filled + newlinePos + 1;
    this.addLines(lines.subarray(0, linesEnd), capacity);
    lines.copyWithin(0, linesEnd, end);
    this.filled = end - linesEnd;
    return size;
  }

  /** The file ends here. */
  finish(): void {
    if (this.filled > 0) this.read(Uint8Array.of(newline));
  }

  /** Adds lines that stand in the kernel's text from `start` on. */
  private addLines(lines: Uint8Array, start: number): void {
    for (let pos = 0; pos < lines.length; ) {
      const added = this.counter.addLines(start + pos, lines.length - pos, this.total);
      this.lineNumber += added.lineCount;
      this.total = added.total;
      pos += added.byteCount;
      if (pos === lines.length) return;
      const end = lines.indexOf(newline, pos);
      this.addLine(lines.slice(pos, end));
      pos = end + 1;
    }
  }

  /** Adds a line, given without its newline, or says what is wrong with it. */
  private addLine(line: Uint8Array): void {
    const word: number[] = [];
    let pos = 0;
    while (pos < line.length && line[pos] !== tab) {
      const first = line[pos++]!;
      const isOne = first > 32 && first < 127;
      const byte = isOne ? first : byteOfCharacter(first, line[pos++] ?? 0);
      if (byte < 0) throw this.wrongCharacter();
      word.push(byte);
    }
    if (pos === line.length) throw this.error("there is no tab");
    if (word.length === 0) throw this.error("there is no word before the tab");
    const count = this.parseCount(Buffer.from(word), line.subarray(pos + 1));
    this.total += count;
    if (this.total > Number.MAX_SAFE_INTEGER) {
      throw this.error("all counts up to here are more than 2^53 - 1", "count the corpus again");
    }
    this.counter.add(textOf(Uint8Array.from(word)), 0, word.length, count);
    this.lineNumber++;
  }

  private parseCount(word: Buffer, digits: Uint8Array): number {
    const field = digits.subarray(0, shownBytesMax);
    const count = parseCount(field, field.length);
    if (count >= 1) return count;
    const text = Buffer.from(field).toString();
    if (isTsvHead(`${word.toString("latin1")}\t${text}`)) {
      throw this.error("a second header", "files are added up by naming each of them: --counts");
    }
    throw this.error(`the count ${JSON.stringify(text)} is not a whole number from 1 to 2^53 - 1`);
  }

  /** Where the lines stand. */
  private lines(): Uint8Array {
    return this.counter.text(2 * this.capacity).bytes.subarray(this.capacity, 2 * this.capacity);
  }

  /** Makes room for a line that is longer than all before. */
  private lengthen(): void {
    const before = this.lines();
    this.capacity *= 2;
    this.lines().set(before);
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

/** The byte that a character of two bytes stands for, or -1. */
function byteOfCharacter(first: number, second: number): number {
  if (first >> 5 !== 0b110 || second >> 6 !== 0b10) return -1;
  const codePoint = ((first & 31) << 6) | (second & 63);
  return codePoint < 0x80 ? -1 : (decodeCharacters(String.fromCharCode(codePoint))?.[0] ?? -1);
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
