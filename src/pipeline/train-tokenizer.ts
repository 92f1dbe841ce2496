import { checkArgument, checkOptions, pathArgument, textsArgument } from "../bytes/schema.ts";
import { findCorpus } from "../corpus/find-inputs.ts";
import { inputOfTexts } from "../corpus/given-texts.ts";
import { expectedTextBytes, type InputFormat } from "../corpus/input.ts";
import { CountsFiles, CountsFilesAndWords, countsPathsOf } from "../count/counts-files.ts";
import { usageError } from "../errors.ts";
import { writtenFormats } from "../formats/formats.ts";
import { pathsReadAt } from "../formats/load-tokenizer.ts";
import { readCall, spellInLibrary } from "../options/library.ts";
import type { AskedTraining } from "../options/training-table.ts";
import { MemoryBudget, workersFor } from "../runtime/system-limits.ts";
import { describeCounts } from "../store/content-hash.ts";
import { takeLockNow } from "../store/output-lock.ts";
import { placeOf } from "../store/output-place.ts";
import { checkOutputDirectory } from "../store/staged-directory.ts";
import { WrittenPlaces } from "../store/written-places.ts";
import { type TokenizerParts, trainedParts } from "../tokenizer/tokenizer-parts.ts";
import { copyTokenBytes, notesOfShared } from "../vocabulary/vocabulary.ts";
import type { CountsOptions } from "../words/counts-format.ts";
import { languageFilesOf, languagesOf } from "./count-groups.ts";
import { openMemory } from "./count-memory.ts";
import type { TrainedVocabulary } from "./learn-merges.ts";
import { likeInWorker } from "./load-in-worker.ts";
import { noteOfSeedBytes } from "./seed-tokens.ts";
import type { StageProgress } from "./stage-progress.ts";
import { Tokenizer } from "./tokenizer.ts";
import { train } from "./train.ts";
import type { TrainTokenizerOptions } from "./train-tokenizer-options.ts";
import { countsOptionsOf, encodingPatternOf, settle, type Training } from "./training.ts";
import { type LoadedFormats, loadFormats, productOf, type Result, writeResult } from "./write-result.ts";

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
  const asked = readCall(options);
  checkCall(options, asked);
  options.signal?.throwIfAborted();
  const written = writtenPlaces(asked);
  const like = asked.like === undefined ? undefined : await likeInWorker(asked.like);
  const training = { ...settle(asked, { like }, spellInLibrary), base: null };
  if (asked.output === undefined) return trainSettled(options, asked, training, written, startMs);
  checkOutputDirectory(asked.output);
  const lock = takeLockNow(placeOf(asked.output));
  try {
    return await trainSettled(options, asked, training, written, startMs);
  } finally {
    lock.release();
  }
}

async function trainSettled(
  options: TrainTokenizerOptions,
  asked: AskedTraining,
  training: Training<null>,
  written: WrittenPlaces,
  startMs: number,
): Promise<TrainedTokenizer> {
  const { signal, output, onWarning: warn = () => {}, onProgress = () => {} } = options;
  const { inputs, languages, skipped, textBytes } = openInputs(options, asked, written, warn);
  const budget = new MemoryBudget(asked.memoryLimit);
  const workerCountFor = workersFor(asked.workers, budget.workerCountMax);
  const workerCount = workerCountFor(textBytes);
  const choice = asked.cache === undefined ? undefined : { path: asked.cache, limitBytes: asked.cacheLimit };
  const countsOptions = countsOptionsOf(training);
  const { countsFiles, counts } = await openCounts(options, asked, countsOptions);
  const { memory, cached } = openMemory(choice, countsOptions, training.pattern.compiled, budget, warn);
  const resultOf = (trained: TrainedVocabulary): Result => ({
    ...{
      command: "trainTokenizer",
      arguments: [],
      counts,
      training,
      inputs,
      languages,
      skipped,
      workerCount,
    },
    ...{ trained, startMs, formatNames: asked.formats, ledger: asked.ledger },
    ...{ modelCard: asked.modelCard ?? false, keepCount: asked.keep },
  });
  const write = async (trained: TrainedVocabulary) => {
    signal?.throwIfAborted();
    if (output !== undefined) await writeResult(output, resultOf(trained));
  };
  const report = (progress: StageProgress) => {
    signal?.throwIfAborted();
    onProgress(progress);
  };
  try {
    const corpus = {
      inputs,
      languages,
      countsFiles,
      workerCount,
      workerCountFor,
      memory,
      cache: cached?.cache,
    };
    const trained = await train(training, { ...corpus, write }, report);
    cached?.shrink();
    const note = noteOfSeedBytes(training.seedTokens);
    for (const said of [note ?? [], notesOfShared(trained.vocabulary)].flat()) warn(said);
    const result = { ...resultOf(trained), endMs: performance.now() };
    const formats = await loadFormats();
    const parts =
      training.like === null
        ? trainedParts(trained.vocabulary, encodingPatternOf(training), training.normalization)
        : partsAsWritten(result, formats);
    return new TrainedTokenizer(parts, result, formats);
  } finally {
    memory.scratch.remove();
  }
}

