import {
  type CountsOptions,
  type CountsTotals,
  checksumOf,
  formatVersion,
  frameHeadBytes,
  magic,
} from "./counts-format.ts";
import { optionsToState } from "./counts-header.ts";
import { sortByBytesInSteps } from "./sort-by-bytes.ts";
import type { WordTable } from "./word-table.ts";

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
    if (length > this.last.length) this.last = longer(this.last, length);
    const needed = this.end + length + wordNumbersBytes;
    if (needed > this.frame.length) this.frame = longer(this.frame, needed);
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

function longer(array: Uint8Array, sizeBytes: number): Uint8Array<ArrayBuffer> {
  const copy = new Uint8Array(Math.max(sizeBytes, array.length * 2));
  copy.set(array);
  return copy;
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

/** Nearly all words are short, and for those a loop is cheaper than the call of a native copy. */
function copyBytes(from: Uint8Array, start: number, stop: number, to: Uint8Array, end: number): number {
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
