import { findCorpus } from "../corpus/find-inputs.ts";
import type { InputFormat } from "../corpus/input.ts";
import { expectedTextBytes } from "../corpus/input.ts";
import { refuseOwnResults } from "../corpus/outputs-among-inputs.ts";
import { exitCode, UserError } from "../errors.ts";
import type { Compat } from "../merge/merges.ts";
import { compilePattern } from "../pattern/pattern.ts";
import { MemoryBudget } from "../runtime/memory-budget.ts";
import { workersFor } from "../runtime/worker-count.ts";
import { takeLockNow } from "../store/output-lock.ts";
import { isWithin, placeOf } from "../store/output-place.ts";
import { checkOutputDirectory } from "../store/staged-directory.ts";
import { partsOfVocabulary } from "../tokenizer/trained-tokenizer.ts";
import { type AskedModelSettings, settleModelSettings } from "../vocabulary/model-settings.ts";
import { checkSpecialTokens } from "../vocabulary/special-token-rules.ts";
import { baseSize } from "../vocabulary/vocabulary.ts";
import { countsOptionsOf, openMemory } from "./open-memory.ts";
import type { StageProgress } from "./stage-progress.ts";
import { Tokenizer } from "./tokenizer.ts";
import { type Trained, train } from "./train.ts";
import { trainingPattern } from "./training-pattern.ts";
import { type TrainSettings, writeResult } from "./write-result.ts";

export type TrainTokenizerOptions = {
  /** Paths or globs of the corpus, or directories. */
  readonly files: string | readonly string[];
  /** The format of all files. Default: what name and content say. */
  readonly inputFormat?: InputFormat;
  /** The field, or column, that holds the text of a record. Default: `text`. */
  readonly textField?: string;
  /** Globs that choose files of a directory. Default: all. */
  readonly include?: readonly string[];
  /** `text`: files that are not text (images, archives) are read as text. Default: an error; in a directory they are left out. */
  readonly binary?: "text";
  /** Size of the finished vocabulary: 256 bytes + special tokens + merges. */
  readonly vocabSize: number;
  /** Fills the vocabulary with reserved special tokens to a multiple of this. Default: 1. */
  readonly padTo?: number;
  /** Each ends a document wherever it occurs. It is never counted and never merged. */
  readonly specialTokens?: readonly string[];
  /** A name (`gpt2`, the default, `cl100k`, …) or a regular expression. */
  readonly pattern?: string;
  /** The trainer to agree with, merge for merge. Default: `cs336`. */
  readonly compat?: Compat;
  /** Stop when the best pair occurs fewer times. Default: 1, in HF's way 0. */
  readonly minFrequency?: number;
  /** Longest token, in bytes. */
  readonly maxTokenLength?: number;
  /** What `transformers` reads beside vocabulary and merges: roles of special tokens, a chat template. */
  readonly model?: AskedModelSettings;
  /** Threads that count, including this one. Default: the cores that this process may use; for small corpora 1. */
  readonly workers?: number;
  /** The memory of this process. Words for which it has no room go to disk. Default: 80 % of what it may use. */
  readonly memoryLimitBytes?: number;
  /** A directory that keeps the words of each file, so that only what is new is counted (docs/cache.md). Default: none. */
  readonly cache?: string;
  /** Size limit of the cache. What was used longest ago is removed. Default: no limit. */
  readonly cacheLimitBytes?: number;
  /** The directory that the tokenizer is written to, as a whole or not at all, as by `bpe train -o`. */
  readonly output?: string;
  readonly onProgress?: (progress: StageProgress) => void;
  /** Called for what is not an error: a file in a directory that is not read, a cache that cannot be written, a damaged entry. */
  readonly onWarning?: (message: string) => void;
};

/** Trains a tokenizer on files. Throws `UserError` for wrong options and for files that cannot be read or written. */
export async function trainTokenizer(options: TrainTokenizerOptions): Promise<Tokenizer> {
  const startMs = performance.now();
  const settings = settle(options);
  if (options.output === undefined) return trainSettled(options, settings, startMs);
  checkOutputDirectory(options.output);
  const lock = takeLockNow(placeOf(options.output));
  try {
    return await trainSettled(options, settings, startMs);
  } finally {
    lock.release();
  }
}