/** What a tokenizer has from another one is in its files. */
function partsAsWritten(result: Result, formats: LoadedFormats): TokenizerParts {
  const json = productOf({ ...result, formatNames: ["huggingface"] }, formats).filesOf(
    result.training.smallerSizes.length,
  )[0]!;
  const file = { name: json.name, path: json.name, bytes: joined(json.chunks()) };
  const parts = formats.get("huggingface")!.read([file], {});
  return { ...parts, description: { ...parts.description, path: "", kind: "trained in this process" } };
}

/** All that the training writes. Refuses what options name to be read; what a directory holds is known later. */
function writtenPlaces({ output, cache, like, counts = [] }: AskedTraining): WrittenPlaces {
  const places = new WrittenPlaces([
    ...(output === undefined
      ? []
      : [{ name: `output "${output}"`, path: output, kind: "directory" } as const]),
    ...(!cache ? [] : [{ name: `cache "${cache}"`, path: cache, kind: "cache" } as const]),
  ]);
  places.keepApart();
  places.keepFrom(
    [...counts.flatMap(countsPathsOf), ...(like === undefined ? [] : pathsReadAt(like))].map((path) => ({
      path,
    })),
  );
  return places;
}

/** The inputs of the corpus, and about how many bytes of text they have. */
function openInputs(
  { files = [], texts, signal }: TrainTokenizerOptions,
  asked: AskedTraining,
  written: WrittenPlaces,
  warn: (message: string) => void,
) {
  const { textField, include, binary } = asked;
  const format = asked.inputFormat as InputFormat | undefined;
  const languageFiles = languageFilesOf(asked, spellInLibrary);
  const paths = languageFiles?.map(({ file }) => file) ?? [files].flat();
  const found =
    paths.length === 0
      ? { inputs: [], skipped: [] }
      : findCorpus(paths, { format, textField, include, binary });
  const languages = languageFiles && languagesOf(languageFiles, found, warn);
  written.keepFrom(found.inputs);
  for (const { path, reason } of found.skipped) warn(`"${path}" is not read: ${reason}`);
  const fileBytes = expectedTextBytes(found.inputs);
  if (texts === undefined) return { ...found, languages, textBytes: fileBytes };
  const given = inputOfTexts(texts, signal);
  const givenBytes = Array.isArray(texts)
    ? texts.reduce((sum: number, text: string) => sum + (text.length ?? 0), 0)
    : expectedTextBytes([given]);
  return { ...found, languages, inputs: [...found.inputs, given], textBytes: fileBytes + givenBytes };
}

/** Word counts that are added to those of the inputs. */
async function openCounts(
  { wordCounts }: TrainTokenizerOptions,
  { counts = [] }: AskedTraining,
  countsOptions: CountsOptions,
) {
  const paths = counts.flatMap(countsPathsOf);
  if (paths.length === 0 && wordCounts === undefined) return { countsFiles: undefined, counts: [] };
  const countsFiles =
    wordCounts === undefined ? new CountsFiles(paths) : new CountsFilesAndWords(paths, wordCounts);
  countsFiles.check(countsOptions);
  return { countsFiles, counts: await describeCounts(paths) };
}

