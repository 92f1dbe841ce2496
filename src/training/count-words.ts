import {
  canSeek,
  checkUnchanged,
  emptyCorpus,
  expectedTextBytes,
  type Input,
  type RangeStatistics,
  totalBytesOf,
  wholeRange,
} from "#corpus";
import { byBytes, type Report, type StageProgress } from "#jobs";
import { allowedCores, disableFtl, runSliced, scaled, yieldToEventLoop } from "#runtime";
import type { Cache, EntryId } from "#store";
import { changesText } from "#text";
import {
  type AddedCounts,
  addTable,
  addUp,
  emptyTable,
  inByteOrder,
  narrowed,
  type Parts,
  type SortedRun,
  sourcesOfSortedRuns,
  sumOfCounts,
  type TableSize,
  totalsOf,
  type WordTable,
} from "#words";
import { type CountOptions, countCorpus } from "./count-corpus.ts";
import { type CountMemory, runOptionsOf, textBytesOf } from "./count-memory.ts";

export type CorpusOptions = Pick<CountOptions, "inputs" | "ranges" | "cutting" | "workerCount"> & {
  /** How many threads a part of the corpus gets; all of them, if left out. */
  readonly workerCountFor?: (textBytes: number) => number;
  /** Word counts from elsewhere, to be added to those of the inputs. */
  readonly countsFiles?: AddedCounts | undefined;
  /** Awaited between slices of work that tells of no progress; the event loop turns, if left out. It may throw to end the run. */
  readonly rest?: (() => Promise<void>) | undefined;
  /** The memory that may be used; all there is, if left out. */
  readonly memory?: CountMemory | undefined;
  /** The words of earlier runs. It needs `memory`. The ranges are whole inputs then. */
  readonly cache?: Cache | undefined;
  /** How many parts of the corpus are counted one after the other, each by its `ranges`; 1, if left out. */
  readonly partCount?: number;
};

/** Word counts of the corpus and the counts files, not yet added up. */
type CountedParts = {
  readonly parts: Parts;
  /** All sorted runs, also those whose words are in memory too. */
  readonly runs: readonly SortedRun[];
  /** Of each input, in their order. */
  readonly statistics: readonly RangeStatistics[];
  readonly idCounts: readonly Float64Array[];
};

export type CountedWords = {
  readonly words: WordTable;
  /** Occurrences of all words. */
  readonly pretokenCount: number;
  /** Of each input, in their order; with a cache, of those in the ranges alone. */
  readonly statistics: readonly RangeStatistics[];
};

/** Called with the size of a word table before it is made, if that is known; throws if it is too large. */
type CheckSize = (size: TableSize) => void;

/** To be called when the result is written and nobody waits: the cache keeps what is new. */
type KeepRest = { readonly keepRest?: () => Promise<void> };

/** The words of the corpus and the counts files together. What the cache knows is not counted again. */
export async function countWords(
  options: CorpusOptions,
  report: Report,
  check?: CheckSize,
): Promise<CountedWords & KeepRest> {
  const { cutting, cache } = options;
  // Counts files and the cache do not know of a space that is put before a text.
  const counted = cutting.addsPrefixSpace
    ? await countAfresh({ ...options, cache: undefined, countsFiles: undefined }, report, check)
    : cache === undefined
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
  const { inputs, countsFiles, workerCountFor, partCount = 1, rest } = options;
  const wholeRanges = options.ranges ?? inputs.map(wholeRange);
  const meant = new Set(wholeRanges.map(({ inputIndex }) => inputIndex));
  await identify(cache, inputs, report);
  const statistics: RangeStatistics[] = [];
  const runs: SortedRun[] = [];
  /** Inputs that were counted in this run, or are not wanted; and the words of the former. */
  const had = new Set([...inputs.keys()].filter((index) => !meant.has(index)));
  let fresh = emptyTable;
  let known: WordTable | undefined;
  // One round, unless a sum in the cache turns out to be damaged.
  for (let round = 0; known === undefined; round++) {
    await runSliced(cache.plan(had), rest);
    const isUnknown = (index: number) => !had.has(index) && cache.statisticsOf(index) === undefined;
    const ranges = wholeRanges.filter(({ inputIndex }) => isUnknown(inputIndex));
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
      yield* cache.hashMissing(indices);
    };
    const counted = await besides(meanwhile(), countAfresh(part, report, check));
    fresh =
      round === 0
        ? counted.words
        : addTable(
            await runSliced(inByteOrder(fresh), rest),
            await runSliced(inByteOrder(counted.words), rest),
          );
    runs.push(...counted.runs);
    for (const index of indices) {
      had.add(index);
      statistics[index] = counted.statistics[index]!;
    }
  }
  for (const index of meant) statistics[index] ??= cache.statisticsOf(index)!;
  // What is on disk goes into the cache at once, because the run may still fail; of many parts all, for their memory.
  await runSliced(cache.keep(runs, statistics, partCount === 1), rest);
  const isAllFresh = known.wordCount === 0;
  const words = isAllFresh ? fresh : addTable(known, await runSliced(inByteOrder(fresh), rest));
  return {
    words,
    pretokenCount: sumOfCounts(0, totalsOf(words).pretokenCount),
    statistics,
    keepRest: async () => {
      if (partCount === 1) await runSliced(cache.keep(runs, statistics, false));
      if (countsFiles !== undefined) return cache.keepIndex();
      const sorted = isAllFresh ? await runSliced(inByteOrder(words)) : words;
      cache.keepSum(sorted, (index) => meant.has(index), partCount);
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
    await yieldToEventLoop();
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
      await yieldToEventLoop();
      if (isFailed) break;
    }
  } catch (error) {
    // A file that cannot be hashed cannot be counted either, and counting says it better.
    await main;
    throw error;
  }
  return main;
}

