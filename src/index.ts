/**
 * The library: the same code as the command line, for Bun and Node. In a browser the package `bpe` is `browser.ts`.
 *
 * ```ts
 * import { Tokenizer, trainTokenizer } from "bpe";
 *
 * const trained = await trainTokenizer({ files: "corpus.txt", vocabSize: 32_000, specialTokens: ["<|endoftext|>"] });
 * await trained.save("tokenizer");
 * const tokenizer = await Tokenizer.load("tokenizer");
 * const ids = tokenizer.encode("some text");
 * ```
 *
 * @module
 */

export type { Texts } from "./corpus/given-texts.ts";
export type { InputFormat } from "./corpus/input.ts";
export { UserError } from "./errors.ts";
export type { Compat } from "./merge/merges.ts";
export type { SaveOptions } from "./pipeline/chosen-files.ts";
export type { StageProgress } from "./pipeline/stage-progress.ts";
export {
  type ChunkOptions,
  type CountOptions,
  type EncodedBatch,
  type EncodeOptions,
  TextTokenizer,
  type TruncateOptions,
} from "./pipeline/text-tokenizer.ts";
export { type EncodeFileOptions, Tokenizer, type TokenizerLoadOptions } from "./pipeline/tokenizer.ts";
export { TrainedTokenizer, trainTokenizer } from "./pipeline/train-tokenizer.ts";
export type { TrainTokenizerOptions } from "./pipeline/train-tokenizer-options.ts";
export type { TrainingStatistics } from "./pipeline/trained-facts.ts";
export type { StreamDecoder } from "./tokenizer/stream-decoder.ts";
export type { AskedModelSettings, Role, Roles } from "./vocabulary/model-settings.ts";
export type { GivenWords } from "./words/word-table.ts";
