import type { CountsOptions } from "../words/counts-format.ts";
import { addTable, emptyTable } from "../words/sorted-tables.ts";
import { type Summand, SumOfWords, wordTableOfSum } from "../words/sum-of-words.ts";
import type { WordTable } from "../words/word-table.ts";
import { openEntry } from "./cache-entries.ts";

/** Entries added up in one pass, each an open file with a frame in memory. From 8 on the number hardly matters. */
const entriesAtOnce = 64;

/** The words of entries together, in ascending order of their bytes; yields between slices of some milliseconds. */
export function* sumOfEntries(
  paths: readonly string[],
  options: CountsOptions,
): Generator<undefined, WordTable> {
  // Tables of falling size: two of a size become one at once, so that each word is copied only log2 of their number.
  const tables: WordTable[] = [];
  const joinLast = () => {
    const [last, before] = [tables.pop()!, tables.pop()!];
    tables.push(addTable(before, last));
  };
  for (let first = 0; first < paths.length; first += entriesAtOnce) {
    tables.push(yield* sumAtOnce(paths.slice(first, first + entriesAtOnce), options));
    while (tables.length > 1 && tables.at(-2)!.wordCount < 2 * tables.at(-1)!.wordCount) {
      joinLast();
      yield;
    }
  }
  while (tables.length > 1) {
    joinLast();
    yield;
  }
  return tables[0] ?? emptyTable;
}

function* sumAtOnce(paths: readonly string[], options: CountsOptions): Generator<undefined, WordTable> {
  const opened: ReturnType<typeof openEntry>[] = [];
  try {
    for (const path of paths) opened.push(openEntry(path, options));
    const summands = opened.map(({ reader }): Summand => ({ words: reader, sign: 1 }));
    return yield* wordTableOfSum(new SumOfWords(summands));
  } finally {
    for (const { close } of opened) close();
  }
}
