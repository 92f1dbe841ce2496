import { availableParallelism } from "node:os";
import { estimateMergeMemoryBytes } from "../merge/estimate-merge-memory.ts";
import type { Compat, Merges } from "../merge/merges.ts";
import { trainMerges } from "../merge/train-merges.ts";
import { nextTurn } from "../runtime/turns.ts";
import { baseSize } from "../vocabulary/vocabulary.ts";
import { byteWordsSize } from "../words/token-words.ts";
import { sizeOf, type TableSize, tableBytes, type WordTable } from "../words/word-table.ts";
import type { CorpusOptions } from "./count-afresh.ts";
import type { Report } from "./stage-progress.ts";

export type MergeSettings = {
  /** Size of the finished vocabulary: 256 bytes + special tokens + merges. */
  readonly vocabSize: number;
  readonly compat: Compat;
  readonly minFrequency: number;
  readonly maxTokenLength: number | null;
  /** Called with the memory that learning the merges will take, before it starts. */
  readonly tellMemory?: (estimatedBytes: number) => void;
};

/** The merges of one training. */
export type Merging = {
  /** Throws if memory has no room for a word table of this size and its merges. */
  readonly check: (size: TableSize) => void;
  readonly learn: (words: WordTable, report: Report) => Promise<Merges>;
};

type Options = MergeSettings & Pick<CorpusOptions, "specialTokens" | "memory" | ThreadOptions>;
type ThreadOptions = "workerCount" | "workerCountFor";

export function mergingOf(options: Options): Merging {
  const { vocabSize, specialTokens, compat, minFrequency, maxTokenLength, memory, tellMemory } = options;
  const mergeOptions = {
    mergeCount: vocabSize - baseSize(specialTokens, compat),
    compat,
    minFrequency,
    maxTokenLength,
    specialTokens,
    threadCount: mergeThreads(options),
  };
  const mergeBytesOf = (size: TableSize) => estimateMergeMemoryBytes(byteWordsSize(size), mergeOptions);
  return {
    check: (size) =>
      memory?.budget.check(
        "training",
        tableBytes(size) + mergeBytesOf(size),
        "train on a part of the corpus",
      ),
    async learn(words, report) {
      const { wordCount: distinctWordCount } = words;
      const total = mergeOptions.mergeCount;
      tellMemory?.(mergeBytesOf(sizeOf(words)));
      const work = trainMerges(words, mergeOptions);
      try {
        for (let step = work.next(); ; step = work.next()) {
          if (step.done) return step.value;
          report({ stage: "merging", done: step.value.mergeCount, total, unit: "merges", distinctWordCount });
          await nextTurn();
        }
      } finally {
        // If `report` throws, the threads that help end.
        work.return({} as never);
      }
    },
  };
}

/** As many threads merge as would count a large corpus, but not more than there are cores: they wait for each other. */
function mergeThreads({ workerCount, workerCountFor }: Pick<CorpusOptions, ThreadOptions>): number {
  const wanted = workerCountFor?.(Number.POSITIVE_INFINITY) ?? workerCount;
  return Math.min(wanted, availableParallelism());
}
