import { type Input, type Range, sizeOfRanges } from "#corpus";
import type { RequestedTraining } from "#options";
import { patternDigest } from "#pattern";
import { build, type MemoryBudget, scaled, wholeMemoryBytes } from "#runtime";
import { Cache, CacheDirectory, ScratchDirectory, wordsVersion } from "#store";
import { type CountsOptions, formatVersion, type SortedRunOptions } from "#words";
import { type CutSettings, countsOptionsOf } from "./training.ts";

/** The memory that counting may use, and the directory for words that it has no room for. */
export type CountMemory = {
  readonly budget: MemoryBudget;
  readonly scratch: ScratchDirectory;
  readonly countsOptions: CountsOptions;
};

/** The most that a byte of text can take: words of three bytes, all distinct, in tables that are half empty. */
const wordBytesPerTextByte = scaled(40, 1e15);

/** A memory of so many times the text's size has room for its words, unless the text was made to prevent it. */
const kernelBytesPerTextByte = 16;

/** Upper bound of the text in the ranges, if it is known before they are read. */
export function textBytesOf(inputs: readonly Input[], ranges: readonly Range[]): number | undefined {
  const isPlain = ({ isStream, compression, format }: Input) =>
    !isStream && compression === "none" && format !== "parquet";
  return inputs.every(isPlain) ? sizeOfRanges(ranges) : undefined;
}

/**
 * How many memories for words there are at a time: of each thread, of a worker that takes the place of another, and of the
 * merges, which come before all of these are gone. A thread has a second one for words that are counted per input.
 */
export const wordMemoryCount = (threadCount: number, isPerInput = false) =>
  (isPerInput ? 2 : 1) * (threadCount + 1) + 1;

/**
 * When each thread that counts writes sorted runs; undefined if memory is enough for any text of that size.
 *
 * @param textBytesMax upper bound of the text, if it is known
 */
export function runOptionsOf(
  { budget, scratch, countsOptions }: CountMemory,
  textBytesMax: number | undefined,
  threadCount: number,
): SortedRunOptions | undefined {
  const wordBytesMax = Math.floor(budget.wordBytesMax(threadCount) / threadCount);
  const isEnough =
    textBytesMax !== undefined &&
    textBytesMax * wordBytesPerTextByte <= wordBytesMax &&
    textBytesMax * kernelBytesPerTextByte <=
      wholeMemoryBytes(textBytesMax * kernelBytesPerTextByte, wordMemoryCount(threadCount));
  return isEnough ? undefined : { ...scratch.open(), countsOptions, wordBytesMax };
}

export type OpenCache = {
  readonly cache: Cache;
  readonly directory: CacheDirectory;
  /** The directory for files of this run. */
  readonly scratchPath: () => string;
  /** To be called at the end: removes what was used longest ago if the cache is over its limit. */
  readonly shrink: () => void;
};

/**
 * The memory for counting, with a directory for words that it has no room for, and the cache, if one was asked for. The
 * caller removes the directory (`memory.scratch`) in the end.
 */
export function openMemory(
  { cache: path, cacheLimit = Number.POSITIVE_INFINITY }: Pick<RequestedTraining, "cache" | "cacheLimit">,
  cutting: CutSettings,
  budget: MemoryBudget,
  warn: (message: string) => void,
): { memory: CountMemory; cached?: OpenCache } {
  const countsOptions = countsOptionsOf(cutting);
  const pattern = cutting.pattern.compiled;
  const directory = path === undefined ? undefined : new CacheDirectory(path, warn);
  const scratch = new ScratchDirectory(directory?.isWritable ? directory.path : undefined);
  const memory = { budget, scratch, countsOptions };
  if (directory === undefined) return { memory };
  const scratchPath = () => scratch.path;
  const cache = new Cache(directory, {
    countsOptions,
    version: [build.version, build.bunVersion, wordsVersion, formatVersion, patternDigest(pattern)].join(" "),
    warn,
    nowMs: Date.now,
    scratchPath,
  });
  return { memory, cached: { cache, directory, scratchPath, shrink: () => directory.shrinkTo(cacheLimit) } };
}
