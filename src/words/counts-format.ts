import { copyBytes, grow, schema, showValue, type Text, textBuffers } from "#bytes";
import { compiledPatterns, unicodeVersion } from "#pattern";
import { asOption, host, phrase, scaled, UserError } from "#runtime";
import { type Normalization, normalForms } from "#text";
import { sortByBytesInSteps } from "./sort-by-bytes.ts";
import type { SortedWords } from "./sorted-words.ts";
import type { WordTable } from "./word-table.ts";
import * as wordTables from "./word-table.ts";

/**
 * Word counts in binary form: written by `--save-counts`, read by `--counts`. Numbers are little-endian.
 *
 *   PART     SIZE      MEANING
 *   magic    8         "bpecount"
 *   version  4         3
 *   frames   any       first the header as JSON (below), then words; the last frame is empty
 *
 *   FRAME     SIZE     MEANING
 *   size      4        bytes of the payload
 *   checksum  8        xxHash64 of the payload; its seed is the previous frame's checksum, 0 for the first two frames
 *   payload   size
 *
 * The checksums form a chain, so a frame that is changed, missing or out of order is detected before it is used. The
 * header is outside the chain. Spaces pad it to a size that does not depend on the totals. So it can be overwritten at
 * the end if the totals are unknown at first. Its totals are checked when all words have been read.
 *
 *   WORD      SIZE     MEANING
 *   shared    varint   bytes that the word shares with the previous one in the frame
 *   rest      varint   remaining bytes, at least 1
 *   bytes     rest
 *   count     varint   at least 1
 *
 * Words are in ascending order of their bytes across all frames. " the" counted 12 times, after " that", is 3, 1, "e",
 * 12. A varint is LEB128: seven bits per byte, the lowest first, with the top bit set if another byte follows.
 */
export const magic = new TextEncoder().encode("bpecount");
export const formatVersion = 3;
export const frameHeadBytes = 12;

/** The options with which words were counted. Counts made with different options must not be added up. */
export type CountsOptions = {
  /** Sources of the pattern's splits, in order. */
  readonly patterns: readonly string[];
  readonly specialTokens: readonly string[];
  /** The normalization of the text; undefined or null if there was none. */
  readonly normalization?: Normalization | null | undefined;
  /** Whether documents were cut at the ends of lines. */
  readonly isLinewise: boolean;
};

type CountsHeader = CountsOptions & wordTables.CountsTotals;

/** Where words are from: a counts file, or this run. `name` is for messages; that of a file is in quotes. */
export type Origin = { readonly name: string; readonly options: CountsOptions };

export const thisRun = "this run";

/**
 * Throws a UserError that names the difference if the options differ. Special tokens may have another order, because it
 * affects ids, not counts.
 */
export function checkOptions({ name, options: has }: Origin, other: Origin, hint: string): void {
  const wanted = other.options;
  const differ = (what: string, had: string, wants: string): void => {
    if (had === wants) return;
    throw new UserError(`${name} was made with ${what} ${cut(had)}, but ${other.name} has ${cut(wants)}`, {
      hint,
    });
  };
  differ("the pattern", compiledPatterns.describe(has.patterns), compiledPatterns.describe(wanted.patterns));
  differ("the special tokens", tokenSet(has), tokenSet(wanted));
  differ("the normalizer", has.normalization ?? "none", wanted.normalization ?? "none");
  if (has.isLinewise === wanted.isLinewise) return;
  const [linewise, whole] = has.isLinewise ? [name, other.name] : [other.name, name];
  throw new UserError(
    phrase`${linewise} ${linewise === thisRun ? "counts" : "was counted"} line by line (as with ${asOption("compat", "huggingface")}), but ${whole} ${whole === thisRun ? "reads whole texts" : "was counted in whole texts"}`,
    { hint },
  );
}

/** Whether the options are equal, comparing special tokens as a set. */
export const hasOptions = (has: CountsOptions, options: CountsOptions) =>
  JSON.stringify(has.patterns) === JSON.stringify(options.patterns) &&
  tokenSet(has) === tokenSet(options) &&
  (has.normalization ?? null) === (options.normalization ?? null) &&
  has.isLinewise === options.isLinewise;

/**
 * Returns the options that all files have in common; null if there are no files. Throws a UserError if two files
 * differ.
 */
export function commonOptions(files: readonly Origin[]): CountsOptions | null {
  const [first, ...others] = files;
  if (first === undefined) return null;
  for (const other of others) checkOptions(other, first, "count all files with the same options");
  return first.options;
}

const shownLengthMax = 300;
const cut = (text: string) => (text.length > shownLengthMax ? `${text.slice(0, shownLengthMax)}…` : text);

const tokenSet = ({ specialTokens }: CountsOptions) => JSON.stringify([...specialTokens].sort());

