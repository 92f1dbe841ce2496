/**
 * The library: `import { trainTokenizer, Tokenizer } from "bpe"` under Bun. It runs the same code as the command line.
 *
 *     const tokenizer = await trainTokenizer({ files: "corpus.txt", vocabSize: 32_000, output: "tokenizer" });
 *     const ids = tokenizer.encode("some text");
 */

export { UserError } from "./errors.ts";
export {
  type EncodeFileOptions,
  type EncodeOptions,
  Tokenizer,
  type TokenizerLoadOptions,
} from "./pipeline/tokenizer.ts";
export { type TrainTokenizerOptions, trainTokenizer } from "./pipeline/train-tokenizer.ts";
