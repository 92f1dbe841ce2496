import { checkUnchanged, type Input } from "./corpus/inputs.ts";
import { countCorpus } from "./count/count-corpus.ts";
import type { RangeFindings } from "./count/range-counter.ts";
import { trainMerges } from "./merge/engine.ts";
import type { Compat, Merges } from "./merge/merges.ts";
import { nextTurn } from "./next-turn.ts";
import type { CompiledPattern } from "./pattern/index.ts";
import { baseSize, buildVocabulary, type Vocabulary } from "./vocabulary/vocabulary.ts";
import type { WordTable } from "./words/word-table.ts";

export type CorpusOptions = {
  readonly inputs: readonly Input[];
  readonly pattern: CompiledPattern;
  /** In the order of their ids. */
  readonly specialTokens: readonly string[];
  readonly workerCount: number;
};

export type TrainOptions = CorpusOptions & {
  /** Size of the finished vocabulary: 256 bytes + special tokens + merges. */
  readonly vocabSize: number;
  readonly compat: Compat;
  readonly minFrequency: number;
  readonly maxTokenLength: number | null;
};

/** How far a long stage is, for whoever shows it. */
export type StageProgress = {
  readonly stage: "counting" | "merging";
  readonly done: number;
  readonly total: number;
  readonly unit: "bytes" | "merges";
  readonly distinctWordCount: number;
};

export type Report = (progress: StageProgress) => void;

export type Trained = {
  readonly vocabulary: Vocabulary;
  /** What was met in each input, in their order. */
  readonly findings: readonly RangeFindings[];
  readonly wordCount: number;
  readonly distinctWordCount: number;
  /** Bytes of all words, and how many tokens they are with all merges made. */
  readonly wordBytes: number;
  readonly tokenCount: number;
  readonly countMs: number;
  readonly mergeMs: number;
};

/**
 * The way from a corpus to its vocabulary: ranges -> boundaries -> words -> merges -> vocabulary. The event loop turns
 * between slices of work, so that signals are served and progress is drawn.
 */
export async function train(options: TrainOptions, report: Report): Promise<Trained> {
  const { specialTokens, compat, vocabSize } = options;
  const startMs = performance.now();
  const { words, wordCount, findings } = await countWords(options, report);
  const countedMs = performance.now();
  const merges = await learnMerges(words, options, report);
  const mergedMs = performance.now();
  const vocabulary = buildVocabulary({ merges, specialTokens, compat, sizeMax: vocabSize });
  const wordBytes = bytesOfAll(words);
  return {
    vocabulary,
    findings,
    wordCount,
    distinctWordCount: words.wordCount,
    wordBytes,
    tokenCount: wordBytes - merges.counts.reduce((sum, count) => sum + count, 0),
    countMs: countedMs - startMs,
    mergeMs: mergedMs - countedMs,
  };
}

/** The words of a corpus, and what was met in each input. */
export async function countWords(options: CorpusOptions, report: Report) {
  const { inputs, pattern, workerCount } = options;
  const specialTokens = options.specialTokens.map((token) => new TextEncoder().encode(token));
  const { counter, findings } = await countCorpus(
    { inputs, pattern, specialTokens, workerCount },
    ({ bytesDone, bytesTotal, distinctWordCount }) =>
      report({ stage: "counting", done: bytesDone, total: bytesTotal, unit: "bytes", distinctWordCount }),
  );
  for (const input of inputs) checkUnchanged(input);
  return { words: counter.toWordTable(), wordCount: counter.pretokenCount, findings };
}

async function learnMerges(words: WordTable, options: TrainOptions, report: Report): Promise<Merges> {
  const { vocabSize, specialTokens, compat, minFrequency, maxTokenLength } = options;
  const mergeCount = vocabSize - baseSize(specialTokens, compat);
  const work = trainMerges(words, { mergeCount, compat, minFrequency, maxTokenLength, specialTokens });
  for (let step = work.next(); ; step = work.next()) {
    if (step.done) return step.value;
    const { mergeCount: done } = step.value;
    report({ stage: "merging", done, total: mergeCount, unit: "merges", distinctWordCount: words.wordCount });
    await nextTurn();
  }
}

function bytesOfAll({ wordCount, starts, counts }: WordTable): number {
  let sum = 0;
  for (let w = 0; w < wordCount; w++) sum += (starts[w + 1]! - starts[w]!) * counts[w]!;
  return sum;
}
