import type { CountsSource } from "./counts-file-reader.ts";
import type { SortedRun } from "./sorted-run.ts";
import type { SpillingCounter } from "./spilling-counter.ts";
import * as wordCounter from "./word-counter.ts";
import type { WordTable } from "./word-table.ts";

/** The words of a corpus before they are added up: in a counter, in slices, and in files. */
export type Parts = {
  readonly counter: SpillingCounter;
  /** The tables of the threads' slices, which have no word in common. If there are any, the counter is empty. */
  readonly slices?: readonly WordTable[];
  readonly sources: readonly CountsSource[];
};

/** Returns a table of the words in the counter or in the slices. */
export const listWords = function* ({ counter, slices = [] }: Parts): Generator<undefined, WordTable> {
  return slices.length > 0 ? wordCounter.joinTables(slices) : yield* counter.words.listWords();
};

/** The sources for those sorted runs whose words are only on disk. */
export const sourcesOfSortedRuns = (runs: readonly SortedRun[]): CountsSource[] =>
  runs.flatMap(({ path, totals, isInMemoryToo }) => (isInMemoryToo ? [] : [{ path, totals }]));
