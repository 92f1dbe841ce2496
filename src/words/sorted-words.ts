import { allocateText, paddingBytes, type Text } from "../bytes/text.ts";
import { collectGarbage, releaseMemory } from "../runtime/host.ts";
import type { CountsTotals } from "./counts-format.ts";
import { totalsOf } from "./counts-writer.ts";
import { sortByBytesInSteps, sortWordsByBytes } from "./sort-by-bytes.ts";
import type { WordTable } from "./word-table.ts";

/**
 * A cursor over distinct words in ascending order of their bytes. `next` moves to the first word, then to the next one, and
 * is false at the end. The fields describe the current word.
 */
export type SortedWords = {
  next(): boolean;
  /** The current word is bytes [0, wordLength) of `word`, padded as every text. */
  readonly word: Text;
  readonly wordLength: number;
  /** Length of the longest prefix that it shares with the previous word, in bytes. */
  readonly sharedLength: number;
  readonly count: number;
  /** The totals of all words, or upper bounds where these cannot be known. */
  readonly totals: CountsTotals;
};

const worthTellingBytes = 1 << 23;
const noWords: WordTable = {
  wordCount: 0,
  bytes: new Uint8Array(0),
  starts: new Uint32Array(1),
  counts: new Float64Array(0),
};

/** The words of a table. */
export class TableWords implements SortedWords {
  word: Text;
  wordLength = 0;
  sharedLength = 0;
  count = 0;
  readonly totals: CountsTotals;
  private place = 0;

  /** @param order the words of the table in ascending order of their bytes */
  constructor(
    private table: WordTable,
    private order: Uint32Array = sortWordsByBytes(table),
  ) {
    this.totals = totalsOf(table);
    this.word = allocateText(256);
  }

  /** Sorts the table in slices of some 50 ms. */
  static *sort(table: WordTable): Generator<undefined, TableWords> {
    return new TableWords(table, yield* sortByBytesInSteps(table));
  }

  /** Moves before the first word. */
  restart(): void {
    this.place = 0;
    this.wordLength = 0;
  }

  /** Frees the memory of the table and its order. Neither may be used afterwards. */
  release(): void {
    const { bytes, starts, counts } = this.table;
    let releasedBytes = 0;
    for (const { buffer } of [bytes, starts, counts, this.order]) {
      releasedBytes += buffer.byteLength;
      releaseMemory(buffer as ArrayBuffer);
    }
    this.table = noWords;
    this.order = new Uint32Array(0);
    // The allocator keeps freed memory for some time, unless the collector is called, which takes milliseconds.
    if (releasedBytes >= worthTellingBytes) collectGarbage();
  }

  next(): boolean {
    const { table, order } = this;
    if (this.place === order.length) return false;
    const index = order[this.place++]!;
    const { bytes } = table;
    const start = table.starts[index]!;
    const length = table.starts[index + 1]! - start;
    if (length + paddingBytes > this.word.bytes.length) this.word = longerText(this.word, length * 2);
    const to = this.word.bytes;
    const sharedMax = Math.min(length, this.wordLength);
    let pos = 0;
    while (pos < sharedMax && to[pos] === bytes[start + pos]) pos++;
    this.sharedLength = pos;
    for (; pos < length; pos++) to[pos] = bytes[start + pos]!;
    this.wordLength = length;
    this.count = table.counts[index]!;
    return true;
  }
}

function longerText(text: Text, capacityBytes: number): Text {
  const longer = allocateText(capacityBytes);
  longer.bytes.set(text.bytes);
  return longer;
}