/**
 * The options in the header of a counts file, compact or text, as one JSON object.
 *
 *   KEY             VALUE              MEANING
 *   patterns        list of strings    regular expressions of the pattern's splits, in order
 *   specialTokens   list of strings    texts at which documents ended
 *   normalization   string             steps, if the text was normalized: "NFKC,lowercase"
 *   isLinewise      boolean            whether documents also ended at the ends of lines
 *   unicode         string             version of the Unicode tables
 *
 * The compact form also has `wordCount`, `byteCount` and `pretokenCount`. An unknown key is an error, because it may
 * change the meaning of the other keys.
 */
export function optionsToState({ patterns, specialTokens, normalization, isLinewise }: CountsOptions) {
  const normalized = normalization ? { normalization } : {};
  return { patterns, specialTokens, ...normalized, isLinewise, unicode: unicodeVersion };
}

const patterns: schema.Check<string[]> = (value, name) => {
  const sources = schema.list(schema.text)(value, name);
  if (sources.length === 0) throw new schema.Mismatch(value, name, "not a list of at least one");
  return sources;
};

export const optionFields = {
  patterns,
  specialTokens: schema.list(schema.text),
  normalization: schema.optional(normalForms.check),
  isLinewise: schema.flag,
};
const headerFields = { ...optionFields, unicode: schema.textLike(/^\d[\d.]{0,19}$/, "not a version") };
const totalFields = {
  wordCount: schema.wholeNumber(),
  byteCount: schema.wholeNumber(),
  pretokenCount: schema.wholeNumber(),
};

/** Parses the JSON object of a header. Throws a UserError for anything else. */
export function parseHeader(path: string, bytes: Uint8Array): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {}
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    return value as Record<string, unknown>;
  }
  throw headerError(path, "is not a JSON object");
}

/**
 * Reads the options of a header. Throws a UserError for a missing or unknown key, an invalid value, or another Unicode
 * version.
 */
export function checkHeader(path: string, header: Record<string, unknown>): CountsOptions {
  return checkFields(path, header, headerFields);
}

/** Reads the options and totals of a header. Throws a UserError if they are invalid or inconsistent. */
function checkHeaderWithTotals(path: string, header: Record<string, unknown>): CountsHeader {
  const checked = checkFields(path, header, { ...headerFields, ...totalFields });
  const { wordCount, byteCount, pretokenCount } = checked;
  const isPossible =
    wordCount === 0
      ? byteCount === 0 && pretokenCount === 0
      : Math.min(byteCount, pretokenCount) >= wordCount;
  if (isPossible) return checked;
  throw headerError(
    path,
    `says ${wordCount} words of ${byteCount} bytes that occur ${pretokenCount} times, which contradict each other`,
  );
}

function checkFields<F extends { unicode: schema.Check<string> } & Record<string, schema.Check<unknown>>>(
  path: string,
  header: Record<string, unknown>,
  fields: F,
) {
  for (const key of Object.keys(header)) {
    if (!Object.hasOwn(fields, key)) {
      throw headerError(path, `has the entry ${showValue(key)}, which this version of bpe does not know`);
    }
  }
  const checked = schema.checkOr(schema.object(fields), header, (what) => {
    throw headerError(path, `is invalid: ${what}`);
  });
  if (checked.unicode !== unicodeVersion) {
    throw new FileError(
      path,
      `"${path}" was made with the character classes of Unicode ${checked.unicode}, but this program has those of Unicode ${unicodeVersion}`,
      againHint,
    );
  }
  return checked;
}

/** Thrown for an unusable file of word counts. */
export class FileError extends UserError {
  constructor(
    readonly path: string,
    message: string,
    hint: string,
  ) {
    super(message, { hint });
  }
}

export function headerError(path: string, what: string): FileError {
  return new FileError(path, `"${path}": its header ${what}`, againHint);
}

export function otherVersion(path: string, version: unknown, known: number): FileError {
  const found = version === undefined ? "no version" : `version ${showValue(version)}`;
  const what = `"${path}" has ${found} of the counts format; this program reads ${known}`;
  return new FileError(path, what, againHint);
}

/** The maximum size of a header: enough for some hundred thousand special tokens. */
export const headerBytesMax = 1 << 24;

const againHint = "count the corpus again with this version of bpe";

/**
 * A frame is closed when it comes close to this size. The size is large enough to hash fast, and small enough to read
 * many files at once.
 */
const frameSizeBytes = scaled(1 << 16, 64);
/** An upper bound of the size of a word's three varints. */
const wordNumbersBytes = 24;

/**
 * Writes words as frames. Words must be added in ascending order of their bytes. A chunk is valid only during the call
 * of `write`.
 */
