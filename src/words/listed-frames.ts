import { createKernel, growMemory } from "../runtime/kernel.ts";
import type { CountsReader } from "./counts-reader.ts";
import { tableOverflows } from "./sum-of-words.ts";
import { tableBytes, WordList, type WordTable } from "./word-table.ts";

/** Where arrays lie in the memory of a kernel of their own (src/kernel/words/list-frames.ts says what they hold). */
const batchWords = 1 << 13;
const wordsBytes = 1 << 19;
const lastBytes = 1 << 16;
const overrunBytes = 64;
const lastStart = 1 << 12;
const endsStart = lastStart + lastBytes + overrunBytes;
const countsStart = endsStart + 4 * (batchWords + 2);
const wordsStart = countsStart + 8 * batchWords;
const frameStart = wordsStart + wordsBytes + overrunBytes;

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
  exports.beginFrames(wordsStart, wordsStart + wordsBytes, endsStart, countsStart, lastStart);
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
        new Uint8Array(memory.buffer, wordsStart, wordsBytes),
        new Uint32Array(memory.buffer, endsStart, listed + 1),
        new Float64Array(memory.buffer, countsStart, listed),
      );
      if (list.wordCount > wordCount || list.byteCount > byteCount) return null;
    }
    yield;
  }
  const isAsSaid = list.wordCount === wordCount && list.byteCount === byteCount;
  return isAsSaid && exports.framesTotal() === pretokenCount && reader.isAtEnd() ? list.table() : null;
}
