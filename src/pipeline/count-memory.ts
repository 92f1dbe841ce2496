import type { Input } from "../corpus/input.ts";
import { type Range, sizeOfRanges } from "../corpus/range.ts";
import type { SortedRunOptions } from "../count/sorted-runs.ts";
import { wholeMemoryBytes } from "../runtime/kernel.ts";
import type { MemoryBudget } from "../runtime/memory-budget.ts";
import type { ScratchDirectory } from "../store/scratch-directory.ts";
import type { CountsOptions } from "../words/counts-format.ts";

/** The memory that counting has, and where words go that have no room in it. */
export type CountMemory = {
  readonly budget: MemoryBudget;
  readonly scratch: ScratchDirectory;
  readonly countsOptions: CountsOptions;
};

/** What a byte of text can take at most: words of three bytes, all distinct, in tables that are half empty. */
const wordBytesPerTextByte = 40;

/** In a memory of so many times the text's size its words have room, unless they are made on purpose. */
const kernelBytesPerTextByte = 16;

/** How much text the inputs have at most, where it is known before they are read. */
export function textBytesOf(inputs: readonly Input[], ranges: readonly Range[]): number | undefined {
  const isPlain = ({ isStream, compression, format }: Input) =>
    !isStream && compression === "none" && format !== "parquet";
  return inputs.every(isPlain) ? sizeOfRanges(ranges) : undefined;
}

/**
 * How the threads that count a text make do with the memory; undefined where it is enough for whatever they find.
 *
 * @param textBytesMax how much text it is at most, if that is known
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
    textBytesMax * kernelBytesPerTextByte <= wholeMemoryBytes(textBytesMax * kernelBytesPerTextByte);
  return isEnough ? undefined : { ...scratch.open(), countsOptions, wordBytesMax };
}
