/**
 * The library: the same code as the command line, for Bun and Node. For browsers, the package `bpe` is made from
 * `browser.ts` instead of this file.
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

export type { InputFormat, Texts } from "#corpus";
export type { StageProgress } from "#jobs";
export type { StreamDecoder } from "#library";
export { UserError } from "#runtime";
export type { AskedModelSettings, Compat, RecodedSpan, Role, Roles } from "#tokenizer";
export type { SaveOptions, TrainingStatistics } from "#training";
export type { GivenWords } from "#words";
export type { Segment, SegmentsOptions } from "./library/segments.ts";
export type { EncodedBatch } from "./library/special-ids.ts";
export type { EncodedWithOffsets } from "./library/text-offsets.ts";
export type { EditOptions, Session } from "./library/text-session.ts";
export {
  type ChunkOptions,
  type CountOptions,
  type DecodeOptions,
  type EncodeModelOptions,
  type EncodeOptions,
  type Recoded,
  type StreamOptions,
  TextTokenizer,
  type TruncateOptions,
} from "./library/text-tokenizer.ts";
export {
  type EncodeBatchAsyncOptions,
  type EncodeFileOptions,
  Tokenizer,
  type TokenizerLoadOptions,
} from "./library/tokenizer.ts";
export { TrainedTokenizer, trainTokenizer } from "./library/train-tokenizer.ts";
export type { TrainTokenizerOptions } from "./library/train-tokenizer-options.ts";
