import { findCorpus } from "../corpus/find-inputs.ts";
import { inputOfTexts } from "../corpus/given-texts.ts";
import { expectedTextBytes } from "../corpus/input.ts";
import { refuseOwnResults } from "../corpus/outputs-among-inputs.ts";
import { CountsFiles, countsPathsOf } from "../count/counts-files.ts";
import { CountsFilesAndWords } from "../count/given-words.ts";
import { usageError } from "../errors.ts";
import type { Compat } from "../merge/merges.ts";
import { MemoryBudget } from "../runtime/memory-budget.ts";
import { workersFor } from "../runtime/worker-count.ts";
import { describeCounts } from "../store/content-hash.ts";
import { takeLockNow } from "../store/output-lock.ts";
import { isWithin, placeOf } from "../store/output-place.ts";
import { checkOutputDirectory } from "../store/staged-directory.ts";
import { settleModelSettings } from "../vocabulary/model-settings.ts";
import { checkSpecialTokens } from "../vocabulary/special-token-rules.ts";
import { baseSize } from "../vocabulary/vocabulary.ts";
import type { CountsOptions } from "../words/counts-format.ts";
import { countsOptionsOf, openMemory } from "./open-memory.ts";
import type { StageProgress } from "./stage-progress.ts";
import { type SuperwordSettings, settleSuperwords } from "./superword-settings.ts";
import { type Trained, train } from "./train.ts";
import { checkTrainOptions, type TrainTokenizerOptions } from "./train-options.ts";
import { trainedParts } from "./trained-parts.ts";
import { TrainedTokenizer } from "./trained-result.ts";
import { trainingPattern } from "./training-pattern.ts";
import { encodingPatternOf, type Result, type TrainSettings, writeResult } from "./write-result.ts";

/**
 * Trains a tokenizer.
 *
 * ```ts
 * const tokenizer = await trainTokenizer({ files: "corpus.txt", vocabSize: 32_000, specialTokens: ["<|endoftext|>"] });
 * await tokenizer.save("tokenizer");
 * ```
 *
 * Rejects with a {@link UserError} for wrong options, for files that cannot be read or written, and for a corpus without text.
 */
export async function trainTokenizer(options: TrainTokenizerOptions): Promise<TrainedTokenizer> {
  const startMs = performance.now();
  checkTrainOptions(options);
  options.signal?.throwIfAborted();
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
): Promise<TrainedTokenizer> {
  const { signal, output, onWarning: warn = () => {}, onProgress = () => {} } = options;
  const { inputs, skipped, textBytes } = openInputs(options, warn);
  const budget = new MemoryBudget(options.memoryLimitBytes);
  const workerCountFor = workersFor(options.workers, budget.workerCountMax);
  const workerCount = workerCountFor(textBytes);
  const choice =
    options.cache === undefined ? undefined : { path: options.cache, limitBytes: options.cacheLimitBytes };
  const pattern = settings.pattern.compiled;
  const countsOptions = countsOptionsOf(settings);
  const { countsFiles, counts } = await openCounts(options, countsOptions);
  const { memory, cached } = openMemory(choice, countsOptions, pattern, budget, warn);
  const resultOf = (trained: Trained): Result => ({
    ...{ command: "trainTokenizer", arguments: [], counts, settings, inputs, skipped, workerCount },
    ...{ trained, startMs },
  });
  const write = async (trained: Trained) => {
    signal?.throwIfAborted();
    if (output !== undefined) await writeResult(output, resultOf(trained));
  };
  const report = (progress: StageProgress) => {
    signal?.throwIfAborted();
    onProgress(progress);
  };
  try {
    const corpus = { inputs, countsFiles, workerCount, workerCountFor, memory, cache: cached?.cache };
    const trained = await train({ ...settings, ...corpus, pattern, write }, report);
    cached?.shrink();
    const parts = trainedParts(trained.vocabulary, encodingPatternOf(settings));
    return new TrainedTokenizer(parts, { ...resultOf(trained), endMs: performance.now() });
  } finally {
    memory.scratch.remove();
  }
}

/** The inputs of the corpus, and about how many bytes of text they have. */
function openInputs(options: TrainTokenizerOptions, warn: (message: string) => void) {
  const { files = [], texts, inputFormat: format, textField, include, binary, signal } = options;
  const paths = [files].flat();
  const found =
    paths.length === 0
      ? { inputs: [], skipped: [] }
      : findCorpus(paths, { format, textField, include, binary });
  refuseOwnResults(found.inputs, [options.output, options.cache]);
  for (const { path, reason } of found.skipped) warn(`"${path}" is not read: ${reason}`);
  const fileBytes = expectedTextBytes(found.inputs);
  if (texts === undefined) return { ...found, textBytes: fileBytes };
  const given = inputOfTexts(texts, signal);
  const givenBytes = Array.isArray(texts)
    ? texts.reduce((sum: number, text: string) => sum + (text.length ?? 0), 0)
    : expectedTextBytes([given]);
  return { ...found, inputs: [...found.inputs, given], textBytes: fileBytes + givenBytes };
}

/** Word counts that are added to those of the inputs. */
async function openCounts({ counts, wordCounts }: TrainTokenizerOptions, countsOptions: CountsOptions) {
  const paths = [counts ?? []].flat().flatMap(countsPathsOf);
  if (paths.length === 0 && wordCounts === undefined) return { countsFiles: undefined, counts: [] };
  const countsFiles =
    wordCounts === undefined ? new CountsFiles(paths) : new CountsFilesAndWords(paths, wordCounts);
  countsFiles.check(countsOptions);
  return { countsFiles, counts: await describeCounts(paths) };
}

/** The options, checked, with their defaults. */
function settle(options: TrainTokenizerOptions): TrainSettings {
  const { vocabSize, specialTokens = [], compat = "cs336" } = options;
  checkSpecialTokens(specialTokens, compat);
  const leastSize = baseSize(specialTokens, compat);
  if (!Number.isSafeInteger(vocabSize) || vocabSize < leastSize) {
    throw usageError(`vocabSize is ${vocabSize}: 256 bytes and the special tokens need ${leastSize}`);
  }
  const wholes = {
    padTo: [options.padTo, 1],
    minFrequency: [options.minFrequency, 0],
    maxTokenLength: [options.maxTokenLength, 1],
    superwordsFrom: [options.superwordsFrom, 1],
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
    superwords: superwordsOf(options, leastSize, compat),
    model: settleModelSettings(specialTokens, options.model ?? {}),
  };
}

function superwordsOf(
  options: TrainTokenizerOptions,
  baseSize: number,
  compat: Compat,
): SuperwordSettings | null {
  const { superwordsFrom: fromVocabSize, superwordPattern: pattern, vocabSize } = options;
  if (fromVocabSize === undefined) {
    if (pattern === undefined) return null;
    throw usageError("superwordPattern is for superwordsFrom, which is not given");
  }
  for (const name of ["texts", "counts", "wordCounts"] as const) {
    if (options[name] === undefined) continue;
    throw usageError(`superwordsFrom needs the corpus twice, and ${name} cannot give it`, "name files");
  }
  const sizes = { vocabSizeLeast: vocabSize, baseSize };
  return settleSuperwords({ fromVocabSize, pattern }, sizes, compat, {
    from: "superwordsFrom",
    vocabSize: "vocabSize",
  });
}
