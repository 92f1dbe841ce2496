import { corpusInputs, type RangeStatistics } from "#corpus";
import { type Report, type StageProgress, stageProgress } from "#jobs";
import { host, machine, runSliced, scaled } from "#runtime";
import { cuttings } from "#text";
import { addUp } from "./add-up.ts";
import type { Cache } from "./cache.ts";
import { type CountOptions, countCorpus } from "./count-corpus.ts";
import { type CountMemory, runOptionsOf, textBytesOf } from "./count-memory.ts";
import type { CountsSource } from "./counts-file-reader.ts";
import type { AddedCounts } from "./counts-files.ts";
import { type Parts, sourcesOfSortedRuns } from "./parts.ts";
import type { SortedRun } from "./sorted-run.ts";
import type { FreeMemory } from "./word-counter.ts";
import type * as wordTables from "./word-table.ts";
import type { WordTable } from "./word-table.ts";

export type CorpusOptions = Pick<CountOptions, "inputs" | "ranges" | "cutting" | "workerCount"> & {
  /**
   * With a cache: returns the number of threads for the inputs that the cache lacks, which have `textBytes` bytes of
   * text. If left out, it is `workerCount`.
   */
  readonly workerCountFor?: (textBytes: number) => number;
  /** Word counts from files or from the caller, to be added to those of the inputs. */
  readonly countsFiles?: AddedCounts | undefined;
  /** Awaited between steps of work; may throw to end the run. The default yields to the event loop. */
  readonly rest?: (() => Promise<void>) | undefined;
  /** The memory that may be used; all memory of the machine if left out. */
  readonly memory?: CountMemory | undefined;
  /** The words of earlier runs. Requires `memory`. All ranges must then be whole inputs. */
  readonly cache?: Cache | undefined;
  /** The number of parts of the corpus that are counted separately, one after the other. Defaults to 1. */
  readonly partCount?: number;
};

/** Word counts of the corpus and the counts files, not yet added up. */
type CountedParts = {
  readonly parts: Parts;
  /** All sorted runs, including those whose words are also in memory. */
  readonly runs: readonly SortedRun[];
  /** In the order of the inputs. */
  readonly statistics: readonly RangeStatistics[];
  readonly idCounts: readonly Float64Array[];
};

export type CountedWords = {
  readonly words: WordTable;
  /** Occurrences of all words. */
  readonly pretokenCount: number;
  /** In the order of the inputs. With a cache, only inputs in the ranges have statistics. */
  readonly statistics: readonly RangeStatistics[];
  /** Returns memory in which words were counted and that is no longer needed; undefined if there is none, or if called again. */
  readonly giveUpMemory?: () => FreeMemory | undefined;
};

/**
 * Called before a word table is made from files, with an upper bound of its size. Throws if the table would be too
 * large.
 */
export type CheckSize = (size: wordTables.Size) => void;

/**
 * With a cache, `keepRest` stores in it what counting has not stored yet: words that are only in memory, and the sum of
 * all words. Call it once the result is written.
 */
export type KeepRest = { readonly keepRest?: () => Promise<void> };

/** Counts the corpus and adds the counts files, without the cache. */
export async function countWithoutCache(
  options: CorpusOptions & Pick<CountOptions, "countedPerInput">,
  report: Report,
  check?: CheckSize,
): Promise<CountedWords & Pick<CountedParts, "runs">> {
  const { parts, runs, statistics } = await countParts(options, report);
  const words = await runSliced(addUp(parts, check), options.rest);
  const giveUpMemory = () => parts.counter.words.giveUpMemory();
  return { words, pretokenCount: sumOf(words.counts), statistics, runs, giveUpMemory };
}

/**
 * The threads may add up the words together, each thread a slice of them (`CountOptions.slicedWordsLeast`). With fewer
 * cores than this, slices gain no time, and cost processor time.
 */
const slicingCores = scaled(8, 1);
/**
 * The total number of words from which slices are faster. One thread adds up fewer words in some 50 ms, and is half
 * done before other threads have started.
 */
