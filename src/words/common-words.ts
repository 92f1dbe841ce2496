import type { Text } from "../bytes/text.ts";
import type { CountsTotals } from "./counts-format.ts";
import type { SortedWords } from "./sorted-words.ts";
import type { WordTable } from "./word-table.ts";

/** How many distinct words were rarer than wanted, and how often they occur together. */
export type LeftOut = { wordCount: number; pretokenCount: number };

export const nothingLeftOut = (): LeftOut => ({ wordCount: 0, pretokenCount: 0 });

/** The words that occur at least `minCount` times, of sorted words. Those left out are added to `leftOut` one by one. */
export class CommonWords implements SortedWords {
  sharedLength = 0;

  constructor(
    private readonly words: SortedWords,
    private readonly minCount: number,
    private readonly leftOut: LeftOut,
  ) {}

  get word(): Text {
    return this.words.word;
  }

  get wordLength(): number {
    return this.words.wordLength;
  }

  get count(): number {
    return this.words.count;
  }

  /** An upper bound: words may be left out. */
  get totals(): CountsTotals {
    return this.words.totals;
  }

  next(): boolean {
    const { words, minCount, leftOut } = this;
    // The prefix that two sorted words share is shared by all words between them.
    let shared = words.wordLength;
    while (words.next()) {
      shared = Math.min(shared, words.sharedLength);
      this.sharedLength = shared;
      if (words.count >= minCount) return true;
      leftOut.wordCount++;
      leftOut.pretokenCount += words.count;
    }
    return false;
  }
}

/** The same for a table, in place: its common words move to the front of its arrays. */
export function commonWordsOf(table: WordTable, minCount: number, leftOut: LeftOut): WordTable {
  const { bytes, starts, counts } = table;
  let wordCount = 0;
  let end = 0;
  for (let index = 0; index < table.wordCount; index++) {
    const count = counts[index]!;
    if (count < minCount) {
      leftOut.wordCount++;
      leftOut.pretokenCount += count;
      continue;
    }
    const start = starts[index]!;
    const stop = starts[index + 1]!;
    bytes.copyWithin(end, start, stop);
    // Never overtakes the word that is read: no more is written than was read.
    starts[wordCount] = end;
    counts[wordCount] = count;
    end += stop - start;
    wordCount++;
  }
  // Overwrites no start that is still to be read.
  starts[wordCount] = end;
  return {
    wordCount,
    bytes: bytes.subarray(0, end),
    starts: starts.subarray(0, wordCount + 1),
    counts: counts.subarray(0, wordCount),
  };
}
