/**
 * The library for browsers. Import it as `bpe/browser`; a bundler for browsers also finds it as `bpe`. It takes `File`
 * objects and URLs instead of paths, and starts no threads. A training may run in a page, or in a worker of yours,
 * which keeps the page smooth.
 *
 * ```ts
 * import { Tokenizer, trainTokenizer } from "bpe/browser";
 *
 * const trained = await trainTokenizer({ files: input.files, vocabSize: 8_000 });
 * const tokenizer = await Tokenizer.load("/tokenizer.json"); // a URL
 * const ids = tokenizer.encode("some text");
 * ```
 *
 * @module
 */

import { explainOtherNames } from "./library/other-names.ts";
import { TextTokenizer } from "./library/text-tokenizer.ts";

export type { Texts } from "#corpus";
export type { StageProgress } from "#jobs";
export type { StreamDecoder } from "#library";
export { UserError } from "#runtime";
export type { Compat, RecodedSpan } from "#tokenizer";
export type { SaveOptions, TrainingStatistics } from "#training";
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
  TextTokenizer as Tokenizer,
  type TruncateOptions,
} from "./library/text-tokenizer.ts";
export {
  type BrowserTrainingOptions,
  TrainedTokenizer,
  trainTokenizer,
} from "./library/train-in-browser.ts";

// Other packages' names for these methods are explained here and not next to the class, because the playground, which
// uses the class, should not contain those names.
explainOtherNames(TextTokenizer.prototype);
