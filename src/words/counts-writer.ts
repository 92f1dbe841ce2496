import { grown } from "../bytes/arrays.ts";
import {
  type Check,
  checkOr,
  fieldsOf,
  flag,
  listOf,
  Mismatch,
  shown,
  text,
  textLike,
  wholeNumber,
} from "../bytes/schema.ts";
import { UserError } from "../errors.ts";
import { unicodeVersion } from "../pattern/unicode-data.ts";
import {
  type CountsHeader,
  type CountsOptions,
  type CountsTotals,
  checksumOf,
  formatVersion,
  frameHeadBytes,
  magic,
} from "./counts-format.ts";
import { sortByBytesInSteps } from "./sort-by-bytes.ts";
import type { WordTable } from "./word-table.ts";

/**
 * The header of a counts file in either form: one JSON object.
 *
 *   KEY             VALUE              MEANING
 *   patterns        list of strings    regular expressions of the pattern's splits, in order
 *   specialTokens   list of strings    where documents ended
 *   isLinewise      boolean            whether documents were cut at the ends of lines, too
 *   unicode         string             version of the tables that say what a letter is
 *
 * The compact form has `wordCount`, `byteCount` and `pretokenCount` as well. An unknown key is an error: it may
 * change the meaning of the others.
 */
export function optionsToState({ patterns, specialTokens, isLinewise }: CountsOptions) {
  return { patterns, specialTokens, isLinewise, unicode: unicodeVersion };
}

const patterns: Check<string[]> = (value, name) => {
  const sources = listOf(text)(value, name);
  if (sources.length === 0) throw new Mismatch(value, name, "no list of at least one");
  return sources;
};

export const optionFields = { patterns, specialTokens: listOf(text), isLinewise: flag };
const headerFields = { ...optionFields, unicode: textLike(/^\d[\d.]{0,19}$/, "no version") };
const totalFields = { wordCount: wholeNumber(), byteCount: wholeNumber(), pretokenCount: wholeNumber() };

/** Parses the JSON object of a header. A UserError if the bytes are none. */
export function parseHeader(path: string, bytes: Uint8Array): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {}
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    return value as Record<string, unknown>;
  }
  throw headerError(path, "is no JSON object");
}

/** The options of a header. A UserError for a missing or unknown key, or another Unicode version. */
export function checkHeader(path: string, header: Record<string, unknown>): CountsOptions {
  return checkFields(path, header, headerFields);
}

/** The same with the totals. A UserError, too, if these contradict each other. */
export function checkHeaderWithTotals(path: string, header: Record<string, unknown>): CountsHeader {
  const checked = checkFields(path, header, { ...headerFields, ...totalFields });
  const { wordCount, byteCount, pretokenCount } = checked;
  const isPossible =
    wordCount === 0
      ? byteCount === 0 && pretokenCount === 0
      : Math.min(byteCount, pretokenCount) >= wordCount;
  if (isPossible) return checked;
  throw headerError(
    path,
    `says ${wordCount} words of ${byteCount} bytes that occur ${pretokenCount} times: that cannot be`,
  );
}

function checkFields<F extends { unicode: Check<string> } & Record<string, Check<unknown>>>(
  path: string,
  header: Record<string, unknown>,
  fields: F,
) {
  for (const key of Object.keys(header)) {
    if (!Object.hasOwn(fields, key)) {
      throw headerError(path, `says ${shown(key)}, which this program does not know`);
    }
  }
  const checked = checkOr(fieldsOf(fields), header, (what) => {
    throw headerError(path, `is not right: ${what}`);
  });
  if (checked.unicode !== unicodeVersion) {
    throw new CountsFileError(
      path,
      `${path} was made with the letters of Unicode ${checked.unicode}, and this program has those of ${unicodeVersion}`,
      againHint,
    );
  }
  return checked;
}

/** Thrown for a file of word counts that cannot be used as it is. */
export class CountsFileError extends UserError {
  constructor(
    readonly path: string,
    message: string,
    hint: string,
  ) {
    super(message, { hint });
  }
}

