import { join, posix } from "node:path";
import { corpusInputs, type inputSearch } from "#corpus";
import {
  formats,
  mergesSha256,
  modelCardFile,
  type outputFiles,
  recordedFiles,
  tokensTsvFiles,
  trainingRecords,
} from "#formats";
import type { learning } from "#merge";
import type { RequestedTraining } from "#options";
import { type compiledPatterns, loadCompiler } from "#pattern";
import { files, host, machine, programVersion, yieldToEventLoop } from "#runtime";
import { stagedDirectory, stagedFile } from "#store";
import {
  asLearned,
  imageFile,
  type TokenizerParts,
  tokenCounting,
  type Vocabulary,
  vocabularies,
} from "#tokenizer";
import { inputWeights } from "#words";
import { findsSpecialTokens, finishedTokenizer, type LoadedFormats, selectFiles } from "./chosen-files.ts";
import { partsOfTraining } from "./parts-of-training.ts";
import { encodingPatternOf, type OutputSettings, type Training } from "./training.ts";

/** A run, as training.json describes it. */
export type Run = {
  /** The command as people read it. */
  readonly command: string;
  /** The arguments as they were typed. */
  readonly arguments: readonly string[];
  /** When the run started, by `performance.now()`. */
  readonly startMs: number;
  /** When the training ended, by `performance.now()`. Present only if the result is written later. */
  readonly endMs?: number;
  readonly trained: Pick<learning.TrainedWork, "countMs" | "mergeMs">;
  /** How many former results to keep next to this one. If undefined, kept results stay as they are. */
  readonly keepCount?: number | undefined;
};

/** A training, its inputs, and what was learned. */
export type Result<Trained extends learning.TrainedWork = learning.TrainedVocabulary> = Run &
  Partial<OutputSettings> & {
    readonly training: Training;
    readonly corpus: Pick<learning.Corpus, "inputs" | "languages" | "workerCount">;
    /** The paths that were skipped in directories and among the matches of globs. */
    readonly skipped: readonly inputSearch.Skipped[];
    readonly counts: readonly trainingRecords.Counts[];
    readonly trained: Trained;
  };

export type Product<Fields> = {
  /** The sizes of the vocabularies, ascending. If there are several, each has its own directory, named by its size. */
  readonly sizes: readonly number[];
  readonly filesOf: (index: number) => readonly outputFiles.OutputFile[];
  /** Whether an image is written into each directory. Records do not list it, because it can be compiled again. */
  readonly hasImage?: boolean;
  /**
   * Returns the fields of the record between its head and its files. `sizes` is given only for the record that several
   * vocabularies share.
   */
  readonly fieldsOf: (index: number, sizes?: readonly number[]) => Fields;
  readonly mergesSha256Of: (index: number) => string;
};

export type Written<Record> = stagedDirectory.FormerResults & { readonly record: Record };

/** Writes a result into a hidden directory next to its place, which then replaces a former result. */
export async function writeProduct<Fields extends object>(
  path: string,
  product: Product<Fields>,
  run: Run,
  guard: stagedFile.Guard = stagedFile.noGuard,
) {
  const writeStartMs = performance.now();
  const recordOf = ({ names, sha256 }: WrittenFiles, index: number, sizes?: readonly number[]) => ({
    ...headOf(run),
    ...product.fieldsOf(index, sizes),
    files: names,
    filesSha256: sha256,
    ...costOf(run, writeStartMs),
    mergesSha256: product.mergesSha256Of(index),
  });
  let record: ReturnType<typeof recordOf> | undefined;
  const files = filesOfSizes(product, (...made) => {
    record = recordOf(...made);
    return record;
  });
  const withImages = !product.hasImage ? [] : product.sizes.length === 1 ? [""] : product.sizes.map(String);
  const former = await publishFiles(path, files, { keepCount: run.keepCount, guard, withImages });
  return { ...former, record: record! };
}

export type WrittenFiles = {
  /** The names of all files but images, including the record. */
  readonly names: readonly string[];
  /** The SHA-256 of each file but the record, in hex, by name. */
  readonly sha256: Readonly<Record<string, string>>;
};

