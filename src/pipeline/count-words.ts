import { expectedTextBytes, type Input, wholeRange } from "../corpus/input.ts";
import type { RangeStatistics } from "../count/range-counter.ts";
import type { SortedRun } from "../count/sorted-runs.ts";
import { inTurns, nextTurn } from "../runtime/turns.ts";
import type { Cache } from "../store/cache.ts";
import type { EntryId } from "../store/cache-directory.ts";
import { totalsOf } from "../words/counts-writer.ts";
import { addTable, emptyTable, inByteOrder } from "../words/sorted-words.ts";
import { sumOfCounts } from "../words/word-counter.ts";
import type { WordTable } from "../words/word-table.ts";
import {
  type CheckSize,
  type CorpusOptions,
  type CountedWords,
  checkNotEmpty,
  countAfresh,
} from "./count-afresh.ts";
import { byBytes, type Report } from "./stage-progress.ts";

/** To be called when the result is written and nobody waits: the cache keeps what is new. */
type KeepRest = { readonly keepRest?: () => Promise<void> };

/** The words of the corpus and the counts files together. What the cache knows is not counted again. */
export async function countWords(
  options: CorpusOptions,
  report: Report,
  check?: CheckSize,
): Promise<CountedWords & KeepRest> {
  const { cache } = options;
  const counted =
    cache === undefined
      ? await countAfresh(options, report, check)
      : await countWithCache(cache, options, report, check);
  checkNotEmpty(options, counted.statistics);
  return counted;
}

/** Counts the inputs that the cache does not know, and adds the words that it knows. */
async function countWithCache(
  cache: Cache,
  options: CorpusOptions,
  report: Report,
  check?: CheckSize,
): Promise<CountedWords & KeepRest> {
  const { inputs, countsFiles, workerCountFor } = options;
  await identify(cache, inputs, report);
  const statistics: RangeStatistics[] = [];
  const runs: SortedRun[] = [];
  /** Inputs that were counted in this run, and their words. */
  const freshInputs = new Set<number>();
  let fresh = emptyTable;
  let known: WordTable | undefined;
  // One round, unless a sum in the cache turns out to be damaged.
  for (let round = 0; known === undefined; round++) {
    await inTurns(cache.plan(freshInputs));
    const isUnknown = (index: number) => !freshInputs.has(index) && cache.statisticsOf(index) === undefined;
    const ranges = inputs.map(wholeRange).filter(({ inputIndex }) => isUnknown(inputIndex));
    const indices = ranges.map(({ inputIndex }) => inputIndex);
    const textBytes = expectedTextBytes(indices.map((index) => inputs[index]!));
    const part = {
      ...options,
      ranges,
      countedPerInput: new Set(indices.filter((index) => cache.canKeep(index))),
      workerCount: workerCountFor?.(textBytes) ?? options.workerCount,
      // They are added up in the first round.
      ...(round > 0 && { countsFiles: undefined }),
    };
    const meanwhile = function* (): Generator<undefined, void> {
      known = yield* cache.addUp();
      yield* cache.hashMissing();
    };
    const counted = await besides(meanwhile(), countAfresh(part, report, check));
    fresh =
      round === 0
        ? counted.words
        : addTable(await inTurns(inByteOrder(fresh)), await inTurns(inByteOrder(counted.words)));
    runs.push(...counted.runs);
    for (const index of indices) {
      freshInputs.add(index);
      statistics[index] = counted.statistics[index]!;
    }
  }
  for (const index of inputs.keys()) statistics[index] ??= cache.statisticsOf(index)!;
  // What is on disk goes into the cache at once, because the run may still fail.
  await inTurns(cache.keep(runs, statistics, true));
  const isAllFresh = known.wordCount === 0;
  const words = isAllFresh ? fresh : addTable(known, await inTurns(inByteOrder(fresh)));
  return {
    words,
    pretokenCount: sumOfCounts(0, totalsOf(words).pretokenCount),
    statistics,
    keepRest: async () => {
      await inTurns(cache.keep(runs, statistics, false));
      if (countsFiles !== undefined) cache.keepIndex();
      else cache.keepSum(isAllFresh ? await inTurns(inByteOrder(words)) : words);
    },
  };
}

/** Finds out which contents the inputs have, and which of `others` the cache has. */
export async function identify(
  cache: Cache,
  inputs: readonly Input[],
  report: Report,
  others?: readonly EntryId[],
): Promise<void> {
  const bytesTotal = inputs.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  const tell = byBytes(report, "hashing", bytesTotal);
  let bytesDone = 0;
  for (const sizeBytes of cache.identify(inputs, others)) {
    bytesDone += sizeBytes;
    tell(bytesDone);
    await nextTurn();
  }
}

/** Does `work` in the turns that `main` leaves free. If `main` fails, the rest of the work is not done. */
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
    // A file that cannot be hashed cannot be counted either, and counting says it better.
    await main;
    throw error;
  }
  return main;
}
