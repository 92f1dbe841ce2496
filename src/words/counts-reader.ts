import { allocateText, paddingBytes, type Text } from "../corpus/text.ts";
import { UserError } from "../errors.ts";
import {
  type CountsHeader,
  type CountsOptions,
  checksumOf,
  formatVersion,
  frameHeadBytes,
  magic,
} from "./counts-format.ts";

/** Fills the front of `into` and returns how many bytes that were: 0 at the end of the file only. */
export type ReadBytes = (into: Uint8Array) => number;

/** What is read at first of a frame of any size: a wrong size then ends at the end of the file, not in memory. */
const firstReadBytes = 1 << 20;

/** Reads a counts file word by word, with one frame of it in memory. */
export class CountsReader {
  readonly header: CountsHeader;
  /** The word that `next` went to: bytes [0, wordLength) of `word`, padded as every text. */
  word: Text = allocateText(256);
  wordLength = 0;
  count = 0;

  private checksum = 0n;
  private frame = new Uint8Array(0);
  private pos = 0;
  private wordsLeft: number;

  /**
   * Reads the header.
   * @param path of the file, for messages
   */
  constructor(
    readonly path: string,
    private readonly readBytes: ReadBytes,
  ) {
    const head = this.read(magic.length + 4);
    if (head.length < magic.length || !magic.every((byte, i) => head[i] === byte)) {
      throw new UserError(`${path} is not a file of word counts`, {
        hint: "such files are written by --save-counts; the name of one in text form must end in .tsv",
      });
    }
    if (head.length < magic.length + 4) throw this.cutShort();
    const version = new DataView(head.buffer, head.byteOffset).getUint32(magic.length, true);
    if (version !== formatVersion) {
      throw new UserError(
        `${path} has version ${version} of the counts format; this program reads ${formatVersion}`,
        {
          hint: "count the corpus again with this version of bpe",
        },
      );
    }
    this.readFrame();
    this.header = JSON.parse(new TextDecoder().decode(this.frame)) as CountsHeader;
    this.wordsLeft = this.header.wordCount;
    this.pos = this.frame.length;
  }

  /** Goes to the next word; false if there is none. */
  next(): boolean {
    if (this.pos === this.frame.length) {
      this.readFrame();
      if (this.frame.length === 0) return this.end();
      this.pos = 0;
      this.wordLength = 0;
    }
    const { frame, wordLength } = this;
    const shared = this.varint();
    const rest = this.varint();
    const restStart = this.pos;
    // A checksum that fits says the file is as it was written; these say it was written rightly.
    if (shared > wordLength || rest < 1 || restStart + rest > frame.length) throw this.damaged();
    if (shared < wordLength && frame[restStart]! <= this.word.bytes[shared]!) throw this.damaged();
    this.reserveWord(shared + rest);
    const { bytes } = this.word;
    for (let i = 0; i < rest; i++) bytes[shared + i] = frame[restStart + i]!;
    this.wordLength = shared + rest;
    this.pos = restStart + rest;
    this.count = this.varint();
    if (this.count < 1 || this.count > Number.MAX_SAFE_INTEGER || this.wordsLeft-- === 0)
      throw this.damaged();
    return true;
  }

  private end(): false {
    if (this.wordsLeft !== 0 || this.read(1).length > 0) throw this.damaged();
    this.wordLength = 0;
    return false;
  }

  private readFrame(): void {
    const head = this.read(frameHeadBytes);
    if (head.length < frameHeadBytes) throw this.cutShort();
    const view = new DataView(head.buffer, head.byteOffset);
    const sizeBytes = view.getUint32(0, true);
    this.frame = this.read(sizeBytes);
    if (this.frame.length < sizeBytes) throw this.cutShort();
    this.checksum = checksumOf(this.frame, this.checksum);
    if (this.checksum !== view.getBigUint64(4, true)) throw this.damaged();
  }

  /** The next bytes of the file, fewer than asked for only at its end. */
  private read(sizeBytes: number): Uint8Array<ArrayBuffer> {
    let bytes = new Uint8Array(Math.min(sizeBytes, firstReadBytes));
    let filled = 0;
    while (filled < sizeBytes) {
      if (filled === bytes.length) {
        const more = new Uint8Array(Math.min(sizeBytes, bytes.length * 2));
        more.set(bytes);
        bytes = more;
      }
      const readCount = this.readBytes(bytes.subarray(filled));
      if (readCount === 0) break;
      filled += readCount;
    }
    return bytes.subarray(0, filled);
  }

  private varint(): number {
    const { frame } = this;
    let number = 0;
    for (let unit = 1; this.pos < frame.length; unit *= 128) {
      const byte = frame[this.pos++]!;
      number += (byte & 127) * unit;
      if (byte < 128) return number;
    }
    throw this.damaged();
  }

  private reserveWord(length: number): void {
    const { bytes } = this.word;
    if (length + paddingBytes <= bytes.length) return;
    const larger = allocateText(length * 2);
    larger.bytes.set(bytes.subarray(0, this.wordLength));
    this.word = larger;
  }

  private cutShort(): UserError {
    return new UserError(`${this.path} is cut short: the counts end before their time`, {
      hint: "count the corpus again, or copy the file again",
    });
  }

  private damaged(): UserError {
    return new UserError(`${this.path} is damaged: its checksums do not fit its contents`, {
      hint: "count the corpus again, or copy the file again",
    });
  }
}

/** Refuses a file made with other options than these, which it names. */
export function checkOptions(reader: CountsReader, wanted: CountsOptions): void {
  const { path, header } = reader;
  const hint =
    "word counts add up only if they were made with the same options: count again, or change the options";
  const differ = (name: string, has: unknown, wants: unknown): void => {
    const [had, want] = [JSON.stringify(has), JSON.stringify(wants)];
    if (had !== want)
      throw new UserError(`${path} was made with ${name} ${had}, and this run has ${want}`, { hint });
  };
  differ("the pattern", header.patterns, wanted.patterns);
  differ("the special tokens", [...header.specialTokens].sort(), [...wanted.specialTokens].sort());
  differ("documents cut at line ends", header.isLinewise, wanted.isLinewise);
}
