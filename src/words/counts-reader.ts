import { allocateText, paddingBytes, type Text } from "../bytes/text.ts";
import {
  type CountsHeader,
  type CountsTotals,
  checksumOf,
  formatVersion,
  frameHeadBytes,
  magic,
} from "./counts-format.ts";
import {
  CountsFileError,
  checkHeaderWithTotals,
  headerBytesMax,
  otherVersion,
  parseHeader,
} from "./counts-writer.ts";
import type { SortedWords } from "./sorted-words.ts";

/** Fills the front of `into`. Returns how many bytes it wrote: 0 only at the end of the file. */
export type ReadBytes = (into: Uint8Array) => number;

/** The first read of a frame. A wrong size then ends at the end of the file, not in a full memory. */
const firstReadBytes = 1 << 20;

/** The least a word takes in a file: three numbers and one byte. */
const wordBytesMin = 4;

/** Reads a counts file word by word, with one frame of it in memory. */
export class CountsReader implements SortedWords {
  readonly header: CountsHeader;
  /** The current word is bytes [0, wordLength) of `word`, padded as every text. */
  word: Text = allocateText(256);
  wordLength = 0;
  sharedLength = 0;
  count = 0;

  private checksum = 0n;
  /** The payload of the frame is bytes [0, frameEnd); the buffer serves all frames. */
  private frame = new Uint8Array(1 << 12);
  private frameEnd = 0;
  private pos = 0;
  private wordsLeft: number;
  private bytesLeft: number;
  private pretokensLeft: number;

  /**
   * Reads the header.
   * @param path the file's, for messages
   * @param fileBytes the size of the file, where it is known
   */
  constructor(
    readonly path: string,
    private readonly readBytes: ReadBytes,
    fileBytes = Number.POSITIVE_INFINITY,
  ) {
    const headBytes = magic.length + 4;
    const headSize = this.read(headBytes);
    if (headSize < magic.length || !magic.every((byte, i) => this.frame[i] === byte)) {
      throw new CountsFileError(
        path,
        `${path} is not a file of word counts`,
        "such files are written by bpe count; the name of one in text form must end in .tsv",
      );
    }
    if (headSize < headBytes) throw this.cutShort();
    const version = viewOf(this.frame).getUint32(magic.length, true);
    if (version !== formatVersion) throw otherVersion(path, version, formatVersion);
    this.readFrame(headerBytesMax);
    this.checksum = 0n;
    const header = parseHeader(path, this.frame.subarray(0, this.frameEnd));
    this.header = checkHeaderWithTotals(path, header);
    const { wordCount, byteCount } = this.header;
    if (wordCount > fileBytes / wordBytesMin || byteCount > wordCount * fileBytes) throw this.cutShort();
    this.wordsLeft = this.header.wordCount;
    this.bytesLeft = this.header.byteCount;
    this.pretokensLeft = this.header.pretokenCount;
    this.pos = this.frameEnd;
  }

  get totals(): CountsTotals {
    return this.header;
  }

  /** Goes to the next word; false if there is none. */
  next(): boolean {
    const startsFrame = this.pos === this.frameEnd;
    if (startsFrame) {
      this.readFrame();
      if (this.frameEnd === 0) return this.end();
      this.pos = 0;
    }
    const { frame, wordLength } = this;
    let shared = this.varint();
    let rest = this.varint();
    let restStart = this.pos;
    // The checksum shows that the file is as it was written. These checks show that it was written correctly.
    const fits = shared <= (startsFrame ? 0 : wordLength) && restStart + rest <= this.frameEnd;
    if (!fits) throw this.malformed();
    this.pos = restStart + rest;
    if (startsFrame) {
      // The first word of a frame is written in full, whatever the word before was.
      const { bytes } = this.word;
      const sharedMax = Math.min(rest, wordLength);
      while (shared < sharedMax && frame[restStart + shared] === bytes[shared]) shared++;
      restStart += shared;
      rest -= shared;
    }
    if (rest < 1) throw this.malformed();
    if (shared < wordLength && frame[restStart]! <= this.word.bytes[shared]!) throw this.malformed();
    this.reserveWord(shared + rest);
    const { bytes } = this.word;
    for (let i = 0; i < rest; i++) bytes[shared + i] = frame[restStart + i]!;
    this.wordLength = shared + rest;
    this.sharedLength = shared;
    this.count = this.varint();
    if (!(this.count >= 1)) throw this.malformed();
    this.wordsLeft--;
    this.bytesLeft -= this.wordLength;
    this.pretokensLeft -= this.count;
    if (this.wordsLeft < 0 || this.bytesLeft < 0 || this.pretokensLeft < 0) throw this.otherTotals();
    return true;
  }

