import { giveBack } from "../runtime/give-back.ts";
import { createKernel, growMemory, type Kernel } from "../runtime/kernel.ts";
import type { ReadBytes } from "./counts-reader.ts";
import { WordList } from "./word-list.ts";
import type { WordTable } from "./word-table.ts";

/** Reading and looking through so large a file takes at most so many times its size: of lines of four bytes, the shortest. */
export const distinctLinesMemory = 9;

const newline = 10;

/** Lines of so many bytes are read at once: a millisecond. */
const chunkBytes = 1 << 18;
const batchLines = 1 << 13;
/** The kernel reads and writes so far behind the end of what it has. */
const paddingBytes = 64;
/** Hashes that are counted, or brought into their parts, between two turns: some milliseconds. */
const hashesPerSlice = 1 << 20;
/** Hashes of a part, about: a third of what its table has room for. */
const partHashes = 1 << 12;
const slotsBytes = 8 << 14;
const partsPerSlice = 1 << 8;

/**
 * Where things stand in the memory of a kernel of their own (src/kernel/words/list-lines.ts says what they hold):
 *
 *   LINES          lines, the last one's beginning moved to the front for the next ones
 *   WORDS          of a batch, in plain bytes
 *   ENDS, COUNTS   of a batch
 *   SLOTS          a table of hashes
 *   HASHES         of all words; behind them, at the end, the ends of the parts, and the parts
 */
const linesStart = 1 << 12;
const wordsStart = linesStart + chunkBytes + paddingBytes;
const endsStart = wordsStart + chunkBytes + paddingBytes;
const countsStart = endsStart + 4 * (batchLines + 2);
const slotsStart = countsStart + 8 * batchLines;
const hashesStart = slotsStart + slotsBytes;

/**
 * The words of a file of lines (tsv.ts) as a table, if each stands there once; null where one may stand twice, and where a line
 * is not plainly right: the reader for all files says what is wrong with it. Yields between slices of some milliseconds.
 *
 * @param readBytes gives the bytes of the lines
 * @param sizeBytes about how many they are
 */
export function* readDistinctLines(
  readBytes: ReadBytes,
  sizeBytes: number,
): Generator<undefined, WordTable | null> {
  const kernel = createKernel();
  const list = new WordList(Math.ceil(sizeBytes / commonLineBytes), sizeBytes);
  kernel.exports.beginLines();
  growMemory(kernel.memory, hashesStart);
  let nextLook = firstLookWords;
  for (let filled = 0; ; ) {
    const memory = new Uint8Array(kernel.memory.buffer);
    const lines = memory.subarray(linesStart, linesStart + chunkBytes);
    if (filled === chunkBytes) return null;
    const size = readBytes(lines.subarray(filled));
    // The last line may do without its newline.
    if (size === 0 && filled > 0) lines[filled++] = newline;
    filled += size;
    const linesEnd = lines.subarray(0, filled).lastIndexOf(newline) + 1;
    if (!listAll(kernel, linesStart + linesEnd, list)) return null;
    if (size === 0) break;
    lines.copyWithin(0, linesEnd, filled);
    filled -= linesEnd;
    yield;
    // Files of files show it soon.
    if (list.wordCount < nextLook) continue;
    if (!(yield* areDistinct(kernel, list.wordCount))) return null;
    nextLook *= 4;
  }
  const isDistinct = yield* areDistinct(kernel, list.wordCount);
  const hashes = new Int32Array(kernel.memory.buffer, hashesStart);
  if (hashes.byteLength >= worthGivingBackBytes) giveBack(hashes);
  return isDistinct ? list.table() : null;
}

const firstLookWords = 1 << 17;
/** The first call to the system takes 2 ms: what is small is left to the garbage collector. */
const worthGivingBackBytes = 16e6;

/** Lists the lines up to `end`; false where one is not plainly right. */
function listAll(kernel: Kernel, end: number, list: WordList): boolean {
  const { exports, memory } = kernel;
  for (let line = linesStart; line < end; ) {
    const hashes = hashesStart + 8 * list.wordCount;
    growMemory(memory, hashes + 8 * batchLines);
    const next = exports.listLines(line, end, wordsStart, endsStart, countsStart, hashes, batchLines) >>> 0;
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

function* areDistinct({ exports, memory }: Kernel, wordCount: number): Generator<undefined, boolean> {
  const partBits = Math.max(1, Math.ceil(Math.log2(wordCount / partHashes)));
  const ends = hashesStart + 8 * wordCount;
  const parts = ends + 8 * 2 ** partBits;
  growMemory(memory, parts + 8 * wordCount);
  new Uint8Array(memory.buffer, ends, 4 * 2 ** partBits).fill(0);
  for (const [first, stop] of slices(wordCount, hashesPerSlice)) {
    exports.countParts(hashesStart, first, stop, ends, partBits);
    yield;
  }
  exports.placeParts(ends, partBits);
  for (const [first, stop] of slices(wordCount, hashesPerSlice)) {
    exports.fillParts(hashesStart, first, stop, ends, partBits, parts);
    yield;
  }
  for (const [first, stop] of slices(2 ** partBits, partsPerSlice)) {
    if (exports.hasEqual(first, stop, ends, partBits, parts, slotsStart) !== 0) return false;
    yield;
  }
  return true;
}

function* slices(count: number, size: number): Generator<readonly [first: number, stop: number]> {
  for (let first = 0; first < count; first += size) yield [first, Math.min(first + size, count)];
}

/** Lines are seldom shorter, on average. */
const commonLineBytes = 8;
