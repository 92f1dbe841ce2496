import type { trainingRecords } from "#formats";
import type { Report } from "#jobs";
import type { compiledPatterns } from "#pattern";
import { machine, yieldToEventLoop } from "#runtime";
import {
  type changes,
  type Merges,
  type modelSettings,
  type tokenCounting,
  type Vocabulary,
  vocabularies,
} from "#tokenizer";
import {
  type CorpusOptions,
  type CountedWords,
  type CutSettings,
  type LanguageTables,
  wordTables,
} from "#words";
import type { MergeProgress } from "./merge-memories.ts";
import { type MergeOptions, tokenLimits } from "./merge-options.ts";
import type { Length } from "./parity-merges.ts";
import { seedMerges } from "./seed-merges.ts";
import { bytesOfId, estimateMergeMemoryBytes, trainMerges } from "./train-merges.ts";

/** The settings of learning, settled: how text is cut, and which tokens are learned. */
export type Settings = CutSettings &
  trainingRecords.TokenLimits & {
    /** The size of the vocabulary; the largest, if several are requested. */
    readonly vocabSize: number;
    /** Whether special tokens get the first ids although `compat` would give them the last ones. */
    readonly specialTokensFirst?: true;
    /** The smaller sizes of vocabularies that are written as well, each into a directory of its own; ascending. */
    readonly smallerSizes: readonly number[];
    /** Vocabularies are filled with reserved tokens to a multiple of this number. */
    readonly padTo: number;
    /** How superwords are learned; null if they are not. */
    readonly superwords: SuperwordSettings | null;
    /** The tokenizer that `--like` names, from which settings were taken (docs/your-model.md); null if there is none. */
    readonly like: modelSettings.Like | null;
    /** Texts that become tokens regardless of their counts: their merges come first. */
    readonly seedTokens?: readonly string[];
    /**
     * How merges are balanced among languages. If left out, and there are languages, each merge is for the language
     * whose text (dev text, if given) has the most tokens.
     */
    readonly parity?: trainingRecords.Parity;
  };

/** How superwords are learned: tokens that span spaces (docs/superwords.md). */
export type SuperwordSettings = {
  /** Size of the vocabulary of the first stage, which is an ordinary training. */
  readonly fromVocabSize: number;
  /** The pattern of the second stage, which cuts text line by line, and of the finished tokenizer. */
  readonly pattern: compiledPatterns.ResolvedPattern;
};

/** The resources for learning merges, and callbacks. */
export type MergeRun = Pick<CorpusOptions, "workerCount" | "workerCountFor"> & {
  /** The memory that may be used; not checked if left out. */
  readonly memory?: { readonly budget: machine.MemoryBudget } | undefined;
  /** Called with the estimated memory for learning merges, before the learning starts. */
  readonly tellMemory?: ((estimatedBytes: number) => void) | undefined;
};

/** The training corpus, and the resources for it. */
export type Corpus = Omit<CorpusOptions, "cutting"> &
  MergeRun & {
    /** The language of each input; if left out, the inputs are one text. */
    readonly languages?: readonly trainingRecords.LanguageOfInput[] | undefined;
  };

/** The results of counting and merging that a new vocabulary and an extension have in common. */
export type TrainedWork = Pick<CountedWords, "statistics" | "pretokenCount"> & {
  readonly distinctWordCount: number;
  /** Present only for a corpus of languages. */
  readonly languages?: readonly trainingRecords.Language[] | undefined;
  readonly countMs: number;
  readonly mergeMs: number;
};

export type TrainedVocabulary = TrainedWork & {
  readonly vocabulary: Vocabulary;
  /** The vocabularies of the smaller sizes, each equal to the result of a separate run. */
  readonly smaller: readonly Vocabulary[];
  /** Undefined without superwords. */
  readonly superwordFacts: SuperwordFacts | undefined;
  readonly tokenCounts: tokenCounting.TokenCounts;
};

/** The results of extending a base. */
export type Extended = TrainedWork & {
  /** The extension of each size, ascending. */
  readonly extensions: readonly changes.Extension[];
  /** Number of bytes in all pretokens. */
  readonly pretokenBytes: number;
  /** Number of tokens in all pretokens with the base. */
  readonly tokenCountBefore: number;
  /** Number of tokens in all pretokens after the merges of each extension. */
  readonly tokenCounts: readonly number[];
};

