import { type Summand, SumOfWords, wordTableOfSum } from "../words/counts-merge.ts";
import { TableWords } from "../words/sorted-words.ts";
import type { WordTable } from "../words/word-table.ts";
import { CountsFileReader, type CountsSource } from "./counts-files.ts";
import type { Run } from "./runs.ts";
import type { WordKeeper } from "./word-keeper.ts";

/** All words of a corpus, still apart: what a keeper holds, and sorted counts in files, some of them to be taken off. */
export type Parts = {
  readonly keeper: WordKeeper;
  readonly sources: readonly CountsSource[];
};

/** The runs whose words are nowhere else. */
export const sourcesOfRuns = (runs: readonly Run[]): CountsSource[] =>
  runs.flatMap(({ path, totals, isHeldToo }) => (isHeldToo ? [] : [{ path, totals, sign: 1 }]));

/** The sum of the parts; yields between slices of some milliseconds. */
export function* addUp({ keeper, sources }: Parts): Generator<undefined, WordTable> {
  const { counter } = keeper;
  if (sources.length === 0) return counter.toWordTable();
  const readers: CountsFileReader[] = [];
  try {
    const summands: Summand[] = [];
    for (const { path, sign } of sources) {
      const words = CountsFileReader.open(path);
      readers.push(words);
      summands.push({ words, sign });
    }
    if (counter.distinctWordCount > 0) {
      summands.push({ words: new TableWords(counter.toWordTable()), sign: 1 });
      counter.clear();
    }
    return yield* wordTableOfSum(new SumOfWords(summands));
  } finally {
    for (const reader of readers) reader.close();
  }
}