/**
 * Returns the files of a result, with a record. If there are several sizes, each has its own directory with a record. A
 * common record then has the facts of the largest size.
 */
export function filesOfSizes(
  { sizes, ...product }: Pick<Product<object>, "sizes" | "filesOf">,
  makeRecord: (written: WrittenFiles, index: number, sizes?: readonly number[]) => object,
): outputFiles.OutputFile[] {
  const recorded = (files: readonly outputFiles.OutputFile[], index: number, sizes?: readonly number[]) => {
    const names = [...files.map(({ name }) => name), recordedFiles.recordName];
    const sha256: Record<string, string> = {};
    const hashed = files.map((file) => hashedFile(file, sha256));
    return [...hashed, trainingRecords.file(() => makeRecord({ names, sha256 }, index, sizes))];
  };
  const each = sizes.map((_, index) => recorded(product.filesOf(index), index));
  if (each.length === 1) return each[0]!;
  const files = each.flatMap((some, index) =>
    some.map(({ name, chunks }) => ({ name: `${sizes[index]}/${name}`, chunks })),
  );
  return recorded(files, sizes.length - 1, sizes);
}

/** A file that puts its SHA-256 into `sums` when it is written. */
const hashedFile = (
  { name, chunks }: outputFiles.OutputFile,
  sums: Record<string, string>,
): outputFiles.OutputFile => ({
  name,
  *chunks() {
    const hasher = host.createSha256();
    for (const chunk of chunks()) {
      hasher.update(chunk);
      yield chunk;
    }
    sums[name] = hasher.digest("hex");
  },
});

type Publishing = {
  readonly keepCount?: number | undefined;
  readonly guard: stagedFile.Guard;
  /** Directories of the result that get an image of their tokenizer; "" is the result itself. */
  readonly withImages?: readonly string[];
  /** Checks the staged files. If it throws, nothing is published. */
  readonly check?: (stagedPath: string) => Promise<void>;
};

/** Writes files into a hidden directory next to `path`, which then replaces what is at `path`. */
export async function publishFiles(
  path: string,
  files: readonly outputFiles.OutputFile[],
  { keepCount, guard, withImages = [], check }: Publishing,
): Promise<stagedDirectory.FormerResults> {
  return stagedFile.use(stagedDirectory.stageDirectory(path), guard, async (staged) => {
    for (const file of files) {
      // A file can be long, so this yields to the event loop after each of its chunks.
      for (const _ of staged.writeInSteps(file.name, file.chunks())) await yieldToEventLoop();
    }
    for (const directory of withImages) {
      const { imageAt } = await import("./image-at.ts");
      const image = await imageAt(join(staged.stagedPath, directory));
      for (const _ of staged.writeInSteps(posix.join(directory, imageFile.name), [image]))
        await yieldToEventLoop();
    }
    await check?.(staged.stagedPath);
    return staged.publish({ keepCount });
  });
}

export type AnyProduct = Product<object>;

export const outputsOf = ({
  formats: formatNames,
  ledger,
  modelCard = false,
}: RequestedTraining): OutputSettings => ({
  formatNames,
  ledger,
  modelCard,
});

export function productOf(
  result: Result,
  loaded: LoadedFormats,
): Product<trainingRecords.FieldsOf<trainingRecords.TrainingRecord>> {
  const { training, trained, modelCard } = result;
  const others = result.formatNames?.filter((name) => name !== formats.image);
  const formatNames = others?.length === 0 ? undefined : others;
  const { ledger = formatNames === undefined ? undefined : false } = result;
  const vocabularies = [...trained.smaller, trained.vocabulary];
  const sizes = [...training.smallerSizes, training.vocabSize];
  return {
    sizes,
    hasImage: result.formatNames?.includes(formats.image) === true,
    filesOf(index) {
      const vocabulary = vocabularies[index]!;
      return [
        ...selectFiles(loaded, formatNames, finishedTokenizer(training, vocabulary)),
        ...tokensTsvFiles(ledger, vocabulary, trained.tokenCounts),
        ...(modelCard === true ? [cardOf(result, vocabulary)] : []),
      ];
    },
    fieldsOf(index, allSizes) {
      const vocabulary = vocabularies[index]!;
      const finds = findsSpecialTokens(loaded, formatNames);
      const fingerprint = asLearned.fingerprint(partsOfTraining(training, vocabulary, finds));
      return fieldsOf(result, { vocabulary, vocabSize: sizes[index]!, fingerprint }, allSizes);
    },
    mergesSha256Of: (index) => mergesSha256(vocabularies[index]!),
  };
}

