import type { Input } from "../corpus/inputs.ts";
import { type Range, sizeOfRanges } from "../corpus/ranges.ts";
import type { ScratchDirectory } from "../publish/scratch-directory.ts";
import type { MemoryBudget } from "../runtime/memory-budget.ts";
import type { CountsOptions } from "../words/counts-format.ts";
import type { RunOptions } from "./runs.ts";

/** The memory that counting has, and where words go that have no room in it. */
export type CountMemory = {
  readonly budget: MemoryBudget;
  readonly scratch: ScratchDirectory;
  readonly countsOptions: CountsOptions;
};

/** What a byte of text can take at most: words of three bytes, all distinct, in tables that are half empty. */
const wordBytesPerTextByte = 40;

/** How the threads that count the ranges make do with the memory; undefined where it is enough for whatever they find. */
export function runOptionsOf(
  { budget, scratch, countsOptions }: CountMemory,
  inputs: readonly Input[],
  ranges: readonly Range[],
  threadCount: number,
  hasUnsortedCounts: boolean,
): RunOptions | undefined {
  const wordBytesMax = Math.floor(budget.wordBytesMax(threadCount) / threadCount);
  const isPlain = ({ isStream, compression, format }: Input) =>
    !isStream && compression === "none" && format !== "parquet";
  const isSizeKnown = inputs.every(isPlain) && !hasUnsortedCounts;
  if (isSizeKnown && sizeOfRanges(ranges) * wordBytesPerTextByte <= wordBytesMax) return undefined;
  return { ...scratch.open(), countsOptions, wordBytesMax };
}
