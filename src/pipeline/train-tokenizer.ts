import { readNormalization } from "../bytes/normalization.ts";
import {
  type ArgumentKind,
  callbackArgument,
  checkArgument,
  checkOptions,
  flagArgument,
  numberArgument,
  objectArgument,
  pathArgument,
  pathsArgument,
  signalArgument,
  textArgument,
  textsArgument,
  wordOf,
} from "../bytes/schema.ts";
import { findCorpus } from "../corpus/find-inputs.ts";
import { inputOfTexts, type Texts } from "../corpus/given-texts.ts";
import { expectedTextBytes, type InputFormat, inputFormats } from "../corpus/input.ts";
import { CountsFiles, CountsFilesAndWords, countsPathsOf } from "../count/counts-files.ts";
import { usageError } from "../errors.ts";
import { writtenFormats } from "../formats/formats.ts";
import { pathsReadAt } from "../formats/load-tokenizer.ts";
import type { Compat } from "../merge/merges.ts";
import { MemoryBudget, workersFor } from "../runtime/system-limits.ts";
import { describeCounts } from "../store/content-hash.ts";
import { takeLockNow } from "../store/output-lock.ts";
import { placeOf } from "../store/output-place.ts";
import { checkOutputDirectory } from "../store/staged-directory.ts";
import { WrittenPlaces } from "../store/written-places.ts";
import { type TokenizerParts, trainedParts } from "../tokenizer/tokenizer-parts.ts";
import type { AskedModelSettings, Like } from "../vocabulary/model-settings.ts";
import { copyTokenBytes } from "../vocabulary/vocabulary.ts";
import type { CountsOptions } from "../words/counts-format.ts";
import type { GivenWords } from "../words/word-table.ts";
import { checkDev, type LanguageFile, languagesOf } from "./count-groups.ts";
import { openMemory } from "./count-memory.ts";
import type { TrainedVocabulary } from "./learn-merges.ts";
import { likeInWorker } from "./load-in-worker.ts";
import { noteOfSeedBytes } from "./seed-tokens.ts";
import type { StageProgress } from "./stage-progress.ts";
import { Tokenizer } from "./tokenizer.ts";
import { train } from "./train.ts";
import { countsOptionsOf, encodingPatternOf, settle, settleCutting, type Training } from "./training.ts";
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
  checkTrainOptions(options);
  options.signal?.throwIfAborted();
  const written = writtenPlaces(options);
  const like = options.like === undefined ? undefined : await likeInWorker(options.like);
  const training = settleOptions(options, like);
  if (options.output === undefined) return trainSettled(options, training, written, startMs);
  checkOutputDirectory(options.output);
  const lock = takeLockNow(placeOf(options.output));
  try {
    return await trainSettled(options, training, written, startMs);
  } finally {
    lock.release();
  }
}

async function trainSettled(
  options: TrainTokenizerOptions,
  training: Training<null>,
  written: WrittenPlaces,
  startMs: number,
): Promise<TrainedTokenizer> {
  const { signal, output, onWarning: warn = () => {}, onProgress = () => {} } = options;
  const { inputs, languages, skipped, textBytes } = openInputs(options, written, warn);
  const budget = new MemoryBudget(options.memoryLimitBytes);
  const workerCountFor = workersFor(options.workers, budget.workerCountMax);
  const workerCount = workerCountFor(textBytes);
  const choice =
    options.cache === undefined ? undefined : { path: options.cache, limitBytes: options.cacheLimitBytes };
  const countsOptions = countsOptionsOf(training);
  const { countsFiles, counts } = await openCounts(options, countsOptions);
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
    ...{ trained, startMs },
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
    if (note !== undefined) warn(note);
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
  const json = productOf({ ...result, formatNames: ["huggingface"] }, formats).filesOf(0)[0]!;
  const file = { name: json.name, path: json.name, bytes: joined(json.chunks()) };
  const parts = formats.get("huggingface")!.read([file], {});
  return { ...parts, description: { ...parts.description, path: "", kind: "trained in this process" } };
}

