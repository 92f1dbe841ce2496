import { kinds, optionTables, sharedOptions, trainingOptions } from "#options";
import { normalForms } from "#text";

// The options of `count`. Help lists those of a topic in this order. The options of `train` are in
// options/training-table.ts.

const { output: outputFile, ranges } = sharedOptions.several;
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

export const countOptions = optionTables.of({
  output: {
    ...outputFile,
    kind: kinds.path("FILE", "name a file, or - for stdout"),
    description: "where the counts go",
    details: "A name that ends in .tsv gets text, any other name the compact binary form.",
    default: "stdout, as text",
  },
  minCount: {
    name: "min-count",
    kind: kinds.whole(1),
    topic: "output",
    description: "leave out words that occur fewer than N times",
    details:
      "Without it, counts are exact. With it, the counts of parts of a corpus no longer add up exactly.",
  },
  ranges,
  ...{
    specialTokens,
    specialTokensFile,
    pattern,
    normalize: {
      ...normalize,
      details: `Steps in order, separated by commas: ${normalForms.stepNames.join(", ")}. They apply to text between special tokens.`,
    },
    compat: {
      ...compat,
      kind: sharedOptions.trainers,
      details: "With huggingface, text is read line by line, as by HF's trainer.",
    },
    ...sharedOptions.reading,
    workers,
    memoryLimit,
  },
  ...{ cache, cacheLimit, counts, saveCounts, ...sharedOptions.unattended },
});
