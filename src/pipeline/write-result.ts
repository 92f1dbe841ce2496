import type { Skipped } from "../corpus/find-inputs.ts";
import { hasFields, type Input } from "../corpus/input.ts";
import { chooseFormats } from "../formats/formats.ts";
import { mergesSha256 } from "../formats/gpt2.ts";
import { modelCardFile } from "../formats/model-card.ts";
import type { OutputFile } from "../formats/output-file.ts";
import { ledgerFiles } from "../formats/tokens-tsv.ts";
import {
  type CountsRecord,
  recordFormat,
  recordName,
  type TrainingRecord,
  trainingFile,
} from "../formats/training-json.ts";
import { exportForm, type ResolvedPattern } from "../pattern/pattern.ts";
import { peakMemoryBytes } from "../runtime/system-limits.ts";
import { nextTurn } from "../runtime/turns.ts";
import { build } from "../runtime/version.ts";
import { type FormerResults, stageDirectory } from "../store/staged-directory.ts";
import { type Guard, unguarded, withStaged } from "../store/staged-file.ts";
import { ledgerFacts } from "../vocabulary/ledger.ts";
import type { ModelSettings } from "../vocabulary/model-settings.ts";
import { reservedOf, type Vocabulary } from "../vocabulary/vocabulary.ts";
import type { Trained } from "./train.ts";
import { encodingPatternOf, type OutputSettings, type TrainSettings } from "./training.ts";

export type Result = Partial<OutputSettings> & {
  /** The command as people read it, and its arguments as typed. */
  readonly command: string;
  readonly arguments: readonly string[];
  readonly settings: TrainSettings;
  readonly inputs: readonly Input[];
  /** Files in directories that are not read. */
  readonly skipped: readonly Skipped[];
  readonly counts: readonly CountsRecord[];
  readonly workerCount: number;
  readonly trained: Trained;
  /** When the training began, by `performance.now()`. */
  readonly startMs: number;
  /** When it ended, if the result is not written at once. */
  readonly endMs?: number;
  /** How many former results stay beside this one; undefined leaves those that are there. */
  readonly keepCount?: number | undefined;
};

export type Written = FormerResults & { readonly record: TrainingRecord };

/**
 * Writes the tokenizer directory beside its place, and then exchanges it with what is there.
 */
export async function writeResult(path: string, result: Result, guard: Guard = unguarded): Promise<Written> {
  const writeStartMs = performance.now();
  let record: TrainingRecord | undefined;
  const files = (generation: () => number) =>
    resultFiles(result, (made) => {
      record = recordOf(result, made, generation(), writeStartMs);
      return record;
    });
  const former = await publishFiles(path, files, { keepCount: result.keepCount, guard });
  return { ...former, record: record! };
}

type Publishing = {
  readonly keepCount?: number | undefined;
  readonly guard: Guard;
  /** Looks at the files before they take their place; what it throws, leaves the place as it was. */
  readonly check?: (stagedPath: string) => Promise<void>;
};

/** Writes files into a directory beside its place, and exchanges the two; see `writeResult`. */
export async function publishFiles(
  path: string,
  makeFiles: (generation: () => number) => readonly OutputFile[],
  { keepCount, guard, check }: Publishing,
): Promise<FormerResults> {
  return withStaged(stageDirectory(path), guard, async (staged) => {
    for (const file of makeFiles(() => staged.generation)) {
      // In slices: tokens of repetitive text are megabytes long, and so are the files.
      for (const _ of staged.writeInSteps(file.name, file.chunks())) await nextTurn();
    }
    await check?.(staged.stagedPath);
    return staged.publish({ keepCount });
  });
}

/** What a record is of: one of the vocabularies, and the files that are listed; or all, the largest among them. */
type Made = {
  readonly vocabulary: Vocabulary;
  readonly vocabSize: number;
  readonly sizes?: readonly number[];
  readonly names: readonly string[];
};
type MakeRecord = (made: Made) => TrainingRecord;

/** The files of one vocabulary; or those of each in a directory of its own, and the record of all. */
export function resultFiles(result: Result, makeRecord: MakeRecord): OutputFile[] {
  const { vocabulary, smaller } = result.trained;
  const { vocabSize, smallerSizes } = result.settings;
  if (smaller.length === 0) return tokenizerFiles(result, vocabulary, vocabSize, makeRecord);
  const sizes = [...smallerSizes, vocabSize];
  const files = [...smaller, vocabulary].flatMap((each, i) =>
    tokenizerFiles(result, each, sizes[i]!, makeRecord).map(({ name, chunks }) => ({
      name: `${sizes[i]}/${name}`,
      chunks,
    })),
  );
  const names = [...files.map(({ name }) => name), recordName];
  return [...files, trainingFile(() => makeRecord({ vocabulary, vocabSize, sizes, names }))];
}

