import { dirname } from "node:path";
import { type ByteSink, machine, scaled } from "#runtime";
import { CountsFileReader, type CountsSource } from "./counts-file-reader.ts";
import type { CountsOptions } from "./counts-format.ts";
import * as countsFormat from "./counts-format.ts";
import { listWords, type Parts, sourcesOfSortedRuns } from "./parts.ts";
import { type RunDirectory, removeSortedRun, writeSortedRun, writeWords } from "./sorted-run.ts";
import type { SortedWords } from "./sorted-words.ts";
import * as sortedWords from "./sorted-words.ts";
import { SpillingCounter } from "./spilling-counter.ts";
import type { WordTable } from "./word-table.ts";
import * as wordTables from "./word-table.ts";

/** The sum of the words of `Parts` (parts.ts), which can be read several times. */
export class SumOfParts {
  private exactTotals: wordTables.CountsTotals | undefined;

  private constructor(
    private readonly sources: readonly CountsSource[],
    /** The words that were in the counter or the slices of the parts; null if there were none. */
    private readonly own: sortedWords.TableWords | null,
  ) {}

  static *of(parts: Parts): Generator<undefined, SumOfParts> {
    const { counter, sources } = parts;
    const table = yield* listWords(parts);
    if (table.wordCount === 0) return new SumOfParts(sources, null);
    counter.words.clear();
    return new SumOfParts(sources, yield* sortedWords.TableWords.sort(table));
  }

  /** Returns upper bounds of the totals: a word that occurs in several parts is counted several times. */
  get bound(): wordTables.CountsTotals {
    const added = this.sources.map(({ totals }) => totals);
    if (this.own !== null) added.push(this.own.totals);
    const sumOf = (total: keyof wordTables.CountsTotals) =>
      added.reduce((sum, totals) => sum + totals[total], 0);
    return {
      wordCount: sumOf("wordCount"),
      byteCount: sumOf("byteCount"),
      pretokenCount: sumOf("pretokenCount"),
    };
  }

  /** The exact totals. Unless there is only one part, the first call reads the sum. */
  *totals(): Generator<undefined, wordTables.CountsTotals> {
    const isOne = this.sources.length + (this.own === null ? 0 : 1) === 1;
    this.exactTotals ??= isOne ? this.bound : yield* this.read(sortedWords.totalsOfSum);
    return this.exactTotals;
  }

  /** Releases memory. The sum must not be read afterwards. */
  release(): void {
    this.own?.release();
  }

  /** Calls `read` with the words in the order of their bytes. */
  *read<T>(read: (words: SortedWords) => Generator<undefined, T>): Generator<undefined, T> {
    const readers: CountsFileReader[] = [];
    try {
      const summands: sortedWords.Summand[] = [];
      for (const { path } of this.sources) {
        const words = CountsFileReader.open(path);
        readers.push(words);
        summands.push({ words, times: 1 });
      }
      this.own?.restart();
      if (this.own !== null) summands.push({ words: this.own, times: 1 });
      return yield* read(summands.length === 1 ? summands[0]!.words : new sortedWords.SumOfWords(summands));
    } finally {
      for (const reader of readers) reader.close();
    }
  }
}

/** Adds up parts for `addUp`, if some of their words are in files. */
export function* addUpSources(
  parts: Parts,
  check: (totals: wordTables.CountsTotals) => void,
): Generator<undefined, WordTable> {
  const sum = yield* SumOfParts.of(parts);
  // The table is allocated once, so with a loose bound much of its memory would stay empty. So if the bound is large,
  // the sum is read twice, the first time for its exact totals.
  const totals = wordTables.bytesOf(sum.bound) > worthCountingBytes ? yield* sum.totals() : sum.bound;
  check(totals);
  const table = yield* sum.read((words) => sortedWords.wordTableOfSum(words, totals));
  sum.release();
  return table;
}

const worthCountingBytes = scaled(32e6, 200);

export type SavedSum = { readonly totals: wordTables.CountsTotals; readonly leftOut: sortedWords.LeftOut };

/** Writes the sum of the parts as a counts file, word by word, without words rarer than `minCount`. */
export function* writeSum(
  parts: Parts,
  out: ByteSink,
  options: CountsOptions,
  minCount = 1,
): Generator<undefined, SavedSum> {
  const sum = yield* SumOfParts.of(parts);
  const common = (words: SortedWords, leftOut: sortedWords.LeftOut) =>
    minCount > 1 ? new sortedWords.CommonWords(words, minCount, leftOut) : words;
  let totals = countsFormat.unknownTotals;
  // The head of a stream cannot be overwritten, so the totals are needed first.
  if (out.overwrite === undefined) {
    totals =
      minCount > 1
        ? yield* sum.read((words) => sortedWords.totalsOfSum(common(words, sortedWords.noWordsLeftOut())))
        : yield* sum.totals();
  }
  out.write(countsFormat.fileHead(options, totals));
  const leftOut = sortedWords.noWordsLeftOut();
  totals = yield* sum.read((words) => writeWords(common(words, leftOut), (chunk) => out.write(chunk)));
  out.overwrite?.(countsFormat.fileHead(options, totals), 0);
  return { totals, leftOut };
}

/** Where sums of some of the sources are written, and the options of their words. */
type RunsOfSums = {
  readonly scratch: { open(): RunDirectory };
  readonly countsOptions: CountsOptions;
};

/**
 * The number of sums that this process has written. It makes their names unique, because a process may write several
 * sums to one directory.
 */
let sumCount = 0;
const nextName = () => `sum-${sumCount++}`;

/** Replaces the smallest sources by sorted runs of their sums until all sources can be open at once. */
export function* reduceSources(
  sources: readonly CountsSource[],
  { scratch, countsOptions }: RunsOfSums,
  sourceCountMax = sourcesAtOnce(),
): Generator<undefined, CountsSource[]> {
  const left = [...sources];
  while (left.length > sourceCountMax) {
    // Adds up as few sources as possible, starting with the smallest ones.
    left.sort((a, b) => b.totals.byteCount - a.totals.byteCount);
    const group = left.splice(-Math.min(sourceCountMax, left.length - sourceCountMax + 1));
    const options = { ...scratch.open(), countsOptions };
    const sum = yield* SumOfParts.of({ counter: new SpillingCounter({}, ""), sources: group });
    const run = yield* sum.read((words) => writeSortedRun(words, nextName(), null, options));
    for (const { path } of group) if (dirname(path) === options.directory) removeSortedRun(path);
    left.push(...sourcesOfSortedRuns([run]));
  }
  return left;
}

/** The maximum number of sources that are open at once. */
const sourcesAtOnce = () => Math.max(2, Math.min(wantedSourceCount, machine.openFilesMax() - otherFiles));

/** The number of sources that are open if the system allows it. Their frames take some 34 MB. */
const wantedSourceCount = scaled(512, 3);
/** The number of other files that the program has open, or may open. */
const otherFiles = 64;