async function trainSettled(
  options: TrainTokenizerOptions,
  settings: TrainSettings,
  startMs: number,
): Promise<Tokenizer> {
  const { inputFormat: format, textField, include, binary, cacheLimitBytes: limitBytes } = options;
  const { inputs, skipped } = findCorpus([options.files].flat(), { format, textField, include, binary });
  refuseOwnResults(inputs, [options.output, options.cache]);
  const budget = new MemoryBudget(options.memoryLimitBytes);
  const workerCountFor = workersFor(options.workers, budget.workerCountMax);
  const workerCount = workerCountFor(expectedTextBytes(inputs));
  const choice = options.cache === undefined ? undefined : { path: options.cache, limitBytes };
  const warn = options.onWarning ?? (() => {});
  for (const { path, reason } of skipped) warn(`"${path}" is not read: ${reason}`);
  const pattern = settings.pattern.compiled;
  const { memory, cached } = openMemory(choice, countsOptionsOf(settings), pattern, budget, warn);
  const write = async (trained: Trained) => {
    if (options.output === undefined) return;
    const asked = { command: "trainTokenizer", arguments: [], counts: [] };
    const made = { settings, inputs, skipped, workerCount, trained, startMs };
    await writeResult(options.output, { ...asked, ...made });
  };
  try {
    const { vocabulary } = await train(
      { ...settings, pattern, inputs, workerCount, workerCountFor, memory, cache: cached?.cache, write },
      options.onProgress ?? (() => {}),
    );
    cached?.shrink();
    // HF's trainer also cuts after line ends; its tokenizer does not.
    const { name, sources } = settings.pattern;
    const encodingPattern = { name, sources, compiled: compilePattern(sources) };
    return new Tokenizer(partsOfVocabulary(vocabulary, encodingPattern));
  } finally {
    memory.scratch.remove();
  }
}

/** The options, checked, with their defaults. */
function settle(options: TrainTokenizerOptions): TrainSettings {
  const { vocabSize, specialTokens = [], compat = "cs336" } = options;
  const usageError = (message: string) => new UserError(message, { exitCode: exitCode.usage });
  checkSpecialTokens(specialTokens, compat);
  const leastSize = baseSize(specialTokens, compat);
  if (!Number.isSafeInteger(vocabSize) || vocabSize < leastSize) {
    throw usageError(`vocabSize is ${vocabSize}: 256 bytes and the special tokens need ${leastSize}`);
  }
  const wholes = {
    padTo: [options.padTo, 1],
    minFrequency: [options.minFrequency, 0],
    maxTokenLength: [options.maxTokenLength, 1],
    modelMaxLength: [options.model?.modelMaxLength, 1],
  } as const;
  for (const [name, [value, least]] of Object.entries({
    ...wholes,
    workers: [options.workers, 1] as const,
    memoryLimitBytes: [options.memoryLimitBytes, 1] as const,
    cacheLimitBytes: [options.cacheLimitBytes, 0] as const,
  })) {
    if (value !== undefined && !(Number.isSafeInteger(value) && value >= least)) {
      throw usageError(`${name} is ${value}: it must be a whole number from ${least} on`);
    }
  }
  if (options.cache === "") throw usageError("cache is empty: it names a directory");
  if (options.cache !== undefined && options.output !== undefined && isWithin(options.cache, options.output))
    throw usageError(
      `cache "${options.cache}" is in output "${options.output}", which is replaced as a whole`,
    );
  if (options.cacheLimitBytes !== undefined && options.cache === undefined) {
    throw usageError("cacheLimitBytes is for a cache, and none is named");
  }
  return {
    vocabSize,
    smallerSizes: [],
    padTo: options.padTo ?? 1,
    specialTokens,
    pattern: trainingPattern(options.pattern ?? "gpt2", compat),
    compat,
    minFrequency: options.minFrequency ?? (compat === "huggingface" ? 0 : 1),
    maxTokenLength: options.maxTokenLength ?? null,
    model: settleModelSettings(specialTokens, options.model ?? {}),
  };
}
