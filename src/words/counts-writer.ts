import {
  type CountsHeader,
  type CountsOptions,
  checksumOf,
  formatVersion,
  frameHeadBytes,
  magic,
} from "./counts-format.ts";
import { sortWordsByBytes } from "./sort.ts";
import type { WordTable } from "./word-table.ts";

/** A frame is closed when it has reached this size: large enough to hash fast, small enough to read many files at once. */
const frameSizeBytes = 1 << 16;
/** Room for the three varints of a word. */
const wordNumbersBytes = 24;

/** The counts file of a table, in chunks. Each chunk is the reader's to keep. */
export function* countsFileChunks(table: WordTable, options: CountsOptions): Generator<Uint8Array> {
  const { wordCount, bytes, starts, counts } = table;
  const { patterns, specialTokens, isLinewise } = options;
  const pretokenCount = counts.reduce((sum, count) => sum + count, 0);
  const header: CountsHeader = {
    patterns,
    specialTokens,
    isLinewise,
    wordCount,
    byteCount: starts[wordCount]!,
    pretokenCount,
  };
  yield Uint8Array.of(...magic, formatVersion, 0, 0, 0);
  let checksum = 0n;
  const closeFrame = (frame: Uint8Array): Uint8Array => {
    const payload = frame.subarray(frameHeadBytes);
    checksum = checksumOf(payload, checksum);
    const head = new DataView(frame.buffer);
    head.setUint32(0, payload.length, true);
    head.setBigUint64(4, checksum, true);
    return frame;
  };
  const headerPayload = new TextEncoder().encode(JSON.stringify(header));
  const headerFrame = new Uint8Array(frameHeadBytes + headerPayload.length);
  headerFrame.set(headerPayload, frameHeadBytes);
  yield closeFrame(headerFrame);

  let frame = new Uint8Array(frameSizeBytes);
  let end = frameHeadBytes;
  let before = -1;
  for (const word of sortWordsByBytes(table)) {
    const shared = before < 0 ? 0 : sharedBytes(table, before, word);
    const restStart = starts[word]! + shared;
    const restBytes = starts[word + 1]! - restStart;
    if (end + restBytes + wordNumbersBytes > frame.length)
      frame = longer(frame, end + restBytes + wordNumbersBytes);
    end = writeVarint(frame, end, shared);
    end = writeVarint(frame, end, restBytes);
    end = copyBytes(bytes, restStart, restStart + restBytes, frame, end);
    end = writeVarint(frame, end, counts[word]!);
    before = word;
    if (end < frameSizeBytes - wordNumbersBytes) continue;
    yield closeFrame(frame.subarray(0, end));
    frame = new Uint8Array(frameSizeBytes);
    end = frameHeadBytes;
    before = -1;
  }
  if (end > frameHeadBytes) yield closeFrame(frame.subarray(0, end));
  yield closeFrame(new Uint8Array(frameHeadBytes));
}

function longer(frame: Uint8Array, sizeBytes: number): Uint8Array<ArrayBuffer> {
  const copy = new Uint8Array(Math.max(sizeBytes, frame.length * 2));
  copy.set(frame);
  return copy;
}

/** How many bytes two words have in common at their start; the words are not the same. */
function sharedBytes({ bytes, starts }: WordTable, a: number, b: number): number {
  const startA = starts[a]!;
  const startB = starts[b]!;
  const stop = Math.min(starts[a + 1]! - startA, starts[b + 1]! - startB);
  let shared = 0;
  while (shared < stop && bytes[startA + shared] === bytes[startB + shared]) shared++;
  return shared;
}

/** A loop for the short ones, which are nearly all: a native copy costs more to call. */
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
