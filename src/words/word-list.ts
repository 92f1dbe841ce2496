import type { WordTable } from "./word-table.ts";

/** A word table that grows: words are added at its end, and none stands twice. */
export class WordList {
  wordCount = 0;
  byteCount = 0;
  private bytes: Uint8Array;
  private starts: Uint32Array;
  private counts: Float64Array;

  /** @param wordCount about how many words are to come, @param byteCount and how many bytes they have */
  constructor(wordCount: number, byteCount: number) {
    this.bytes = new Uint8Array(byteCount);
    this.starts = new Uint32Array(wordCount + 1);
    this.counts = new Float64Array(wordCount);
  }

  /** Adds words: word i is bytes [ends[i], ends[i + 1]), for each of the counts; ends[0] is 0. */
  add(bytes: Uint8Array, ends: Uint32Array, counts: Float64Array): void {
    const { wordCount, byteCount } = this;
    const wordEnd = wordCount + counts.length;
    const byteEnd = byteCount + ends[counts.length]!;
    if (wordEnd > this.counts.length) {
      this.starts = lengthened(this.starts, new Uint32Array(2 * wordEnd + 1));
      this.counts = lengthened(this.counts, new Float64Array(2 * wordEnd));
    }
    if (byteEnd > this.bytes.length) this.bytes = lengthened(this.bytes, new Uint8Array(2 * byteEnd));
    const { starts } = this;
    for (let i = 0; i < counts.length; i++) starts[wordCount + i] = byteCount + ends[i]!;
    this.counts.set(counts, wordCount);
    this.bytes.set(bytes.subarray(0, byteEnd - byteCount), byteCount);
    this.wordCount = wordEnd;
    this.byteCount = byteEnd;
  }

  table(): WordTable {
    const { wordCount, byteCount, starts, counts, bytes } = this;
    starts[wordCount] = byteCount;
    return {
      wordCount,
      bytes: bytes.subarray(0, byteCount),
      starts: starts.subarray(0, wordCount + 1),
      counts: counts.subarray(0, wordCount),
    };
  }
}

function lengthened<T extends Uint8Array | Uint32Array | Float64Array>(array: T, longer: T): T {
  longer.set(array);
  return longer;
}
