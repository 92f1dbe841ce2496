import { giveBack } from "../runtime/file-window.ts";
import { createKernel, growMemory, type Kernel } from "../runtime/kernel.ts";
import type { CountsReader, ReadBytes } from "./counts-reader.ts";
import { tableOverflows } from "./sorted-words.ts";
import { tableBytes, WordList, type WordTable } from "./word-table.ts";

/** Where arrays lie in the memory of a kernel of their own (src/kernel/words/listed-words.ts says what they hold). */
const batchWords = 1 << 13;
const wordsBytes = 1 << 19;
const lastBytes = 1 << 16;
const overrunBytes = 64;
const lastStart = 1 << 12;
const frameEndsStart = lastStart + lastBytes + overrunBytes;
const frameCountsStart = frameEndsStart + 4 * (batchWords + 2);
const frameWordsStart = frameCountsStart + 8 * batchWords;
const frameStart = frameWordsStart + wordsBytes + overrunBytes;

/**
 * The words of a counts file as a table; its header is read already. Yields after each frame.
 *
 * Null where something is not plainly right: reading word by word says what is wrong. Null, too, where the table takes
 * more than `memoryBytes`.
 */
export function* listCounts(
  reader: CountsReader,
  memoryBytes: number,
): Generator<undefined, WordTable | null> {
  const { totals } = reader;
  const { wordCount, byteCount, pretokenCount } = totals;
  if (tableOverflows(totals) || tableBytes(totals) > memoryBytes) return null;
  const { exports, memory } = createKernel();
  const list = new WordList(wordCount, byteCount);
  exports.beginFrames(
    frameWordsStart,
    frameWordsStart + wordsBytes,
    frameEndsStart,
    frameCountsStart,
    lastStart,
  );
  for (let frame = reader.nextFrame(); frame.length > 0; frame = reader.nextFrame()) {
    growMemory(memory, frameStart + frame.length + overrunBytes);
    new Uint8Array(memory.buffer, frameStart, frame.length).set(frame);
    const end = frameStart + frame.length;
    for (let pos = frameStart; pos < end; ) {
      const next = exports.listFrame(pos, end, pos === frameStart ? 1 : 0, batchWords);
      if (next === 0) return null;
      pos = next >>> 0;
      const listed = exports.frameWordCount();
      list.add(
        new Uint8Array(memory.buffer, frameWordsStart, wordsBytes),
        new Uint32Array(memory.buffer, frameEndsStart, listed + 1),
        new Float64Array(memory.buffer, frameCountsStart, listed),
      );
      if (list.wordCount > wordCount || list.byteCount > byteCount) return null;
    }
    yield;
  }
  const isAsSaid = list.wordCount === wordCount && list.byteCount === byteCount;
  return isAsSaid && exports.framesTotal() === pretokenCount && reader.isAtEnd() ? list.table() : null;
}

/** Listing files takes at most so many times their size: lines have at least four bytes. */
export const listedLinesMemory = 9;

const newline = 10;

/** Lines of so many bytes are read at once: a millisecond. */
const chunkBytes = 1 << 18;
const batchLines = 1 << 13;
/** The kernel reads and writes so far behind the end of what it has. */
const paddingBytes = 64;
/** Hashes that are counted, or moved to their parts, between two yields: some milliseconds. */
const hashesPerSlice = 1 << 20;
/** Words of a part, about: a third of what its table has room for. */
const partWords = 1 << 12;
const slotsBytes = 8 << 14;
const partsPerSlice = 1 << 8;
const wordsPerSlice = 1 << 17;

/**
 * Where arrays lie in the memory of a kernel of their own (src/kernel/words/listed-words.ts says what they hold):
 *
 *   LINES          lines, the last one's beginning moved to the front for the next ones
 *   WORDS          of a batch, in plain bytes
 *   ENDS, COUNTS   of a batch
 *   SLOTS          a table of the words of one part
 *   HASHES         of all words; behind them, at the end, the stops of the parts, and the parts
 */