/** All that the training writes. Refuses what options name to be read; what a directory holds is known later. */
function writtenPlaces({ output, cache, like, counts = [] }: TrainTokenizerOptions): WrittenPlaces {
  const places = new WrittenPlaces([
    ...(output === undefined
      ? []
      : [{ name: `output "${output}"`, path: output, kind: "directory" } as const]),
    ...(!cache ? [] : [{ name: `cache "${cache}"`, path: cache, kind: "cache" } as const]),
  ]);
  places.keepApart();
  places.keepFrom(
    [...[counts].flat().flatMap(countsPathsOf), ...(like === undefined ? [] : pathsReadAt(like))].map(
      (path) => ({ path }),
    ),
  );
  return places;
}

/** The inputs of the corpus, and about how many bytes of text they have. */
function openInputs(options: TrainTokenizerOptions, written: WrittenPlaces, warn: (message: string) => void) {
  const { files = [], texts, inputFormat: format, textField, include, binary, signal } = options;
  const languageFiles = options.languages && languageFilesOf(options.languages);
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

function languageFilesOf(languages: NonNullable<TrainTokenizerOptions["languages"]>): LanguageFile[] {
  const filesOf = (isDev: boolean) =>
    languages.flatMap(({ name: language, files, dev = [] }) =>
      [isDev ? dev : files].flat().map((file) => ({ language, isDev, file })),
    );
  const [train, dev] = [filesOf(false), filesOf(true)];
  checkDev("languages: dev", train, dev);
  const bare = languages.find(({ name }) => name === "" || !train.some(({ language }) => language === name));
  if (bare !== undefined) throw usageError(`languages: "${bare.name}" needs a name, and a file`);
  return [...train, ...dev];
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
function settleOptions(options: TrainTokenizerOptions, like: Like | undefined): Training<null> {
  const { cache } = options;
  const numbers = { ...options, modelMaxLength: options.model?.modelMaxLength };
  for (const [name, least] of Object.entries(leastNumbers)) {
    const value = numbers[name as keyof typeof leastNumbers];
    if (value !== undefined && !(Number.isSafeInteger(value) && value >= least))
      throw usageError(`${name} is ${value}: it must be a whole number of ${least} or more`);
  }
  if (cache === "") throw usageError("cache is empty: give the path of a directory");
  for (const { name, other, isGiven, message, hint } of togetherRules) {
    if (options[name] !== undefined && (options[other] !== undefined) !== isGiven)
      throw usageError(message, hint);
  }
  if (options.languageRatio !== undefined && options.languages?.some(({ dev = [] }) => dev.length > 0))
    throw usageError(
      "languageRatio cannot be combined with dev: the lengths of dev text are compared directly",
    );
  const weights =
    options.weights &&
    Object.entries(options.weights).map(([glob, weight]) => ({ name: null, glob, weight }));
  const { normalize } = options;
  const normalization = normalize === undefined ? undefined : readNormalization("normalize", normalize);
  const asked = { ...options, like, normalization, weights, sizes: [options.vocabSize] };
  const training = settle(asked, settleCutting(asked), String);
  const counted = (["counts", "wordCounts", "cache"] as const).find((name) => options[name] !== undefined);
  if (counted !== undefined && training.like?.addsPrefixSpace)
    throw usageError(
      `${counted} cannot be combined with this like: that tokenizer puts a space before each text`,
    );
  return { ...training, base: null };
}

/** The options that are numbers. */
type NumberName = {
  [Name in keyof Required<TrainTokenizerOptions>]: NonNullable<TrainTokenizerOptions[Name]> extends number
    ? Name
    : never;
}[keyof Required<TrainTokenizerOptions>];

/** The least that each number may be. */
const leastNumbers = {
  vocabSize: 1,
  padTo: 1,
  minFrequency: 0,
  maxTokenLength: 1,
  superwordsFrom: 1,
  globalMerges: 0,
  modelMaxLength: 1,
  workers: 1,
  memoryLimitBytes: 1,
  cacheLimitBytes: 0,
} as const satisfies Record<NumberName | "modelMaxLength", number>;

type TogetherRule = {
  readonly name: keyof TrainTokenizerOptions;
  /** What has to be given with it, or must not be. */
  readonly other: keyof TrainTokenizerOptions;
  readonly isGiven: boolean;
  readonly message: string;
  readonly hint?: string;
};

const notOnceOnly = (other: "texts" | "counts" | "wordCounts"): TogetherRule => ({
  name: "superwordsFrom",
  other,
  isGiven: false,
  message: `superwordsFrom needs the corpus twice, and ${other} cannot give it`,
  hint: "name files",
});

const notOfLanguages = (
  other: "files" | "texts" | "counts" | "wordCounts" | "superwordsFrom",
): TogetherRule => ({
  name: "languages",
  other,
  isGiven: false,
  message: `languages cannot be combined with ${other}: all text belongs to a language, and each has files of its own`,
});

const togetherRules: readonly TogetherRule[] = [
  ...(["languageRatio", "languageWindow", "globalMerges"] as const).map((name) => ({
    name,
    other: "languages" as const,
    isGiven: true,
    message: `${name} needs languages, and none are given`,
  })),
  ...(["files", "texts", "counts", "wordCounts", "superwordsFrom"] as const).map(notOfLanguages),
  {
    name: "cacheLimitBytes",
    other: "cache",
    isGiven: true,
    message: "cacheLimitBytes needs a cache, and none is given",
  },
  {
    name: "superwordPattern",
    other: "superwordsFrom",
    isGiven: true,
    message: "superwordPattern needs superwordsFrom, which is not given",
  },
  ...(["pattern", "superwordsFrom"] as const).map((other) => ({
    name: "like" as const,
    other,
    isGiven: false,
    message: `like and ${other} cannot be combined: the pattern is that tokenizer's`,
  })),
  {
    name: "normalize",
    other: "like",
    isGiven: false,
    message: "normalize cannot be combined with like: the normalization is that tokenizer's",
  },
  notOnceOnly("texts"),
  notOnceOnly("counts"),
  notOnceOnly("wordCounts"),
  {
    name: "seedTokens",
    other: "superwordsFrom",
    isGiven: false,
    message: "seedTokens cannot be combined with superwordsFrom: the second stage drops merges",
  },
  {
    name: "wholeTexts",
    other: "superwordsFrom",
    isGiven: false,
    message: "wholeTexts cannot be combined with superwordsFrom: superwords are learned line by line",
  },
  {
    name: "weights",
    other: "superwordsFrom",
    isGiven: false,
    message:
      "weights cannot be combined with superwordsFrom: superwords are learned from text without weights",
  },
  {
    name: "weights",
    other: "wordCounts",
    isGiven: false,
    message: "weights are for files, and wordCounts have none",
    hint: "give them with the counts that they shall have",
  },
];

/**
 * What a tokenizer is trained on, and how. The corpus is in `files`, `texts`, `counts` and `wordCounts`: one of them at
 * least; with several, they are added up.
 */
export type TrainTokenizerOptions = {
  /** Paths or globs of the corpus, or directories: text, JSON lines, JSON, Parquet, compressed or not. */
  readonly files?: string | readonly string[] | undefined;
  /**
   * Texts in memory, or made as they are asked for; each is a document of its own. They are read once, as fast as words are
   * counted, and not held.
   */
  readonly texts?: Texts | undefined;
  /** Files of word counts, as `bpe count` writes them. They must have been made with the same pattern and special tokens. */
  readonly counts?: string | readonly string[] | undefined;
  /** Words, as the pattern cuts them, and how often each occurs: a Map, or pairs. Nothing checks that the pattern would cut so. */
  readonly wordCounts?: GivenWords | undefined;
  /**
   * Instead of `files`: the files of each language. Each merge is learned from the language that is worst off, by its text or, if
   * all have one, its `dev` text. If several are equally badly off, the first one is taken.
   */
  readonly languages?:
    | readonly {
        readonly name: string;
        readonly files: string | readonly string[];
        readonly dev?: string | readonly string[] | undefined;
      }[]
    | undefined;
  /**
   * How many times shorter the text of each language shall get, relative to the others; not with `dev` texts. Default: their
   * lengths are compared.
   */
  readonly languageRatio?: readonly number[] | undefined;
  /** Of `size` turns no language has more than `alpha` times its share, if another one is left. Default: no window. */
  readonly languageWindow?: { readonly size: number; readonly alpha: number } | undefined;
  /** So many merges come first that are learned from the text of all languages together. Default: 0. */
  readonly globalMerges?: number | undefined;
  /** The format of all files. Default: what name and content say. */
  readonly inputFormat?: InputFormat | undefined;
  /** The field, or column, that holds the text of a record. Default: `text`. */
  readonly textField?: string | undefined;
  /** Globs that choose files of a directory. Default: all. */
  readonly include?: readonly string[] | undefined;
  /** `text`: files that are not text (images, archives) are read as text. Default: an error; in a directory they are left out. */
  readonly binary?: "text" | undefined;
  /** Size of the finished vocabulary: 256 bytes + special tokens + merges. */
  readonly vocabSize: number;
  /** Fills the vocabulary with reserved special tokens to a multiple of this. Default: 1. */
  readonly padTo?: number | undefined;
  /** Each ends a document wherever it occurs. It is never counted and never merged. */
  readonly specialTokens?: readonly string[] | undefined;
  /** A name (`gpt2`, the default, `cl100k`, …) or a regular expression. */
  readonly pattern?: string | undefined;
  /**
   * The path of a tokenizer whose settings are taken: pattern, normalization, special tokens, roles, chat template,
   * post-processor. Merges are learned anew; what is given besides wins. Default: none.
   */
  readonly like?: string | undefined;
  /** What is done to text before it is cut: `NFC`, `NFKC,lowercase`, … The tokenizer does it, too. Default: nothing. */
  readonly normalize?: string | undefined;
  /** The trainer to agree with, merge for merge. Default: `cs336`; with `like` that of the tokenizer, or `huggingface`. */
  readonly compat?: Compat | undefined;
  /**
   * With `compat: "huggingface"`: each text is cut by the pattern alone, as HF trains on an iterator. Its lines are not cut
   * apart, and special tokens in it are text. Default: false.
   */
  readonly wholeTexts?: boolean | undefined;
  /** Stop when the best pair occurs fewer times. Default: 1, in HF's way 0. */
  readonly minFrequency?: number | undefined;
  /** Longest token, in bytes. */
  readonly maxTokenLength?: number | undefined;
  /** No token joins a whole character with a part of another. Default: false. */
  readonly wholeCharacters?: boolean | undefined;
  /** Texts that are tokens, whatever their counts, as the pattern cuts text: their merges come first. Default: none. */
  readonly seedTokens?: readonly string[] | undefined;
  /** Superwords, tokens that go over spaces, are learned from a vocabulary of so many on. The corpus is `files`. Default: none. */
  readonly superwordsFrom?: number | undefined;
  /** How text is cut for superwords, and by the finished tokenizer: a regular expression. Default: SuperBPE's. */
  readonly superwordPattern?: string | undefined;
  /**
   * How often the words of inputs count, as `--weight` has it: the path of a file or folder, or a glob, and its weight, from 0
   * to 1,000,000 with at most six digits behind the point. The last that fits an input decides. Default: 1.
   */
  readonly weights?: Readonly<Record<string, number>> | undefined;
  /** What `transformers` reads beside vocabulary and merges: roles of special tokens, a chat template. */
  readonly model?: AskedModelSettings | undefined;
  /** Threads that count, including this one. Default: the cores that this process may use; for small corpora 1. */
  readonly workers?: number | undefined;
  /** The memory of this process. Words for which it has no room go to disk. Default: 80 % of what it may use. */
  readonly memoryLimitBytes?: number | undefined;
  /** A directory that keeps the words of each file, so that only what is new is counted (docs/nightly.md). Default: none. */
  readonly cache?: string | undefined;
  /** Size limit of the cache. What was used longest ago is removed. Default: no limit. */
  readonly cacheLimitBytes?: number | undefined;
  /**
   * The directory that the tokenizer is written to, as a whole or not at all, as by `bpe train -o`. Default: it stays in
   * memory, and {@link TrainedTokenizer.save} writes it.
   */
  readonly output?: string | undefined;
  /** Ends the training: it rejects with the signal's reason, some 0.1 s later, and leaves nothing behind. */
  readonly signal?: AbortSignal | undefined;
  /** Called several times a second. If it throws, the training ends with that error. */
  readonly onProgress?: ((progress: StageProgress) => void) | undefined;
  /** Called for what is not an error: a file in a directory that is not read, a cache that cannot be written, a damaged entry. */
  readonly onWarning?: ((message: string) => void) | undefined;
};

const isIterable = (value: unknown) =>
  typeof value === "object" && value !== null && (Symbol.iterator in value || Symbol.asyncIterator in value);

/** A string is iterable, too: its characters would be the documents. */
const textsOfCorpus: ArgumentKind = { name: "an iterable or async iterable of strings", accepts: isIterable };

const entries: ArgumentKind = {
  name: "a Map, or an iterable of pairs of a word and its count",
  accepts: (value) => isIterable(value) && Symbol.iterator in (value as object),
};

const languagesArgument: ArgumentKind = { name: "an array of languages", accepts: Array.isArray };
const numbersArgument: ArgumentKind = {
  name: "an array of numbers",
  accepts: (value) => Array.isArray(value) && value.every((number) => typeof number === "number"),
};
const windowKinds = { size: numberArgument, alpha: numberArgument };
const languageKinds = { name: textArgument, files: pathsArgument, dev: pathsArgument };

/** Every option of `trainTokenizer`. */
const optionKinds: { readonly [Name in keyof Required<TrainTokenizerOptions>]: ArgumentKind } = {
  files: pathsArgument,
  texts: textsOfCorpus,
  languages: languagesArgument,
  languageRatio: numbersArgument,
  languageWindow: objectArgument,
  globalMerges: numberArgument,
  counts: pathsArgument,
  wordCounts: entries,
  inputFormat: wordOf(inputFormats),
  textField: textArgument,
  include: textsArgument,
  binary: wordOf(["text"]),
  vocabSize: numberArgument,
  padTo: numberArgument,
  specialTokens: textsArgument,
  pattern: textArgument,
  like: pathArgument,
  normalize: textArgument,
  compat: wordOf(["cs336", "huggingface", "rustbpe"]),
  wholeTexts: flagArgument,
  minFrequency: numberArgument,
  maxTokenLength: numberArgument,
  wholeCharacters: flagArgument,
  seedTokens: textsArgument,
  superwordsFrom: numberArgument,
  superwordPattern: textArgument,
  weights: objectArgument,
  model: objectArgument,
  workers: numberArgument,
  memoryLimitBytes: numberArgument,
  cache: textArgument,
  cacheLimitBytes: numberArgument,
  output: pathArgument,
  signal: signalArgument,
  onProgress: callbackArgument,
  onWarning: callbackArgument,
};

const modelKinds = {
  roles: objectArgument,
  addsBos: flagArgument,
  chatTemplate: textArgument,
  modelMaxLength: numberArgument,
  tokenizerClass: textArgument,
};

const roleKinds = { bos: textArgument, eos: textArgument, pad: textArgument, unk: textArgument };

/** @internal A UserError for options that are not of their type, and for a call without a corpus. */
export function checkTrainOptions(options: TrainTokenizerOptions): void {
  checkOptions("trainTokenizer", options, optionKinds);
  checkArgument("trainTokenizer: vocabSize", options.vocabSize, numberArgument);
  if (options.model !== undefined) checkOptions("trainTokenizer: model", options.model, modelKinds);
  if (options.model?.roles !== undefined)
    checkOptions("trainTokenizer: roles", options.model.roles, roleKinds);
  if (options.languageWindow !== undefined)
    checkOptions("trainTokenizer: languageWindow", options.languageWindow, windowKinds);
  for (const [i, language] of (options.languages ?? []).entries()) {
    checkOptions(`trainTokenizer: languages[${i}]`, language, languageKinds);
    checkArgument(`trainTokenizer: languages[${i}]: name`, language.name, textArgument);
    checkArgument(`trainTokenizer: languages[${i}]: files`, language.files, pathsArgument);
  }
  const { files, texts, languages } = options;
  const sources = [files, texts, languages, options.counts, options.wordCounts];
  if (sources.every((source) => source === undefined || (Array.isArray(source) && source.length === 0))) {
    throw usageError(
      "trainTokenizer: there is nothing to train on",
      "give files, texts, counts or wordCounts",
    );
  }
  const { counts, pattern, specialTokens, like } = options;
  if (counts === undefined || like !== undefined) return;
  if (pattern !== undefined && specialTokens !== undefined) return;
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
    const files = productOf(this.asked("files", options), this.formats).filesOf(0);
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
