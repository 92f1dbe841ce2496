/**
 * The library: `import { trainTokenizer, Tokenizer } from "bpe"` under Bun. The same code as the command line, without
 * global state.
 *
 *     const tokenizer = await trainTokenizer({ files: "corpus.txt", vocabSize: 32_000, output: "tokenizer" });
 *     const ids = tokenizer.encode("some text");
 */

export {
  type EncodeFileOptions,
  type EncodeOptions,
  Tokenizer,
  type TokenizerLoadOptions,
} from "./encode/tokenizer.ts";
export { UserError } from "./errors.ts";
export { type TrainTokenizerOptions, trainTokenizer } from "./train-tokenizer.ts";
