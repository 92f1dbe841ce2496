import { availableParallelism } from "node:os";
import { canSeek, emptyCorpus, type Input } from "../corpus/input.ts";
import { checkUnchanged } from "../corpus/open-input.ts";
import { type Range, wholeRange } from "../corpus/range.ts";
import { addUp, narrowed, type Parts, sourcesOfSortedRuns } from "../count/add-up.ts";
import type { CountsFiles } from "../count/counts-files.ts";
import type { RangeStatistics } from "../count/range-counter.ts";
import type { SortedRun } from "../count/sorted-runs.ts";
import { UserError } from "../errors.ts";
import { estimateMergeMemoryBytes } from "../merge/estimate-merge-memory.ts";
import type { Compat, Merges } from "../merge/merges.ts";
import { type MergeOptions, trainMerges } from "../merge/train-merges.ts";
import type { CompiledPattern } from "../pattern/pattern.ts";
import { inTurns, nextTurn } from "../runtime/turns.ts";
import type { Cache } from "../store/cache.ts";
import { baseSize, buildVocabulary, type Vocabulary } from "../vocabulary/vocabulary.ts";
import { sizeOf, type TableSize, tableBytes, type WordTable } from "../words/word-table.ts";
import { type CountOptions, countCorpus } from "./count-corpus.ts";
import { type CountMemory, runOptionsOf, textBytesOf } from "./count-memory.ts";
import { countWithCache } from "./count-with-cache.ts";

export type CorpusOptions = {
  readonly inputs: readonly Input[];
  /** What of the inputs is counted; all of it, if left out. */
  readonly ranges?: readonly Range[] | undefined;
  readonly pattern: CompiledPattern;
  /** In the order of their ids. */
  readonly specialTokens: readonly string[];
  readonly workerCount: number;
  /** How many of them a part of the corpus gets; without it, all. */
  readonly workerCountFor?: (textBytes: number) => number;
  /** Word counts from elsewhere, to be added to those of the inputs. */
  readonly countsFiles?: CountsFiles | undefined;
  /** The memory that may be used; without it, all there is. */
  readonly memory?: CountMemory | undefined;
  /** What was counted in earlier runs. It needs `memory`. */
  readonly cache?: Cache | undefined;
};

type CountedParts = {
  readonly parts: Parts;
  /** All that were written, also those whose words are held, too. */
  readonly runs: readonly SortedRun[];
  /** What was met in each input, in their order. */
  readonly statistics: readonly RangeStatistics[];
};

export type CountedWords = {
  readonly words: WordTable;
  /** Occurrences of all words. */
  readonly wordCount: number;
  /** What was met in each input, in their order. */
  readonly statistics: readonly RangeStatistics[];
  /** With a cache: to be called when nobody waits for the result any more. */
  readonly keepRest?: () => Promise<void>;
};

type TrainOptions = CorpusOptions & {
  /** Called with the words when they are counted, before the merges are learned. */
  readonly keepWords?: (words: WordTable) => Promise<void>;
  /** Told what learning the merges will take, before it starts. */
  readonly tellMemory?: (estimatedBytes: number) => void;
  /** Size of the finished vocabulary: 256 bytes + special tokens + merges. */
  readonly vocabSize: number;
  readonly compat: Compat;
  readonly minFrequency: number;
  readonly maxTokenLength: number | null;
};

/** How far a long stage is, for whoever shows it. */
export type StageProgress = {
  readonly stage: "planning" | "hashing" | "counting" | "merging" | "encoding";
  readonly done: number;
  /** Null where it shows only at the end, as with a stream. */
  readonly total: number | null;
  readonly unit: "bytes" | "merges";
  /** Known while counting and merging. */
  readonly distinctWordCount?: number;
};

export type Report = (progress: StageProgress) => void;

export type Trained = {
  readonly vocabulary: Vocabulary;
  readonly statistics: readonly RangeStatistics[];
  readonly wordCount: number;
  readonly distinctWordCount: number;
  /** Bytes of all words, and how many tokens they are with all merges made. */
  readonly wordBytes: number;
  readonly tokenCount: number;
  readonly countMs: number;
  readonly mergeMs: number;
} & Pick<CountedWords, "keepRest">;

/**
 * The way from a corpus to its vocabulary: ranges -> boundaries -> words -> merges -> vocabulary. The event loop turns
 * between slices of work, so that signals are served and progress is drawn.
 */
export async function train(options: TrainOptions, report: Report): Promise<Trained> {
  const { specialTokens, compat } = options;
  const startMs = performance.now();
  const mergeOptions = mergeOptionsOf(options);
  const mergeBytesOf = (size: TableSize) => estimateMergeMemoryBytes(size, mergeOptions);
  const check = (size: TableSize) =>
    options.memory?.budget.check(
      "training",
      tableBytes(size) + mergeBytesOf(size),
      "train on a part of the corpus",
    );
  const { words, wordCount, statistics, keepRest } = await countWords(options, report, check);
  if (options.inputs.length === 0 && wordCount === 0) throw noWords();
  check(sizeOf(words));
  await options.keepWords?.(words);
  const countedMs = performance.now();
  options.tellMemory?.(mergeBytesOf(sizeOf(words)));
  const merges = await learnMerges(words, mergeOptions, report);
  const mergedMs = performance.now();
  const vocabulary = buildVocabulary({ merges, specialTokens, compat });
  const wordBytes = bytesOfAll(words);
  return {
    vocabulary,
    statistics,
    wordCount,
    distinctWordCount: words.wordCount,
    wordBytes,
    tokenCount: wordBytes - merges.replacedCount,
    countMs: countedMs - startMs,
    mergeMs: mergedMs - countedMs,
    ...(keepRest !== undefined && { keepRest }),
  };
}