export class Writer {
  private frame = new Uint8Array(2 * frameSizeBytes);
  private end = frameHeadBytes;
  private checksum = 0n;
  /** The previous word, for the prefix that the next one shares; empty at the start of a frame. */
  private last = new Uint8Array(scaled(256, 8));
  private lastLength = 0;
  private wordCount = 0;
  private byteCount = 0;
  private pretokenCount = 0;

  constructor(private readonly write: (chunk: Uint8Array) => void) {}

  add(bytes: Uint8Array, start: number, stop: number, count: number): void {
    const length = stop - start;
    const shared = sharedBytes(this.last, this.lastLength, bytes, start, length);
    this.wordCount++;
    this.byteCount += length;
    this.pretokenCount += count;
    this.reserve(length);
    const { frame, last } = this;
    let end = writeVarint(frame, this.end, shared);
    end = writeVarint(frame, end, length - shared);
    end = copyBytes(bytes, start + shared, stop, frame, end);
    this.end = writeVarint(frame, end, count);
    if (this.end < frameSizeBytes - wordNumbersBytes) {
      copyBytes(bytes, start + shared, stop, last, shared);
      this.lastLength = length;
    } else {
      this.closeFrame();
    }
  }

  /** Ends the file. Returns the totals of all words. */
  finish(): wordTables.CountsTotals {
    if (this.end > frameHeadBytes) this.closeFrame();
    this.closeFrame();
    const { wordCount, byteCount, pretokenCount } = this;
    return { wordCount, byteCount, pretokenCount };
  }

  private closeFrame(): void {
    const { frame, end } = this;
    this.checksum = writeFrameHead(frame, end, this.checksum);
    this.write(frame.subarray(0, end));
    this.end = frameHeadBytes;
    this.lastLength = 0;
  }

  private reserve(length: number): void {
    if (length > this.last.length) this.last = grow(this.last, length);
    const needed = this.end + length + wordNumbersBytes;
    if (needed > this.frame.length) this.frame = grow(this.frame, needed);
  }
}

/**
 * Returns the bytes before the words. Their length depends on the options, but not on the totals, so they can be
 * overwritten with the final totals.
 */
export function fileHead(options: CountsOptions, totals: wordTables.CountsTotals): Uint8Array {
  const payload = headerPayload(options, totals);
  const most = Number.MAX_SAFE_INTEGER;
  const room = headerPayload(options, { wordCount: most, byteCount: most, pretokenCount: most }).length;
  const head = new Uint8Array(magic.length + 4 + frameHeadBytes + room).fill(space);
  head.set(magic);
  head.set([formatVersion, 0, 0, 0], magic.length);
  const frame = head.subarray(magic.length + 4);
  frame.set(payload, frameHeadBytes);
  writeFrameHead(frame, frame.length, 0n);
  return head;
}

const space = 32;
export const unknownTotals: wordTables.CountsTotals = { wordCount: 0, byteCount: 0, pretokenCount: 0 };

function headerPayload(options: CountsOptions, totals: wordTables.CountsTotals): Uint8Array {
  const { wordCount, byteCount, pretokenCount } = totals;
  const header = { ...optionsToState(options), wordCount, byteCount, pretokenCount };
  return new TextEncoder().encode(JSON.stringify(header));
}

/** Returns the counts file of a table, in chunks. The caller may keep each chunk. */
export function* fileChunks(table: WordTable, options: CountsOptions): Generator<Uint8Array> {
  yield fileHead(options, wordTables.totalsOf(table));
  const { bytes, starts, counts } = table;
  const chunks: Uint8Array[] = [];
  const writer = new Writer((chunk) => chunks.push(chunk.slice()));
  const steps = sortByBytesInSteps(table);
  let step = steps.next();
  for (; !step.done; step = steps.next()) yield noBytes;
  for (const word of step.value) {
    writer.add(bytes, starts[word]!, starts[word + 1]!, counts[word]!);
    if (chunks.length > 0) yield* chunks.splice(0);
  }
  writer.finish();
  yield* chunks;
}

/** Yielded while words are being sorted and there is nothing to write. */
const noBytes = new Uint8Array(0);

/** Fills in the head of the frame in bytes [0, end) of `frame`. Returns the checksum. */
function writeFrameHead(frame: Uint8Array, end: number, seed: bigint): bigint {
  const payload = frame.subarray(frameHeadBytes, end);
  const checksum = host.xxHash64(payload, seed);
  const head = new DataView(frame.buffer, frame.byteOffset, frameHeadBytes);
  head.setUint32(0, payload.length, true);
  head.setBigUint64(4, checksum, true);
  return checksum;
}

function sharedBytes(
  last: Uint8Array,
  lastLength: number,
  bytes: Uint8Array,
  start: number,
  length: number,
): number {
  const stop = Math.min(lastLength, length);
  let shared = 0;
  while (shared < stop && last[shared] === bytes[start + shared]) shared++;
  return shared;
}

