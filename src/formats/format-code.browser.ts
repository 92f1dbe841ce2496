import { UserError } from "#runtime";
import { gguf } from "./gguf.ts";
import { gpt2 } from "./gpt2.ts";
import { sentencepiece } from "./sentencepiece.ts";
import { tekken } from "./tekken.ts";
import { tiktoken } from "./tiktoken.ts";
import { huggingface } from "./tokenizer-json.ts";

/**
 * The code of each format, for browsers. Replaces format-code.ts in the library, which is a single script and so loads
 * nothing on demand.
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