/** What the table of options does not say. */
function checkCall(options: TrainTokenizerOptions, asked: AskedTraining): void {
  const { files, texts, languages, counts, wordCounts } = options;
  const sources = [files, texts, languages, counts, wordCounts];
  if (sources.every((source) => source === undefined || (Array.isArray(source) && source.length === 0))) {
    throw usageError(
      "trainTokenizer: there is nothing to train on",
      "give files, texts, counts or wordCounts",
    );
  }
  if (counts === undefined || asked.like !== undefined) return;
  if (asked.pattern !== undefined && asked.specialTokens !== undefined) return;
  throw usageError(
    "trainTokenizer: counts need the pattern and the specialTokens that they were made with",
    "the first line of a .tsv states them; without special tokens, give specialTokens: []",
  );
}

/** Which files of a tokenizer are made. */
export type SaveOptions = {
  /** Names of formats, as `--format` takes them. Default: all that can hold the tokenizer. */
  readonly formats?: readonly string[] | undefined;
};

/** What was counted and learned in a training. */
export type TrainingStatistics = {
  /** Pretokens of the corpus. */
  readonly wordCount: number;
  readonly distinctWordCount: number;
  readonly mergeCount: number;
  /** Bytes of all pretokens. */
  readonly byteCount: number;
  /** How many tokens they are, when all merges are made. */
  readonly tokenCount: number;
  readonly countMs: number;
  readonly mergeMs: number;
};

/** A tokenizer that was just trained. It is in memory, and written where and when it is wanted. */
export class TrainedTokenizer extends Tokenizer {
  /** @internal */
  constructor(
    parts: TokenizerParts,
    private readonly result: Result,
    private readonly formats: LoadedFormats,
  ) {
    super(parts);
  }

  get statistics(): TrainingStatistics {
    const { vocabulary, ledger, pretokenCount, distinctWordCount, countMs, mergeMs } = this.result.trained;
    const { mergeCount } = vocabulary;
    const [byteCount, tokenCount] = [ledger.tokensAfter[0]!, ledger.tokensAfter[mergeCount]!];
    return {
      wordCount: pretokenCount,
      distinctWordCount,
      mergeCount,
      byteCount,
      tokenCount,
      countMs,
      mergeMs,
    };
  }

  /** The merges in the order in which they were learned: the bytes of the two tokens of each. */
  get merges(): [left: Uint8Array, right: Uint8Array][] {
    const { mergeCount, left, right, tokenBytes } = this.result.trained.vocabulary;
    return Array.from({ length: mergeCount }, (_, m) => [
      copyTokenBytes(tokenBytes, left[m]!),
      copyTokenBytes(tokenBytes, right[m]!),
    ]);
  }

  /** The files of the tokenizer, by name, as `save` would write them: `tokenizer.json`, `vocab.json`, … */
  files(options: SaveOptions = {}): Map<string, Uint8Array> {
    const files = productOf(this.asked("files", options), this.formats).filesOf(
      this.result.training.smallerSizes.length,
    );
    return new Map(files.map(({ name, chunks }) => [name, joined(chunks())]));
  }

  /**
   * Writes the tokenizer's files into a directory, as `bpe train -o` does: as a whole or not at all. The directory may be
   * absent, empty, or the result of an earlier training, which is replaced.
   */
  async save(directory: string, options: SaveOptions = {}): Promise<void> {
    checkArgument("save: directory", directory, pathArgument);
    const result = this.asked("save", options);
    checkOutputDirectory(directory);
    const lock = takeLockNow(placeOf(directory));
    try {
      await writeResult(directory, result);
    } finally {
      lock.release();
    }
  }

  private asked(call: string, options: SaveOptions): Result {
    checkOptions(call, options, { formats: textsArgument });
    for (const name of options.formats ?? []) {
      if (!writtenFormats.includes(name)) {
        throw usageError(`${call}: unknown format "${name}"`, `known are ${writtenFormats.join(", ")}`);
      }
    }
    return { ...this.result, formatNames: options.formats };
  }
}

/** A chunk is valid until the next one is asked for. */
function joined(chunks: Iterable<Uint8Array>): Uint8Array {
  const parts = Array.from(chunks, (chunk) => chunk.slice());
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let pos = 0;
  for (const part of parts) {
    bytes.set(part, pos);
    pos += part.length;
  }
  return bytes;
}