const linesStart = 1 << 12;
const wordsStart = linesStart + chunkBytes + paddingBytes;
const endsStart = wordsStart + chunkBytes + paddingBytes;
const countsStart = endsStart + 4 * (batchLines + 2);
const slotsStart = countsStart + 8 * batchLines;
const hashesStart = slotsStart + slotsBytes;

/**
 * The words of text files (tsv.ts) as one table, equal words added up. Yields between slices of some milliseconds.
 *
 * Null where `TsvReader` is better: if a line is not plainly right, it says what is wrong; if many words are equal, its
 * tables may be small enough for the caches.
 *
 * @param files one after the other: each gives its bytes until there are none
 * @param sizeBytes about how many bytes there are in all
 */
export function* readListedLines(
  files: Iterable<ReadBytes>,
  sizeBytes: number,
): Generator<undefined, WordTable | null> {
  const kernel = createKernel();
  const { exports, memory } = kernel;
  const list = new WordList(Math.ceil(sizeBytes / commonLineBytes), sizeBytes);
  exports.beginLines();
  exports.useLists(wordsStart, endsStart, countsStart);
  growMemory(memory, hashesStart);
  let nextLook = firstLookWords;
  for (const readBytes of files) {
    for (let filled = 0; filled >= 0; ) {
      filled = readChunk(kernel, readBytes, filled, list);
      if (filled === notRight) return null;
      yield;
      if (list.wordCount < nextLook) continue;
      const equalCount = yield* findEqual(kernel, list.wordCount, false);
      const isLarge = list.wordCount - equalCount > cachedWords;
      if (!isLarge && equalCount > list.wordCount / 4) return null;
      nextLook = isLarge ? Number.POSITIVE_INFINITY : 4 * nextLook;
    }
  }
  const equalCount = yield* findEqual(kernel, list.wordCount, true);
  if (equalCount > list.wordCount) return null;
  const hashes = new Uint32Array(memory.buffer, hashesStart, 2 * list.wordCount);
  const table = equalCount === 0 ? list.table() : yield* joinEqual(list.table(), hashes);
  const used = new Int32Array(memory.buffer, hashesStart);
  if (used.byteLength >= worthGivingBackBytes) giveBack(used);
  return table;
}

/** After so many words equal ones are looked for the first time. */
const firstLookWords = 1 << 17;
/** Tables of so many distinct words fit into the caches. */
const cachedWords = 1 << 18;
/** The first call to the system takes 2 ms: what is small is left to the garbage collector. */
const worthGivingBackBytes = 16e6;

/** What `readChunk` returns at the end of a file, and where a line is not plainly right. */
const atEnd = -1;
const notRight = -2;

/**
 * Reads the next bytes of a file and lists their lines.
 *
 * @param filled bytes of a line that stand there from before
 * @returns the same for the next call
 */
function readChunk(kernel: Kernel, readBytes: ReadBytes, filled: number, list: WordList): number {
  const lines = new Uint8Array(kernel.memory.buffer, linesStart, chunkBytes);
  if (filled === chunkBytes) return notRight;
  const size = readBytes(lines.subarray(filled));
  // The last line may do without its newline.
  if (size === 0 && filled > 0) lines[filled++] = newline;
  filled += size;
  const linesEnd = lines.subarray(0, filled).lastIndexOf(newline) + 1;
  // Subtle: before the lines are listed, which may grow the memory.
  const nextLine = lines.slice(linesEnd, filled);
  if (!listAll(kernel, linesStart + linesEnd, list)) return notRight;
  if (size === 0) return atEnd;
  new Uint8Array(kernel.memory.buffer, linesStart).set(nextLine);
  return filled - linesEnd;
}

/** Lists the lines up to `end`; false where one is not plainly right. */
function listAll(kernel: Kernel, end: number, list: WordList): boolean {
  const { exports, memory } = kernel;
  for (let line = linesStart; line < end; ) {
    const hashes = hashesStart + 8 * list.wordCount;
    growMemory(memory, hashes + 8 * batchLines);
    const next = exports.listLines(line, end, hashes, batchLines) >>> 0;
    if (next === line) return false;
    line = next;
    const lineCount = exports.readLineCount();
    list.add(
      new Uint8Array(memory.buffer, wordsStart, chunkBytes),
      new Uint32Array(memory.buffer, endsStart, lineCount + 1),
      new Float64Array(memory.buffer, countsStart, lineCount),
    );
  }
  return true;
}