  private end(): false {
    const isAsSaid = this.wordsLeft === 0 && this.bytesLeft === 0 && this.pretokensLeft === 0;
    if (!isAsSaid) throw this.otherTotals();
    if (this.read(1) > 0) throw this.damaged("there is more behind its end");
    this.wordLength = 0;
    return false;
  }

  private readFrame(sizeBytesMax = 2 ** 32): void {
    if (this.read(frameHeadBytes) < frameHeadBytes) throw this.cutShort();
    const head = viewOf(this.frame);
    const sizeBytes = head.getUint32(0, true);
    const checksum = head.getBigUint64(4, true);
    if (sizeBytes > sizeBytesMax) throw this.damaged();
    this.frameEnd = this.read(sizeBytes);
    if (this.frameEnd < sizeBytes) throw this.cutShort();
    this.checksum = checksumOf(this.frame.subarray(0, sizeBytes), this.checksum);
    if (this.checksum !== checksum) throw this.damaged();
  }

  /** Reads bytes of the file to the front of `frame`. Returns how many: fewer than asked for only at the end of the file. */
  private read(sizeBytes: number): number {
    let filled = 0;
    while (filled < sizeBytes) {
      if (filled === this.frame.length) this.lengthen(sizeBytes);
      const readCount = this.readBytes(this.frame.subarray(filled, sizeBytes));
      if (readCount === 0) break;
      filled += readCount;
    }
    return filled;
  }

  /** Makes the buffer longer: at most doubles what was read, whatever size the frame claims. */
  private lengthen(sizeBytes: number): void {
    const longer = new Uint8Array(Math.min(sizeBytes, Math.max(firstReadBytes, this.frame.length * 2)));
    longer.set(this.frame);
    this.frame = longer;
  }

  /** Subtle: NaN for a forged number of hundreds of bytes, so callers compare in such a way that NaN fails. */
  private varint(): number {
    const { frame, frameEnd } = this;
    let number = 0;
    for (let unit = 1; this.pos < frameEnd; unit *= 128) {
      const byte = frame[this.pos++]!;
      number += (byte & 127) * unit;
      if (byte < 128) return number;
    }
    throw this.malformed();
  }

  private reserveWord(length: number): void {
    const { bytes } = this.word;
    if (length + paddingBytes <= bytes.length) return;
    const larger = allocateText(length * 2);
    larger.bytes.set(bytes.subarray(0, this.wordLength));
    this.word = larger;
  }

  private cutShort(): CountsFileError {
    return new CountsFileError(
      this.path,
      `${this.path} is cut short: the counts end before their time`,
      againHint,
    );
  }

  private damaged(what = "its checksums do not fit its contents"): CountsFileError {
    return new CountsFileError(this.path, `${this.path} is damaged: ${what}`, againHint);
  }

  private malformed(): CountsFileError {
    return this.damaged("a word in it is none, or stands out of its order");
  }

  private otherTotals(): CountsFileError {
    return this.damaged("it does not hold as many words as its header says");
  }
}

const againHint = "count the corpus again, or copy the file again";
const viewOf = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset);