function writeVarint(frame: Uint8Array, end: number, number: number): number {
  while (number >= 128) {
    const rest = Math.floor(number / 128);
    frame[end++] = (number - rest * 128) | 128;
    number = rest;
  }
  frame[end++] = number;
  return end;
}

/** Reads bytes to the front of `into`. Returns their number: 0 only at the end of the file. */
export type ReadBytes = (into: Uint8Array) => number;

/**
 * The size to which the buffer first grows for a large frame. If a damaged frame claims a huge size, reading reaches
 * the end of the file before much memory is allocated.
 */
const firstReadBytes = scaled(1 << 20, 16);

/** The minimum size of a word in a file: three numbers and one byte. */
const wordBytesMin = 4;

/** Reads a counts file word by word, with one frame of it in memory. */
export class Reader implements SortedWords {
  readonly header: CountsHeader;
  /** The current word is bytes [0, wordLength) of `word`, which is padded like every text. */
  word: Text = textBuffers.allocate(scaled(256, 8));
  wordLength = 0;
  sharedLength = 0;
  count = 0;

  private checksum = 0n;
  /** The payload of the frame is bytes [0, frameEnd). The buffer is reused for all frames. */
  private frame = new Uint8Array(scaled(1 << 12, 16));
  private frameEnd = 0;
  private pos = 0;
  private wordsLeft: number;
  private bytesLeft: number;
  private pretokensLeft: number;

  /**
   * Reads the header.
   * @param path the file's path, for messages
   * @param fileBytes the size of the file, if known
   */
  constructor(
    readonly path: string,
    private readonly readBytes: ReadBytes,
    fileBytes = Number.POSITIVE_INFINITY,
  ) {
    const headBytes = magic.length + 4;
    const headSize = this.read(headBytes);
    if (headSize < magic.length || !magic.every((byte, i) => this.frame[i] === byte)) {
      throw new FileError(
        path,
        `"${path}" is not a file of word counts`,
        "name a file that bpe count wrote; a file of word counts as text must have a name that ends in .tsv",
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

  get totals(): wordTables.CountsTotals {
    return this.header;
  }

  /** Moves to the next word. Returns false if there is none. */
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
    // The checksum shows that the file is as it was written. These checks show that valid words were written.
    const fits = shared <= (startsFrame ? 0 : wordLength) && restStart + rest <= this.frameEnd;
    if (!fits) throw this.malformed();
    this.pos = restStart + rest;
    if (startsFrame) {
      // The first word of a frame is stored whole, so how many bytes it shares with the previous word is determined
      // here.
      const { bytes } = this.word;
      const sharedMax = Math.min(rest, wordLength);
      while (shared < sharedMax && frame[restStart + shared] === bytes[shared]) shared++;
      restStart += shared;
      rest -= shared;
    }
    if (rest < 1) throw this.malformed();
    if (shared < wordLength && frame[restStart]! <= this.word.bytes[shared]!) throw this.malformed();
    this.word = textBuffers.grow(this.word, shared + rest);
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
    if (this.read(1) > 0) throw this.damaged("there are more bytes after its end");
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
    this.checksum = host.xxHash64(this.frame.subarray(0, sizeBytes), this.checksum);
    if (this.checksum !== checksum) throw this.damaged();
  }

  /**
   * Reads bytes of the file to the front of `frame`. Returns their number, which is less than `sizeBytes` only at the
   * end of the file.
   */
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

  /**
   * Grows the buffer to twice its size, or to `firstReadBytes` if that is more, but not beyond `sizeBytes`. So the
   * buffer grows with the bytes that were read, whatever size the frame claims.
   */
  private lengthen(sizeBytes: number): void {
    const longer = new Uint8Array(Math.min(sizeBytes, Math.max(firstReadBytes, this.frame.length * 2)));
    longer.set(this.frame);
    this.frame = longer;
  }

  /**
   * Reads a varint. A forged number of hundreds of bytes gives infinity or NaN, so callers must use comparisons that
   * fail for NaN, too.
   */
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

  private cutShort(): FileError {
    return new FileError(this.path, `"${this.path}" is cut short: the counts end early`, damagedHint);
  }

  private damaged(what = "its checksums do not match its contents"): FileError {
    return new FileError(this.path, `"${this.path}" is damaged: ${what}`, damagedHint);
  }

  private malformed(): FileError {
    return this.damaged("it contains a word that is invalid or out of order");
  }

  private otherTotals(): FileError {
    return this.damaged("its words do not add up to the totals that its header states");
  }
}

const damagedHint = "count the corpus again, or copy the file again";
const viewOf = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset);