/** How many words have the hash of an earlier one, more than there are words where that cannot be found out. */
function* findEqual(
  { exports, memory }: Kernel,
  wordCount: number,
  marks: boolean,
): Generator<undefined, number> {
  const partBits = Math.max(1, Math.ceil(Math.log2(wordCount / partWords)));
  const stops = hashesStart + 8 * wordCount;
  const parts = stops + 8 * 2 ** partBits;
  growMemory(memory, parts + 8 * wordCount);
  new Uint8Array(memory.buffer, stops, 4 * 2 ** partBits).fill(0);
  exports.useParts(hashesStart, stops, parts, slotsStart, partBits);
  for (const [first, stop] of slices(wordCount, hashesPerSlice)) {
    exports.countParts(first, stop);
    yield;
  }
  exports.placeParts();
  for (const [first, stop] of slices(wordCount, hashesPerSlice)) {
    exports.fillParts(first, stop);
    yield;
  }
  let equalCount = 0;
  for (const [first, stop] of slices(2 ** partBits, partsPerSlice)) {
    equalCount += exports.findEqual(first, stop, marks ? 1 : 0) >>> 0;
    yield;
  }
  return equalCount;
}

function* slices(count: number, size: number): Generator<readonly [first: number, stop: number]> {
  for (let first = 0; first < count; first += size) yield [first, Math.min(first + size, count)];
}

/**
 * Adds up equal words, in place. Null where two words are not equal that have the same hash.
 *
 * @param hashes for each word two numbers: its hash, or the index of an earlier word with the same hash and 0. The index of
 *   a word that stays is written over by its new one
 */
export function* joinEqual(table: WordTable, hashes: Uint32Array): Generator<undefined, WordTable | null> {
  const { bytes, starts, counts } = table;
  let wordCount = 0;
  for (const [first, stop] of slices(table.wordCount, wordsPerSlice)) {
    wordCount = joinSlice(table, hashes, first, stop, wordCount);
    if (wordCount === notEqual) return null;
    yield;
  }
  return {
    wordCount,
    bytes: bytes.subarray(0, starts[wordCount]!),
    starts: starts.subarray(0, wordCount + 1),
    counts: counts.subarray(0, wordCount),
  };
}

/** What `joinSlice` returns where words of one hash are not equal. */
const notEqual = -1;

/** The same for the words [first, stop), behind `wordCount` words that stay. Returns how many stay now. */
function joinSlice(
  { bytes, starts, counts }: WordTable,
  hashes: Uint32Array,
  first: number,
  stop: number,
  wordCount: number,
): number {
  let end = starts[wordCount]!;
  for (let word = first; word < stop; ) {
    // Words that stay move together.
    const start = starts[word]!;
    const shift = start - end;
    for (; word < stop && hashes[2 * word + 1] !== 0; word++) {
      hashes[2 * word] = wordCount;
      counts[wordCount] = counts[word]!;
      starts[wordCount++] = starts[word]! - shift;
    }
    if (shift > 0) bytes.copyWithin(end, start, starts[word]!);
    end = starts[word]! - shift;
    starts[wordCount] = end;
    for (; word < stop && hashes[2 * word + 1] === 0; word++) {
      const equal = hashes[2 * hashes[2 * word]!]!;
      const isEqual = isSame(bytes, starts[equal]!, starts[equal + 1]!, starts[word]!, starts[word + 1]!);
      if (!isEqual) return notEqual;
      counts[equal] = counts[equal]! + counts[word]!;
    }
  }
  return wordCount;
}

/** Whether bytes [start, end) and [otherStart, otherEnd) are the same. */
function isSame(
  bytes: Uint8Array,
  start: number,
  end: number,
  otherStart: number,
  otherEnd: number,
): boolean {
  if (end - start !== otherEnd - otherStart) return false;
  for (; start < end; start++, otherStart++) if (bytes[start] !== bytes[otherStart]) return false;
  return true;
}

/** Lines are seldom shorter, on average. */
const commonLineBytes = 8;