const slicedWordsLeast = scaled(1e6, 2);
/**
 * The number of words per thread from which slices are worth their memory. Each thread needs some 0.8 MB for its slice.
 * Preparing that memory takes a twentieth of the time in which a thread counts 50,000 words.
 */
const slicedWordsPerThread = scaled(50_000, 1);

/** Returns the least total number of words with which adding up in slices is faster; infinity if it never is. */
export function slicedWordsFor(threadCount: number, coreCount: number): number {
  if (Math.min(threadCount, coreCount) < slicingCores) return Number.POSITIVE_INFINITY;
  return Math.max(slicedWordsLeast, threadCount * slicedWordsPerThread);
}

/**
 * Counts the corpus. Does not add up the words: they are in a counter, in slices, in sorted runs and in sorted counts
 * files.
 */
export async function countParts(
  options: CorpusOptions & Pick<CountOptions, "countedPerInput" | "liftingModel">,
  report: Report,
  stage: StageProgress["stage"] = "counting",
): Promise<CountedParts> {
  const { inputs, cutting, workerCount, countsFiles, memory, cache, countedPerInput, liftingModel, rest } =
    options;
  const { partCount = 1 } = options;
  const ranges = options.ranges ?? inputs.map(corpusInputs.wholeRange);
  const isUnknown = countsFiles?.hasUnsorted || cuttings.changesText(cutting);
  const textBytesMax = isUnknown ? undefined : textBytesOf(inputs, ranges);
  const runOptions =
    memory && runOptionsOf(memory, cache === undefined ? textBytesMax : undefined, workerCount);
  const plan = { inputs, cutting, workerCount, countedPerInput, liftingModel, rest };
  // Unsorted counts are added to a counter that has all words. With slices there is no such counter.
  const mayShare = workerCount > 1 && !countsFiles?.hasUnsorted;
  const slicedWordsLeast = mayShare ? slicedWordsFor(workerCount, machine.allowedCores()) : undefined;
  const { counter, slices, runs, statistics, idCounts } = await countCorpus(
    { ...plan, ranges, textBytesMax, runOptions, slicedWordsLeast },
    stageProgress.byBytes(report, stage, corpusInputs.totalBytesOf(inputs, ranges)),
  );
  // If the corpus has several parts, inputs are checked when all parts are counted.
  if (partCount === 1) for (const input of inputs) corpusInputs.checkUnchanged(input);
  const runsBefore = counter.runs.length;
  if (countsFiles !== undefined) await runSliced(countsFiles.addUnsortedTo(counter), rest);
  await runSliced(counter.finish(runs), rest);
  const allRuns = [...runs, ...counter.runs.slice(runsBefore)];
  const sources = [...sourcesOfSortedRuns(allRuns), ...(countsFiles?.sources ?? [])];
  const parts = {
    counter,
    slices,
    sources: memory && sources.length > 1 ? await reduced(sources, memory, rest) : sources,
  };
  return { parts, runs: allRuns, statistics, idCounts };
}

/** If not all sources can be open at once, adds up some of them into sorted runs. */
async function reduced(
  sources: readonly CountsSource[],
  memory: CountMemory,
  rest: CorpusOptions["rest"],
): Promise<readonly CountsSource[]> {
  const { reduceSources } = await import("./sum-of-parts.ts");
  return runSliced(reduceSources(sources, memory), rest);
}

/**
 * Throws if there was no text, which is known only at the end for streams, compressed files and records. Does nothing
 * with given ranges, because they may be a part of the corpus that has no text.
 */
export function checkNotEmpty(
  { inputs, ranges }: CorpusOptions,
  statistics: readonly RangeStatistics[],
): void {
  const isEmpty = statistics.every((found) => found.textBytes === 0);
  const wasUnknown = inputs.some((input) => !corpusInputs.canSeek(input) || input.format !== "text");
  if (isEmpty && wasUnknown && ranges === undefined) throw corpusInputs.emptyCorpusError(inputs);
}

function sumOf(values: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i]!;
  return sum;
}

host.disableFtl(sumOf);
