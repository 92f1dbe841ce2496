import { peakMemoryBytes } from "./cli/peak-memory.ts";
import { build } from "./cli/version.ts";
import { defaultWorkerCount } from "./cli/worker-count.ts";
import { findInputs, type Input } from "./corpus/inputs.ts";
import { partsOfVocabulary } from "./encode/from-vocabulary.ts";
import { Tokenizer } from "./encode/tokenizer.ts";
import { exitCode, UserError } from "./errors.ts";
import type { Compat } from "./merge/merges.ts";
import { exportForm, type ResolvedPattern, resolvePattern } from "./pattern/index.ts";
import { checkOutputDirectory, stageDirectory } from "./publish/directory.ts";
import { type StageProgress, type Trained, train } from "./train.ts";
import { formats } from "./vocabulary/formats/formats.ts";
import { mergesSha256 } from "./vocabulary/formats/merge-lines.ts";
import { recordFormat, recordName, trainingFile } from "./vocabulary/formats/training.ts";
import { checkSpecialTokens } from "./vocabulary/special-tokens.ts";
import { baseSize } from "./vocabulary/vocabulary.ts";

export type TrainTokenizerOptions = {
  /** Paths or globs of the corpus. */
  readonly files: string | readonly string[];
  /** Size of the finished vocabulary: 256 bytes + special tokens + merges. */
  readonly vocabSize: number;
  /** Each ends a document wherever it occurs; never counted, never merged. */
  readonly specialTokens?: readonly string[];
  /** A name (`gpt2`, the default, `cl100k`, …) or a regular expression. */
  readonly pattern?: string;
  /** Whose trainer to agree with, merge for merge. Default: `cs336`. */
  readonly compat?: Compat;
  /** Stop when the best pair occurs fewer times. Default: 1, in HF's way 0. */
  readonly minFrequency?: number;
  /** Longest token, in bytes. */
  readonly maxTokenLength?: number;
  /** Counting workers; 1 counts in this thread. Default: the cores this process may use, none for small corpora. */
  readonly workers?: number;
  /** A directory to write the tokenizer to, as `bpe train -o` does: whole or not at all. */
  readonly output?: string;
  readonly onProgress?: (progress: StageProgress) => void;
};

/** Trains a tokenizer on files. Mistakes and a world that is not as it should be throw `UserError`. */
export async function trainTokenizer(options: TrainTokenizerOptions): Promise<Tokenizer> {
  const startMs = performance.now();
  const settings = settle(options);
  const inputs = findInputs([options.files].flat());
  if (options.output !== undefined) checkOutputDirectory(options.output);
  const sizeBytes = inputs.reduce((sum, input) => sum + input.sizeBytes, 0);
  const workerCount = options.workers ?? defaultWorkerCount(sizeBytes);
  const trained = await train(
    { ...settings, pattern: settings.pattern.compiled, inputs, workerCount },
    options.onProgress ?? (() => {}),
  );
  if (options.output !== undefined) {
    await write(options.output, { settings, inputs, workerCount, trained, startMs });
  }
  // Training in HF's way cuts behind lines; the tokenizer, as HF's, does not.
  return new Tokenizer(partsOfVocabulary(trained.vocabulary, resolvePattern(options.pattern ?? "gpt2")));
}

type Settings = {
  readonly vocabSize: number;
  readonly specialTokens: readonly string[];
  readonly pattern: ResolvedPattern;
  readonly compat: Compat;
  readonly minFrequency: number;
  readonly maxTokenLength: number | null;
};

/** The options with what they leave open, checked. */
function settle(options: TrainTokenizerOptions): Settings {
  const { vocabSize, specialTokens = [], compat = "cs336" } = options;
  const usageError = (message: string) => new UserError(message, { exitCode: exitCode.usage });
  checkSpecialTokens(specialTokens, compat);
  const leastSize = baseSize(specialTokens, compat);
  if (!Number.isSafeInteger(vocabSize) || vocabSize < leastSize) {
    throw usageError(`vocabSize is ${vocabSize}: 256 bytes and the special tokens need ${leastSize}`);
  }
  const wholes = {
    minFrequency: [options.minFrequency, 0],
    maxTokenLength: [options.maxTokenLength, 1],
  } as const;
  for (const [name, [value, least]] of Object.entries({
    ...wholes,
    workers: [options.workers, 1] as const,
  })) {
    if (value !== undefined && !(Number.isSafeInteger(value) && value >= least)) {
      throw usageError(`${name} is ${value}: it must be a whole number from ${least} on`);
    }
  }
  return {
    vocabSize,
    specialTokens,
    pattern: resolvePattern(options.pattern ?? "gpt2", { lineWise: compat === "huggingface" }),
    compat,
    minFrequency: options.minFrequency ?? (compat === "huggingface" ? 0 : 1),
    maxTokenLength: options.maxTokenLength ?? null,
  };
}

type Result = {
  readonly settings: Settings;
  readonly inputs: readonly Input[];
  readonly workerCount: number;
  readonly trained: Trained;
  readonly startMs: number;
};

/** Every format that can say the tokenizer, and the record. */
async function write(
  path: string,
  { settings, inputs, workerCount, trained, startMs }: Result,
): Promise<void> {
  const { vocabulary } = trained;
  const tokenizer = { vocabulary, exportForm: exportForm(settings.pattern) };
  const files = formats
    .filter((format) => format.obstacle(tokenizer) === null)
    .flatMap((format) => format.files(tokenizer));
  const writeStartMs = performance.now();
  const { name, sources } = settings.pattern;
  const record = trainingFile(() => ({
    format: recordFormat,
    ...build,
    command: "trainTokenizer",
    options: {
      ...settings,
      pattern: { name, regex: sources.length === 1 ? sources[0]! : sources },
      workers: workerCount,
    },
    inputs: inputs.map(({ path, sizeBytes }, i) => ({
      path,
      sizeBytes,
      documents: trained.findings[i]!.documentCount,
      invalidBytes: trained.findings[i]!.invalidByteCount,
    })),
    wordCount: trained.wordCount,
    distinctWordCount: trained.distinctWordCount,
    mergeCount: vocabulary.mergeCount,
    files: [...files.map((file) => file.name), recordName],
    timings: {
      countMs: Math.round(trained.countMs),
      mergeMs: Math.round(trained.mergeMs),
      writeMs: Math.round(performance.now() - writeStartMs),
      totalMs: Math.round(performance.now() - startMs),
    },
    peakMemoryBytes: peakMemoryBytes(),
    mergesSha256: mergesSha256(vocabulary),
  }));
  const staged = stageDirectory(path);
  try {
    for (const file of [...files, record]) for (const _ of staged.writeInSteps(file.name, file.chunks()));
    staged.publish();
  } catch (error) {
    staged.discard();
    throw error;
  }
}
