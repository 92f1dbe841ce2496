import { kinds, optionTables, sharedOptions, trainingOptions } from "#options";
import { scaled } from "#runtime";

const { tokenizer, output: outputFile } = sharedOptions.several;
const { specialTokens, specialTokensFile, pattern, normalize, compat } = trainingOptions;

export const planOptions = optionTables.of({
  rangeSize: {
    name: "range-size",
    // Planning smaller ranges would take longer than counting them.
    kind: kinds.size(scaled(64_000, 1000)),
    topic: "output",
    description: "approximate size of a range, e.g. 64MB or 1GiB",
    default: "256MB",
  },
  output: { ...outputFile, description: "where the plan goes" },
  ...{ specialTokens, specialTokensFile, pattern },
  normalize: {
    ...normalize,
    excludes: [{ other: "tokenizer", why: "the tokenizer determines the normalization" }],
    description: "plan for bpe count with this --normalize",
    details: "Ranges end only where normalization treats the text before and after separately.",
  },
  compat: {
    ...compat,
    kind: sharedOptions.trainers,
    excludes: [{ other: "tokenizer", why: "the tokenizer determines how text is split" }],
    details: "With huggingface, text is read line by line, as by HF's trainer.",
  },
  ...sharedOptions.reading,
  tokenizer: {
    ...tokenizer,
    required: false,
    description: "plan for bpe encode with this tokenizer",
    details: "-p and -s then mean what they mean for encode.",
  },
  specialTokensAsText: {
    ...sharedOptions.specialTokensAsText,
    needs: {
      other: "tokenizer",
      hint: "name the tokenizer that bpe encode will use: --tokenizer PATH",
    },
  },
  ...sharedOptions.unattended,
});