/** Learns merges from words. */
export type Learner = {
  /** Throws if memory has no room for a word table of this size and its merges. */
  readonly check: (size: wordTables.Size) => void;
  /** Learns merges, and returns a function that assigns ids. With `tables`, balances the merges among languages. */
  readonly merge: (counted: CountedTables, report: Report) => Promise<Numbering>;
};

/** The words to learn from. With `tables`, also the words of each language. */
export type CountedTables = Pick<CountedWords, "words" | "giveUpMemory"> & {
  readonly tables?: LanguageTables | undefined;
};

export type Numbering = () => Promise<
  (Omit<TrainedVocabulary, keyof TrainedWork> | Omit<Extended, keyof TrainedWork>) & Partial<FairLengths>
>;

/** The numbers of tokens in the languages' texts. */
export type FairLengths = {
  /** With balanced merges. */
  readonly lengths: readonly Length[] | undefined;
  /** With merges learned from all text as one. */
  readonly plainLengths: readonly Length[] | undefined;
};

/** Facts about the second stage. */
export type SuperwordFacts = {
  /** The number of pretokens in the second stage. */
  readonly pretokenCount: number;
  /** The number of distinct pretokens in the second stage. */
  readonly distinctWordCount: number;
  /** The number of merges of the first stage that were kept. */
  readonly inheritedCount: number;
  /** The number of merges of the first stage that were dropped. */
  readonly droppedCount: number;
};

/** Returns the merge engine's options for a vocabulary of `vocabSize`. */
export function mergeOptionsOf(training: Settings, vocabSize: number, run: MergeRun): MergeOptions {
  const { specialTokens, compat, seedTokens } = training;
  return {
    mergeCount: vocabSize - vocabularies.baseSize(specialTokens, compat),
    compat,
    ...tokenLimits(training),
    specialTokens,
    ...(seedTokens && { firstMerges: seedMerges(seedTokens) }),
    // A function, which is called only for a large text, because looking for free memory and cores takes half a
    // millisecond.
    threadCount: () => mergeThreads(run),
  };
}

/** Throws if memory has no room for words of this size and their merging. */
export function mergeRoom(
  { memory }: MergeRun,
  sizes: wordTables.TokenWordsSize | readonly wordTables.TokenWordsSize[],
  mergeOptions: MergeOptions,
): void {
  const { count = 256 } = mergeOptions.startTokens ?? {};
  let neededBytes = 0;
  for (const size of [sizes].flat()) {
    neededBytes += wordTables.bytesOf({ ...size, byteCount: bytesOfId(count) * size.positionCount });
    neededBytes += estimateMergeMemoryBytes(size, mergeOptions);
  }
  memory?.budget.check("training", neededBytes, "train on a part of the corpus");
}

type MergingStage = "merging" | "merging plainly" | "merging superwords";

/** Learns merges. `stage` is the name to report progress under. */
export async function learnPairs(
  words: wordTables.TokenWords,
  mergeOptions: MergeOptions,
  { tellMemory }: MergeRun,
  report: Report,
  stage: MergingStage = "merging",
  startMerging: (
    words: wordTables.TokenWords,
    options: MergeOptions,
  ) => ReturnType<typeof trainMerges> = trainMerges,
): Promise<Merges> {
  const work = startMerging(words, mergeOptions);
  return runMerging(work, wordTables.sizeOfWords(words), mergeOptions, { tellMemory, report, stage });
}

/** Runs a generator that learns merges, reports its progress and its estimated memory, and returns its result. */
export async function runMerging<Found extends Merges | undefined>(
  work: Generator<MergeProgress, Found>,
  size: wordTables.TokenWordsSize,
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
    // If `report` throws, this ends the helper threads.
    work.return({} as never);
  }
}

/** Returns the number of merging threads: at most one per core, because they wait for each other. */
export function mergeThreads({ workerCount, workerCountFor }: MergeRun): number {
  const wanted = workerCountFor?.(Number.POSITIVE_INFINITY) ?? workerCount;
  return wanted === 1 ? 1 : Math.min(wanted, machine.allowedCores());
}
