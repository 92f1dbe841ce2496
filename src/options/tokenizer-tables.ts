import { sizes } from "./kinds.ts";
import { tableOf } from "./option.ts";

// The options of commands that make a tokenizer of another one.

/** Of `bpe truncate`. */
export const truncation = tableOf({
  vocabSize: {
    name: "vocab-size",
    short: "n",
    kind: sizes,
    required: true,
    topic: "tokens",
    description: "how many tokens stay, special tokens included",
    details: "Several sizes, separated by commas: -n 64k,32k writes DIR/65536 and DIR/32768.",
  },
});