export function headerError(path: string, what: string): CountsFileError {
  return new CountsFileError(path, `${path}: its header ${what}`, againHint);
}

export function otherVersion(path: string, version: unknown, known: number): CountsFileError {
  const found = version === undefined ? "no version" : `version ${shown(version)}`;
  const what = `${path} has ${found} of the counts format; this program reads ${known}`;
  return new CountsFileError(path, what, againHint);
}

/** Room for some hundred thousand special tokens. No header is longer. */
export const headerBytesMax = 1 << 24;

const againHint = "count the corpus again with this version of bpe";

/** A frame is closed at this size: large enough to hash fast, small enough to read many files at once. */
const frameSizeBytes = 1 << 16;
/** Room for the three varints of a word. */
const wordNumbersBytes = 24;

/** Writes words as frames. Words come in ascending order of their bytes. A chunk is valid only during its `write`. */
export class CountsWriter {
  private frame = new Uint8Array(2 * frameSizeBytes);
  private end = frameHeadBytes;
  private checksum = 0n;
  /** The previous word, for the prefix that the next one shares; empty at the start of a frame. */
  private last = new Uint8Array(256);
  private lastLength = 0;
  private wordCount = 0;
  private byteCount = 0;
  private pretokenCount = 0;

  constructor(private readonly write: (chunk: Uint8Array) => void) {}

  /** Adds the word at bytes [start, stop). */
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
  finish(): CountsTotals {
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

  /** Makes room in the frame and in `last` for a word. */
  private reserve(length: number): void {
    if (length > this.last.length) this.last = grown(this.last, length);
    const needed = this.end + length + wordNumbersBytes;
    if (needed > this.frame.length) this.frame = grown(this.frame, needed);
  }
}

/** What comes before the words. Its size depends only on the options, so it can be overwritten when the totals are known. */
export function countsFileHead(options: CountsOptions, totals: CountsTotals): Uint8Array {
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
export const unknownTotals: CountsTotals = { wordCount: 0, byteCount: 0, pretokenCount: 0 };

function headerPayload(options: CountsOptions, totals: CountsTotals): Uint8Array {
  const { wordCount, byteCount, pretokenCount } = totals;
  const header = { ...optionsToState(options), wordCount, byteCount, pretokenCount };
  return new TextEncoder().encode(JSON.stringify(header));
}

/** The counts file of a table, in chunks. The caller may keep each chunk. */
export function* countsFileChunks(table: WordTable, options: CountsOptions): Generator<Uint8Array> {
  yield countsFileHead(options, totalsOf(table));
  const { bytes, starts, counts } = table;
  const chunks: Uint8Array[] = [];
  const writer = new CountsWriter((chunk) => chunks.push(chunk.slice()));
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

/** Yielded while words are sorted: nothing to write yet. */
const noBytes = new Uint8Array(0);

export function totalsOf({ wordCount, starts, counts }: WordTable): CountsTotals {
  let pretokenCount = 0;
  for (let w = 0; w < wordCount; w++) pretokenCount += counts[w]!;
  return { wordCount, byteCount: starts[wordCount]!, pretokenCount };
}

/** Writes the head of a frame, which is bytes [0, end) with its head. Returns the checksum. */
function writeFrameHead(frame: Uint8Array, end: number, seed: bigint): bigint {
  const payload = frame.subarray(frameHeadBytes, end);
  const checksum = checksumOf(payload, seed);
  const head = new DataView(frame.buffer, frame.byteOffset, frameHeadBytes);
  head.setUint32(0, payload.length, true);
  head.setBigUint64(4, checksum, true);
  return checksum;
}

/** How long a prefix two words share, in bytes. */
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

/** Copies bytes [start, stop); returns where they end. Most words are short: a loop is cheaper than a native copy. */
export function copyBytes(
  from: Uint8Array,
  start: number,
  stop: number,
  to: Uint8Array,
  end: number,
): number {
  if (stop - start > 256) {
    to.set(from.subarray(start, stop), end);
    return end + stop - start;
  }
  for (let pos = start; pos < stop; pos++) to[end++] = from[pos]!;
  return end;
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
