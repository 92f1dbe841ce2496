import type { WordTable } from "../words/word-table.ts";
import { checkCellCount, countCells } from "./cell-count.ts";
import { trainMergesInJavaScript } from "./javascript/engine.ts";
import { trainMergesInKernel } from "./merge-engine.ts";
import type { MergeOptions } from "./merge-options.ts";
import { defaultTuning, type MergeTuning } from "./merge-tuning.ts";
import type { Merges } from "./merges.ts";
import type { MergeProgress } from "./work-budget.ts";

export type { MergeOptions } from "./merge-options.ts";
export type { MergeProgress } from "./work-budget.ts";

/**
 * Learns the merges of a word table. Yields after a bounded amount of work, tens of milliseconds at most, in every
 * phase; the caller draws progress, sees signals, and calls on. The result depends on the words and the options alone.
 *
 * The engine in the kernel does it, in a memory of its own. What does not fit into that, 4 GB, is begun anew by the
 * engine in JavaScript.
 */
export function* trainMerges(
  words: WordTable,
  options: MergeOptions,
  tuning: MergeTuning = defaultTuning,
): Generator<MergeProgress, Merges> {
  const cellCount = countCells(words);
  checkCellCount(cellCount);
  const merges = yield* trainMergesInKernel(words, cellCount, options, tuning);
  return merges ?? (yield* trainMergesInJavaScript(words, options, tuning));
}
