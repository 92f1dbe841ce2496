/**
 * The library for browsers, which is `bpe` there and `bpe/browser` elsewhere: tokenizers that were trained before, without
 * files and threads. It is one script; the WebAssembly is in it.
 *
 * ```ts
 * import { Tokenizer } from "bpe/browser";
 *
 * const tokenizer = Tokenizer.from(await (await fetch("tokenizer.json")).text());
 * const ids = tokenizer.encode("some text");
 * ```
 *
 * @module
 */

export { UserError } from "./errors.ts";
export {
  type ChunkOptions,
  type CountOptions,
  type EncodedBatch,
  type EncodeOptions,
  TextTokenizer as Tokenizer,
  type TruncateOptions,
} from "./pipeline/text-tokenizer.ts";
export type { StreamDecoder } from "./tokenizer/stream-decoder.ts";
