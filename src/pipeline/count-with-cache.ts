import { expectedTextBytes, type Input } from "../corpus/input.ts";
import { type Range, wholeRange } from "../corpus/range.ts";
import type { RangeStatistics } from "../count/range-counter.ts";
import type { SortedRun } from "../count/sorted-runs.ts";
import { inTurns, nextTurn } from "../runtime/turns.ts";
import type { Cache } from "../store/cache.ts";
import type { EntryId } from "../store/cache-names.ts";
import { totalsOf } from "../words/counts-writer.ts";
import { addTable, emptyTable, inByteOrder } from "../words/sorted-tables.ts";
import { sumOfCounts } from "../words/word-counter.ts";
import type { WordTable } from "../words/word-table.ts";
import type { CorpusOptions, CountedWords, Report } from "./train.ts";

/** What is counted of the corpus, and which inputs' words are wanted apart. */
type Part = {
  readonly ranges: readonly Range[];
  readonly countedPerInput: ReadonlySet<number>;
  readonly workerCount: number;
  readonly countsFiles?: undefined;
};
type Counted = CountedWords & { readonly runs: readonly SortedRun[] };

/**
 * Counts with `count` what the cache does not know, adds what it knows, and lets it keep what is new: part of it, and the
 * sum, by `keepRest`, when nobody waits for the result any more.
 */
export async function countWithCache(
  cache: Cache,
  { inputs, countsFiles, workerCount: workerCountMax, workerCountFor }: CorpusOptions,
  report: Report,
  count: (part: Part) => Promise<Counted>,
): Promise<CountedWords> {
  await identify(cache, inputs, report);
  const statistics: RangeStatistics[] = [];
  const runs: SortedRun[] = [];
  const had = new Set<number>();
  let fresh = emptyTable;
  let known: WordTable | undefined;
  // Once, unless a sum turns out to be none.
  for (let round = 0; known === undefined; round++) {
    await inTurns(cache.plan(had));
    const ranges = inputs
      .map(wholeRange)
      .filter(({ inputIndex }) => !had.has(inputIndex) && cache.statisticsOf(inputIndex) === undefined);
    const toKeep = ranges.map(({ inputIndex }) => inputIndex).filter((index) => cache.canKeep(index));
    const toCount = ranges.map(({ inputIndex }) => inputs[inputIndex]!);
    const part = {
      ranges,
      countedPerInput: new Set(toKeep),
      workerCount: workerCountFor?.(expectedTextBytes(toCount)) ?? workerCountMax,
      ...(round > 0 && { countsFiles: undefined }),
    };
    const meanwhile = function* (): Generator<undefined, void> {
      known = yield* cache.addUp();
      yield* cache.hashMissing();
    };
    const counted = await besides(meanwhile(), count(part));
    fresh =
      round === 0
        ? counted.words
        : addTable(await inTurns(inByteOrder(fresh)), await inTurns(inByteOrder(counted.words)));
    runs.push(...counted.runs);
    for (const { inputIndex } of ranges) {
      had.add(inputIndex);
      statistics[inputIndex] = counted.statistics[inputIndex]!;
    }
  }
  for (const inputIndex of inputs.keys()) statistics[inputIndex] ??= cache.statisticsOf(inputIndex)!;
  // What was written is kept at once, for the run may fail yet.
  await inTurns(cache.keep(runs, statistics, true));
  const isAllNew = known.wordCount === 0;
  const words = isAllNew ? fresh : addTable(known, await inTurns(inByteOrder(fresh)));
  return {
    words,
    wordCount: sumOfCounts(0, totalsOf(words).pretokenCount),
    statistics,
    keepRest: async () => {
      await inTurns(cache.keep(runs, statistics, false));
      if (countsFiles !== undefined) cache.keepIndex();
      else cache.keepSum(isAllNew ? await inTurns(inByteOrder(words)) : words);
    },
  };
}

/** Finds out which contents the inputs have. Of `others`, which the cache may not have, too. */
export async function identify(
  cache: Cache,
  inputs: readonly Input[],
  report: Report,
  others?: readonly EntryId[],
): Promise<void> {
  const total = inputs.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  let done = 0;
  for (const sizeBytes of cache.identify(inputs, others)) {
    done += sizeBytes;
    report({ stage: "hashing", done, total, unit: "bytes" });
    await nextTurn();
  }
}

/** Does the work in the turns that `main` leaves free; if that fails, the rest of the work is not done. */
async function besides<T>(work: Generator<unknown, void>, main: Promise<T>): Promise<T> {
  let isFailed = false;
  main.catch(() => {
    isFailed = true;
  });
  try {
    for (const _ of work) {
      await nextTurn();
      if (isFailed) break;
    }
  } catch (error) {
    // What cannot be hashed cannot be counted either, and who counts says it better.
    await main;
    throw error;
  }
  return main;
}
