import type { Skipped } from "../corpus/each-file-once.ts";
import type { Input } from "../corpus/input.ts";
import type { Compat } from "../merge/merges.ts";
import { exportForm, type ResolvedPattern } from "../pattern/pattern.ts";
import { peakMemoryBytes } from "../runtime/system-memory.ts";
import { nextTurn } from "../runtime/turns.ts";
import { build } from "../runtime/version.ts";
import type { FormerResults } from "../store/former-results.ts";
import { stageDirectory } from "../store/staged-directory.ts";
import { chooseFormats } from "../vocabulary/formats/formats.ts";
import { mergesSha256 } from "../vocabulary/formats/gpt2.ts";
import {
  type CountsRecord,
  recordFormat,
  recordName,
  type TrainingRecord,
  trainingFile,
} from "../vocabulary/formats/training-json.ts";
import type { ModelSettings } from "../vocabulary/model-settings.ts";
import type { Trained } from "./train.ts";

/** The settings of a training, as its record keeps them. */
export type TrainSettings = {
  readonly vocabSize: number;
  readonly specialTokens: readonly string[];
  readonly pattern: ResolvedPattern;
  readonly compat: Compat;
  readonly minFrequency: number;
  readonly maxTokenLength: number | null;
  readonly model: ModelSettings;
};

type Result = {
  /** The command as people read it, and its arguments as typed. */
  readonly command: string;
  readonly arguments: readonly string[];
  readonly settings: TrainSettings;
  /** The formats asked for; if none were, all that can express the tokenizer. */
  readonly formatNames?: readonly string[] | undefined;
  readonly inputs: readonly Input[];
  /** Files in directories that are not read. */
  readonly skipped: readonly Skipped[];
  readonly counts: readonly CountsRecord[];
  readonly workerCount: number;
  readonly trained: Trained;
  /** When the training began, by `performance.now()`. */
  readonly startMs: number;
  /** How many former results stay beside this one; undefined leaves those that are there. */
  readonly keepCount?: number | undefined;
};

export type Written = FormerResults & { readonly record: TrainingRecord };

/**
 * Writes the tokenizer directory beside its place, and then exchanges it with what is there. `guard` registers `discard` to
 * run if the process stops, and returns a function that unregisters it.
 */
export async function writeResult(
  path: string,
  result: Result,
  guard: (discard: () => void) => () => void = () => () => {},
): Promise<Written> {
  const writeStartMs = performance.now();
  const { trained, settings, formatNames } = result;
  const { pattern, model } = settings;
  const tokenizer = { vocabulary: trained.vocabulary, exportForm: exportForm(pattern), model };
  const files = chooseFormats(formatNames, tokenizer).flatMap((format) => format.files(tokenizer));
  const names = [...files.map((file) => file.name), recordName];
  let record: TrainingRecord | undefined;
  const recordFile = trainingFile(() => {
    record = recordOf(result, staged.generation, names, writeStartMs);
    return record;
  });

  const staged = stageDirectory(path);
  const unregister = guard(() => staged.discard());
  try {
    for (const file of [...files, recordFile]) {
      // In slices: tokens of repetitive text are megabytes long, and so are the files.
      for (const _ of staged.writeInSteps(file.name, file.chunks())) await nextTurn();
    }
    return { ...staged.publish({ keepCount: result.keepCount }), record: record! };
  } catch (error) {
    staged.discard();
    throw error;
  } finally {
    unregister();
  }
}

function recordOf(
  result: Result,
  generation: number,
  files: readonly string[],
  writeStartMs: number,
): TrainingRecord {
  const { command, settings, inputs, skipped, counts, workerCount, trained, startMs } = result;
  const { vocabSize, specialTokens, compat, minFrequency, maxTokenLength, model } = settings;
  const { name, sources } = settings.pattern;
  const pattern = { name, regex: sources.length === 1 ? sources[0]! : sources };
  const nowMs = performance.now();
  return {
    format: recordFormat,
    ...build,
    command,
    arguments: result.arguments,
    workingDirectory: process.cwd(),
    startedAt: new Date(performance.timeOrigin + startMs).toISOString(),
    generation,
    options: {
      vocabSize,
      specialTokens,
      pattern,
      compat,
      minFrequency,
      maxTokenLength,
      model: recordedModel(model),
      workers: workerCount,
    },
    formats: result.formatNames ?? null,
    inputs: inputs.map(({ path, isStream, sizeBytes, format, formatFrom, textField }, i) => ({
      path,
      sizeBytes: isStream ? trained.statistics[i]!.textBytes : sizeBytes,
      documents: trained.statistics[i]!.documentCount,
      invalidBytes: trained.statistics[i]!.invalidByteCount,
      format,
      formatFrom,
      ...(format !== "text" && { textField }),
    })),
    skipped,
    counts,
    wordCount: trained.pretokenCount,
    distinctWordCount: trained.distinctWordCount,
    mergeCount: trained.vocabulary.mergeCount,
    files,
    timings: {
      countMs: Math.round(trained.countMs),
      mergeMs: Math.round(trained.mergeMs),
      writeMs: Math.round(nowMs - writeStartMs),
      totalMs: Math.round(nowMs - startMs),
    },
    peakMemoryBytes: peakMemoryBytes(),
    mergesSha256: mergesSha256(trained.vocabulary),
  };
}

const recordedModel = ({ roles, addsBos, chatTemplate, modelMaxLength, tokenizerClass }: ModelSettings) => ({
  ...roles,
  addsBos,
  chatTemplate,
  modelMaxLength,
  tokenizerClass,
});
