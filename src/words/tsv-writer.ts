import { decimalDigitsMax, lineFeed, putDecimal, tab } from "../bytes/ascii.ts";
import { byteToCharacter } from "../bytes/byte-characters.ts";
import type { CountsOptions } from "./counts-format.ts";
import { sortByCountInSteps } from "./sort-by-count.ts";
import { tsvHead } from "./tsv-head.ts";
import type { WordTable } from "./word-table.ts";

// Word counts as text. The first line says what the words were made with (tsv-head.ts). Then comes a line a word:
// `word<TAB>count`, the word in byte-to-character form, so that it has no space, tab or newline. " the" counted 12 times
// is "Ġthe\t12\n". All characters are below U+0800: one or two bytes of UTF-8.

const chunkSizeBytes = 1 << 18;
/** A tab, the count, a line feed. */
const countSizeBytesMax = decimalDigitsMax + 2;

/** For each byte: the first byte of its character in UTF-8, and the second, or 0 if there is none. */
const utf8First = new Uint8Array(256);
const utf8Second = new Uint8Array(256);
for (let byte = 0; byte < 256; byte++) {
  const codePoint = byteToCharacter[byte]!.charCodeAt(0);
  utf8First[byte] = codePoint < 0x80 ? codePoint : 0xc0 | (codePoint >> 6);
  utf8Second[byte] = codePoint < 0x80 ? 0 : 0x80 | (codePoint & 63);
}

/** The file of a table, the highest count first. Chunks are empty while the words are sorted: slices of work. */
export function* sortedTsvChunks(table: WordTable, options: CountsOptions): Generator<Uint8Array> {
  yield tsvHead(options);
  const steps = sortByCountInSteps(table);
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done) return yield* tsvChunks(table, step.value);
    yield noBytes;
  }
}

const noBytes = new Uint8Array(0);

/** The lines of the words in `order`, in chunks of 256 KB. The caller may keep each chunk. */
export function* tsvChunks(table: WordTable, order: Uint32Array): Generator<Uint8Array> {
  const { bytes, starts, counts } = table;
  let chunk = new Uint8Array(chunkSizeBytes);
  let chunkEnd = 0;
  for (const word of order) {
    const end = starts[word + 1]!;
    let pos = starts[word]!;
    for (;;) {
      const room = (chunk.length - countSizeBytesMax - chunkEnd) >> 1;
      const stop = Math.min(end, pos + Math.max(room, 0));
      chunkEnd = writeCharacters(bytes, pos, stop, chunk, chunkEnd);
      pos = stop;
      if (pos === end) break;
      yield chunk.subarray(0, chunkEnd);
      chunk = new Uint8Array(chunkSizeBytes);
      chunkEnd = 0;
    }
    chunk[chunkEnd++] = tab;
    chunkEnd = putDecimal(counts[word]!, chunk, chunkEnd);
    chunk[chunkEnd++] = lineFeed;
  }
  if (chunkEnd > 0) yield chunk.subarray(0, chunkEnd);
}

/** Writes bytes [pos, stop) in byte-to-character form; returns where they end. */
function writeCharacters(
  bytes: Uint8Array,
  pos: number,
  stop: number,
  chunk: Uint8Array,
  chunkEnd: number,
): number {
  for (; pos < stop; pos++) {
    const byte = bytes[pos]!;
    const second = utf8Second[byte]!;
    chunk[chunkEnd] = utf8First[byte]!;
    chunk[chunkEnd + 1] = second;
    // A second byte has its top bit set, and takes one place more.
    chunkEnd += 1 + (second >> 7);
  }
  return chunkEnd;
}
