import { UserError } from "#runtime";
import { gguf } from "./gguf.ts";
import { gpt2 } from "./gpt2.ts";
import { sentencepiece } from "./sentencepiece.ts";
import { tekken } from "./tekken.ts";
import { tiktoken } from "./tiktoken.ts";
import { huggingface } from "./tokenizer-json.ts";

/**
 * The code of each format, for browsers: replaces format-code.ts in the library that is a single script.
 * Bundlers drop formats that nobody uses.
 */
export const formatCode = {
  huggingface: async () => huggingface,
  gpt2: async () => gpt2,
  tiktoken: async () => tiktoken,
  gguf: async () => gguf,
  sentencepiece: async () => sentencepiece,
  image: () =>
    Promise.reject(new UserError("images of tokenizers cannot be read here: load the tokenizer.json")),
  tekken: async () => tekken,
};
