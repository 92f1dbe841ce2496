/**
 * The library for browsers, which is `bpe` there and `bpe/browser` elsewhere: without paths and threads. It is one script;
 * the WebAssembly is in it. A training may run in a page, or in a worker of yours, which keeps the page smooth.
 *
 * ```ts
 * import { Tokenizer, trainTokenizer } from "bpe/browser";
 *
 * const trained = await trainTokenizer({ files: input.files, vocabSize: 8_000 });
 * const tokenizer = Tokenizer.from(await (await fetch("tokenizer.json")).text());
 * const ids = tokenizer.encode("some text");
 * ```
 *
 * @module
 */

export type { Texts } from "#corpus";
export type { StageProgress } from "#jobs";
export type { Compat } from "#merge";
export { UserError } from "#runtime";
export type { StreamDecoder } from "#tokenizer";
export type { SaveOptions, TrainingStatistics } from "#training";
export {
  type ChunkOptions,
  type CountOptions,
  type EncodedBatch,
  type EncodeOptions,
  TextTokenizer as Tokenizer,
  type TruncateOptions,
} from "./library/text-tokenizer.ts";
export {
  type BrowserTrainingOptions,
  TrainedTokenizer,
  trainTokenizer,
} from "./library/train-in-browser.ts";
