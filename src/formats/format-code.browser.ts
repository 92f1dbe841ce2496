import { UserError } from "#runtime";
import { gguf } from "./gguf.ts";
import { gpt2 } from "./gpt2.ts";
import { sentencepiece } from "./sentencepiece.ts";
import { tekken } from "./tekken.ts";
import { tiktoken } from "./tiktoken.ts";
import { huggingface } from "./tokenizer-json.ts";

/** The code of each format, for browsers. Their library is a single script, which loads nothing on demand. */
export const formatCode = {
  huggingface: async () => huggingface,
  gpt2: async () => gpt2,
  tiktoken: async () => tiktoken,
  gguf: async () => gguf,
  sentencepiece: async () => sentencepiece,
  image: () =>
    Promise.reject(
      new UserError("tokenizer images cannot be read in a browser", {
        hint: "load the tokenizer.json of the same tokenizer",
      }),
    ),
  tekken: async () => tekken,
};