/** The files of a tokenizer, its record last. */
function tokenizerFiles(
  result: Result,
  vocabulary: Vocabulary,
  vocabSize: number,
  makeRecord: MakeRecord,
): OutputFile[] {
  const { settings, formatNames, trained, modelCard } = result;
  const { ledger = formatNames === undefined ? undefined : false } = result;
  const tokenizer = {
    vocabulary,
    exportForm: exportForm(encodingPatternOf(settings)),
    model: settings.model,
  };
  const files = [
    ...chooseFormats(formatNames, tokenizer).flatMap((format) => format.files(tokenizer)),
    ...ledgerFiles(ledger, vocabulary, trained.ledger),
    ...(modelCard === true ? [cardOf(result, vocabulary)] : []),
  ];
  const names = [...files.map(({ name }) => name), recordName];
  return [...files, trainingFile(() => makeRecord({ vocabulary, vocabSize, names }))];
}

function cardOf({ settings, trained }: Result, vocabulary: Vocabulary): OutputFile {
  const { statistics, ledger } = trained;
  return modelCardFile({
    ...settings,
    pattern: encodingPatternOf(settings),
    vocabulary,
    documentCount: statistics.reduce((sum, { documentCount }) => sum + documentCount, 0),
    textBytes: statistics.reduce((sum, { textBytes }) => sum + textBytes, 0),
    bytesPerToken: ledgerFacts(ledger, vocabulary).bytesPerToken,
    mergesSha256: mergesSha256(vocabulary),
    version: build.version,
  });
}

function recordOf(
  result: Result,
  { vocabulary, vocabSize, sizes, names }: Made,
  generation: number,
  writeStartMs: number,
): TrainingRecord {
  const { settings, trained, workerCount } = result;
  // A setting that has no place of its own below is recorded by its name: none can be forgotten.
  const { specialTokens, padTo, compat, model, pattern, superwords, ...rest } = settings;
  const { vocabSize: largest, smallerSizes, ...named } = rest;
  return {
    ...runFacts(result, generation),
    options: {
      vocabSize,
      ...(sizes && { sizes }),
      specialTokens,
      padTo,
      reservedTokens: reservedOf(vocabulary),
      pattern: recordedPattern(encodingPatternOf(settings)),
      ...recordedSuperwords(settings, trained),
      compat,
      ...named,
      model: recordedModel(model),
      workers: workerCount,
    },
    formats: result.formatNames ?? null,
    ...corpusFacts(result, trained),
    mergeCount: vocabulary.mergeCount,
    ...ledgerFacts(trained.ledger, vocabulary),
    files: names,
    ...costFacts(result, trained, writeStartMs),
    mergesSha256: mergesSha256(vocabulary),
  };
}

/** What a run was asked for, and what it read. */
export type RecordedRun = Pick<
  Result,
  "command" | "arguments" | "inputs" | "skipped" | "counts" | "workerCount" | "startMs" | "endMs"
>;
/** What counting and merging found, as far as a record has it. */
type RecordedWork = Pick<
  Trained,
  "statistics" | "pretokenCount" | "distinctWordCount" | "countMs" | "mergeMs"
>;

/** The head of a record: the program, the command, and when it ran. */
export function runFacts({ command, arguments: typed, startMs }: RecordedRun, generation: number) {
  return {
    format: recordFormat,
    ...build,
    command,
    arguments: typed,
    workingDirectory: process.cwd(),
    startedAt: new Date(performance.timeOrigin + startMs).toISOString(),
    generation,
  } as const;
}

export const recordedPattern = ({ name, sources }: ResolvedPattern) => ({
  name,
  regex: sources.length === 1 ? sources[0]! : sources,
});

/** What was read and counted. */
export function corpusFacts({ inputs, skipped, counts }: RecordedRun, trained: RecordedWork) {
  return {
    inputs: inputs.map(({ path, isStream, sizeBytes, format, formatFrom, textField }, i) => ({
      path,
      sizeBytes: isStream ? trained.statistics[i]!.textBytes : sizeBytes,
      documents: trained.statistics[i]!.documentCount,
      invalidBytes: trained.statistics[i]!.invalidByteCount,
      format,
      formatFrom,
      ...(hasFields(format) && { textField }),
    })),
    skipped,
    counts,
    wordCount: trained.pretokenCount,
    distinctWordCount: trained.distinctWordCount,
  };
}

/** What the run took, up to now. */
export function costFacts({ startMs, endMs }: RecordedRun, trained: RecordedWork, writeStartMs: number) {
  const nowMs = performance.now();
  return {
    timings: {
      countMs: Math.round(trained.countMs),
      mergeMs: Math.round(trained.mergeMs),
      writeMs: Math.round(nowMs - writeStartMs),
      totalMs: Math.round((endMs ?? writeStartMs) - startMs + (nowMs - writeStartMs)),
    },
    peakMemoryBytes: peakMemoryBytes(),
  };
}

function recordedSuperwords({ superwords, pattern }: TrainSettings, { superwordFacts }: Trained) {
  if (superwords === null || superwordFacts === undefined) return {};
  const { fromVocabSize } = superwords;
  return { superwords: { fromVocabSize, wordPattern: recordedPattern(pattern), ...superwordFacts } };
}

const recordedModel = ({ roles, addsBos, chatTemplate, modelMaxLength, tokenizerClass }: ModelSettings) => ({
  ...roles,
  addsBos,
  chatTemplate,
  modelMaxLength,
  tokenizerClass,
});
