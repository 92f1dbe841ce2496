import { UserError } from "../errors.ts";
import { giveBack } from "../runtime/give-back.ts";
import { byteWords, sizeOfWords, type TokenWords } from "../words/token-words.ts";
import type { WordTable } from "../words/word-table.ts";
import { learnMerges } from "./merge-engine.ts";
import { startMergeHelpers } from "./merge-helpers.ts";
import { createMergeEngine, type MergeEngine } from "./merge-memories.ts";
import { cellCountBound, checkCellCount, type MergeOptions } from "./merge-options.ts";
import { defaultTuning, type MergeTuning } from "./merge-tuning.ts";
import type { Merges } from "./merges.ts";
import type { MergeProgress } from "./work-budget.ts";

export type { MergeOptions } from "./merge-options.ts";
export type { MergeProgress } from "./work-budget.ts";

/** Seven hold the most cells there may be; more help where the system gives each of them less than 4 GB. */
const memoryCountMax = 16;

/**
 * Learns the merges of words: a word table, whose start tokens are the bytes, or words of any start tokens. Yields after a bounded amount of work, tens of milliseconds at most, in every
 * phase; the caller draws progress, sees signals, and calls on. The result depends on the words and the options alone.
 *
 * The engine takes as few memories as it fits into. Whether it does may show only in the middle, if the words have
 * more pairs than any text that was seen: then it begins anew with twice as many.
 */
export function* trainMerges(
  table: WordTable | TokenWords,
  options: MergeOptions,
  tuning: MergeTuning = defaultTuning,
): Generator<MergeProgress, Merges> {
  const words = "tokens" in table ? table : byteWords(table);
  checkCellCount(cellCountBound(sizeOfWords(words)));
  for (let memoryCount = tuning.memoryCountMin; memoryCount <= memoryCountMax; ) {
    const engine = createMergeEngine(words, memoryCount, options, tuning);
    const merges = engine && (yield* runEngine(engine, words, tuning));
    if (merges !== undefined) return merges;
    memoryCount = engine === undefined ? memoryCount + 1 : 2 * memoryCount;
    // A word lies in one memory.
    if (memoryCount > words.wordCount) break;
  }
  throw tooLarge(words, options);
}

/** Undefined if a memory is too small; what it held is given back. */
function* runEngine(
  engine: MergeEngine,
  words: TokenWords,
  tuning: MergeTuning,
): Generator<MergeProgress, Merges | undefined> {
  const { memories } = engine;
  const helpers = tuning.startsHelpers ? memories.map(startMergeHelpers) : [];
  try {
    const merges = yield* learnMerges(engine, words, tuning);
    if (merges === undefined) for (const { memory } of memories) giveBack(new Int32Array(memory.buffer));
    return merges;
  } finally {
    for (const helper of helpers) helper.end();
  }
}

const tooLarge = ({ wordCount }: TokenWords, { mergeCount }: MergeOptions) =>
  new UserError(
    `${wordCount.toLocaleString("en-US")} distinct words and ${mergeCount.toLocaleString("en-US")} merges do not fit into the memory of the merge engine`,
    {
      hint: "use a smaller --vocab-size, a --pattern that cuts the text into shorter words, or a part of the input",
    },
  );
