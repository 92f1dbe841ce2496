import { type TokenLimits, tokenLimits } from "../merge/merge-options.ts";
import type { Compat, Merges } from "../merge/merges.ts";
import {
  bytesOfId,
  estimateMergeMemoryBytes,
  type MergeOptions,
  trainMerges,
} from "../merge/train-merges.ts";
import { allowedCores } from "../runtime/system-limits.ts";
import { nextTurn } from "../runtime/turns.ts";
import { baseSize } from "../vocabulary/vocabulary.ts";
import {
  byteWords,
  byteWordsSize,
  sizeOfWords,
  type TableSize,
  type TokenWords,
  type TokenWordsSize,
  tableBytes,
  type WordTable,
} from "../words/word-table.ts";
import type { CountMemory } from "./count-memory.ts";
import type { CorpusOptions } from "./count-words.ts";
import type { Report } from "./stage-progress.ts";

export type MergeSettings = TokenLimits & {
  /** Size of the finished vocabulary: 256 bytes + special tokens + merges. */
  readonly vocabSize: number;
  /** In the order of their ids. */
  readonly specialTokens: readonly string[];
  readonly compat: Compat;
  /** Called with the memory that learning the merges will take, before it starts. */
  readonly tellMemory?: (estimatedBytes: number) => void;
};

/** The merges of one training. */
export type Merging = {
  /** Throws if memory has no room for a word table of this size and its merges. */
  readonly check: (size: TableSize) => void;
  readonly learn: (words: WordTable, report: Report) => Promise<Merges>;
};

type Options = MergeSettings & Pick<CorpusOptions, "memory" | ThreadOptions>;
type ThreadOptions = "workerCount" | "workerCountFor";

export function mergingOf(options: Options): Merging {
  const mergeOptions = mergeOptionsOf(options);
  return {
    check: (size) => mergeRoom(options, byteWordsSize(size), mergeOptions),
    learn: (words, report) =>
      learnPairs(byteWords(words), mergeOptions, "merging", options.tellMemory, report),
  };
}

/** What the merge engine is told for a whole vocabulary of the settings' size. */
export function mergeOptionsOf(options: Options): MergeOptions {
  const { vocabSize, specialTokens, compat } = options;
  return {
    mergeCount: vocabSize - baseSize(specialTokens, compat),
    compat,
    ...tokenLimits(options),
    specialTokens,
    threadCount: mergeThreads(options),
  };
}

/** Throws if memory has no room for words of this size and what merging them takes. */
export function mergeRoom(
  { memory }: { readonly memory?: Pick<CountMemory, "budget"> | undefined },
  size: TokenWordsSize,
  mergeOptions: MergeOptions,
): void {
  const { count = 256 } = mergeOptions.startTokens ?? {};
  const wordBytes = tableBytes({ ...size, byteCount: bytesOfId(count) * size.positionCount });
  memory?.budget.check(
    "training",
    wordBytes + estimateMergeMemoryBytes(size, mergeOptions),
    "train on a part of the corpus",
  );
}

/** Learns merges; `stage` is what it is called in progress. */
export async function learnPairs(
  words: TokenWords,
  mergeOptions: MergeOptions,
  stage: "merging" | "merging superwords",
  tellMemory: MergeSettings["tellMemory"],
  report: Report,
): Promise<Merges> {
  tellMemory?.(estimateMergeMemoryBytes(sizeOfWords(words), mergeOptions));
  const { wordCount: distinctWordCount } = words;
  const total = mergeOptions.mergeCount;
  const work = trainMerges(words, mergeOptions);
  try {
    for (let step = work.next(); ; step = work.next()) {
      if (step.done) return step.value;
      report({ stage, done: step.value.mergeCount, total, unit: "merges", distinctWordCount });
      await nextTurn();
    }
  } finally {
    // If `report` throws, the threads that help end.
    work.return({} as never);
  }
}

/** As many threads merge as would count a large corpus, but not more than there are cores: they wait for each other. */
export function mergeThreads({ workerCount, workerCountFor }: Pick<CorpusOptions, ThreadOptions>): number {
  const wanted = workerCountFor?.(Number.POSITIVE_INFINITY) ?? workerCount;
  return Math.min(wanted, allowedCores());
}
