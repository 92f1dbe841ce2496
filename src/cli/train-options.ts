import { path, size, whole } from "../options/kinds.ts";
import { tableOf } from "../options/option.ts";
import { reading, shared, unattended } from "../options/shared-options.ts";
import { specialTokensAsText, trainingOptions } from "../options/training-table.ts";
import { scaled } from "../runtime/scale.ts";

// The options of count and plan; those of train are in options/training-table.ts, each table in the order of help.

const { tokenizer, output: outputFile, ranges } = shared;
const {
  pattern,
  compat,
  workers,
  memoryLimit,
  specialTokens,
  specialTokensFile,
  normalize,
  cache,
  cacheLimit,
  counts,
  saveCounts,
} = trainingOptions;

/** The options of `bpe count`. */
export const counting = tableOf({
  output: {
    ...outputFile,
    kind: path(),
    description: "where the counts go",
    details: "A name that ends in .tsv gets text, any other name the compact binary form.",
    default: "stdout, as text",
  },
  minCount: {
    name: "min-count",
    kind: whole(1),
    topic: "output",
    description: "leave out words that occur fewer times",
    details:
      "Without it, counts are exact. With it, the counts of parts of a corpus no longer add up exactly.",
  },
  ranges,
  ...{ specialTokens, specialTokensFile, pattern, normalize, compat, ...reading, workers, memoryLimit },
  ...{ cache, cacheLimit, counts, saveCounts, ...unattended },
});

/** The options of `bpe plan`. */
export const planning = tableOf({
  rangeSize: {
    name: "range-size",
    // Smaller ranges would cost more to plan than to count.
    kind: size(scaled(64_000, 1000)),
    topic: "output",
    description: "approximate size of a range, e.g. 64MB or 1GiB",
    default: "256MB",
  },
  output: { ...outputFile, description: "where the plan goes" },
  ...{ specialTokens, specialTokensFile, pattern },
  normalize: {
    ...normalize,
    excludes: [{ other: "tokenizer", why: "the tokenizer says how text is changed" }],
    description: "plan for bpe count with this --normalize",
    details: "Ranges end where no character is changed together with its neighbour.",
  },
  compat: { ...compat, excludes: [{ other: "tokenizer", why: "the tokenizer says how text is cut" }] },
  ...reading,
  tokenizer: {
    ...tokenizer,
    required: false,
    description: "plan for bpe encode with this tokenizer",
    details: "-p and -s then mean what they mean for encode.",
  },
  specialTokensAsText: {
    ...specialTokensAsText,
    needs: { other: "tokenizer", hint: "such a plan is for bpe encode: --tokenizer PATH" },
  },
  ...unattended,
});
