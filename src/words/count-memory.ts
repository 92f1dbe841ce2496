import { corpusInputs, type Input, type Range } from "#corpus";
import { kernels, type machine, scaled } from "#runtime";
import type { ScratchDirectory } from "#store";
import type { CountsOptions } from "./counts-format.ts";
import type { SortedRunOptions } from "./sorted-run.ts";

/** The memory for counting, and the directory for words that do not fit. */
export type CountMemory = {
  readonly budget: machine.MemoryBudget;
  readonly scratch: ScratchDirectory;
  readonly countsOptions: CountsOptions;
};

/**
 * An upper bound of the memory in bytes for words, per byte of a large text. Distinct words of three bytes, in tables
 * that have just grown, need the most.
 */
const wordBytesPerTextByte = scaled(40, 1e15);

/** The bytes of kernel memory per byte of text. This usually suffices for the words of the text. */
const kernelBytesPerTextByte = 16;

/** Returns an upper bound of the bytes of text in the ranges, if known. */
export function textBytesOf(inputs: readonly Input[], ranges: readonly Range[]): number | undefined {
  const isPlain = ({ isStream, compression, format }: Input) =>
    !isStream && compression === "none" && format !== "parquet";
  return inputs.every(isPlain) ? corpusInputs.sizeOfRanges(ranges) : undefined;
}

/**
 * Returns how many kernel memories for words can exist at once: one for each thread, and one for learning merges.
 * Another is for a worker that may replace the main thread, because the main thread's memory then stays. With
 * `isPerInput`, each thread and that worker have two: for the words of the current input, and for those of earlier
 * inputs.
 */
export const wordMemoryCount = (threadCount: number, isPerInput = false) =>
  (isPerInput ? 2 : 1) * (threadCount + 1) + 1;

/**
 * Returns the options for writing sorted runs; undefined if memory is expected to suffice.
 *
 * @param textBytesMax upper bound of the text, if known
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
      kernels.wholeMemoryBytes(textBytesMax * kernelBytesPerTextByte, wordMemoryCount(threadCount));
  return isEnough ? undefined : { ...scratch.open(), countsOptions, wordBytesMax };
}