/** Counts the corpus and adds up the counts files, whatever the cache may know. */
async function countAfresh(
  options: CorpusOptions & Pick<CountOptions, "countedPerInput">,
  report: Report,
  check?: CheckSize,
): Promise<CountedWords & Pick<CountedParts, "runs">> {
  const { parts, runs, statistics } = await countParts(options, report);
  const words = await runSliced(addUp(parts, check), options.rest);
  return { words, pretokenCount: sumOf(words.counts), statistics, runs };
}

/** On fewer cores slices gain nothing, and cost processor time. */
const slicingCores = scaled(8, 1);
/** One thread adds up fewer words in some 50 ms; until the others have begun, and all is told, it has done half of that. */
const slicedWordsLeast = scaled(1e6, 2);
/** A slice takes a thread some 0.8 MB beside its words: a twentieth of what it takes to count so many. */
const slicedWordsPerThread = scaled(50_000, 1);

/** With how many words in all tables it pays that each thread adds up a slice of them. */
export function slicedWordsFor(threadCount: number, coreCount: number): number {
  if (Math.min(threadCount, coreCount) < slicingCores) return Number.POSITIVE_INFINITY;
  return Math.max(slicedWordsLeast, threadCount * slicedWordsPerThread);
}

/** Counts the corpus. Its words and those of the counts files are not added up yet. */
export async function countParts(
  options: CorpusOptions & Pick<CountOptions, "countedPerInput" | "liftingModel">,
  report: Report,
  stage: StageProgress["stage"] = "counting",
): Promise<CountedParts> {
  const { inputs, cutting, workerCount, countsFiles, memory, cache, countedPerInput, liftingModel, rest } =
    options;
  const { partCount = 1 } = options;
  const ranges = options.ranges ?? inputs.map(wholeRange);
  const isUnknown = countsFiles?.hasUnsorted || changesText(cutting);
  const textBytesMax = isUnknown ? undefined : textBytesOf(inputs, ranges);
  const runOptions =
    memory && runOptionsOf(memory, cache === undefined ? textBytesMax : undefined, workerCount);
  const plan = { inputs, cutting, workerCount, countedPerInput, liftingModel, rest };
  // Unsorted counts are added to the words of a counter.
  const slicedWordsLeast = countsFiles?.hasUnsorted ? undefined : slicedWordsFor(workerCount, allowedCores());
  const { counter, slices, runs, statistics, idCounts } = await countCorpus(
    { ...plan, ranges, textBytesMax, runOptions, slicedWordsLeast },
    byBytes(report, stage, totalBytesOf(inputs, ranges)),
  );
  // Those of many parts are looked at when all are counted.
  if (partCount === 1) for (const input of inputs) checkUnchanged(input);
  const runsBefore = counter.runs.length;
  if (countsFiles !== undefined) await runSliced(countsFiles.addUnsortedTo(counter), rest);
  await runSliced(counter.finish(runs), rest);
  const allRuns = [...runs, ...counter.runs.slice(runsBefore)];
  const sources = [...sourcesOfSortedRuns(allRuns), ...(countsFiles?.sources ?? [])];
  const parts = {
    counter,
    slices,
    sources: memory ? await runSliced(narrowed(sources, memory), rest) : sources,
  };
  return { parts, runs: allRuns, statistics, idCounts };
}

/**
 * For streams, compressed files and records, only the end shows whether there was any text. Ranges of a plan may be a part
 * of the corpus without text.
 */
export function checkNotEmpty(
  { inputs, ranges }: CorpusOptions,
  statistics: readonly RangeStatistics[],
): void {
  const isEmpty = statistics.every((found) => found.textBytes === 0);
  const wasUnknown = inputs.some((input) => !canSeek(input) || input.format !== "text");
  if (isEmpty && wasUnknown && ranges === undefined) throw emptyCorpus(inputs);
}

function sumOf(values: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i]!;
  return sum;
}

disableFtl(sumOf);