function cardOf({ training, trained, corpus }: Result, vocabulary: Vocabulary): outputFiles.OutputFile {
  const { tokenCounts } = trained;
  const statistics = trained.statistics.filter((_, i) => !corpus.languages?.[i]?.isDev);
  return modelCardFile({
    ...training,
    pattern: encodingPatternOf(training),
    vocabulary,
    documentCount: statistics.reduce((sum, { documentCount }) => sum + documentCount, 0),
    textBytes: statistics.reduce((sum, { textBytes }) => sum + textBytes, 0),
    bytesPerToken: tokenCounting.factsOf(tokenCounts, vocabulary).bytesPerToken,
    mergesSha256: mergesSha256(vocabulary),
    version: programVersion.build.version,
  });
}

/**
 * Returns all settings except those that have a field of their own in a record. So a new setting is recorded even if it
 * is not listed here.
 */
export function otherSettings({
  base,
  vocabSize,
  smallerSizes,
  padTo,
  specialTokens,
  normalization,
  pattern,
  compat,
  superwords,
  model,
  like,
  ...others
}: Training) {
  return others;
}

type SizedVocabulary = {
  readonly vocabulary: Vocabulary;
  readonly vocabSize: number;
  readonly fingerprint: string;
};

function fieldsOf(
  result: Result,
  { vocabulary, vocabSize, fingerprint }: SizedVocabulary,
  sizes: readonly number[] | undefined,
): trainingRecords.FieldsOf<trainingRecords.TrainingRecord> {
  const { training, trained, corpus } = result;
  const { specialTokens, padTo, compat, model, normalization, like } = training;
  const { proposed, fromTemplate, roles, ...modelSettings } = model;
  const later = like?.laterTokens.map(({ content }) => content) ?? [];
  return {
    options: {
      vocabSize,
      ...(sizes && { sizes }),
      specialTokens,
      padTo,
      reservedTokens: vocabularies.reservedOf(vocabulary).filter((text) => !later.includes(text)),
      pattern: patternRecord(encodingPatternOf(training)),
      ...(normalization !== null && { normalization }),
      ...superwordRecord(training, trained),
      compat,
      ...otherSettings(training),
      ...(like && { like: like.path }),
      model: { ...roles, ...modelSettings },
      workers: corpus.workerCount,
    },
    formats: result.formatNames ?? null,
    ...corpusFacts(result),
    fingerprint,
    mergeCount: vocabulary.mergeCount,
    ...tokenCounting.factsOf(trained.tokenCounts, vocabulary),
  };
}

function superwordRecord({ superwords, pattern }: Training, { superwordFacts }: learning.TrainedVocabulary) {
  if (superwords === null || superwordFacts === undefined) return {};
  const { fromVocabSize } = superwords;
  return { superwords: { fromVocabSize, wordPattern: patternRecord(pattern), ...superwordFacts } };
}

export const patternRecord = ({
  name,
  sources,
  huggingfaceSources,
  compiled,
}: compiledPatterns.ResolvedPattern) => ({
  name,
  regex: sources.length === 1 ? sources[0]! : sources,
  ...(huggingfaceSources && huggingfaceSources[0] !== sources[0] && { huggingface: huggingfaceSources[0]! }),
  javascript:
    compiled.javascript === undefined ? loadCompiler().javascriptSource(sources) : compiled.javascript,
});

