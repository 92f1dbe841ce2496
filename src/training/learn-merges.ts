import type { LanguageOfInput, LanguageRecord } from "#formats";
import type { Report } from "#jobs";
import {
  bytesOfId,
  estimateMergeMemoryBytes,
  type Length,
  type MergeOptions,
  type MergeProgress,
  type Merges,
  seedMerges,
  tokenLimits,
  trainMerges,
} from "#merge";
import { allowedCores, yieldToEventLoop } from "#runtime";
import { baseSize, type Extension, type TokenCounts, type Vocabulary } from "#tokenizer";
import {
  sizeOfWords,
  type TableSize,
  type TokenWords,
  type TokenWordsSize,
  tableBytes,
  type WordTable,
} from "#words";
import type { LanguageTables } from "./count-groups.ts";
import type { CountMemory } from "./count-memory.ts";
import type { CorpusOptions, CountedWords } from "./count-words.ts";
import type { Training } from "./training.ts";

/** What learning merges may use, and who is told of it. */
export type MergeRun = Pick<CorpusOptions, "workerCount" | "workerCountFor"> & {
  /** All memory there is, if left out. */
  readonly memory?: Pick<CountMemory, "budget"> | undefined;
  /** Called with the memory that learning the merges will take, before it starts. */
  readonly tellMemory?: ((estimatedBytes: number) => void) | undefined;
};

/** What is trained on, and what that may use. */
export type Corpus = Omit<CorpusOptions, "cutting"> &
  MergeRun & {
    /** That of each input; left out: they are one text. */
    readonly languages?: readonly LanguageOfInput[] | undefined;
  };

/** What counting and merging found, whatever was learned. */
export type TrainedWork = Pick<CountedWords, "statistics" | "pretokenCount"> & {
  readonly distinctWordCount: number;
  /** Only of a corpus of languages. */
  readonly languages?: readonly LanguageRecord[] | undefined;
  readonly countMs: number;
  readonly mergeMs: number;
};

export type TrainedVocabulary = TrainedWork & {
  readonly vocabulary: Vocabulary;
  /** Those of the smaller sizes, as runs of their own would have made them. */
  readonly smaller: readonly Vocabulary[];
  /** Undefined without superwords. */
  readonly superwordFacts: SuperwordFacts | undefined;
  readonly tokenCounts: TokenCounts;
};

/** What was learned beyond a base. */
export type Extended = TrainedWork & {
  /** One for each size, ascending. */
  readonly extensions: readonly Extension[];
  /** Bytes of all pretokens, and how many tokens they are by the base, and by each extended tokenizer. */
  readonly pretokenBytes: number;
  readonly tokenCountBefore: number;
  readonly tokenCounts: readonly number[];
};

/** How merges are learned from words. */
export type Learner = {
  /** Throws if memory has no room for a word table of this size and its merges. */
  readonly check: (size: TableSize) => void;
  /** Learns merges; what it returns gives ids to them. With `tables` they are shared out among languages. */
  readonly merge: (words: WordTable, report: Report, tables?: LanguageTables) => Promise<Numbering>;
};

export type Numbering = () => Promise<
  (Omit<TrainedVocabulary, keyof TrainedWork> | Omit<Extended, keyof TrainedWork>) & Partial<FairLengths>
>;

/** What texts of languages become: with merges that are shared out among them, and with those of all text together. */
export type FairLengths = {
  readonly lengths: readonly Length[] | undefined;
  readonly plainLengths: readonly Length[] | undefined;
};

/** Facts of a second stage. */
export type SuperwordFacts = {
  /** Pretokens of the second stage, and how many of them are distinct. */
  readonly pretokenCount: number;
  readonly distinctWordCount: number;
  /** Merges of the first stage that stayed, and that went. */
  readonly inheritedCount: number;
  readonly droppedCount: number;
};

/** What the merge engine is told for a vocabulary of `vocabSize`. */
export function mergeOptionsOf(training: Training, vocabSize: number, run: MergeRun): MergeOptions {
  const { specialTokens, compat, seedTokens } = training;
  return {
    mergeCount: vocabSize - baseSize(specialTokens, compat),
    compat,
    ...tokenLimits(training),
    specialTokens,
    ...(seedTokens && { firstMerges: seedMerges(seedTokens) }),
    threadCount: mergeThreads(run),
  };
}

/** Throws if memory has no room for words of this size and what merging them takes. */
export function mergeRoom(
  { memory }: MergeRun,
  sizes: TokenWordsSize | readonly TokenWordsSize[],
  mergeOptions: MergeOptions,
): void {
  const { count = 256 } = mergeOptions.startTokens ?? {};
  let neededBytes = 0;
  for (const size of [sizes].flat()) {
    neededBytes += tableBytes({ ...size, byteCount: bytesOfId(count) * size.positionCount });
    neededBytes += estimateMergeMemoryBytes(size, mergeOptions);
  }
  memory?.budget.check("training", neededBytes, "train on a part of the corpus");
}

type MergingStage = "merging" | "merging plainly" | "merging superwords";

/** Learns merges; `stage` is what it is called in progress. */
export async function learnPairs(
  words: TokenWords,
  mergeOptions: MergeOptions,
  { tellMemory }: MergeRun,
  report: Report,
  stage: MergingStage = "merging",
  startMerging: (words: TokenWords, options: MergeOptions) => ReturnType<typeof trainMerges> = trainMerges,
): Promise<Merges> {
  const work = startMerging(words, mergeOptions);
  return doMerging(work, sizeOfWords(words), mergeOptions, { tellMemory, report, stage });
}

/** Does the work of learning merges from words of this size. */
export async function doMerging<Found extends Merges | undefined>(
  work: Generator<MergeProgress, Found>,
  size: TokenWordsSize,
  mergeOptions: MergeOptions,
  { tellMemory, report, stage }: Pick<MergeRun, "tellMemory"> & { report: Report; stage: MergingStage },
): Promise<Found> {
  tellMemory?.(estimateMergeMemoryBytes(size, mergeOptions));
  const { wordCount: distinctWordCount } = size;
  const total = mergeOptions.mergeCount;
  try {
    for (let step = work.next(); ; step = work.next()) {
      const { mergeCount } = step.value ?? { mergeCount: 0 };
      report({ stage, done: mergeCount, total, unit: "merges", distinctWordCount });
      if (step.done) return step.value;
      await yieldToEventLoop();
    }
  } finally {
    // If `report` throws, the threads that help end.
    work.return({} as never);
  }
}

/** As many threads merge as would count a large corpus, but not more than there are cores: they wait for each other. */
export function mergeThreads({ workerCount, workerCountFor }: MergeRun): number {
  const wanted = workerCountFor?.(Number.POSITIVE_INFINITY) ?? workerCount;
  return wanted === 1 ? 1 : Math.min(wanted, allowedCores());
}
