import { decodeCharacters } from "../bytes/byte-characters.ts";
import { textOf } from "../bytes/text.ts";
import { UserError } from "../errors.ts";
import type { ReadBytes } from "./counts-reader.ts";
import { isTsvHead } from "./tsv-head.ts";
import type { WordCounter } from "./word-counter.ts";

const tab = 9;
const newline = 10;
const digitZero = 48;

/** How much of a wrong count an error shows. */
const shownBytesMax = 40;

/** Lines of so many bytes are read at once: a millisecond. */
const firstCapacityBytes = 1 << 18;

/**
 * Reads lines of words (tsv-writer.ts) into a counter. A word with several lines is added up. The last line may lack its
 * newline.
 *
 * The kernel does the work (src/kernel/words/counts-text.ts). The lines stand in the second half of its text, their words
 * go to the first half. A line at which the kernel stops is read here: it is wrong, or too unusual for the kernel.
 */
export class TsvReader {
  /** The lines stand at bytes [capacity, 2 capacity) of the kernel's text. */
  private capacity = firstCapacityBytes;
  /** Bytes there of a line whose end is not read yet. */
  private filled = 0;
  /** The sum of all counts so far. */
  private total = 0;

  /**
   * @param path the file's, for messages
   * @param lineNumber the first line's
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

  /** The same with bytes that `readBytes` gives. Returns how many there were, 0 at the end of the file. */
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

  /** Adds lines that begin at byte `start` of the kernel's text. */
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
