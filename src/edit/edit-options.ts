import { writtenFormats, writtenOnRequest } from "#formats";
import {
  flag,
  readingOptions,
  sharedOptions,
  sharedWithTraining,
  sizes,
  tableOf,
  tokenizerSupplements,
  unattendedOptions,
  whole,
  words,
} from "#options";

// The options of prune, truncate, convert and image. Each table is in the order of help.

const { details: _, ...outputDirectory } = sharedWithTraining.output;
const { output: outputFile, texts: textFiles } = sharedOptions;
const { workers } = sharedWithTraining;

/** The options of `bpe prune`. */
export const pruneOptions = tableOf({
  texts: {
    ...textFiles,
    required: true,
    description: "texts that show how often each token occurs",
    details:
      "Anything that encode reads, or - for standard input. Every file after --text is a text, so name the tokenizer first.",
  },
  vocabSize: {
    name: "vocab-size",
    short: "n",
    kind: whole(1),
    required: true,
    topic: "tokens",
    description: "number of tokens to keep, special tokens included",
  },
  ...{ output: outputDirectory, ...tokenizerSupplements, ...readingOptions },
  workers: { ...workers, default: "1 for small texts, else all cores" },
  ...unattendedOptions,
});

/** The options of `bpe truncate`. */
export const truncateOptions = tableOf({
  vocabSize: {
    ...pruneOptions.vocabSize,
    kind: sizes,
    details: "Several sizes, separated by commas: -n 64k,32k writes DIR/65536 and DIR/32768.",
  },
  ...{ output: outputDirectory, ...tokenizerSupplements, ...unattendedOptions },
});

/** The options of `bpe convert`. */
export const convertOptions = tableOf({
  formats: {
    name: "format",
    kind: words(writtenFormats),
    topic: "output",
    description: "which kinds of files to write",
    default: `all that can store the tokenizer, except ${writtenOnRequest}`,
  },
  copy: {
    name: "copy",
    kind: flag,
    topic: "output",
    description: "copy the tokenizer's own files",
    details:
      "Those that transformers reads next to them are copied, too. It is an error if the files do not contain the whole tokenizer.",
    excludes: [{ other: "format", why: "a copy has the formats of the tokenizer" }],
  },
  ...{ output: outputDirectory, ...tokenizerSupplements, ...unattendedOptions },
});

/** The options of `bpe image`. */
export const imageOptions = tableOf({
  output: { ...outputFile, description: "where the image goes" },
  ...{ ...tokenizerSupplements, ...unattendedOptions },
});
