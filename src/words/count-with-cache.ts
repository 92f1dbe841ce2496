import { corpusInputs, type Input, type RangeStatistics } from "#corpus";
import { type Report, stageProgress } from "#jobs";
import { runSliced, yieldToEventLoop } from "#runtime";
import type { Cache } from "./cache.ts";
import type * as cacheDirectory from "./cache-directory.ts";
import {
  type CheckSize,
  type CorpusOptions,
  type CountedWords,
  countWithoutCache,
  type KeepRest,
} from "./count-parts.ts";
import type { SortedRun } from "./sorted-run.ts";
import * as sortedWords from "./sorted-words.ts";
import * as wordCounter from "./word-counter.ts";
import type { WordTable } from "./word-table.ts";
import * as wordTables from "./word-table.ts";

/** Counts the inputs that the cache lacks, and adds the words that the cache has. */
export async function countWithCache(
  cache: Cache,
  options: CorpusOptions,
  report: Report,
  check?: CheckSize,
): Promise<CountedWords & KeepRest> {
  const { inputs, countsFiles, workerCountFor, partCount = 1, rest } = options;
  const wholeRanges = options.ranges ?? inputs.map(corpusInputs.wholeRange);
  const meant = new Set(wholeRanges.map(({ inputIndex }) => inputIndex));
  await identify(cache, inputs, report);
  const statistics: RangeStatistics[] = [];
  const runs: SortedRun[] = [];
  /** The inputs that were already counted in this run, or are outside the ranges. */
  const had = new Set([...inputs.keys()].filter((index) => !meant.has(index)));
  let fresh = sortedWords.emptyTable;
  let known: WordTable | undefined;
  // There is one round, unless a file of the cache turns out to be unusable while words are added up. The next round
  // does without that file, and counts the inputs whose words are now missing.
  for (let round = 0; known === undefined; round++) {
    await runSliced(cache.plan(had), rest);
    const isUnknown = (index: number) => !had.has(index) && cache.statisticsOf(index) === undefined;
    const ranges = wholeRanges.filter(({ inputIndex }) => isUnknown(inputIndex));
    const indices = ranges.map(({ inputIndex }) => inputIndex);
    const textBytes = corpusInputs.expectedTextBytes(indices.map((index) => inputs[index]!));
    const part = {
      ...options,
      ranges,
      countedPerInput: new Set(indices.filter((index) => cache.canKeep(index))),
      workerCount: workerCountFor?.(textBytes) ?? options.workerCount,
      // The counts files were added in the first round.
      ...(round > 0 && { countsFiles: undefined }),
    };
    const meanwhile = function* (): Generator<undefined, void> {
      known = yield* cache.addUp();
      yield* cache.hashMissing(indices);
    };
    const counted = await runBetween(meanwhile(), countWithoutCache(part, report, check));
    fresh =
      round === 0
        ? counted.words
        : sortedWords.addTable(
            await runSliced(sortedWords.inByteOrder(fresh), rest),
            await runSliced(sortedWords.inByteOrder(counted.words), rest),
          );
    runs.push(...counted.runs);
    for (const index of indices) {
      had.add(index);
      statistics[index] = counted.statistics[index]!;
    }
  }
  for (const index of meant) statistics[index] ??= cache.statisticsOf(index)!;
  // Words that are already on disk are stored in the cache now, because the run may still fail. If the corpus has
  // several parts, all words of this part are stored now, which frees memory.
  await runSliced(cache.keep(runs, statistics, partCount === 1), rest);
  const isAllFresh = known.wordCount === 0;
  const words = isAllFresh
    ? fresh
    : sortedWords.addTable(known, await runSliced(sortedWords.inByteOrder(fresh), rest));
  return {
    words,
    pretokenCount: wordCounter.sumOfCounts(0, wordTables.totalsOf(words).pretokenCount),
    statistics,
    keepRest: async () => {
      if (partCount === 1) await runSliced(cache.keep(runs, statistics, false));
      if (countsFiles !== undefined) return cache.keepIndex();
      const sorted = isAllFresh ? await runSliced(sortedWords.inByteOrder(words)) : words;
      cache.keepSum(sorted, (index) => meant.has(index), partCount);
    },
  };
}

/** Hashes the inputs whose contents may be in the cache or among `others`, and reports the progress. */
export async function identify(
  cache: Cache,
  inputs: readonly Input[],
  report: Report,
  others?: readonly cacheDirectory.EntryId[],
): Promise<void> {
  const bytesTotal = inputs.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  const tell = stageProgress.byBytes(report, "hashing", bytesTotal);
  let bytesDone = 0;
  for (const sizeBytes of cache.identify(inputs, others)) {
    bytesDone += sizeBytes;
    tell(bytesDone);
    await yieldToEventLoop();
  }
}

/** Runs `work` step by step; `main` continues between the steps. If `main` fails, drops the rest of the work. */
async function runBetween<T>(work: Generator<unknown, void>, main: Promise<T>): Promise<T> {
  let isFailed = false;
  main.catch(() => {
    isFailed = true;
  });
  try {
    for (const _ of work) {
      await yieldToEventLoop();
      if (isFailed) break;
    }
  } catch (error) {
    // A file that cannot be hashed cannot be counted either, and counting has the better error.
    await main;
    throw error;
  }
  return main;
}
