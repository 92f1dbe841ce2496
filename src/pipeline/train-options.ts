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
import type { Texts } from "../corpus/given-texts.ts";
import { type InputFormat, inputFormats } from "../corpus/input.ts";
import type { GivenWords } from "../count/given-words.ts";
import { usageError } from "../errors.ts";
import type { Compat } from "../merge/merges.ts";
import type { AskedModelSettings } from "../vocabulary/model-settings.ts";
import type { StageProgress } from "./stage-progress.ts";

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
  /** The trainer to agree with, merge for merge. Default: `cs336`. */
  readonly compat?: Compat | undefined;
  /** Stop when the best pair occurs fewer times. Default: 1, in HF's way 0. */
  readonly minFrequency?: number | undefined;
  /** Longest token, in bytes. */
  readonly maxTokenLength?: number | undefined;
  /** Superwords, tokens that go over spaces, are learned from a vocabulary of so many on. The corpus is `files`. Default: none. */
  readonly superwordsFrom?: number | undefined;
  /** How text is cut for superwords, and by the finished tokenizer: a regular expression. Default: SuperBPE's. */
  readonly superwordPattern?: string | undefined;
  /** What `transformers` reads beside vocabulary and merges: roles of special tokens, a chat template. */
  readonly model?: AskedModelSettings | undefined;
  /** Threads that count, including this one. Default: the cores that this process may use; for small corpora 1. */
  readonly workers?: number | undefined;
  /** The memory of this process. Words for which it has no room go to disk. Default: 80 % of what it may use. */
  readonly memoryLimitBytes?: number | undefined;
  /** A directory that keeps the words of each file, so that only what is new is counted (docs/cache.md). Default: none. */
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

/** Every option of `trainTokenizer`. */
const optionKinds: { readonly [Name in keyof Required<TrainTokenizerOptions>]: ArgumentKind } = {
  files: pathsArgument,
  texts: textsOfCorpus,
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
  compat: wordOf(["cs336", "huggingface", "rustbpe"]),
  minFrequency: numberArgument,
  maxTokenLength: numberArgument,
  superwordsFrom: numberArgument,
  superwordPattern: textArgument,
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
  const sources = [options.files, options.texts, options.counts, options.wordCounts];
  if (sources.every((source) => source === undefined || (Array.isArray(source) && source.length === 0))) {
    throw usageError(
      "trainTokenizer: there is nothing to train on",
      "name files, or give texts; or word counts, by counts or wordCounts",
    );
  }
  const { counts, pattern, specialTokens } = options;
  if (counts === undefined) return;
  if (pattern !== undefined && specialTokens !== undefined) return;
  throw usageError(
    "trainTokenizer: counts need the pattern and the specialTokens that they were made with",
    "the first line of a .tsv states them; without special tokens, give specialTokens: []",
  );
}