/**
 * The words of the corpus and the counts files together, and what was met in each input. `check` is told how large a
 * table will be before it is made, where that is known, and may throw.
 */
export async function countWords(
  options: CorpusOptions,
  report: Report,
  check?: (size: TableSize) => void,
): Promise<CountedWords> {
  const { cache } = options;
  if (cache === undefined) return countAfresh(options, report, check);
  const counted = await countWithCache(cache, options, report, (part) =>
    countAfresh({ ...options, ...part }, report, check),
  );
  checkNotEmpty(options, counted.statistics);
  return counted;
}

async function countAfresh(
  options: CorpusOptions & Pick<CountOptions, "countedPerInput">,
  report: Report,
  check?: (size: TableSize) => void,
): Promise<CountedWords & { readonly runs: readonly SortedRun[] }> {
  const distinct = await readDistinct(options);
  if (distinct !== null)
    return { words: distinct, wordCount: sumOf(distinct.counts), statistics: [], runs: [] };
  const { parts, runs, statistics } = await countParts(options, report);
  if (options.cache === undefined) checkNotEmpty(options, statistics);
  const words = await inTurns(addUp(parts, check));
  return { words, wordCount: sumOf(words.counts), statistics, runs };
}

/** The words of a single counts file, without any corpus, as a table that needs no adding up; null for anything else. */
async function readDistinct({ inputs, countsFiles, memory, workerCount, cache }: CorpusOptions) {
  if (inputs.length > 0 || countsFiles === undefined || cache !== undefined) return null;
  const memoryBytes = memory?.budget.wordBytesMax(workerCount) ?? Number.POSITIVE_INFINITY;
  return inTurns(countsFiles.readDistinct(memoryBytes));
}

/** The words of the corpus and the counts files, still apart. */
export async function countParts(
  options: CorpusOptions & Pick<CountOptions, "countedPerInput">,
  report: Report,
): Promise<CountedParts> {
  const { inputs, pattern, workerCount, countsFiles, memory, cache, countedPerInput } = options;
  const ranges = options.ranges ?? inputs.map(wholeRange);
  const specialTokens = options.specialTokens.map((token) => new TextEncoder().encode(token));
  const textBytesMax = countsFiles?.hasUnsorted ? undefined : textBytesOf(inputs, ranges);
  const runOptions =
    memory && runOptionsOf(memory, cache === undefined ? textBytesMax : undefined, workerCount);
  const { counter, runs, statistics } = await countCorpus(
    { inputs, ranges, pattern, specialTokens, workerCount, textBytesMax, runOptions, countedPerInput },
    ({ bytesDone, bytesTotal, distinctWordCount }) =>
      report({ stage: "counting", done: bytesDone, total: bytesTotal, unit: "bytes", distinctWordCount }),
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
 * Of a stream, of what is compressed and of records it is only known at the end whether there was text in it. Planned
 * ranges may be a part that has none.
 */
function checkNotEmpty({ inputs, ranges }: CorpusOptions, statistics: readonly RangeStatistics[]): void {
  const isEmpty = statistics.every((found) => found.textBytes === 0);
  const wasUnknown = inputs.some((input) => !canSeek(input) || input.format !== "text");
  if (isEmpty && wasUnknown && ranges === undefined) throw emptyCorpus(inputs);
}

const noWords = () =>
  new UserError("there is nothing to train on: the word counts hold no words", {
    hint: "name counts of a text with words in it, or a text",
  });

function mergeOptionsOf(options: TrainOptions): MergeOptions {
  const { vocabSize, specialTokens, compat, minFrequency, maxTokenLength } = options;
  const mergeCount = vocabSize - baseSize(specialTokens, compat);
  return {
    mergeCount,
    compat,
    minFrequency,
    maxTokenLength,
    specialTokens,
    threadCount: mergeThreads(options),
  };
}

/** As many threads merge as would count a large corpus, but not more than there are cores: they wait for each other. */
function mergeThreads({ workerCount, workerCountFor }: TrainOptions): number {
  const wanted = workerCountFor?.(Number.POSITIVE_INFINITY) ?? workerCount;
  return Math.min(wanted, availableParallelism());
}

async function learnMerges(words: WordTable, mergeOptions: MergeOptions, report: Report): Promise<Merges> {
  const { mergeCount } = mergeOptions;
  const work = trainMerges(words, mergeOptions);
  for (let step = work.next(); ; step = work.next()) {
    if (step.done) return step.value;
    const { mergeCount: done } = step.value;
    report({ stage: "merging", done, total: mergeCount, unit: "merges", distinctWordCount: words.wordCount });
    await nextTurn();
  }
}

function sumOf(values: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i]!;
  return sum;
}

function bytesOfAll({ wordCount, starts, counts }: WordTable): number {
  let sum = 0;
  for (let w = 0; w < wordCount; w++) sum += (starts[w + 1]! - starts[w]!) * counts[w]!;
  return sum;
}