/** Returns the facts about what was read and counted. */
export function corpusFacts({ training, corpus, skipped, counts, trained }: Result<learning.TrainedWork>) {
  const { inputs, languages } = corpus;
  const { weights } = training;
  const weightOfEach =
    weights &&
    inputWeights.forPaths(
      [...inputs, ...counts].map(({ path }) => path),
      weights,
    );
  /**
   * Returns the weight of an input or of a file of word counts, as a field. The files of word counts are numbered after
   * the inputs.
   */
  const weightAt = (i: number) => weightOfEach && { weight: weightOfEach[i]! };
  return {
    inputs: inputs.map(({ path, isStream, sizeBytes, format, formatFrom, textField }, i) => ({
      path,
      sizeBytes: isStream ? trained.statistics[i]!.textBytes : sizeBytes,
      textBytes: trained.statistics[i]!.textBytes,
      documents: trained.statistics[i]!.documentCount,
      invalidBytes: trained.statistics[i]!.invalidByteCount,
      ...checksumRecord(trained.statistics[i]!),
      format,
      formatFrom,
      ...(corpusInputs.hasFields(format) && { textField }),
      ...weightAt(i),
      ...languages?.[i],
    })),
    ...(languages && { languages: trained.languages! }),
    skipped,
    counts: counts.map((file, i) => ({ ...file, ...weightAt(inputs.length + i) })),
    wordCount: trained.pretokenCount,
    distinctWordCount: trained.distinctWordCount,
  };
}

const checksumRecord = ({ crc32 }: learning.TrainedWork["statistics"][number]) =>
  crc32 === undefined ? {} : { crc32: crc32.toString(16).padStart(8, "0") };

/** Returns the head of a record: its format, the program, the command, and when and where the run started. */
const headOf = ({ command, arguments: typed, startMs }: Pick<Run, "command" | "arguments" | "startMs">) =>
  ({
    format: trainingRecords.format,
    ...programVersion.build,
    command,
    arguments: typed,
    workingDirectory: process.cwd(),
    startedAt: new Date(performance.timeOrigin + startMs).toISOString(),
  }) as const;

/** A tokenizer that was made from another one, whose first file is `basePath`. */
type Derivation = Pick<Run, "command" | "arguments" | "startMs"> & {
  readonly basePath: string;
  readonly parts: TokenizerParts;
};

/**
 * Makes the record of a derived tokenizer. Its options are those of the original's training record, if there is one,
 * changed by `options`. They always state the pattern and the normalization, and that there are no reserved tokens.
 */
export function makeDerivedRecord(
  { basePath, parts, ...run }: Derivation,
  made: object,
  files: readonly string[],
  options: Readonly<Record<"vocabSize" | "specialTokens" | "specialIds", unknown>>,
): object {
  const { patternName: name, patternSources: sources } = parts.description;
  return {
    ...headOf(run),
    ...made,
    files,
    options: {
      ...trainedOptions(basePath),
      ...options,
      padTo: 1,
      reservedTokens: [],
      normalization: parts.normalization,
      pattern: patternRecord({ name, sources, compiled: parts.pattern }),
    },
  };
}

/** Returns the options in the training record next to the file, if there is one. */
function trainedOptions(path: string): object | undefined {
  const recordPath = join(path, "..", recordedFiles.recordName);
  if (!files.isFile(recordPath)) return undefined;
  const { options } = recordedFiles.readJson(recordPath) as { options?: unknown };
  return typeof options === "object" && options !== null ? options : undefined;
}

/** Returns how long training and writing took so far, and the peak memory of the process. */
function costOf({ startMs, endMs, trained }: Run, writeStartMs: number) {
  const nowMs = performance.now();
  return {
    timings: {
      countMs: Math.round(trained.countMs),
      mergeMs: Math.round(trained.mergeMs),
      writeMs: Math.round(nowMs - writeStartMs),
      totalMs: Math.round((endMs ?? writeStartMs) - startMs + (nowMs - writeStartMs)),
    },
    peakMemoryBytes: machine.peakMemoryBytes(),
  };
}
