import {
  canSeek,
  checkUnchanged,
  emptyCorpus,
  type Input,
  type Range,
  totalBytesOf,
  wholeRange,
} from "../corpus/input.ts";
import { addUp, narrowed, type Parts, sourcesOfSortedRuns } from "../count/add-up.ts";
import type { CountsFiles } from "../count/counts-files.ts";
import type { RangeStatistics } from "../count/range-counter.ts";
import type { SortedRun } from "../count/sorted-runs.ts";
import type { CompiledPattern } from "../pattern/pattern.ts";
import { inTurns } from "../runtime/turns.ts";
import type { Cache } from "../store/cache.ts";
import type { TableSize, WordTable } from "../words/word-table.ts";
import { type CountOptions, countCorpus } from "./count-corpus.ts";
import { type CountMemory, runOptionsOf, textBytesOf } from "./count-memory.ts";
import { byBytes, type Report, type StageProgress } from "./stage-progress.ts";

export type CorpusOptions = {
  readonly inputs: readonly Input[];
  /** The ranges of the inputs that are counted; all of each input, if left out. */
  readonly ranges?: readonly Range[] | undefined;
  readonly pattern: CompiledPattern;
  /** In the order of their ids. */
  readonly specialTokens: readonly string[];
  readonly workerCount: number;
  /** How many threads a part of the corpus gets; all of them, if left out. */
  readonly workerCountFor?: (textBytes: number) => number;
  /** Word counts from elsewhere, to be added to those of the inputs. */
  readonly countsFiles?: CountsFiles | undefined;
  /** The memory that may be used; all there is, if left out. */
  readonly memory?: CountMemory | undefined;
  /** The words of earlier runs. It needs `memory`. */
  readonly cache?: Cache | undefined;
};

/** Word counts of the corpus and the counts files, not yet added up. */
export type CountedParts = {
  readonly parts: Parts;
  /** All sorted runs, also those whose words are in memory too. */
  readonly runs: readonly SortedRun[];
  /** Of each input, in their order. */
  readonly statistics: readonly RangeStatistics[];
};

export type CountedWords = {
  readonly words: WordTable;
  /** Occurrences of all words. */
  readonly pretokenCount: number;
  /** Of each input, in their order. */
  readonly statistics: readonly RangeStatistics[];
};

/** Called with the size of a word table before it is made, if that is known; throws if it is too large. */
export type CheckSize = (size: TableSize) => void;

/** Counts the corpus and adds up the counts files, whatever the cache may know. */
export async function countAfresh(
  options: CorpusOptions & Pick<CountOptions, "countedPerInput">,
  report: Report,
  check?: CheckSize,
): Promise<CountedWords & Pick<CountedParts, "runs">> {
  const listed = await listCountsFiles(options);
  if (listed !== null)
    return { words: listed, pretokenCount: sumOf(listed.counts), statistics: [], runs: [] };
  const { parts, runs, statistics } = await countParts(options, report);
  const words = await inTurns(addUp(parts, check));
  return { words, pretokenCount: sumOf(words.counts), statistics, runs };
}

/** The words of counts files, without any corpus, where these can be listed without hash tables; else null. */
async function listCountsFiles({ inputs, countsFiles, memory, workerCount, cache }: CorpusOptions) {
  if (inputs.length > 0 || countsFiles === undefined || cache !== undefined) return null;
  const memoryBytes = memory?.budget.wordBytesMax(workerCount) ?? Number.POSITIVE_INFINITY;
  return inTurns(countsFiles.listWords(memoryBytes));
}

/** Counts the corpus. Its words and those of the counts files are not added up yet. */
export async function countParts(
  options: CorpusOptions & Pick<CountOptions, "countedPerInput" | "countJob">,
  report: Report,
  stage: StageProgress["stage"] = "counting",
): Promise<CountedParts> {
  const { inputs, pattern, workerCount, countsFiles, memory, cache, countedPerInput, countJob } = options;
  const ranges = options.ranges ?? inputs.map(wholeRange);
  const specialTokens = options.specialTokens.map((token) => new TextEncoder().encode(token));
  const isUnknown = countsFiles?.hasUnsorted || countJob?.changesText;
  const textBytesMax = isUnknown ? undefined : textBytesOf(inputs, ranges);
  const runOptions =
    memory && runOptionsOf(memory, cache === undefined ? textBytesMax : undefined, workerCount);
  const plan = { inputs, pattern, workerCount, countedPerInput, countJob };
  const { counter, runs, statistics } = await countCorpus(
    { ...plan, ranges, specialTokens, textBytesMax, runOptions },
    byBytes(report, stage, totalBytesOf(inputs, ranges)),
  );
  for (const input of inputs) checkUnchanged(input);
  const runsBefore = counter.runs.length;
  if (countsFiles !== undefined) await inTurns(countsFiles.addUnsortedTo(counter));
  await inTurns(counter.finish(runs));
  const allRuns = [...runs, ...counter.runs.slice(runsBefore)];
  const sources = [...sourcesOfSortedRuns(allRuns), ...(countsFiles?.sources ?? [])];
  const parts = { counter, sources: memory ? await inTurns(narrowed(sources, memory)) : sources };
  return { parts, runs: allRuns, statistics };
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
